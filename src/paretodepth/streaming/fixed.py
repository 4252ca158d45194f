"""A stream against a model that does not change."""

from __future__ import annotations

from typing import Any

from paretodepth.scoring.model import Model
from paretodepth.streaming.drift import DriftMonitor
from paretodepth.streaming.samples import SampleReader, plain_sample
from paretodepth.streaming.stream import Observation


class FixedStream:
    """Scores samples with a model, judges them, and learns nothing.

    Parameters
    ----------
    model : Model
        As of a detector that was saved.
    caller : str
        Who messages name.
    """

    def __init__(self, model: Model, caller: str) -> None:
        self.model = model
        self.n_seen = 0
        self.drift = DriftMonitor()
        self._caller = caller
        self.reader = SampleReader(model.criteria, caller)

    def update(self, x: Any) -> Observation:
        """Score a sample and judge it; one that is refused changes nothing."""
        model, number = self.model, self.n_seen
        encodings = self.reader.encodings(plain_sample(x, self._caller), number, model.training)
        self.n_seen += 1
        if encodings is None:
            return Observation(number)
        scores = model.new_scores(encodings, n_jobs=None, first_row=number)
        p_value = float(model.p_values(scores)[0])
        is_anomaly = bool(scores[0] > model.threshold)
        is_drift = self.drift.update(p_value)
        return Observation(number, float(scores[0]), p_value, is_anomaly, False, is_drift)
