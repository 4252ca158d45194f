"""A table of bad columns, parameters and transformers of criteria: what is called, the error and its text."""

from datetime import time

import numpy as np
import pandas as pd
import polars as pl
from sklearn.decomposition import PCA
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from paretodepth import Criterion, ParetoDepthDetector, criteria_to_toml

N = 6
PATH = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
TABLE = {
    "amount": np.arange(1.0, N + 1),
    "other": np.arange(N) ** 2.0,
    "text": list("abcdef"),
    "series": [np.arange(i + 2.0) for i in range(N)],
    "path": [PATH + i for i in range(N)],
    "when": np.arange(N).astype("datetime64[D]"),
    "gap": [1.0, None, 3.0, float("nan"), 5.0, 6.0],
    "gap2": [None, 2.0, 3.0, 4.0, 5.0, 6.0],
}


def fit(columns, metric, X=TABLE, **parameters):
    return lambda: ParetoDepthDetector([Criterion("a", columns, metric, **parameters)]).fit(X)


def with_path(points):
    return fit("path", "frechet", TABLE | {"path": [*TABLE["path"][:-1], points]})


WRONG_TYPES = {
    "numbers of text": (
        fit("text", "euclidean"),
        "column 'text' of the criterion 'a' must hold numbers. Got 'a' of type str in sample 0 .*'levenshtein'",
    ),
    "numbers of dates": (fit("when", "difference"), "must hold numbers. Got .* take a metric for dates and times"),
    "numbers of objects": (fit("o", "difference", {"o": [object()] * 4}), "Got <object .* of type object"),
    "text of numbers": (fit("amount", "levenshtein"), r"must hold strings. Got (np.float64\()?1.0"),
    "categories of arrays": (fit("series", "mismatch"), "must hold categories: strings, booleans or num"),
    "categories of dates": (fit("when", "eskin"), "must hold categories"),
    "sets of objects": (fit("o", "jaccard", {"o": [object()] * 4}), "must hold sets of labels. Got <obj"),
    "series of text": (fit("text", "shape_based"), "must hold arrays of numbers. Got 'a' of type str"),
    "series of strings": (
        fit("s", "shape_based", {"s": [["1", "2"]] * 4}),
        r"must hold arrays of numbers. Got \['1', '2'\] of type list",
    ),
    "two series": (fit(["text", "series"], "dtw"), "column 'text' of the criterion 'a' must hold numbers"),
    "trajectory of numbers": (fit("amount", "speed"), r"must hold arrays of points. Got (np.float64\()?1.0"),
    "ragged trajectory": (with_path([[0.0, 0.0], [1.0]]), "must hold arrays of points. Got .* in sample 5"),
    "amounts that are no list of columns": (
        fit("amount", "scaled", ratio=[1.5]),
        r"'ratio' parameter of the criterion 'a' must be a list of columns of the criterion. Got \[1.5\] instead",
    ),
    "text behind a dropped sample": (
        fit(["gap", "mixed"], "seuclidean", TABLE | {"mixed": [1.0, 2.0, "x", 3.0, 4.0, 5.0]}, missing="drop"),
        "must hold numbers. Got 'x' of type str in sample 2",
    ),
    "numbers as times": (fit("amount", "elapsed"), "must hold dates.* Got 1.0 .* a metric for numbers, 'dif"),
    "text as times": (fit("text", "time_of_day"), "or times of day. Got 'a' .* pandas.to_datetime"),
    "times of day without dates": (
        fit("t", "weekday", {"t": [time(1), time(2), time(3)]}),
        "must hold dates, or timestamps. Got datetime.time.* 'time_of_day' compares times without dates",
    ),
    "objects as times": (fit("o", "elapsed", {"o": [object()] * 4}), "must hold dates.*`paretodepth crit"),
    "durations": (
        fit("d", "difference", {"d": np.arange(4).astype("timedelta64[h]")}),
        "convert the durations to numbers, say seconds",
    ),
    "unknown parameter": (
        fit("amount", "cyclic", perod=24),
        r"parameters of the metric 'cyclic' of the criterion 'a' must be known. Got 'perod' instead \(did you mean "
        r"'period'\?\); its parameters are 'period'",
    ),
    "parameter of a metric without any": (fit("amount", "difference", p=2), "Got 'p' instead; it has none"),
    "parameter of precomputed": (fit("amount", "precomputed", p=2), "Got 'p' instead; it has none"),
    "parameter left out": (fit("amount", "cyclic"), "must be given the parameter 'period'"),
    "flag of another type": (fit("text", "levenshtein", normalized=1), "true or false. Got 1"),
    "transformer's class": (
        fit("amount", "euclidean", transform=StandardScaler),
        "'transform' parameter of the criterion 'a' must be a scikit-learn transformer or pipeline. Got <class",
    ),
    "function as transformer": (fit("amount", "euclidean", transform=np.log), "FunctionTransformer"),
    "dict without names": (fit(None, "euclidean", {0: [1, 2]}), "must have strings as keys.* Got 0 instead"),
    "empty dict": (fit(None, "euclidean", {}), "Got 'an empty dict' instead"),
    "lazy frame": (
        fit(None, "euclidean", pl.LazyFrame({"a": [1, 2, 3]})),
        r"must be in memory. Got LazyFrame; call its collect\(\)",
    ),
    "criteria that a file cannot carry": (
        lambda: criteria_to_toml([Criterion("a", metric=max)]),
        "metric of the criterion 'a' must be text or numbers to be written to a file. Got <built-in function max>",
    ),
    "transformer that a file cannot carry": (
        lambda: criteria_to_toml([Criterion("a", transform=PCA())]),
        "transform of the criterion 'a' must be text or numbers",
    ),
    "dict of single values": (
        fit(None, "euclidean", {"a": 1.0}),
        r"column 'a' given to ParetoDepthDetector must be a sequence of values, .* Got 1.0 instead; write \[1.0\]",
    ),
    "dict of a text": (fit(None, "mismatch", {"a": "abc"}), "must be a sequence of values, .* Got 'abc'"),
    "dict of nothing": (fit(None, "euclidean", {"a": None}), "must be a sequence of values, .* Got None"),
    "times as numbers": (fit("when", "euclidean"), r"Got (np|numpy).datetime64.* take a metric for dates"),
    "lists as categories": (fit("series", "mismatch"), "must hold categories: strings, booleans or numbers"),
}
WRONG_VALUES = {
    "booleans of numbers": (fit("amount", "dice"), "must hold booleans, or 0 and 1. Got 2.0 in sample 1"),
    "empty series": (
        fit("series", "shape_based", {"series": [[1.0], [], [2.0]]}),
        "at least 1 point in every sequence. Got 0 in sample 1",
    ),
    "gap in a series": (
        fit("series", "shape_based", {"series": [[1.0, np.nan], [1.0], [2.0]]}),
        "finite numbers in every sequence. Got nan at position 1 of sample 0",
    ),
    "unequal series": (
        fit("series", "euclidean"),
        "must hold arrays of one length .* 2 values in sample 0 and 3 in sample 1 instead; 'dtw'",
    ),
    "trajectory of one point": (with_path(PATH[:1]), "at least 2 points .* Got 1 in sample 5"),
    "infinite point": (
        with_path([[0.0, 0.0], [np.inf, 1.0]]),
        r"finite numbers in every sequence. Got \[inf, 1.0\] at position 1 of sample 5",
    ),
    "points of four numbers": (with_path(np.zeros((3, 4))), "two or three numbers, .* Got 4"),
    "time that stands still": (
        with_path([[0, 0, 0], [1, 1, 1], [2, 2, 1]]),
        "points at increasing times. Got a time that does not increase in sample 5",
    ),
    "two columns of text": (fit(["text", "when"], "levenshtein"), "must be one for this metric. Got 2"),
    "difference of two columns": (fit(["amount", "other"], "difference"), "must be one for this metric"),
    "amounts of no column": (
        fit(["amount", "other"], "scaled", ratio=["othr"]),
        r"must name columns that it reads, 'amount', 'other'. Got 'othr' instead \(did you mean 'other'\?\)",
    ),
    "arrays beside categories": (
        fit(["text", "pair"], "scaled", TABLE | {"pair": np.ones((N, 2))}),
        "must hold single values where some hold categories. Got arrays in 'pair' instead",
    ),
    "ratio to zero": (fit("other", "log_ratio"), "must hold numbers above 0 for their ratio. Got 0.0 in"),
    "places in one column": (fit("amount", "haversine"), "must be two, latitude and longitude in degrees"),
    "places the wrong way round": (
        fit(["lat", "lon"], "haversine", {"lat": [120.0, 1, 2], "lon": [1.0, 2, 3]}),
        r"latitude, from -90 to 90 degrees, .* Got \[120.0, 1.0\] in sample 0 instead; is longitude first",
    ),
    "columns that determine each other": (
        fit(["amount", "twice"], "mahalanobis", TABLE | {"twice": 2 * TABLE["amount"]}),
        "must not determine each other, .* Got 2 columns of rank 1 instead; .* 'seuclidean'",
    ),
    "missing values": (
        fit(["amount", "gap", "gap2"], "gower"),
        r"Got 2 in 'gap', 1 in 'gap2' instead; .* missing='drop' .* 'ignore' on",
    ),
    "missing text": (fit("text", "token_set", {"text": ["a", None, "b"]}), "missing .* Got 1 in 'text'"),
    "nothing in common": (
        fit(["gap", "gap2"], "gower", TABLE | {"gap2": [1.0, None, None, 4.0, 5.0, 6.0]}, missing="ignore"),
        "must find a column that both samples of a pair have. Got none for sample 0 and training sample 1",
    ),
    "one column that ignores its gaps": (
        fit("gap", "euclidean", missing="ignore"),
        "training sample 1; a criterion of one column cannot ignore its gaps, so impute a value, or set missing='drop'",
    ),
    "nothing left": (
        fit("gap", "euclidean", TABLE | {"gap": [None] * 4 + [1.0, 2.0]}, missing="drop"),
        "must be fitted on at least 3 samples. Got 2 that lack no value, of 6, instead",
    ),
    "two columns of times": (fit(["when", "amount"], "elapsed"), "must be one for this metric. Got 2"),
    "a date too far away": (
        fit("when", "elapsed", {"when": np.array(["2000", "2001", "200000"], "datetime64[Y]")}),
        "dates of the years 1 to 9999. Got the year 200000 in sample 2 instead",
    ),
    "missing times": (
        fit("when", "elapsed", {"when": np.array(["2000", "NaT", "2001"], "datetime64[D]")}),
        "no missing values .* Got 1 in 'when'",
    ),
    "ignoring what cannot be ignored": (
        fit("amount", "mahalanobis", missing="ignore"),
        "'missing' parameter of the criterion 'a' must be 'fail' or 'drop' for the metric 'mahalanobis'",
    ),
    "unknown rule for missing values": (
        fit("amount", "euclidean", missing="ignor"),
        r"must be one of 'fail', 'ignore', 'drop'. Got 'ignor' instead \(did you mean 'ignore'\?\)",
    ),
    "negative period": (fit("amount", "cyclic", period=-1), "'period' parameter .* above 0. Got -1"),
    "half a window": (fit("series", "dtw", window=0.5), "'window' .* integer of at least 0, below 2³¹. Got 0.5"),
    "edges that fall": (fit("path", "speed", edges=[1, 0]), r"two increasing numbers. Got \[1, 0\]"),
    "edges of another type": (fit("path", "speed", edges="0 1"), "two increasing numbers. Got '0 1'"),
    "no bins": (fit("path", "speed", bins=0), "'bins' parameter .* at least 1. Got 0 instead"),
    "named metric with pairwise": (
        fit("amount", "euclidean", pairwise=True),
        "'pairwise' parameter of the criterion 'a' must be False unless the metric is a callable",
    ),
    "element callable that returns negative values": (
        fit("amount", lambda a, b: -1.0, pairwise=True),
        "criterion 'a' must give dissimilarities that are finite and not negative. Got -1.0 for sample 0",
    ),
    "transformer that drops samples": (
        fit("amount", "euclidean", transform=FunctionTransformer(lambda X: X[:3])),
        r"transform of the criterion 'a' must return one row a sample, 6 in all. Got the shape \(3, 1\)",
    ),
    "transformer that gives NaN": (
        fit("amount", "euclidean", transform=FunctionTransformer(lambda X: X * np.nan)),
        "columns of the criterion 'a', transformed, must hold no missing values",
    ),
    "glob without match": (
        fit("amont*", "euclidean"),
        r"must hold columns of the data. Got 'amont\*' instead \(did you mean 'amount'\?\)",
    ),
    "dict of unequal columns": (
        fit(None, "euclidean", {"a": [1, 2, 3], "b": [1, 2]}),
        "must all have one length. Got 3 values in 'a' and 2 in 'b'",
    ),
    "dict of two samples": (fit(None, "euclidean", {"a": [1, 2]}), "at least 3 samples. Got 2 instead"),
    "frame of two samples": (fit(None, "euclidean", pd.DataFrame({"a": [1, 2]})), "at least 3 samples"),
    "list of two texts": (fit(None, "mismatch", ["a", "b"]), "at least 3 samples. Got 2"),
    "other columns than at fit": (
        lambda: ParetoDepthDetector([Criterion("a", "amount")]).fit(TABLE).predict({"amont": [1.0]}),
        r"must be those that its criteria read, 'amount'. Got no 'amount' \(did you mean 'amont'\?\) instead; rename",
    ),
    "other columns than all at fit": (
        lambda: (
            ParetoDepthDetector().fit({"a": TABLE["amount"], "b": TABLE["other"]}).predict({"a": [1.0], "c": [1.0]})
        ),
        r"must be those of fit. Got \['a', 'c'\] instead, without \['b'\] and with \['c'\] besides",
    ),
    "names that fit did not have": (
        lambda: ParetoDepthDetector().fit(np.random.default_rng(0).random((9, 2))).predict({"a": [1.0], "b": [2.0]}),
        "must be an array or a list, as at fit, where columns had no names. Got a dict of columns instead",
    ),
    "window beyond any": (fit("series", "dtw", window=10**30), "at least 0, below 2³¹. Got 1000"),
    "more bins than memory": (fit("path", "speed", bins=10**12), "'bins' .* at most 100,000. Got 1000000000000"),
    "more points than memory": (fit("path", "shape", points=10**12), "'points' .* at most 100,000. Got 10000"),
    "NaN period": (fit("amount", "cyclic", period=np.nan), "above 0. Got nan instead"),
    "infinite power": (fit("amount", "minkowski", p=np.inf), "above 0. Got inf instead"),
    "edges whose differences wrap": (
        fit("path", "speed", edges=[0, 2**62, -(2**63), -(2**62), 446]),
        "two increasing numbers. Got",
    ),
    "edges that are no floats": (fit("path", "speed", edges=[0, 10**400]), "two increasing numbers. Got"),
    "NaN among edges": (fit("path", "speed", edges=[0, np.nan]), "two increasing numbers. Got"),
    "wider arrays than at fit": (
        lambda: fit("four", "euclidean", {"four": np.eye(4)}, missing="ignore")().predict({"four": [np.ones(900)]}),
        r"must compare samples that hold as much as the training samples, .* Got float64 of the shape \(900",
    ),
    "wider angles than at fit": (
        lambda: fit("four", "cyclic", {"four": np.eye(4)}, period=1)().predict({"four": [np.ones(900)]}),
        "must compare samples that hold as much as the training samples",
    ),
}
BAD_COLUMNS = {name: (call, TypeError, text) for name, (call, text) in WRONG_TYPES.items()} | {
    name: (call, ValueError, text) for name, (call, text) in WRONG_VALUES.items()
}
