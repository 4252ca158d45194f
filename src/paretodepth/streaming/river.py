"""The streaming detector as River's anomaly detectors are, for its pipelines and evaluations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from paretodepth._checks import check_extra
from paretodepth.criteria.criterion import Criterion
from paretodepth.scoring.methods import MethodName
from paretodepth.streaming.detector import StreamingDetector

__all__ = ["RiverDetector"]

base = check_extra("river.base", "river")


class RiverDetector(base.AnomalyDetector):  # type: ignore[misc, name-defined]
    """`StreamingDetector` as an anomaly detector of River.

    Parameters are those of `StreamingDetector`; needs the extra ``river``.

    Examples
    --------
    >>> import numpy as np
    >>> from river import preprocessing
    >>> from paretodepth.streaming.river import RiverDetector
    >>> detector = preprocessing.StandardScaler() | RiverDetector(window=100, alpha=0.05)
    >>> for x, y in np.random.default_rng(0).random((150, 2)):
    ...     detector.learn_one({"x": x, "y": y})
    >>> detector.score_one({"x": 1.6, "y": 0.5}) > detector.score_one({"x": 0.5, "y": 0.5})
    True
    """

    def __init__(
        self,
        criteria: Sequence[Criterion] | None = None,
        window: int = 1000,
        refresh: int | None = None,
        method: MethodName = "blend",
        alpha: float = 0.01,
        learn: Literal["nominal", "all"] = "nominal",
        max_unlearnt: float | None = None,
    ) -> None:
        self.criteria = criteria
        self.window = window
        self.refresh = refresh
        self.method = method
        self.alpha = alpha
        self.learn = learn
        self.max_unlearnt = max_unlearnt
        self._detector = StreamingDetector(
            criteria,
            window=window,
            refresh=refresh,
            method=method,
            alpha=alpha,
            learn=learn,
            max_unlearnt=max_unlearnt,
        )

    def learn_one(self, x: dict[str, Any]) -> None:
        """Learn a sample, as `StreamingDetector.learn_one`."""
        self._detector.learn_one(x)

    def score_one(self, x: dict[str, Any]) -> float:
        """Return the score of a sample, larger is stranger; 0 while there is none, as River's own detectors do."""
        score = self._detector.score_one(x)
        return 0.0 if math.isnan(score) else score
