"""A table of bad input: what is called, the error it gives and its text."""

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from paretodepth import Criterion, Fronts, ParetoDepthDetector, criteria_to_toml, front_numbers
from paretodepth.datasets import make_hypercube, make_pedestrians, trajectory_table
from studies.paper.injection import inject, make_injected_split
from studies.paper.splines import smoothed

X = np.random.default_rng(0).random((10, 3))
WALK = np.column_stack([np.arange(20.0), np.zeros(20), np.arange(20.0)])
D = np.abs(X[:, :1] - X[:, 0])
PRECOMPUTED = [Criterion("a", metric="precomputed"), Criterion("b", metric="precomputed")]


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


def fit(X=X, criteria=None, **parameters):
    return lambda: ParetoDepthDetector(criteria, **parameters).fit(X)


def with_metric(metric):
    return fit(criteria=[Criterion("a", metric=metric)])


BAD_INPUT = {
    "dyads of text": (lambda: front_numbers([["a"]]), TypeError, "'dyads' parameter of front_numbers must hold real"),
    "complex dyads": (lambda: front_numbers([[1j]]), TypeError, "Got dtype complex128 instead"),
    "flat dyads": (lambda: front_numbers([1.0]), ValueError, r"Got the shape \(1,\) instead; use dyads.reshape"),
    "no criteria in dyads": (lambda: front_numbers(np.empty((3, 0))), ValueError, "at least one criterion"),
    "NaN in dyads": (
        lambda: front_numbers([[1, 2], [3, np.nan]]),
        ValueError,
        "must hold no NaN. Got one in row 1, criterion 1; drop",
    ),
    "cap of zero": (
        lambda: Fronts.from_dyads(X, max_depth=0.5),
        ValueError,
        "'max_depth' parameter of Fronts.from_dyads must be an integer of at least 1. Got 0.5 instead",
    ),
    "NaN in samples": (
        fit(changed(changed(X, (slice(3), 1), np.nan), (5, 2), np.nan)),
        ValueError,
        r"must hold no missing values \(NaN, None\). Got 3 in '1', 1 in '2' instead; impute the values, or set "
        "missing='drop'",
    ),
    "infinite sample": (fit(changed(X, (3, 1), np.inf)), ValueError, "finite numbers. Got inf in '1', sample 3"),
    "two samples": (fit(X[:2]), ValueError, r"2 sample\(s\).* minimum of 3 is required by ParetoDepthDetector"),
    "two precomputed samples": (
        fit([D[:2, :2]] * 2, PRECOMPUTED),
        ValueError,
        "must be fitted on at least 3 samples. Got 2 instead",
    ),
    "text in samples": (
        fit([["a", "b"]] * 5),
        TypeError,
        "column '0' of ParetoDepthDetector must hold numbers. Got 'a' of type str in sample 0",
    ),
    "text that could be numbers": (fit([["1", 2.0]] * 5), TypeError, "must hold numbers. Got '1' of type str"),
    "unknown column name": (
        fit(pd.DataFrame(X, columns=["speed", "mass", "age"]), [Criterion("a", ["sped"])]),
        ValueError,
        r"'columns' parameter of the criterion 'a' must hold columns of the data. Got 'sped' instead "
        r"\(did you mean 'speed'\?\); the columns are 'speed', 'mass', 'age'",
    ),
    "column name without names": (
        fit(criteria=[Criterion("a", "speed")]),
        ValueError,
        "indices when the data have no column names. Got 'speed' instead; pass a data frame",
    ),
    "unknown column index": (fit(criteria=[Criterion("a", 3)]), ValueError, "indices from 0 to 2. Got 3 instead"),
    "negative column index": (fit(criteria=[Criterion("a", [-1])]), ValueError, "from 0 to 2. Got -1 instead"),
    "column of another type": (fit(criteria=[Criterion("a", [1.5])]), TypeError, "names or indices. Got 1.5 instead"),
    "no columns": (fit(criteria=[Criterion("a", [])]), ValueError, "must name at least one column"),
    "unknown metric": (
        with_metric("euclidian"),
        ValueError,
        r"'metric' parameter of the criterion 'a' must be a known metric or a callable. Got 'euclidian' instead "
        r"\(did you mean 'euclidean' or 'seuclidean' or 'sqeuclidean'\?\)",
    ),
    "metric of another type": (with_metric(2), TypeError, "metric's name or a callable. Got 2 instead"),
    "callable of the wrong shape": (
        with_metric(lambda A, B: np.zeros(len(A))),
        ValueError,
        r"metric of the criterion 'a' must return numbers of the shape \(len\(A\), len\(B\)\) = \(10, 10\). "
        r"Got the shape \(10,\)",
    ),
    "callable that returns text": (
        with_metric(lambda A, B: np.full((len(A), len(B)), "far")),
        ValueError,
        "Got the shape .* and dtype <U3",
    ),
    "callable that returns NaN": (
        with_metric(lambda A, B: changed(np.zeros((len(A), len(B))), (2, 4), np.nan)),
        ValueError,
        "criterion 'a' must give dissimilarities that are finite and not negative. Got nan for sample 2 and training "
        "sample 4 instead",
    ),
    "callable that returns infinity": (
        with_metric(lambda A, B: np.full((len(A), len(B)), np.inf)),
        ValueError,
        "Got inf for sample 0",
    ),
    "callable that returns negative values": (
        with_metric(lambda A, B: np.full((len(A), len(B)), -1)),
        ValueError,
        "Got -1.0 for sample 0",
    ),
    "correlation of a constant vector": (
        fit(changed(X, 1, 0.0), [Criterion("a", metric="correlation")]),
        ValueError,
        "Got nan for sample 0 and training sample 1",
    ),
    "criteria of another type": (fit(criteria="speed"), TypeError, "must be a list of Criterion objects"),
    "criterion of another type": (fit(criteria=["speed"]), TypeError, "must hold only Criterion objects. Got 'speed'"),
    "no criterion": (fit(criteria=[]), ValueError, "must hold at least one Criterion"),
    "two criteria of one name": (
        fit(criteria=[Criterion("a", 0), Criterion("a", 1)]),
        ValueError,
        "must have different names. Got 'a' 2 times instead",
    ),
    "criterion without a name": (fit(criteria=[Criterion("")]), TypeError, "must be a non-empty string. Got ''"),
    "precomputed beside others without a dict": (
        fit(criteria=[Criterion("a", metric="precomputed"), Criterion("b")]),
        TypeError,
        "must be a dict of columns when only some criteria are precomputed; it holds the matrices of 'a' beside",
    ),
    "a matrix in place of samples": (
        fit(D),
        ValueError,
        "must not be dissimilarity matrices. Got a matrix, square and symmetric .* metric='precomputed'",
    ),
    "matrices in place of samples": (fit([D, D]), ValueError, "must not be dissimilarity matrices. Got matrices"),
    "samples in place of a matrix": (
        fit([X], [Criterion("a", metric="precomputed")]),
        ValueError,
        r"criterion 'a' must be square at fit, .* Got the shape \(10, 3\)",
    ),
    "a matrix for two criteria": (
        fit(D, PRECOMPUTED),
        TypeError,
        r"need a sequence or a dict of matrices, one per criterion. Got an array of shape \(10, 10\) instead",
    ),
    "an iterator of matrices": (fit(iter([D, D]), PRECOMPUTED), TypeError, "Got list_iterator instead"),
    "too few matrices": (fit([D], PRECOMPUTED), ValueError, "one per criterion, 'a', 'b'. Got 1 instead"),
    "matrices of other names": (fit({"a": D, "c": D}, PRECOMPUTED), ValueError, "'a', 'b'. Got 'a', 'c' instead"),
    "matrices of two shapes": (
        fit([D, D[:9, :9]], PRECOMPUTED),
        ValueError,
        r"must all have one shape. Got \(10, 10\) for 'a' and \(9, 9\) for 'b'",
    ),
    "flat matrix": (fit([D, D[0]], PRECOMPUTED), TypeError, "'b' must be a two-dimensional array of numbers"),
    "oblong matrix": (
        fit([D, D[:9]], PRECOMPUTED),
        ValueError,
        r"criterion 'b' must be square at fit, .* Got the shape \(9, 10\)",
    ),
    "asymmetric matrix": (
        fit([D, changed(D, (2, 5), 9.0)], PRECOMPUTED),
        ValueError,
        r"'b' must be symmetric. Got 9.0 for the pair \(2, 5\) and",
    ),
    "diagonal that is not zero": (
        fit([D, changed(D, (4, 4), 1.0)], PRECOMPUTED),
        ValueError,
        "zero diagonal. Got 1.0 for sample 4 instead; is it a similarity",
    ),
    "negative matrix": (fit([D, -D], PRECOMPUTED), ValueError, "criterion 'b' must give .* not negative. Got -"),
    "NaN in matrix": (fit([D, changed(D, (1, 2), np.nan)], PRECOMPUTED), ValueError, "Got nan for sample 1"),
    "wrong number of columns in new matrices": (
        lambda: ParetoDepthDetector(PRECOMPUTED).fit([D, D]).predict([D[:, :9], D[:, :9]]),
        ValueError,
        r"must have one column per training sample, 10. Got the shape \(10, 9\)",
    ),
    "fewer columns than at fit": (
        lambda: ParetoDepthDetector().fit(X).predict(X[:, :2]),
        ValueError,
        "X has 2 features, but ParetoDepthDetector is expecting 3",
    ),
    "as many neighbors as samples": (
        fit(n_neighbors=10),
        ValueError,
        "'n_neighbors' parameter of ParetoDepthDetector must be an integer of at least 1 and below the number of "
        "training samples, 10. Got 10 for the criterion 'x0' instead",
    ),
    "no neighbors": (fit(n_neighbors=[1, 0, 1]), ValueError, "Got 0 for the criterion 'x1' instead"),
    "too few numbers of neighbors": (
        fit(n_neighbors=[1, 2]),
        ValueError,
        "one integer per criterion, 3 in all. Got 2 instead; the criteria are 'x0', 'x1', 'x2'",
    ),
    "half a neighbor": (fit(n_neighbors=1.5), ValueError, "'connected', an integer or one integer per criterion"),
    "unknown rule for neighbors": (
        fit(n_neighbors="conected"),
        ValueError,
        r"must be one of 'connected'. Got 'conected' instead \(did you mean 'connected'\?\)",
    ),
    "unknown depth": (
        fit(depth="mean"),
        ValueError,
        "'depth' parameter of ParetoDepthDetector must be one of 'paper', 'insertion', 'mid'. Got 'mean' instead",
    ),
    "alpha of zero": (fit(alpha=0), ValueError, "'alpha' parameter .* between 0 and 1, both excluded. Got 0 instead"),
    "alpha of one": (fit(alpha=1.0), ValueError, "Got 1.0 instead"),
    "alpha of another type": (fit(alpha="5%"), ValueError, "Got '5%' instead"),
    "alpha out of reach": (
        fit(alpha=0.05),
        ValueError,
        "'alpha' parameter of ParetoDepthDetector must be at least .* which is 0.09091 for these 10. Got 0.05 instead; "
        "raise it, give a 'threshold', or fit on more samples: 19 calibrating ones are enough",
    ),
    "alpha out of a split's reach": (
        fit(alpha=0.1, calibration="split"),
        ValueError,
        "which is 0.25 for these 3. Got 0.1 instead.* 9 calibrating ones",
    ),
    "unknown method": (
        fit(method="belnd"),
        ValueError,
        r"'method' parameter of ParetoDepthDetector must be one of 'depth', 'blend'. Got 'belnd' instead "
        r"\(did you mean 'blend'",
    ),
    "mean depths of the blend": (
        lambda: fit(method="blend")().mean_depth(X),
        ValueError,
        "ParetoDepthDetector.mean_depth must follow a fit with method='depth'. Got a fit with 'blend' instead",
    ),
    "unknown calibration": (
        fit(calibration="loo"),
        ValueError,
        "'calibration' parameter of ParetoDepthDetector must be one of 'leave-one-out', 'split'. Got 'loo' instead",
    ),
    "false discovery rate of one": (
        lambda: fit()().select(X, fdr=1),
        ValueError,
        "'fdr' parameter of ParetoDepthDetector.select must be a number between 0 and 1, both excluded. Got 1 instead",
    ),
    "threshold of NaN": (fit(threshold=np.nan), ValueError, "'threshold' parameter .* None or a number. Got nan"),
    "threshold beyond floats": (
        fit(threshold=10**400),
        ValueError,
        "'threshold' parameter .* None or a number. Got 1000",
    ),
    "period beyond floats": (
        fit(criteria=[Criterion("c", [0], "cyclic", period=10**400)]),
        ValueError,
        "'period' parameter .* must be a number above 0. Got 1000",
    ),
    "no samples to simulate": (lambda: make_hypercube(0), ValueError, "'n_train' parameter of make_hypercube"),
    "too probable anomalies": (
        lambda: make_hypercube(class_probability=0.3),
        ValueError,
        "'class_probability' parameter of make_hypercube must be from 0 to 0.25. Got 0.3 instead",
    ),
    "trajectory without times": (
        lambda: trajectory_table([WALK, WALK[:, :2]]),
        ValueError,
        r"Trajectory 1 given to trajectory_table must be an array of numbers of the shape \(n_points, 3\).* Got the "
        r"shape \(20, 2\)",
    ),
    "trajectory too short for a spline": (lambda: smoothed([WALK[:6]]), ValueError, "at least 7 points. Got 6 instead"),
    "infinite trajectory": (
        lambda: smoothed([changed(WALK, (3, 1), np.inf)]),
        ValueError,
        r"Trajectory 0 given to smoothed must be finite and go forward in time. Got \[3.0, inf, 3.0\] as point 3",
    ),
    "trajectory back in time": (
        lambda: smoothed([changed(WALK, (3, 2), 2.0)]),
        ValueError,
        r"forward in time. Got \[3.0, 0.0, 2.0\] as point 3 instead; drop such points",
    ),
    "anomaly for somebody who stands": (
        lambda: inject(WALK * [0, 0, 1], "loop", scene=[[0, 0], [9, 9]], rng=np.random.default_rng(0)),
        ValueError,
        "Trajectory 0 given to inject must move. Got one that stands still; drop it",
    ),
    "unknown kind of anomaly": (
        lambda: inject(WALK, "looping", scene=[[0, 0], [9, 9]], rng=np.random.default_rng(0)),
        ValueError,
        r"'kind' parameter of inject must be one of .* Got 'looping' instead \(did you mean 'loop'",
    ),
    "unknown strength": (
        lambda: make_injected_split([WALK] * 100, strength="mild"),
        ValueError,
        "'strength' parameter of make_injected_split must be one of 'weak', 'medium', 'strong'. Got 'mild' instead",
    ),
    "too few trajectories to split": (
        lambda: make_injected_split([WALK] * 80),
        ValueError,
        "split of make_injected_split must leave at least 25 test samples. Got 22 and 57 training samples of 80 in all",
    ),
    "half a pedestrian": (lambda: make_pedestrians(10, 0.5), ValueError, "'n_anomalies' .* Got 0.5 instead"),
    "no samples": (fit(None), ValueError, "Expected 2D array, got scalar array instead"),
    "bytes as samples": (fit(b"abc"), ValueError, "could not convert string to float: b'abc'"),
    "one column as samples": (fit(X[:, 0]), ValueError, "Expected 2D array, got 1D array instead"),
    "complex samples": (fit(X * 1j), ValueError, "Complex data not supported"),
    "samples of four dimensions": (
        fit(np.ones((4, 2, 2, 2))),
        ValueError,
        "array with dim 4, while dim <= 2 is required",
    ),
    "a generator of samples": (fit(row for row in X), TypeError, "not 'generator'"),
    "dicts as samples": (fit([{"a": 1}] * 5), TypeError, "not 'dict'"),
    "masked samples": (
        fit(np.ma.masked_greater(X, 0.9)),
        ValueError,
        r"must not be masked. Got \d+ masked entries instead; .* X.filled",
    ),
    "samples without columns": (fit(np.empty((5, 0))), ValueError, r"0 feature\(s\)"),
    "frame without rows": (fit(pd.DataFrame({"a": []})), ValueError, "at least 3 samples. Got 0 instead"),
    "frame without columns": (fit(pd.DataFrame(index=range(5))), ValueError, "at least one column. Got a data frame"),
    "frame with a column twice": (fit(pd.DataFrame(X, columns=list("aab"))), ValueError, "unique column names"),
    "integer beyond floats": (
        fit([[10**400, 1], [1, 2], [2, 3]]),
        TypeError,
        "column '0' of ParetoDepthDetector must hold numbers. Got inf .* in sample 0 instead; drop that sample",
    ),
    "integer beyond floats in a column": (fit({"a": [1, -(10**400), 3]}), TypeError, "Got inf .* in sample 1 instead"),
    "distance beyond floats": (
        fit([[1e308], [-1e308], [0.0]]),
        ValueError,
        "finite and not negative. Got inf for sample",
    ),
    "no threads": (fit(n_jobs=0), ValueError, "'n_jobs' parameter must be None or an integer that is not 0. Got 0"),
    "threads of another type": (
        fit(n_jobs="all"),
        ValueError,
        "integer that is not 0. Got 'all' instead; -1 stands for",
    ),
    "half a thread": (fit(n_jobs=1.5), ValueError, "integer that is not 0. Got 1.5 instead"),
    "seed of another type": (fit(random_state="x", calibration="split"), ValueError, "'x' cannot be used to seed"),
    "negative seed": (fit(random_state=-1, calibration="split"), ValueError, "Seed must be between 0 and"),
    "alpha of NaN": (fit(alpha=np.nan), ValueError, "between 0 and 1, both excluded. Got nan"),
    "alpha that is true": (fit(alpha=True), ValueError, "between 0 and 1, both excluded. Got True"),
    "neighbors beyond any": (
        fit(n_neighbors=10**30),
        ValueError,
        "Got 1000000000000000000000000000000 for the criterion",
    ),
    "neighbors that are true": (fit(n_neighbors=True), ValueError, "one integer per criterion. Got True instead"),
    "NaN neighbors": (fit(n_neighbors=[1, np.nan, 1]), ValueError, "Got nan for the criterion 'x1' instead"),
    "depth in a list": (fit(depth=["paper"]), ValueError, r"Got \['paper'\] instead"),
    "no method": (fit(method=None), ValueError, "'method' parameter .* Got None instead"),
    "name of another type": (fit(criteria=[Criterion(3)]), TypeError, "must be a non-empty string. Got 3 instead"),
    "column index beyond any": (fit(criteria=[Criterion("a", 10**30)]), ValueError, "indices from 0 to 2. Got 1000"),
    "column that is true": (fit(criteria=[Criterion("a", True)]), TypeError, "names or indices. Got True instead"),
    "callable that returns nothing": (
        with_metric(lambda A, B: None),
        ValueError,
        r"Got the shape \(\) and dtype object",
    ),
    "callable that fails": (with_metric(lambda A, B: 1 / 0), ZeroDivisionError, "division by zero"),
    "pairs that return text": (
        fit(criteria=[Criterion("a", metric=lambda a, b: "x", pairwise=True)]),
        ValueError,
        "could not convert string to float: 'x'",
    ),
    "predict before fit": (lambda: ParetoDepthDetector().predict(X), NotFittedError, "not fitted yet"),
    "explain before fit": (lambda: ParetoDepthDetector().explain(X), NotFittedError, "not fitted yet"),
    "save before fit": (lambda: ParetoDepthDetector().save("m"), NotFittedError, "not fitted yet"),
    "load of nothing": (
        lambda: ParetoDepthDetector.load("none.model"),
        FileNotFoundError,
        "No such file .* 'none.model'",
    ),
    "load of another file": (
        lambda: ParetoDepthDetector.load(__file__),
        ValueError,
        "Got another file, or a damaged one",
    ),
    "load of a device": (
        lambda: ParetoDepthDetector.load("/dev/null"),
        ValueError,
        "whole model file.* Got another file",
    ),
    "load of a folder": (lambda: ParetoDepthDetector.load("."), IsADirectoryError, "Is a directory"),
    "save into a folder that is not there": (
        lambda: fit()().save("no/m"),
        OSError,
        "must be a file in a folder that can",
    ),
    "save over a folder": (lambda: fit()().save("/"), OSError, "must be a file in a folder that can be written"),
    "no new samples": (lambda: fit()().predict(X[:0]), ValueError, r"0 sample\(s\) .* minimum of 1 is required"),
    "a flat new sample": (lambda: fit()().predict(X[0]), ValueError, "Expected 2D array, got 1D array"),
    "NaN in new samples": (
        lambda: fit()().predict(X * np.nan),
        ValueError,
        "no missing values .* Got 10 in '0', 10 in",
    ),
    "infinite new samples": (
        lambda: fit()().predict(X * np.inf),
        ValueError,
        "finite numbers. Got inf in '0', sample 0",
    ),
    "text in new samples": (
        lambda: fit()().predict([list("abc")]),
        TypeError,
        "must hold numbers. Got 'a' of type str",
    ),
    "false discovery rate of NaN": (lambda: fit()().select(X, fdr=np.nan), ValueError, "'fdr' parameter .* Got nan"),
    "an explained row too many": (
        lambda: fit()().explain(X).plot(10),
        ValueError,
        "'sample' parameter of Explanation.plot must be an integer from 0 to 9. Got 10",
    ),
    "no dyads": (lambda: front_numbers(None), TypeError, "must hold real numbers. Got dtype object"),
    "ragged dyads": (lambda: front_numbers([[1, 2], [3]]), ValueError, "inhomogeneous shape"),
    "dyads of three dimensions": (lambda: front_numbers(np.ones((2, 2, 2))), ValueError, r"Got the shape \(2, 2, 2\)"),
    "cap of no fronts": (lambda: Fronts.from_dyads(X, max_depth=0), ValueError, "integer of at least 1. Got 0 instead"),
    "front zero": (
        lambda: Fronts.from_dyads(X).front(0),
        ValueError,
        r"'number' parameter of Fronts.front must be an integer from 1 to \d+, the number of fronts. Got 0 instead",
    ),
    "a front too many": (lambda: Fronts.from_dyads(X).front(99), ValueError, "the number of fronts. Got 99 instead"),
    "fronts of other criteria": (
        lambda: Fronts.from_dyads(X).merge(Fronts.from_dyads(X[:, :2])),
        ValueError,
        "'other' parameter of Fronts.merge must hold dyads of 3 criteria. Got 2 instead",
    ),
    "merging with nothing": (lambda: Fronts.from_dyads(X).merge(None), TypeError, "must be Fronts. Got None instead"),
    "criteria from nowhere": (
        lambda: Criterion.from_toml("none.toml"),
        FileNotFoundError,
        "No such file .*'none.toml'",
    ),
    "criteria from a folder": (lambda: Criterion.from_toml("."), IsADirectoryError, "Is a directory"),
    "no criteria to write": (lambda: criteria_to_toml([]), ValueError, "must hold at least one Criterion"),
}
