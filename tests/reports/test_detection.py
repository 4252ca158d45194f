"""The whole job on tables."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth._blocks import progress_to
from paretodepth.pairs.nearest import nearest_dyads
from paretodepth.reports import findings
from paretodepth.reports.detect import find
from paretodepth.reports.page import write_report
from paretodepth.reports.results import results_table, summary
from paretodepth.reports.score import find_in
from paretodepth.scoring.explanation import explain_left_out
from paretodepth.scoring.sentences import COMBINATION

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")


def blend():
    return ParetoDepthDetector(method="blend")


def random_table(seed, n_samples):
    rng = np.random.default_rng(seed)
    return pa.table({name: rng.random(n_samples) for name in "ab"})


def test_what_is_found_is_what_the_detector_says():
    nominal, new = random_table(0, 60), pa.table({"name": list("xyz"), "b": [0.5, 9, 0.4], "a": [0.5, 0.5, 3]})
    criteria = [Criterion("a", ["a"]), Criterion("b", ["b"])]
    found = find(ParetoDepthDetector(criteria, method="blend"), nominal, new)
    detector = ParetoDepthDetector(criteria, method="blend").fit(nominal)
    X = new.select(["a", "b"])
    np.testing.assert_array_equal(found.scores, -detector.score_samples(X))
    np.testing.assert_array_equal(found.p_values, detector.p_values(X))
    np.testing.assert_array_equal(found.is_anomaly, detector.predict(X) < 0)
    np.testing.assert_array_equal(found.nearest_dyads(np.array([2, 0])), detector.nearest_dyads(X)[[2, 0]])
    explanation = replace(found.explanation(np.arange(3)), names=None)
    assert explanation.sentences == detector.explain(X).sentences
    assert not found.is_left_out


def test_no_discovery_and_only_discoveries_are_called_so():
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    assert not find(blend(), nominal, pa.table({"a": [0.4, 0.5]}), fdr=0.01).is_anomaly.any()
    assert find(blend(), nominal, pa.table({"a": [9.0, 8.0]}), fdr=0.1).is_anomaly.all()


def test_explanation_of_a_training_sample_is_that_of_the_sample_against_the_others():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    X[7] = [5.0, 0.0]
    detector = ParetoDepthDetector(method="blend", n_neighbors=3).fit(X)
    explanation = explain_left_out(detector.model_, np.arange(60), n_jobs=None)
    scores = -detector.training_scores_
    n_as_strange = (scores >= scores[:, None]).sum(axis=1)
    np.testing.assert_array_equal(explanation.p_values, (1 + n_as_strange) / 61)
    np.testing.assert_array_equal(explanation.is_anomaly, detector.training_labels_ < 0)
    for criterion in range(2):
        distances = np.abs(X[:, criterion, None] - X[:, criterion])
        np.fill_diagonal(distances, np.inf)
        np.testing.assert_array_equal(explanation.neighbors[criterion][:, 0], distances.argmin(axis=1))
    assert explanation.criterion_p_values[7].argmin() == 0
    some = explain_left_out(detector.model_, np.array([7, 3]), n_jobs=None)
    assert some.sentences == [explanation.sentences[7], explanation.sentences[3]]


def test_dyads_of_a_training_sample_are_those_with_the_nearest_others():
    X = np.random.default_rng(0).normal(size=(40, 2))
    detector = ParetoDepthDetector(n_neighbors=[2, 3]).fit(X)
    others = np.abs(X[1:] - X[0])
    expected = [*others[others[:, 0].argsort()[:2]], *others[others[:, 1].argsort()[:3]]]
    (dyads,) = detector.model_.map_left_out(
        lambda block: nearest_dyads(block, detector.n_neighbors_)[1], np.array([0]), n_jobs=None
    )
    np.testing.assert_array_equal(dyads[0], expected)
    found = find(ParetoDepthDetector(n_neighbors=[2, 3]), pa.table({"a": X[:, 0], "b": X[:, 1]}))
    np.testing.assert_array_equal(found.nearest_dyads(np.array([0]))[0], expected)


def uphill(A, B):
    """An asymmetric dissimilarity: up costs four times as much as down."""
    steps = B[None, :, 0] - A[:, None, 0]
    return np.where(steps > 0, 4 * steps, -steps)


@pytest.mark.parametrize("method", ["depth", "blend"])
def test_p_values_of_explained_training_samples_are_those_of_their_scores_under_an_asymmetric_metric(method):
    X = np.random.default_rng(0).random((60, 2))
    criteria = [Criterion("up", [0], uphill), Criterion("b", [1])]
    detector = ParetoDepthDetector(criteria, method=method).fit(X)
    explanation = explain_left_out(detector.model_, np.arange(60), n_jobs=None)
    expected = detector.model_.calibration.p_values(-detector.training_scores_)
    np.testing.assert_array_equal(explanation.p_values, expected)
    np.testing.assert_array_equal(explanation.is_anomaly, detector.training_labels_ < 0)


def odd_table(n_samples=90):
    values = np.random.default_rng(0).random((n_samples, 2))
    values[[10, 11], [0, 1]] = 9.0, 7.0
    return pa.table({"a": values[:, 0], "b": values[:, 1]})


def test_of_some_fitted_rows_these_are_left_out_in_turn_and_the_others_are_new():
    table, rows = odd_table(), np.flatnonzero(np.arange(90) % 3)
    found = find(blend(), table, rows=rows)
    detector = blend().fit(table.take(rows))
    others = np.delete(np.arange(90), rows)
    np.testing.assert_array_equal(found.scores[rows], -detector.training_scores_)
    np.testing.assert_array_equal(found.scores[others], -detector.score_samples(table.take(others)))
    assert set(found.most_unusual[:2]) == {10, 11}
    asked = np.array([10, 0, 11, 3, 12])
    explanation = found.explanation(asked)
    left_out = explain_left_out(detector.model_, np.searchsorted(rows, [10, 11]), n_jobs=None)
    new = detector.explain(table.take([0, 3, 12]))
    for part, expected, places in ((explanation, left_out, [0, 2]), (explanation, new, [1, 3, 4])):
        np.testing.assert_array_equal(part.relief[places], expected.relief)
        np.testing.assert_array_equal(part.criterion_p_values[places], expected.criterion_p_values)
        for nearest, fitted in zip(part.neighbors, expected.neighbors, strict=True):
            np.testing.assert_array_equal(nearest[places], rows[fitted])
    dyads = found.nearest_dyads(asked)
    np.testing.assert_array_equal(dyads[[1, 3, 4]], detector.nearest_dyads(table.take([0, 3, 12])))
    np.testing.assert_array_equal(
        dyads[[0, 2]], detector.model_.left_out_dyads(np.searchsorted(rows, [10, 11]), n_jobs=None)
    )


def test_of_new_samples_the_nearest_are_rows_of_the_whole_training_table():
    table, rows = odd_table(), np.arange(1, 90, 2)
    found = find(blend(), table, table, rows=rows)
    for nearest in found.explanation(rows).neighbors:
        np.testing.assert_array_equal(nearest[:, 0], rows)


def test_sentences_about_one_file_speak_of_others_and_those_about_new_samples_of_nominal_ones():
    table = odd_table()
    # Of rows that were not fitted, others may be as far.
    for rows, who in ((None, "other"), (np.arange(0, 90, 2), "fitted")):
        sentences = [reason.sentence for reason in find(blend(), table, contamination=0.1, rows=rows).reasons(90)]
        assert any(f"no {who} record is this far from its" in sentence for sentence in sentences)
        assert not any("reference" in sentence for sentence in sentences)
    assert "reference record" in find(blend(), odd_table(), table).reasons(1)[0].sentence


def test_a_bad_value_is_told_by_its_row_in_the_whole_though_some_rows_are_fitted():
    table = random_table(1, 500)
    values = table.column("b").to_numpy().copy()
    values[321] = np.inf
    with pytest.raises(ValueError, match=r"Got inf in 'b', sample 321;"):
        find(blend(), table.set_column(1, "b", [values]), rows=np.arange(0, 500, 2))


def test_the_criterion_to_blame_has_the_smallest_p_value():
    nominal = random_table(0, 80)
    found = find(blend(), nominal, pa.table({"a": [9.0, 0.5], "b": [0.5, 7.0]}))
    assert [found.explanation(np.arange(2)).reason(sample)[0] for sample in range(2)] == [0, 1]
    assert {reason.because for reason in found.reasons(2)} == {"a", "b"}


@pytest.mark.parametrize("seed", range(12))
def test_the_main_reason_is_what_the_sentence_opens_with(seed):
    rng = np.random.default_rng(seed)
    names = ["ant", "bee", "cow", "dog"][: 1 + seed % 4]
    values = rng.normal(size=(150, 1)) + rng.normal(size=(150, len(names))) * rng.choice([0.2, 1.0], len(names))
    values[:20] += 3 * rng.standard_t(2, size=(20, len(names)))
    table = pa.table(dict(zip(names, values.T.round(1), strict=True)))
    found = find(ParetoDepthDetector(method=["blend", "depth"][seed % 2]), table, contamination=0.3)
    for reason in found.reasons(found.n_anomalies):
        opening = reason.sentence.split("; ")[0]
        named = [name for name in names if name in opening]
        if len(names) == 1:
            assert reason.because == "ant", reason.sentence
        elif reason.because == COMBINATION:
            assert opening.startswith("Unusual combination of "), reason.sentence
        else:
            assert named == [reason.because], reason.sentence


def test_no_criterion_is_to_blame_for_what_is_odd_only_in_combination(found):
    reasons = dict(zip(found.most_unusual.tolist(), found.reasons(120), strict=True))
    assert (reasons[88].suspect, reasons[88].because) == (-1, COMBINATION)
    assert reasons[found.most_unusual[-1]].because is None


@pytest.mark.parametrize("is_left_out", [False, True])
def test_each_sample_is_explained_once_however_many_outputs_there_are(is_left_out, tmp_path, monkeypatch):
    nominal, new = random_table(0, 60), random_table(1, 40)
    explained = []

    def counted(function):
        def explain(model, samples, *new, **options):
            explained.extend(samples.tolist() if is_left_out else map(tuple, np.column_stack(samples)))
            return function(model, samples, *new, **options)

        return explain

    for name in ("explain_new", "explain_mixed"):
        monkeypatch.setattr(findings, name, counted(getattr(findings, name)))
    found = find(blend(), nominal, None if is_left_out else new)
    results_table(found)
    write_report(found, str(tmp_path / "report.html"), max_samples=30)
    summary(found)
    found.reasons(10)
    assert found.n_anomalies < 30
    assert len(explained) == len(set(explained)) == 30


def test_reasons_asked_for_bit_by_bit_are_those_asked_for_at_once(found):
    again = find_in(found.detector, found.samples)
    parts = [again.reasons(n_samples) for n_samples in (2, 50, 7)]
    assert [len(part) for part in parts] == [2, 50, 7]
    for reason, expected in zip(parts[1], found.reasons(50), strict=True):
        assert reason.sentence == expected.sentence
        assert reason.suspect == expected.suspect
        np.testing.assert_array_equal(reason.relief, expected.relief)


def test_a_bad_value_deep_in_a_table_is_told_by_its_row():
    new = random_table(1, 5000)
    values = new.column("b").to_numpy().copy()
    values[[2500, 4000]] = np.inf
    with pytest.raises(ValueError, match=r"Got inf in 'b', sample 2500;"):
        find(blend(), random_table(0, 30), new.set_column(1, "b", [values]))


def test_missing_values_are_counted_over_the_whole_table():
    new = random_table(1, 5000)
    values = new.column("a").to_numpy().copy()
    values[[3, 2500, 4999]] = np.nan
    with pytest.raises(ValueError, match=r"Got 3 in 'a' instead"):
        find(blend(), random_table(0, 30), new.set_column(0, "a", [values]))


def test_phases_are_told_to_who_watches(tmp_path):
    phases = []
    with progress_to(lambda title, n_done, n_all: phases.append((title, n_done, n_all))):
        found = find(blend(), random_table(0, 60), random_table(1, 40))
        found.report(tmp_path / "report.html")
    titles = list(dict.fromkeys(title for title, _, _ in phases))
    assert titles[-3:] == ["scores of samples 0 to 39", "report", "reasons of 40 samples"]
    assert ("reasons of 40 samples", 1, 1) in phases


def test_other_input_is_refused():
    nominal = random_table(0, 30)
    with pytest.raises(TypeError, match=r"'detector' parameter of detect must be a ParetoDepthDetector. Got 'blend'"):
        find("blend", nominal)
    with pytest.raises(ValueError, match=r"samples: the columns must be the expected ones, 'a', 'b'. Got no 'b'"):
        find(blend(), nominal, nominal.select(["a"]))
    with pytest.raises(ValueError, match="must calibrate by 'leave-one-out' to score its own training samples"):
        find(ParetoDepthDetector(calibration="split"), nominal)
    for parameter in ("alpha", "threshold"):
        with pytest.raises(ValueError, match=f"Give either {parameter} or fdr"):
            find(ParetoDepthDetector(**{parameter: 0.1}), nominal, fdr=0.1)
    with pytest.raises(ValueError, match="'fdr' parameter of detect must be a number between 0 and 1"):
        find(blend(), nominal, fdr=1)
