"""Where a report comes from: told at its foot, and written from Python or with a model's file."""

import hashlib
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector, score
from paretodepth.reports.page import file_lines, provenance_lines
from tests.newcomer import PLANTED, invoice_table, write_files
from tests.reports.browser import column, n_called


def command(*words):
    return subprocess.run([sys.executable, "-m", "paretodepth", *words], capture_output=True, text=True, check=True)


def test_files_have_a_line_with_checksum_and_rows(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(name)
    digests = [hashlib.sha256(name).hexdigest() for name in (b"a.csv", b"b.csv")]
    assert file_lines(str(tmp_path / "a.csv"), 1200) == [f"{tmp_path / 'a.csv'}, 1,200 rows, SHA-256 {digests[0]}"]
    assert file_lines(str(tmp_path / "*.csv"), 7) == [
        f"{tmp_path / name}, SHA-256 {digest}" for name, digest in zip(("a.csv", "b.csv"), digests, strict=True)
    ]
    assert file_lines("-", 5) == ["standard input, 5 rows, SHA-256 not known: it was a stream"]


def test_the_foot_has_call_version_criteria_parameters_and_seed(found):
    lines = provenance_lines(found, "detect a.csv")
    foot = dict(lines)
    assert foot["Made by"] == "detect a.csv"
    assert foot["Date"]
    assert foot["Version"].startswith("paretodepth ")
    assert [text for heading, text in lines if heading == "Criterion"] == [
        repr(fitted.criterion) for fitted in found.model.criteria.fitted
    ]
    assert "method='blend'" in foot["Parameters"]
    assert foot["Seed"] == "none given"
    # The same findings give the same page.
    assert "Date" not in dict(provenance_lines(found, None))


@pytest.mark.slow
def test_a_command_tells_itself_and_its_files_in_page_and_print(tmp_path, opened):
    nominal, new, criteria = write_files(tmp_path)
    path = tmp_path / "report.html"
    command("detect", new, "--reference", nominal, "--criteria", criteria, "--id", "invoice", "--report", str(path))
    page = opened(path)
    page.emulate_media(media="print")
    foot = page.inner_text("#provenance")
    assert f"paretodepth detect {new} --reference {nominal} --criteria" in foot
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
    command("explain", model, new, "--row", "19", "--report", str(path))
    page = opened(path)
    assert column(page, "row") == ["19"]
    assert page.inner_text("#sample-name") == "Row 19 · inv-17"
    assert page.inner_text("#title") == "Anomalies in row 19 of new.csv"


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
    found = score(detector, new, reference=nominal, id="invoice")
    found.report(tmp_path / "report.html", title="From Python")
    np.testing.assert_array_equal(found.scores, -detector.score_samples(new))
    page = opened(tmp_path / "report.html")
    assert n_called(page) == (detector.predict(new) == -1).sum()
    assert page.inner_text("#sample-name").endswith(f"inv-{found.most_unusual[0]}")
    assert page.locator("#strips li").count() == 3


def test_an_array_makes_a_report_and_other_samples_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    nominal = rng.random((60, 2))
    detector = ParetoDepthDetector().fit(nominal)
    found = score(detector, np.array([[0.5, 0.5], [4.0, 0.5]]), reference=nominal)
    assert found.is_anomaly.tolist() == [0, 1]
    found.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").exists()
    with pytest.raises(TypeError, match=r"The table given to score must be a file, a data frame.* Got list instead"):
        score(detector, [[object(), {}]])
    with pytest.raises(ValueError, match=r"'reference' parameter of score must hold .* 60 rows. Got 5 instead"):
        score(detector, nominal, reference=nominal[:5])
    with pytest.raises(ValueError, match=r"The id must be a column of the samples. Got 'no' instead"):
        score(detector, nominal, id="no")
