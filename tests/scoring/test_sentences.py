"""Every phrase of every sentence is true, by brute force; and says what it means."""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.reference_range import ComparedValue
from paretodepth.scoring.explanation import explain_left_out, with_values
from paretodepth.scoring.methods import METHODS
from paretodepth.scoring.sentences import MAX_LETTERS, Phrase, main_criterion, sentence
from tests import naive
from tests.criteria.metric_draws import DRAWS, PARAMS, SPECIAL, is_installed

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
ALPHA = 0.15
N_TRAINING = 24
CLOSE = 1e-9


def some_metrics(rng, n_metrics):
    """Metrics of different kinds; a function, a transformer and matrices among them."""
    installed = [metric for metric in METRICS.values() if is_installed(metric) and metric.name != "mahalanobis"]
    kinds = sorted({metric.kind for metric in installed} | {"function", "transformer", "precomputed"})
    chosen = rng.permutation(kinds)[:n_metrics]
    return [(kind, rng.choice([metric for metric in installed if metric.kind == kind] or [None])) for kind in chosen]


def column_draws(rng, kind, metric, n_samples):
    """Columns for a criterion: some samples are equal, some far off."""
    if metric is None:
        columns = {"u": rng.normal(size=n_samples)}
    else:
        columns = SPECIAL.get(metric.name, DRAWS[kind])(rng, n_samples)
    rows = np.where(rng.random(n_samples) < 0.3, rng.integers(n_samples, size=n_samples), np.arange(n_samples))
    for name, values in columns.items():
        array = np.asarray(values) if isinstance(values, np.ndarray) else values
        taken = [array[row] for row in rows]
        if isinstance(array, np.ndarray) and array.dtype.kind == "f" and (metric is None or metric.name != "haversine"):
            taken = np.array(taken) * np.where(rng.random(n_samples) < 0.15, 8, 1)
        columns[name] = taken
    return columns


def drawn(seed, n_new):
    """A detector fitted to criteria of any kinds, and new samples, every other the twin of a training sample."""
    rng = np.random.default_rng(seed)
    method = list(METHODS)[seed % 2]
    criteria, table = [], {}
    n_samples = N_TRAINING + n_new
    for place, (kind, metric) in enumerate(some_metrics(rng, 1 + seed % 4)):
        columns = {f"{place} {name}": values for name, values in column_draws(rng, kind, metric, n_samples).items()}
        table |= columns
        if kind == "precomputed":
            criteria.append(Criterion(f"{place} u", metric="precomputed"))
            continue
        given = dict(metric="cityblock", transform=FunctionTransformer(np.arctan))
        if kind == "function":
            given = dict(metric=lambda A, B: np.abs(A - B.T))
        elif metric is not None:
            given = dict(metric=metric.name, **PARAMS.get(metric.name, {}))
        criteria.append(Criterion(f"{place} {kind}", list(columns), **given))
    training = {name: values[:N_TRAINING] for name, values in table.items()}
    twins = np.where(rng.random(n_new) < 0.3, rng.integers(n_samples, size=n_new), np.arange(N_TRAINING, n_samples))
    new = {name: [values[row] for row in twins] for name, values in table.items()}
    for name in (criterion.name for criterion in criteria if criterion.is_precomputed):
        positions = np.array(training[name])
        training[name], new[name] = (np.abs(np.subtract.outer(part[name], positions)) for part in (training, new))
    split = {"calibration": "split", "random_state": 0} if seed % 5 == 4 else {}
    detector = ParetoDepthDetector(criteria, method=method, alpha=ALPHA, **split).fit(training)
    return detector, training, new


class Truth:
    """What is so, found by comparing all with all."""

    def __init__(self, detector, training):
        self.model = model = detector.model_
        self.method = model.method
        self.fitted = model.criteria.fitted
        every = model.criteria.encode(training, caller="").encodings
        own = [c.dissimilarities(encoding, encoding, (0, 0)) for c, encoding in zip(self.fitted, every, strict=True)]
        self.training = np.array(own)[:, model.rows][:, :, model.rows]
        for matrix in self.training:
            # The dissimilarity of a pair is asked for once.
            matrix[:] = np.triu(matrix, 1) + np.triu(matrix, 1).T
        held_out = np.setdiff1d(np.arange(len(own[0])), model.rows)
        self.held_out = [np.array(own)[:, row][:, model.rows] for row in held_out]
        self.places = {row: place for place, row in enumerate(model.rows.tolist())}
        self.known = {}

    def new_rows(self, new):
        encodings = self.model.criteria.encode(new, caller="").encodings
        pairs = zip(self.fitted, encodings, self.model.training, strict=True)
        blocks = [
            encoding[:, self.model.rows] if c.is_precomputed else c.dissimilarities(encoding, training, (0, 0))
            for c, encoding, training in pairs
        ]
        return np.array(blocks).swapaxes(0, 1)

    @cached_property
    def dyads(self):
        return naive.pairwise_dyads(self.training)

    @cached_property
    def weights(self):
        return [1 / naive.usual_size(column) for column in self.dyads.T]

    @cached_property
    def twin(self):
        return naive.Blend(self.training)

    @cached_property
    def left_out(self):
        return [self.statistics(self.training[:, i], i) for i in range(self.training.shape[1])]

    @cached_property
    def nominal(self):
        """The statistics of the samples that calibrate."""
        return [self.statistics(rows) for rows in self.held_out] or self.left_out

    def statistics(self, rows, exclude=None):
        if self.method == "blend":
            return self.twin.statistics(rows, exclude)
        depths = naive.mean_depth(
            rows, self.model.measurer.n_neighbors, self.dyads, self.front_numbers, exclude=exclude
        )
        sums = [self.far(rows, (c,), k, exclude) for c, k in enumerate(self.model.measurer.n_summed)]
        return {"mean_depth": depths, "neighbor_sums": sums}

    @cached_property
    def front_numbers(self):
        return naive.front_numbers(self.dyads)

    def far(self, rows, criteria, k, exclude=None):
        """The sum over the k nearest, in one criterion or by the weighted sum of all."""
        values = rows[criteria[0]]
        if len(criteria) > 1:
            values = [sum(w * v for w, v in zip(self.weights, column, strict=True)) for column in rows.T]
        return sum(sorted(value for j, value in enumerate(values) if j != exclude)[:k])

    def nominal_far(self, criteria, k, exclude=None):
        if self.held_out:
            return [self.far(rows, criteria, k) for rows in self.held_out]
        n_training = self.training.shape[1]
        return [self.far(self.training[:, i], criteria, k, i) for i in range(n_training) if i != exclude]

    def odd(self, statistics, criteria):
        """How odd a sample is in a criterion, in two, or, of all (None, if there is but one), how strange."""
        n_criteria = len(self.fitted)
        if criteria is None:
            return self.score(statistics)
        if len(criteria) == 1 and self.method == "blend":
            return naive.blend_alone(self.left_out, statistics)[criteria[0]]
        if len(criteria) == 1:
            # A share of those that are fitted, so that sums between the same two of them are as odd.
            fitted = [sample["neighbor_sums"][criteria[0]] for sample in self.left_out]
            return naive.surprise(fitted, statistics["neighbor_sums"][criteria[0]])
        if len(criteria) < n_criteria:
            return statistics["pair_depths"][self.twin.pairs.index(tuple(criteria))]
        return self.score(statistics)

    def nominal_odd(self, criteria, share):
        """How odd the samples are that calibrate, if all is larger by a share: the same for whoever is compared."""
        if (criteria, share) not in self.known:
            found = [self.odd(moved(sample, share), criteria) for sample in self.nominal]
            self.known[criteria, share] = np.array(found)
        return self.known[criteria, share]

    def score(self, statistics):
        return naive.blend_score(self.left_out, statistics) if self.method == "blend" else statistics["mean_depth"]


def moved(statistics, share):
    """Return statistics that are larger or smaller by a tiny share."""
    return {name: np.multiply(values, 1 + share) for name, values in statistics.items()}


PERIODS = {"phase": 24, "time_of_day": 24 * 3600e6, "weekday": 7, "day_of_year": 366}


def read(metric, entry):
    """What a metric makes of an entry: a time as a number, others as they are."""
    moment = np.datetime64(entry, "us") if isinstance(entry, datetime) else entry
    if metric == "cyclic":
        return entry % 24
    if not isinstance(moment, np.datetime64):
        return entry.item() if isinstance(entry, np.generic) else entry
    moment = moment.astype("datetime64[us]").item()
    day = moment.date()
    return {
        "elapsed": (moment - datetime(1970, 1, 1)) / timedelta(microseconds=1),
        "time_of_day": (moment - datetime(day.year, day.month, day.day)) / timedelta(microseconds=1),
        "weekday": day.weekday(),
        "day_of_year": day.timetuple().tm_yday - 1,
    }[metric]


def is_within(number, low, high, period, slack=0.0):
    slack *= max(abs(low), abs(high))
    if not period:
        return low - slack <= number <= high + slack
    return (number - low + slack) % period <= (high - low) % period + 2 * slack


def assert_range(value, entries):
    """The ends of a range are those of entries, moved outward: by a hundredth of the range, or to a minute."""
    period = PERIODS.get(value.kind, 0)
    width = (value.high - value.low) % period if period else value.high - value.low
    most = 60e6 if value.kind in ("time_of_day", "moment") else 0.01 * width
    for way, end in ((1, value.low), (-1, value.high)):
        moved = np.array([way * (entry - end) for entry in entries])
        moved = (moved + CLOSE) % period - CLOSE if period else moved
        assert ((moved >= -CLOSE * max(1, abs(end))) & (moved <= most + CLOSE * max(1, abs(end)))).any()


class Checked:
    """The phrases about one sample, each compared with the truth."""

    def __init__(self, truth, tables, explanation, sample, rows, exclude=None):
        self.truth, self.rows, self.exclude = truth, rows, exclude
        self.training, self.new = tables
        self.explanation, self.sample = explanation, sample

    @cached_property
    def own(self):
        return self.truth.statistics(self.rows, self.exclude)

    def bounds(self, criteria):
        """How many nominal samples reach what this one does, at least and at most, and how many there are.

        Differences in the last bits decide nothing: of samples that are tied some sums differ there.
        """
        left_out = None if self.truth.held_out else self.exclude
        counts = []
        for way in (CLOSE, -CLOSE):
            own = self.truth.odd(moved(self.own, way), criteria)
            others = np.delete(self.truth.nominal_odd(criteria, -way), [] if left_out is None else left_out)
            counts.append(np.count_nonzero(others >= own))
        return (*counts, len(others))

    def assert_counted(self, n_samples, total, bounds):
        least, most, of = bounds
        assert total == of
        assert least <= n_samples <= most

    def p_bounds(self, criteria):
        least, most, n_others = self.bounds(criteria)
        # A training sample counts itself.
        is_training_sample = self.exclude is not None
        return [(1 + is_training_sample + count) / (1 + is_training_sample + n_others) for count in (least, most)]

    def assert_unusual(self, criterion, expected):
        low, high = self.p_bounds((criterion,))
        assert low <= self.explanation.alpha if expected else high > self.explanation.alpha

    def check(self, phrase):
        getattr(self, f"check_{phrase.kind}")(phrase.criteria, *phrase.numbers)

    def check_verdict(self, criteria, p_value, is_flagged):
        low, high = self.p_bounds(None)
        assert low - CLOSE <= p_value <= high + CLOSE
        assert self.explanation.is_anomaly[self.sample] == is_flagged
        if self.explanation.phrases(self.sample) == [Phrase("verdict", (), (p_value, False))]:
            for criterion in range(len(self.truth.fitted)):
                self.assert_unusual(criterion, expected=False)

    def check_far(self, criteria, k, n_samples, of, n_match):
        others = np.array(self.truth.nominal_far(criteria, k, None if self.truth.held_out else self.exclude))
        own = self.truth.far(self.rows, criteria, k, self.exclude)
        least, most = (np.count_nonzero(others >= own * (1 + slack)) for slack in (CLOSE, -CLOSE))
        self.assert_counted(n_samples, of, (least, most, len(others)))

        if n_match:
            # Whoever equals a training sample in every criterion may be that sample, which is no match of itself.
            assert self.exclude is not None or not (self.rows == 0).all(axis=0).any()
            assert n_match == sum(d == 0 and j != self.exclude for j, d in enumerate(self.rows[criteria[0]]))

    def check_local(self, criteria, k):
        place = criteria[0] if len(criteria) == 1 else -1
        values = self.truth.twin.with_sum(self.rows)[place]
        own = self.truth.twin.own_means[:, place]
        others = sorted((value, own[j], j) for j, value in enumerate(values) if j != self.exclude)[:k]
        assert np.mean([value for value, _, _ in others]) > np.mean([mean for _, mean, _ in others])

    def check_rare(self, criteria, n_samples, of):
        self.assert_counted(n_samples, of, self.bounds(criteria))

    def check_also(self, criteria):
        for criterion in criteria:
            self.assert_unusual(criterion, expected=True)

    def check_joint(self, criteria, *values):
        for criterion, value in zip(criteria, values, strict=True):
            if value is not None:
                self.check_value((criterion,), value)

    def raw(self, criterion, value):
        """The numbers or categories of the training samples, and this sample's, in a column of a criterion."""
        names = list(self.training)
        (usual,) = [usual for usual in self.truth.fitted[criterion].typical if usual.name == value.name]
        metric, name = self.truth.fitted[criterion].criterion.metric, names[usual.column]
        own = (self.training if self.exclude is not None else self.new)[name][self.sample]
        training = [self.training[name][row] for row in self.truth.model.rows]
        return [read(metric, entry) for entry in training], read(metric, own)

    def check_value(self, criteria, value):
        training, own = self.raw(criteria[0], value)
        if value.kind == "category":
            assert value.value == own
            others = [entry for place, entry in enumerate(training) if place != self.exclude]
            assert (value.n_same, value.n_samples) == (others.count(own), len(others))
            return
        period = PERIODS.get(value.kind)
        assert value.value == pytest.approx(own)
        if np.isnan(value.low):
            # Nine tenths take most of the circle.
            arcs = [sorted((entry - start) % period for entry in training) for start in training]
            assert min(arc[int(np.ceil(0.9 * len(training))) - 1] for arc in arcs) > 0.75 * period
            assert not value.direction
            return
        assert_range(value, training)
        assert 0.9 * len(training) <= sum(is_within(entry, value.low, value.high, period) for entry in training)
        assert bool(value.direction) == (not is_within(own, value.low, value.high, period))
        if not period:
            assert value.direction == ("high" if own > value.high else "low" if own < value.low else "")
            assert value.percentile == pytest.approx(100 * np.mean([entry < own for entry in training]))

    def check_contrast(self, criteria, value):
        training, own = self.raw(criteria[1], value)
        distances = [d if j != self.exclude else np.inf for j, d in enumerate(self.rows[criteria[0]])]
        nearest = sorted(distances)[: value.n_samples]
        # Who is among the nearest is open where some are as near as the last.
        sure = [training[j] for j, d in enumerate(distances) if d < nearest[-1]]
        likely = [training[j] for j, d in enumerate(distances) if d <= nearest[-1]]
        if value.kind == "category":
            assert value.n_same == 0
            assert own not in sure
            return
        period = PERIODS.get(value.kind)
        assert all(is_within(entry, value.low, value.high, period, CLOSE) for entry in sure)
        assert_range(value, likely)
        assert not is_within(own, value.low, value.high, period)

    def check_text(self, criteria, own, nearest):
        (column,) = self.truth.fitted[criteria[0]].columns
        texts = list(self.training.values())[column]
        assert own == list((self.training if self.exclude is not None else self.new).values())[column][self.sample]
        distances = [d if j != self.exclude else np.inf for j, d in enumerate(self.rows[criteria[0]])]
        near = [texts[self.truth.model.rows[j]] for j, d in enumerate(distances) if d == min(distances)]
        assert nearest in near


def assert_equal_ones_are_told_alike(every, told_by):
    """Samples with the same dissimilarities to all others, and none to each other, get the same sentence."""
    encoded = {}
    for told, sample, rows, exclude in every:
        if exclude is not None:
            rows = rows.copy()
            # To itself it would have none.
            rows[:, exclude] = 0
        encoded.setdefault((id(told), rows.tobytes()), set()).add(told_by[id(told)][sample])
    assert all(len(sentences) == 1 for sentences in encoded.values())


def assert_opens_with_main_reason(told, phrases, text):
    """The criterion that is the main reason, or a column that it reads, opens the sentence."""
    criterion = main_criterion(phrases, len(told.criteria))
    if criterion >= 0 and phrases[0].criteria:
        columns = [value.name for value in told.values.of(0).get(criterion, [])]
        assert text.startswith((told.criteria[criterion], *columns))
    elif phrases[0].kind == "joint":
        assert text.startswith("Unusual combination of ")


def assert_true(seed, n_new):
    return true_kinds(*drawn(seed, n_new))


def true_kinds(detector, training, new):
    """Check every phrase about new samples, and about training samples; return their kinds."""
    truth = Truth(detector, training)
    explanation = detector.explain(new)
    kinds = []
    every = [(explanation, i, rows, None) for i, rows in enumerate(truth.new_rows(new))]
    if not truth.held_out:
        rows = np.arange(truth.training.shape[1])
        left_out = explain_left_out(detector.model_, rows, n_jobs=1)
        columns = detector.model_.criteria.encode(training, caller="").columns
        if columns is not None:
            left_out = with_values(left_out, detector.model_, columns)
        every += [(left_out, i, truth.training[:, i], i) for i in rows.tolist()]
    told_by = {id(told): told.sentences for told, *_ in every}
    for told, sample, rows, exclude in every:
        checked = Checked(truth, (training, new), told, sample, rows, exclude)
        phrases, text = told.phrases(sample), told_by[id(told)][sample]
        for phrase in phrases:
            checked.check(phrase)
            kinds.append(phrase.kind)
        assert len(text) <= MAX_LETTERS
        assert_opens_with_main_reason(told, phrases, text)
    assert_equal_ones_are_told_alike(every, told_by)
    return kinds, len(every)


@pytest.mark.parametrize("seed", range(5))
def test_every_phrase_is_true(seed):
    kinds, _ = assert_true(seed, 8)
    assert len(kinds) >= 8


@pytest.mark.slow
def test_every_phrase_about_2000_samples_is_true():
    kinds, n_samples = set(), 0
    seed = 100
    while n_samples < 2000:
        found, n_told = assert_true(seed, 24)
        kinds |= set(found)
        n_samples += n_told
        seed += 1
    assert kinds >= {"verdict", "value", "text", "far", "rare", "joint", "contrast", "also"}


@pytest.mark.parametrize("n_criteria", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_a_fitted_sample_is_no_match_of_itself(method, n_criteria):
    X = np.random.default_rng(0).random((60, n_criteria))
    X[7, 0] = 9.0
    detector = ParetoDepthDetector(method=method).fit(X)
    detector.model_ = replace(detector.model_, threshold=-np.inf)
    explanation = detector.explain(X[[7, 3]])
    assert explanation.is_anomaly.all()
    phrases = [phrase for sample in range(2) for phrase in explanation.phrases(sample)]
    assert {phrase.numbers[3] for phrase in phrases if phrase.kind == "far"} == {0}
    assert "exactly" not in " ".join(explanation.sentences)


def test_what_is_said_of_surroundings_is_true():
    # A dense cluster in a wide one.
    rng = np.random.default_rng(3)
    wide, dense = rng.normal(0, 6, (16, 2)), rng.normal(0, 0.01, (12, 2))
    training = dict(zip("ab", np.concatenate([wide, dense]).T, strict=True))
    new = dict(zip("ab", 0.25 * rng.normal(size=(2, 20)), strict=True))
    detector = ParetoDepthDetector(method="blend", alpha=0.2).fit(training)
    kinds = true_kinds(detector, training, new)[0]
    assert "local" in kinds


HIGH, LOW = (ComparedValue("x", "number", 12.0, 1.0, 9.0, "high"), ComparedValue("y", "number", 0.0, 1.0, 9.0, "low"))
ALL = tuple(range(6))
SAID = {
    "Typical (p = 0.92).": [Phrase("verdict", (), (0.92, False))],
    "a is unusual; not flagged (p = 0.06).": [Phrase("also", (0,)), Phrase("verdict", (), (0.06, False))],
    "a 12 is above the typical 1–9; not flagged (p = 0.06).": [
        Phrase("value", (0,), (HIGH._replace(name="a"),)),
        Phrase("verdict", (), (0.06, False)),
    ],
    "a: the score is above the threshold (p = 0.31).": [Phrase("verdict", (0,), (0.31, True))],
    "b: no reference record is this far from its closest match; also c, d and 2 more.": [
        Phrase("far", (1,), (1, 0, 900, 0)),
        Phrase("also", (2, 3, 4, 5)),
    ],
    "b: only 1 of 900 reference records is this far from its 5 closest, though 1 matches exactly.": [
        Phrase("far", (1,), (5, 1, 900, 1))
    ],
    "b: only 2 of 1,900 reference records are this far from their 5 closest, though 2,000 match exactly.": [
        Phrase("far", (1,), (5, 2, 1900, 2000))
    ],
    "Unusual combination of a and c: rarer than in all 900 reference records.": [
        Phrase("joint", (0, 2), (None, None)),
        Phrase("rare", (0, 2), (0, 900)),
    ],
    "Unusual combination of a (x 12) and c: rarer than in 893 of 900 reference records.": [
        Phrase("joint", (0, 2), (HIGH, None)),
        Phrase("rare", (0, 2), (7, 900)),
    ],
    "Unusual combination of all 6 criteria: no reference record is this far from its 5 closest in all criteria "
    "combined.": [Phrase("joint", ALL, (None,) * 6), Phrase("far", ALL, (5, 0, 900, 0))],
    "a 5 is within the typical 1–9, but no reference record is this far from its closest match.": [
        Phrase("value", (0,), (ComparedValue("a", "number", 5.0, 1.0, 9.0),)),
        Phrase("far", (0,), (1, 0, 900, 0)),
    ],
    "b: x 12 is above the typical 1–9 and y 0 is below the typical 1–9; no reference record is as unusual; the 5 "
    "closest in a have y 3–4, not 0.": [
        Phrase("value", (1,), (HIGH,)),
        Phrase("value", (1,), (LOW,)),
        Phrase("rare", (1,), (0, 900)),
        Phrase("contrast", (0, 1), (ComparedValue("y", "number", 0.0, 3.0, 4.0, "low", n_samples=5),)),
    ],
    "b 'Jon' (closest: 'John'); 200 of 900 reference records are as unusual.": [
        Phrase("text", (1,), ("Jon", "John")),
        Phrase("rare", (1,), (200, 900)),
    ],
    "c: farther from its 10 closest than these are from theirs; none of the 5 closest in a has shop 'Q'.": [
        Phrase("local", (2,), (10,)),
        Phrase("contrast", (0, 2), (ComparedValue("shop", "category", "Q", n_samples=5),)),
    ],
}


@pytest.mark.parametrize("said", SAID)
def test_a_phrase_says_what_was_counted(said):
    assert sentence(SAID[said], list("abcdef"), "nominal") == said


def test_of_one_file_the_others_are_spoken_of():
    phrases = [Phrase("far", (0,), (5, 0, 899, 0)), Phrase("rare", (1,), (3, 899))]
    assert sentence(phrases, ["a", "b"], "other") == (
        "a: no other record is this far from its 5 closest; b: only 3 of 899 other records are as unusual."
    )


def test_a_long_sentence_drops_what_matters_least():
    names = ["a" * 10_000, "b" * 28, "c" * 28, "d" * 28]
    far, also = Phrase("far", (0,), (5, 0, 900, 0)), Phrase("also", (1, 2, 3))
    short = f"{'a' * 29}…: no reference record is this far from its 5 closest"
    rare = f"{names[1]}: only 1 of 900 reference records is as unusual"
    assert sentence([far, Phrase("rare", (1,), (1, 900)), also], names, "nominal") == f"{short}; {rare}."
    joint = [Phrase("joint", (1, 2), (None, None)), Phrase("rare", (1, 2), (0, 900))]
    assert sentence([far, also, *joint], names, "nominal") == f"{short}."
