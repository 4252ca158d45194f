"""The metrics there are, as rows of a table and as a page of documentation."""

from __future__ import annotations

from typing import NamedTuple

from paretodepth.criteria.metrics import METRICS
from paretodepth.criteria.metrics.metric import KINDS, REQUIRED, Metric, Parameter


class CatalogueRow(NamedTuple):
    """A metric in words.

    Attributes
    ----------
    kind, metric, summary : str
    parameters : str
        Names with defaults, or empty.
    needs : str
        The extra to install, or empty.
    """

    kind: str
    metric: str
    summary: str
    parameters: str
    needs: str


def catalogue() -> list[CatalogueRow]:
    """Return a row for each metric of the registry.

    Examples
    --------
    >>> from paretodepth.criteria.catalogue import catalogue
    >>> row = next(row for row in catalogue() if row.metric == "levenshtein")
    >>> row.kind, row.needs
    ('text', 'paretodepth[text]')
    """
    return [
        CatalogueRow(
            metric.kind,
            metric.name,
            metric.summary,
            ", ".join(_signature(parameter) for parameter in metric.parameters),
            f"paretodepth[{metric.extra[1]}]" if metric.extra else "",
        )
        for metric in METRICS.values()
    ]


def _signature(parameter: Parameter) -> str:
    return parameter.name if parameter.default is REQUIRED else f"{parameter.name}={parameter.default}"


def criteria_page() -> str:
    """Return the page `docs/criteria.md`."""
    sections = [PAGE_START]
    for kind, columns in KINDS.items():
        metrics = [metric for metric in METRICS.values() if metric.kind == kind]
        sections.append(f"### {kind.capitalize()}\n\nReads {columns}.\n\n{_table(metrics)}{KIND_NOTES.get(kind, '')}")
    return "\n".join([*sections, PAGE_END])


def _table(metrics: list[Metric]) -> str:
    """Return a table of metrics in Markdown, and their parameters below it."""
    lines = ["| metric | two samples are unlike by | ignores missing | from |", "|---|---|---|---|"]
    lines += [
        f"| `{metric.name}` | {metric.summary} | {'yes' if metric.ignores_missing else ''} | {_origin(metric)} |"
        for metric in metrics
    ]
    parameters = [(metric, parameter) for metric in metrics for parameter in metric.parameters]
    if parameters:
        lines += ["", "Parameters:", ""]
    lines += [f"- `{metric.name}`: `{_signature(parameter)}`, {parameter.summary}" for metric, parameter in parameters]
    return "\n".join(lines) + "\n"


def _origin(metric: Metric) -> str:
    return f'{metric.source}, `pip install "paretodepth[{metric.extra[1]}]"`' if metric.extra else metric.source


PAGE_START = """\
# Criteria

<!-- Written by `paretodepth criteria --markdown > docs/criteria.md`; change the registry, not this page. -->

A criterion says how unlike two samples are in one respect. It is a name, the columns it reads and a metric:

```python
from paretodepth import Criterion, ParetoDepthDetector

criteria = [
    Criterion("amount", "amount", "log_ratio"),
    Criterion("time", "hour", "cyclic", period=24),
    Criterion("vendor", ["vendor", "country"], "mismatch"),
    Criterion("text", "description", "token_set"),
]
detector = ParetoDepthDetector(criteria).fit(table)
```

Take one criterion for each respect in which samples can be unlike, two to five in all, and do not weigh them against
each other: only comparisons within a criterion count, so units and scales do not matter.

| your columns hold | start with |
|---|---|
| one number | `difference`; `log_ratio` if it is above 0 and spans orders of magnitude |
| hours, weekdays, angles | `cyclic` |
| several numbers of one unit | `euclidean` |
| several numbers of different units | `seuclidean`; `mahalanobis` if they are correlated |
| latitude and longitude | `haversine` |
| counts or shares that belong together | `braycurtis`, `jensenshannon` |
| vectors of which the direction counts, such as embeddings | `cosine` |
| categories | `mismatch`; `eskin` if columns have few and many categories |
| yes and no, or sets of labels | `jaccard` |
| numbers and categories that belong together | `gower` |
| names and codes | `levenshtein`, `jaro_winkler` |
| phrases | `token_set` |
| series | `dtw`; `shape_based` if level and scale do not matter |
| paths | `shape` and `speed`, as two criteria; `frechet` |

Whatever is estimated (variances, ranges, categories, histogram edges, a fitted transformer) is fixed when the detector
is fitted and never moves with the samples being scored: a sample gets the same score alone and in a batch, to the last
bit.

## Metrics

`paretodepth criteria` prints this list.
"""
KIND_NOTES = {
    "numeric": """
A column of arrays, such as embeddings or series of equal lengths, counts as that many columns.
In `seuclidean` a column that is constant in training keeps its own scale.
""",
    "categorical": """
A category that no training sample has differs from all of theirs. Booleans may be given as 0 and 1.
""",
    "mixed": """
Numbers are compared relative to their range in training, so that a new sample beyond it may differ by more than 1; a
column that is constant in training is compared as a category. Booleans are categories.
""",
    "text": """
Letters are compared as they are: make case and spaces uniform first if they do not matter. Two empty strings are equal.
""",
    "series": """
Of equal lengths, every numeric metric will do too. A constant series has no shape: in `shape_based` it is like
another constant one and unlike all others.
""",
    "trajectories": """
With times, speeds are distances by time; without, points come at a constant `rate`. The other three metrics leave
times aside. `hausdorff` and `frechet` compare the points given, not the lines between them.
""",
}
PAGE_END = """\
## Anything else

- **A function of blocks**: `Criterion("c", columns, metric=f)` with `f(A, B)` that returns an array of shape
  (len(A), len(B)). It is called once a block, and is given numbers as arrays of shape (n, n_columns), one column of
  objects as an array of shape (n,). Compute pair by pair: a product of whole matrices rounds differently in another
  batch, and depth is a rank.
- **A function of two samples**: `Criterion("c", columns, metric=f, pairwise=True)` with `f(a, b)`. Slow, and said to be
  so; on a terminal it tells how far it is.
- **Matrices**: `Criterion("c", metric="precomputed")`. If all criteria are precomputed, `fit` takes a list of square
  matrices and `score_samples` a list of matrices with a column for each training sample. Beside other criteria, pass a
  dict of columns that holds the matrix under the criterion's name. Memory-mapped arrays stay on disk.
- **A transformer**: `Criterion("c", columns, metric, transform=...)` takes any transformer or pipeline of scikit-learn;
  it is cloned and fitted on the criterion's columns. A column of strings named alone, `"text"` rather than `["text"]`,
  comes to it one-dimensional, as `TfidfVectorizer` expects. A transformer that rounds differently alone and in a batch,
  such as PCA, is given one sample at a time.

## Tables

Samples may be a NumPy array, a data frame of pandas, polars or pyarrow, a dict of columns, or a plain list of strings,
arrays or lists of points. Columns are named, given by index, or by a glob such as `"x_*"`. Nothing is turned into
numbers silently: a column of the wrong kind is an error that says which metric would read it.

## Missing values

They are an error that counts them per column. With `missing="ignore"` two samples are compared by the columns that
both have, scaled up to all columns; a pair with none in common is an error. The tables above say which metrics can.

## Criteria in a file

`Criterion.from_toml("criteria.toml")` reads, and `criteria_to_toml(criteria)` writes:

```toml
[[criterion]]
name = "amount"
columns = "amount"
metric = "log_ratio"

[[criterion]]
name = "time"
columns = ["hour_*"]
metric = "cyclic"
missing = "ignore"
params = {period = 24}
```

Functions and transformers cannot be written to a file.

## Advice

`fit` warns (`AdviceWarning`, also kept in `advice_`) of criteria under which more than a tenth of all pairs of dyads
are tied, more than a tenth of the dyads are zero, or all are equal; of two criteria that rank pairs almost alike
(Spearman correlation above 0.98); of more than five criteria; and of functions called pair by pair.
"""
