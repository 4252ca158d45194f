"""How the parts of a model must fit together: each relation takes a part, its owner and all sizes, and tells.

The compiled loops trust the sizes and order of arrays, so what anybody may have written is compared here. Differences
are not taken: those of 64-bit integers wrap, and a file could make falling numbers seem to rise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paretodepth.criteria.criterion import MAX_CRITERIA, Criterion, check_criterion
from paretodepth.criteria.fitted_criteria import FittedCriteria, FittedCriterion
from paretodepth.criteria.matrices import check_matrix
from paretodepth.criteria.reference_range import ReferenceRange, circle_length, value_kind
from paretodepth.criteria.samples import Layout
from paretodepth.fronts.depth_index import Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.models.model_checks import check_fitting
from paretodepth.scoring.blend_measures import BlendMeasurer, blend_counts
from paretodepth.scoring.calibration import Calibration
from paretodepth.scoring.measures import DepthMeasurer, Measurer
from paretodepth.scoring.methods import METHODS, Measure
from paretodepth.scoring.model import Model

Sizes = Mapping[str, int]
LAST_MOMENT = 6e16
"""Microseconds from 1970 to moments that a calendar shows, both ways."""


def is_none(value: Any, owner: Any, sizes: Sizes) -> bool:
    """Tell whether there is nothing."""
    return value is None


def is_sorted(values: NDArray[Any], owner: Any, sizes: Sizes) -> bool:
    """Tell whether numbers, or those of each column, do not fall."""
    return bool(np.all(values[1:] >= values[:-1]))


def are_sorted(arrays: Mapping[str, NDArray[Any]], owner: Any, sizes: Sizes) -> bool:
    """Tell whether the numbers of each array do not fall."""
    return all(is_sorted(values, owner, sizes) for values in arrays.values())


def is_rising(values: NDArray[Any], owner: Any, sizes: Sizes) -> bool:
    """Tell whether each number is larger than the one before."""
    return bool(np.all(values[1:] > values[:-1]))


def is_right_criterion(params: dict[str, Any], criterion: Criterion, sizes: Sizes) -> bool:
    """Tell whether a criterion is one that could have been given; what is wrong is said as there."""
    return check_criterion(criterion) is criterion and criterion.name != ""


def is_known_state(state: dict[str, Any], fitted: FittedCriterion, sizes: Sizes) -> bool:
    """Tell whether a state holds only parameters of the metric and what that says it estimates."""
    metric = fitted.criterion.registered
    known = {"n_training"} if fitted.is_precomputed else {"missing"}
    if metric is not None:
        known |= {parameter.name for parameter in metric.parameters} | {estimate.name for estimate in metric.estimates}
    return set(state) <= known


def _is_typical(typical: ReferenceRange, fitted: FittedCriterion) -> bool:
    """Tell whether a typical range is of a column that a criterion reads, and of its kind."""
    if typical.column not in fitted.columns or typical.values.ndim != 1:
        return False
    if typical.kind != value_kind(fitted.criterion, fitted.state, fitted.columns.index(typical.column)):
        return False
    if typical.kind == "category":
        return len(typical.values) == 0 and all(1 <= count <= typical.n_samples for count in typical.counts.values())
    if not len(typical.values) or typical.period != circle_length(typical.kind, fitted.state):
        return False
    first, last = typical.values[0], typical.values[-1]
    if not (first <= min(typical.low, typical.high) and max(typical.low, typical.high) <= last):
        return False
    # A calendar ends; numbers do not.
    return typical.kind != "moment" or bool(max(abs(first), abs(last)) <= LAST_MOMENT)


def are_named(fitted: Sequence[FittedCriterion], owner: Any, sizes: Sizes) -> bool:
    """Tell whether criteria are so few, and their names so different, as those of a fit."""
    return len({criterion.name for criterion in fitted}) == len(fitted) <= MAX_CRITERIA


def is_layout(layout: Layout, criteria: FittedCriteria, sizes: Sizes) -> bool:
    """Tell whether there is a kind for each column, and none where criteria read matrices alone."""
    are_precomputed = all(fitted.is_precomputed for fitted in criteria.fitted)
    return len(layout.kinds) == (0 if are_precomputed else layout.n_features)


def are_kinds(kinds: Sequence[str], owner: Any, sizes: Sizes) -> bool:
    """Tell whether columns hold what columns can hold."""
    return set(kinds) <= {"numbers", "text", "lists", "times", ""}


def are_starts(starts: NDArray[np.intp], fronts: Fronts, sizes: Sizes) -> bool:
    """Tell whether the places where fronts begin lead from the first dyad to the last."""
    is_whole = len(starts) >= 2 and starts[0] == 0 and starts[-1] == len(fronts.dyads)
    return bool(is_whole) and is_rising(starts, fronts, sizes)


def have_pair_width(fronts: Sequence[Fronts], owner: Any, sizes: Sizes) -> bool:
    """Tell whether fronts are of as many criteria as a pair has."""
    return all(of_pair.dyads.shape[1] == sizes["pair"] for of_pair in fronts)


def are_rough(sampled: Sequence[Fronts], pairs: PairFronts, sizes: Sizes) -> bool:
    """Tell whether there are fronts of random dyads for all pairs or for none."""
    return len(sampled) in (0, len(pairs.fronts)) and have_pair_width(sampled, pairs, sizes)


def has_width(depths: Depths, measurer: DepthMeasurer, sizes: Sizes) -> bool:
    """Tell whether fronts are of all criteria."""
    return bool(depths.fronts.dyads.shape[1] == sizes["criteria"])


def sums_joined(n_summed: NDArray[np.intp], measurer: DepthMeasurer, sizes: Sizes) -> bool:
    """Tell whether at least those are summed that a sample is joined to."""
    return bool(np.all(measurer.n_neighbors <= n_summed))


def are_blend_neighbors(n_neighbors: NDArray[np.intp], measurer: BlendMeasurer, sizes: Sizes) -> bool:
    """Tell whether a sample is joined to as many as the blend has."""
    return bool(np.all(n_neighbors == blend_counts(sizes["training"])[0]))


def are_blend_listed(n_summed: NDArray[np.intp], measurer: BlendMeasurer, sizes: Sizes) -> bool:
    """Tell whether as many are listed as the blend needs."""
    return bool(np.all(n_summed == blend_counts(sizes["training"])[1]))


def is_of_method(measurer: Measurer, model: Model, sizes: Sizes) -> bool:
    """Tell whether measures are those of the method."""
    return bool(len(measurer.pairs)) == (model.method == "blend")


def is_calibrated(calibration: Calibration, model: Model, sizes: Sizes) -> bool:
    """Tell whether there is every measure and method of a fit, each in its width, of the same samples."""
    measures, n_nominal = METHODS[model.method].fitted, len(calibration.alone)
    n_pairs = len(model.measurer.pairs)
    widths: dict[Measure, int] = {
        "neighbor_sums": sizes["criteria"],
        "neighbor_means": 3 * sizes["criteria"],
        "local_ratios": sizes["criteria"],
        "pair_depths": n_pairs,
    }
    if set(calibration.surprises) != set(measures) or set(calibration.nominal) != set(measures):
        return False
    shapes = {name: (n_nominal, *((widths[name],) if name in widths else ())) for name in measures}
    return (
        all(calibration.nominal[name].shape == shapes[name] for name in measures)
        and all(len(calibration.surprises[name]) == (*shapes[name], 1)[1] for name in measures)
        and len(calibration.scores) == n_nominal
    )


def are_scores(scores: NDArray[np.float64], model: Model, sizes: Sizes) -> bool:
    """Tell whether all training samples have a score; those that were dropped have none."""
    return not np.isnan(scores[model.rows]).any()


def are_views(encodings: Sequence[Any], model: Model, sizes: Sizes) -> bool:
    """Tell whether each criterion can compare what it sees of the training samples."""
    if sizes["training"] < 2:
        return False
    pairs = zip(model.criteria.fitted, encodings, strict=True)
    return all(_is_view(fitted, encoding, sizes["training"]) for fitted, encoding in pairs)


def _is_view(fitted: FittedCriterion, encoding: Any, n_training: int) -> bool:
    metric = fitted.criterion.registered
    if encoding.ndim == 0 or len(encoding) != n_training:
        return False
    if fitted.is_precomputed:
        count = fitted.state.get("n_training")
        is_counted = isinstance(count, int) and not isinstance(count, bool) and n_training <= count <= 2**53
        return is_counted and not fitted.typical and len(check_matrix(encoding, fitted.name, None)) == n_training
    if metric is None:
        return not fitted.typical
    if metric.kind == "text":
        is_right = encoding.ndim == 1 and all(isinstance(value, str) for value in encoding)
    elif metric.keeps_sequences:
        is_right = encoding.ndim == 1 and all(_is_sequence(value, metric.kind) for value in encoding)
    else:
        is_right = encoding.ndim == 2 and encoding.dtype == np.float64
    if not is_right:
        return False
    for name, fits in metric.estimates:
        is_estimate = fits(fitted.state[name], fitted.criterion.params, len(fitted.columns), encoding)
        check_fitting(is_estimate, f"{name.replace('_', ' ')} of the metric {metric.name}")
    check_fitting(all(_is_typical(typical, fitted) for typical in fitted.typical), "usual values")
    return True


def _is_sequence(value: Any, kind: str) -> bool:
    """Tell whether a value is a series of finite numbers, or of points with two."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or not value.size or not np.isfinite(value).all():
        return False
    return value.ndim == 1 if kind == "series" else value.ndim == 2 and value.shape[1] == 2
