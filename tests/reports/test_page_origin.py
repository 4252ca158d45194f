"""Where a report comes from: told at its foot, and written from Python or with a model's file."""

import hashlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
from paretodepth.reports import report
from paretodepth.reports.provenance import Provenance, SourceFile, provenance_lines, source_files
from tests.newcomer import PLANTED, invoice_table, write_files
from tests.reports.browser import column, n_called


def command(*words):
    return subprocess.run([sys.executable, "-m", "paretodepth", *words], capture_output=True, text=True, check=True)


def test_files_are_told_by_their_checksums_and_rows(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(name)
    digest = hashlib.sha256(b"a.csv").hexdigest()
    assert source_files(str(tmp_path / "a.csv"), 3) == [SourceFile(str(tmp_path / "a.csv"), digest, 3)]
    assert [(file.name[-5:], file.n_rows) for file in source_files(str(tmp_path / "*.csv"), 7)] == [
        ("a.csv", None),
        ("b.csv", None),
    ]
    assert source_files("-", 5) == [SourceFile("standard input", None, 5)]


def test_the_foot_tells_version_criteria_parameters_and_seed(found):
    lines = provenance_lines(found, Provenance("detect a.csv", "today", [SourceFile("a.csv", None, 1200)]))
    told = dict(lines)
    assert told["Made by"] == "detect a.csv"
    assert told["Date"] == "today"
    assert told["File"] == "a.csv, 1,200 rows, SHA-256 not known: it was a stream"
    assert told["Version"].startswith("paretodepth ")
    assert [text for heading, text in lines if heading == "Criterion"] == [
        repr(fitted.criterion) for fitted in found.model.criteria.fitted
    ]
    assert "method='blend'" in told["Parameters"]
    assert told["Seed"] == "none given"


@pytest.mark.slow
def test_a_command_tells_itself_and_its_files_in_page_and_print(tmp_path, opened):
    nominal, new, criteria = write_files(tmp_path)
    path = tmp_path / "report.html"
    command("detect", nominal, new, "--criteria", criteria, "--id", "invoice", "--report", str(path))
    page = opened(path)
    page.emulate_media(media="print")
    foot = page.inner_text("#provenance")
    assert f"paretodepth detect {nominal} {new} --criteria" in foot
    for file, n_rows in ((nominal, 200), (new, 120)):
        with open(file, "rb") as stream:
            assert f"{file}, {n_rows} rows, SHA-256 {hashlib.sha256(stream.read()).hexdigest()}" in foot


@pytest.mark.slow
def test_score_and_explain_write_reports_too(tmp_path, opened):
    nominal, new, criteria = write_files(tmp_path)
    model = str(tmp_path / "nominal.model")
    command("fit", nominal, "--criteria", criteria, "--model", model)
    out, path = str(tmp_path / "scores.csv"), tmp_path / "report.html"
    command("score", model, new, "--out", out, "--report", str(path))
    page = opened(path)
    assert n_called(page) == pd.read_csv(out)["decision"].eq("anomaly").sum()
    assert not page.is_visible("#neighbors-part")
    command("explain", model, new, "--row", "17", "--report", str(path))
    page = opened(path)
    assert column(page, "row") == ["17"]
    assert page.inner_text("#sample-name") == "Row 17 · inv-17"
    assert page.inner_text("#title") == "Anomalies in row 17 of new.csv"


@pytest.mark.slow
def test_a_data_frame_makes_a_report_in_one_call(tmp_path, opened):
    nominal, new = (
        invoice_table(seed, n, planted).to_pandas() for seed, n, planted in ((0, 200, ()), (1, 120, PLANTED))
    )
    for frame in (nominal, new):
        frame["shop"] = pd.Categorical(["north", "south"] * (len(frame) // 2))
    criteria = [Criterion(name, name, "cityblock") for name in ("amount", "weight")]
    detector = ParetoDepthDetector([*criteria, Criterion("shop", "shop", "mismatch")], method="blend")
    with pytest.warns(AdviceWarning):
        detector.fit(nominal)
    found = report(detector, new, tmp_path / "report.html", training=nominal, id_column="invoice", title="From Python")
    np.testing.assert_array_equal(found.scores, -detector.score_samples(new))
    page = opened(tmp_path / "report.html")
    assert n_called(page) == (detector.predict(new) == -1).sum()
    assert page.inner_text("#sample-name").endswith(f"inv-{found.strangest[0]}")
    assert page.locator("#strips li").count() == 3
    assert "paretodepth.reports.report(ParetoDepthDetector(" in page.inner_text("#provenance")


def test_an_array_makes_a_report_and_odd_samples_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    nominal = rng.random((60, 2))
    detector = ParetoDepthDetector().fit(nominal)
    path = tmp_path / "report.html"
    assert report(detector, np.array([[0.5, 0.5], [4.0, 0.5]]), path, training=nominal).is_anomaly.tolist() == [0, 1]
    path.unlink()
    with pytest.raises(TypeError, match=r"'X' parameter of report must be a data frame.* Got list instead"):
        report(detector, [[object(), {}]], path)
    with pytest.raises(ValueError, match=r"'training' parameter of report must hold .* 60 rows. Got 5 instead"):
        report(detector, nominal, path, training=nominal[:5])
    with pytest.raises(ValueError, match=r"The id must be a column of the samples. Got 'no' instead"):
        report(detector, nominal, path, id_column="no")
    assert not path.exists()
