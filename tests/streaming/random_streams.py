"""Random streams that are stopped and resumed, beside the same streams that never stop.

`python -m tests.streaming.random_streams 500`: records have missing values, further columns, extreme values, text in
place of numbers; sensors stand still, and columns cease to come.
"""

import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.streaming import StreamingDetector

NAMES = ["a", "b", "c", "kind", "note"]
EXTREMES = [1e308, -1e308, 1e200, -1e200, 1e160, -1e155, 5e-324, 0.0, -0.0, 2.0**60, np.inf, "text", [1.0], [[2.0]]]
NOTES = [None, np.nan, "text", 1.0, True, [1, "x"], {"deep": [[]]}, 10**2000, np.inf]


def criteria_of(rng, columns):
    """Return one to three criteria; `columns` gives the column that a name stands for."""
    a, b, c, kind = (columns(name) for name in NAMES[:4])
    menu = [
        Criterion("difference", a, "difference", missing=rng.choice(["fail", "drop"])),
        Criterion("cityblock", [a, b], "cityblock", missing=rng.choice(["fail", "drop", "ignore"])),
        Criterion("euclidean", [b, c], missing=rng.choice(["drop", "ignore"])),
        Criterion("seuclidean", [a, c], "seuclidean", missing=rng.choice(["drop", "ignore"])),
        Criterion("mahalanobis", [a, b], "mahalanobis", missing="drop"),
        Criterion("scaled", [c, kind], "scaled", missing=rng.choice(["drop", "ignore"])),
        Criterion("gower", [b, kind], "gower", missing=rng.choice(["drop", "ignore"])),
        Criterion("mismatch", kind, "mismatch", missing="drop"),
    ]
    return [menu[place] for place in rng.choice(len(menu), rng.integers(1, 4), replace=False)]


def records_of(rng, window):
    """Return values by name: a part of every kind of trouble, then ordinary ones."""
    share_missing, share_extreme = rng.choice([0.0, 0.03, 0.3]), rng.choice([0.0, 0.01, 0.1])
    is_tied = rng.random() < 0.4
    records, dead, stuck = [], set(), 0
    n_troubled = int(rng.integers(20, 6 * window))
    for number in range(n_troubled + 4 * window + 20):
        values = rng.integers(4, size=3) if is_tied else rng.normal(size=3)
        record = dict(zip(NAMES, [*map(float, values), str(rng.choice(["x", "y", "z"])), None], strict=True))
        record["note"] = NOTES[rng.integers(len(NOTES))]
        if number < n_troubled:
            if stuck:
                stuck, record = stuck - 1, records[-1]
            elif rng.random() < 0.01:
                stuck = int(rng.integers(1, 4 * window))
            if rng.random() < 0.02:
                dead ^= {NAMES[rng.integers(4)]}
            for name in NAMES[:4]:
                if name in dead or rng.random() < share_missing:
                    record = record | {name: [None, np.nan][rng.integers(2)]}
                elif rng.random() < share_extreme:
                    record = record | {name: EXTREMES[rng.integers(len(EXTREMES))]}
        records.append(record)
    return records


def formed(rng, record, form):
    """Return a record as a sample; to criteria that name columns these come in any order, with further ones."""
    if form == "row":
        return list(record.values())
    names = rng.permutation(NAMES).tolist() if rng.random() < 0.3 else NAMES
    more = {"more": [[]]} if form == "dict" and rng.random() < 0.2 else {}
    # Criteria that count columns count those of the first sample.
    return ({name: record[name] for name in names} if form == "dict" else record) | more


def outcome(function, *arguments):
    """Return what a call gives, or how it fails."""
    try:
        return function(*arguments)
    except (ValueError, TypeError) as error:
        return type(error).__name__, str(error)


def table(samples):
    """Return samples as a table: a dict of columns, or a list."""
    is_named = isinstance(samples[0], dict)
    return {name: [sample[name] for sample in samples] for name in samples[0]} if is_named else samples


def check_fresh(stream):
    """Check that the scores of a stream that was just fitted are those of the batch detector."""
    assert stream.age_ == 0
    window = stream.window_
    detector = ParetoDepthDetector(stream.criteria, method=stream.method, alpha=stream.alpha).fit(table(window))
    X = table(window[:5])
    np.testing.assert_equal(stream.score_samples(X), detector.score_samples(X))
    np.testing.assert_equal(stream.p_values(X), detector.p_values(X))
    assert stream.threshold_ == -detector.offset_
    assert [-stream.score_one(x) for x in window[:5]] == detector.score_samples(X).tolist()


def check_stream(seed, path):
    """Check a random stream; return what has happened how often."""
    rng = np.random.default_rng(seed)
    form = rng.choice(["row", "dict", "counted"])
    criteria = criteria_of(rng, str if form == "dict" else NAMES.index)
    window, alpha = int(rng.integers(10, 30)), rng.choice([0.1, 0.2])
    parameters = {
        "window": window,
        "alpha": float(alpha),
        "refresh": int(rng.integers(1, window + 1)),
        "method": str(rng.choice(["depth", "blend"])),
        "learn": str(rng.choice(["nominal", "all"])),
        "max_unlearnt": float(rng.choice([0.05, 0.3])),
    }
    going, stopped = (StreamingDetector(criteria, **parameters) for _ in range(2))
    counts = Counter()
    for record in records_of(rng, window):
        x = formed(rng, record, form)
        if rng.random() < 0.1:
            outcome(going.score_one, x)
        found = [outcome(stream.update_one, x) for stream in (going, stopped)]
        np.testing.assert_equal(*found)
        counts["samples"] += 1
        counts["refused"] += isinstance(found[0][0], str)
        counts["while fits fail"] += going._stream._is_failing
        if rng.random() < 0.06:
            stopped.save(path)
            stopped = StreamingDetector.load(path)
            np.testing.assert_equal(stopped.window_, going.window_)
            assert (stopped.n_seen_, stopped.drifts_) == (going.n_seen_, going.drifts_)
            counts["stops"] += 1
        if rng.random() < 0.02 and going.__sklearn_is_fitted__():
            failures = [outcome(stream.refresh_fronts) for stream in (going, stopped)]
            if failures[0] is going:
                check_fresh(going)
                counts["fresh fits"] += 1
            else:
                assert failures[0] == failures[1]
    # Whatever came, the stream is at work again at last.
    assert not np.isnan(found[0].score), found[0]
    return counts


def main(n_streams, first=0):
    """Check so many streams, and return what has happened how often."""
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + n_streams):
            try:
                counts += check_stream(seed, Path(folder) / "state")
            except Exception as error:
                error.add_note(f"stream {seed}")
                raise
            counts["streams"] += 1
    return counts


if __name__ == "__main__":
    print(dict(main(*map(int, sys.argv[1:] or [500]))))  # noqa: T201
