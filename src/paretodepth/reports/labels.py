"""True labels, and how well scores agree with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from paretodepth._checks import listed, suggestion

ANOMALY_NAMES = frozenset(
    {"true", "t", "yes", "y", "anomaly", "anomalous", "abnormal", "outlier", "fraud", "attack", "intrusion"}
)
"""Values that name an anomaly, in small letters."""
N_NAMED = 5
"""Values of a label that a message names."""


class Labels(NamedTuple):
    """A column of labels, its value for anomalies and why it is that one, the truth, and which samples have a label."""

    column: str
    anomaly: str
    reason: str
    is_anomaly: NDArray[np.bool_]
    is_known: NDArray[np.bool_]

    @classmethod
    def of(cls, table: pa.Table, column: str) -> Labels:
        """Return the labels in a column of two values.

        The anomaly is the value that is named so (true, yes, anomaly and the like, or 1 beside 0),
        otherwise the rarer one.

        Examples
        --------
        >>> labels = Labels.of(pa.table({"y": ["b", "a", "a", None]}), "y")
        >>> labels.anomaly, labels.reason, labels.is_anomaly.tolist()
        ('b', 'the rarer value', [True, False, False, False])
        """
        values = table.column(check_own_column(column, table.column_names, "label"))
        known = np.asarray(pc.is_valid(values))
        texts = [None if value is None else _shown(value) for value in values.to_pylist()]
        counts = Counter(text for text in texts if text is not None)
        anomaly, reason = _anomaly_of(check_two_values(counts, column), column)
        return cls(column, anomaly, reason, np.array([text == anomaly for text in texts], bool), known)

    def figures(self, scores: NDArray[np.float64]) -> dict[str, Any]:
        """Return how well scores rank the anomalies first, as JSON can carry it: area, average precision, at n."""
        is_known = self.is_known & ~np.isnan(scores)
        truth, scores = self.is_anomaly[is_known], scores[is_known]
        n_anomalies = int(truth.sum())
        # Tied scores: what a random order of them would give on average.
        cut = np.sort(scores)[-n_anomalies] if n_anomalies else np.inf
        above, tied = scores > cut, scores == cut
        n_found = truth[above].sum() + truth[tied].mean() * (n_anomalies - above.sum()) if n_anomalies else 0.0
        has_both = 0 < n_anomalies < len(truth)
        return {
            "column": self.column,
            "anomaly": self.anomaly,
            "reason": self.reason,
            "n_anomalies": n_anomalies,
            "n_labelled": len(truth),
            "area": float(roc_auc_score(truth, scores)) if has_both else None,
            "average_precision": float(average_precision_score(truth, scores)) if has_both else None,
            "precision_at_n": float(n_found / n_anomalies) if has_both else None,
        }


def agreement(column: str, chunks: Sequence[tuple[pa.Table, NDArray[np.float64]]]) -> str:
    """Return in words how well scores agree with the labels of samples that came in chunks."""
    tables, scores = zip(*chunks, strict=True)
    whole = pa.concat_tables(tables, promote_options="permissive")
    return label_sentence(Labels.of(whole, column).figures(np.concatenate(scores)))


def label_sentence(figures: dict[str, Any]) -> str:
    """Return the figures of labels in words."""
    about = (
        f"Label {figures['column']}: {figures['anomaly']} is the anomaly ({figures['reason']}), "
        f"{figures['n_anomalies']:,} of {figures['n_labelled']:,} samples"
    )
    if figures["area"] is None:
        return f"{about}; all have the same label."
    return (
        f"{about}. Area under the ROC curve {figures['area']:.3f}, average precision "
        f"{figures['average_precision']:.3f}, precision at {figures['n_anomalies']:,} {figures['precision_at_n']:.3f}."
    )


def _shown(value: object) -> str:
    """Return a label as text; numbers that are whole look alike whether they come as integers or not."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _anomaly_of(counts: Counter[str], column: str) -> tuple[str, str]:
    """Return which of two values is the anomaly, and why."""
    if set(counts) == {"0", "1"}:
        return "1", "1 beside 0"
    named = [value for value in counts if value.strip().lower() in ANOMALY_NAMES]
    if len(named) == 1:
        return named[0], "its name says so"
    (common, n_common), (rare, n_rare) = counts.most_common()
    check_rarer(common, rare, n_common, n_rare, column)
    return rare, "the rarer value"


def check_own_column(name: str | None, names: list[str], role: str = "id") -> str | None:
    """Return a column of the samples, or None."""
    if name is not None and name not in names:
        raise ValueError(
            f"The {role} must be a column of the samples. Got '{name}' instead{suggestion(name, names)}; there are "
            f"{listed(names[:20])}."
        )
    return name


def check_two_values(counts: Counter[str], column: str) -> Counter[str]:
    """Return the counts of a label's values, of which there must be two."""
    if len(counts) != 2:
        got = ", ".join(value[:40] for value in list(counts)[:N_NAMED]) + (", …" if len(counts) > N_NAMED else "")
        raise ValueError(
            f"The label '{column}' must have two values, one of them for anomalies. Got {len(counts):,}"
            f"{f' ({got})' if counts else ''} instead; leave out --label, or make a column of two values."
        )
    return counts


def check_rarer(common: str, rare: str, n_common: int, n_rare: int, column: str) -> None:
    """Refuse two values that are as frequent, neither of which is named as an anomaly."""
    if n_common == n_rare:
        raise ValueError(
            f"The label '{column}' must tell anomalies by a value that is named so (1 beside 0, true, yes, anomaly) or "
            f"is the rarer one. Got {n_common:,} samples each of '{common}' and '{rare}' instead; rename the values."
        )
