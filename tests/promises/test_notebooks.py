"""What objects show of themselves: a few lines, never whole tables or arrays."""

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, Fronts, ParetoDepthDetector, detect, suggest

LONGEST = 1000


@pytest.fixture(scope="module", params=["depth", "blend"])
def detector(request):
    X = np.random.default_rng(0).normal(size=(150, 3))
    criteria = [Criterion("a", 0), Criterion("b", [1, 2], "euclidean")]
    return ParetoDepthDetector(criteria, method=request.param).fit(X)


def test_a_fitted_detector_and_its_parts_are_shown_briefly(detector):
    assert repr(detector.model_) == f"<Model: method='{detector.method}' fitted on 150 samples under 2 criteria>"
    assert repr(detector.criteria_[0]) == (
        "FittedCriterion(criterion=Criterion(name='a', columns=0, metric='euclidean'), columns=[0], transform=None)"
    )
    for name, value in vars(detector).items():
        assert len(repr(value)) < LONGEST or isinstance(value, np.ndarray), name


def test_a_notebook_shows_scikit_learns_diagram(detector):
    diagram = detector._repr_html_()
    assert "fitted" in diagram
    assert "Parameters" in diagram
    assert "href=" not in diagram


def test_fronts_say_how_many_they_are(detector):
    assert repr(Fronts.from_dyads([[1, 2], [2, 1], [3, 3]])) == "<Fronts: 2 fronts of 3 dyads under 2 criteria>"
    capped = Fronts.from_dyads([[1, 2], [2, 1], [3, 3]], max_depth=1)
    assert repr(capped) == "<Fronts: 1 fronts of 2 dyads under 2 criteria, max_depth=1>"
    assert repr(detector.fronts_).startswith(f"<{type(detector.fronts_).__name__}: {detector.n_fronts_} fronts of ")


def test_a_suggestion_shows_itself_as_the_file_it_would_be():
    table = pa.table({"size": np.random.default_rng(0).lognormal(size=99)})
    suggestion = suggest(table)
    assert repr(suggestion) == suggestion.to_toml()


def test_findings_show_the_headline_and_the_most_unusual_records():
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=100), "b": rng.normal(size=100)})
    headline, *records = repr(detect(table)).splitlines()
    assert headline.endswith("The 5 most unusual of 100 records (5 %) are listed for review")
    assert [record.split()[0] for record in records] == ["row"] * 5
