"""What an installation with one extra can do, and that it says what it lacks; run with the extra's name."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from paretodepth import Criterion, ParetoDepthDetector

SCRIPT = Path(sys.executable).with_name("paretodepth")
NOMINAL = np.random.default_rng(0).random((100, 2))


def detects(criteria, nominal, new) -> bool:
    """Tell whether the second of two new samples alone is called."""
    return ParetoDepthDetector(criteria).fit(nominal).predict(new).tolist() == [1, -1]


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)


def check_detector() -> None:
    """Fit and predict, save and load."""
    assert detects(None, NOMINAL, [[0.5, 0.5], [3.0, 3.0]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pdm"
        ParetoDepthDetector().fit(NOMINAL).save(path)
        assert ParetoDepthDetector.load(path).predict([[3.0, 3.0]]).tolist() == [-1]


def check_without() -> None:
    """Be told what to install for the command line."""
    result = run_command("--version")
    assert result.returncode != 0
    assert 'pip install "paretodepth[cli' in result.stderr, result.stderr
    assert "Traceback" not in result.stderr, result.stderr


def check_cli() -> None:
    """Detect in a CSV file."""
    assert run_command("--version").stdout.startswith("paretodepth ")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nominal.csv"
        np.savetxt(path, NOMINAL, delimiter=",", header="a,b", comments="")
        result = run_command("detect", str(path), "--out", f"{folder}/scores.csv")
        assert result.returncode == 0, result.stderr
        assert len(Path(folder, "scores.csv").read_text().splitlines()) == 101


def check_report() -> None:
    """Draw."""
    from paretodepth.plots import plot_scores

    detector = ParetoDepthDetector().fit(NOMINAL)
    assert plot_scores(-detector.training_scores_, -detector.offset_).lines


def check_text() -> None:
    """Compare words."""
    words = [[f"{value:.12f}"] for value in NOMINAL[:, 0]]
    assert detects([Criterion("word", 0, "jaro_winkler")], words, [words[0], ["abcdefghij"]])


def check_timeseries() -> None:
    """Compare series."""
    series = [np.sin(np.linspace(0, 6, 30) + shift) for shift in NOMINAL[:, 0]]
    assert detects([Criterion("curve", "c", "dtw")], {"c": series}, {"c": [series[0], 9 + series[0]]})


def check_excel() -> None:
    """Have what reads and writes workbooks; tables are the command line's."""
    import python_calamine
    import xlsxwriter

    assert python_calamine.CalamineWorkbook
    assert xlsxwriter.Workbook


def check_distributed() -> None:
    """Fit on a cluster in this process."""
    from distributed import Client

    from paretodepth import distributed

    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        detector = distributed.fit(ParetoDepthDetector(), NOMINAL, client)
    assert detector.predict([[3.0, 3.0]]).tolist() == [-1]


def check_river() -> None:
    """Learn and score one sample after the other, as River does."""
    from paretodepth.streaming.river import RiverDetector

    detector = RiverDetector(window=50, alpha=0.05)
    for x, y in NOMINAL:
        detector.learn_one({"x": x, "y": y})
    assert detector.score_one({"x": 3.0, "y": 3.0}) > detector.score_one({"x": 0.5, "y": 0.5})


def check_all() -> None:
    """Do all of that, and the demo."""
    for name in CHECKS.keys() - {"", "all"}:
        CHECKS[name]()
    with tempfile.TemporaryDirectory() as folder:
        result = run_command("demo", "--out", folder)
        assert result.returncode == 0, result.stderr
        assert "</html>" in Path(folder, "report.html").read_text()


CHECKS = {
    "": check_without,
    "cli": check_cli,
    "report": check_report,
    "text": check_text,
    "timeseries": check_timeseries,
    "excel": check_excel,
    "distributed": check_distributed,
    "river": check_river,
    "all": check_all,
}

if __name__ == "__main__":
    check_detector()
    CHECKS[sys.argv[1]]()
