"""All metrics by name. Look-up, the command line's table, the documentation and the tests go by it."""

from __future__ import annotations

from paretodepth.criteria.metrics import categorical, mixed, numeric, series, text, times, trajectories
from paretodepth.criteria.metrics.metric import Metric

METRICS: dict[str, Metric] = {
    metric.name: metric
    for module in (numeric, times, categorical, mixed, text, series, trajectories)
    for metric in module.METRICS
}
