"""A fitted detector as a file that cannot execute code: samples, settings, and what takes long to compute."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from paretodepth._checks import check_choice, check_flag, check_optional_count, is_integer
from paretodepth.criteria.criterion import Criterion
from paretodepth.criteria.refit import refit
from paretodepth.criteria.samples import Layout
from paretodepth.criteria.values import Column, object_column
from paretodepth.fronts.depth_index import DEPTHS, Depths
from paretodepth.fronts.fronts import Fronts
from paretodepth.fronts.pair_fronts import PairFronts
from paretodepth.models.container import Arrays, read_container, understood, write_container
from paretodepth.models.model_checks import (
    DYADS,
    MEASURES,
    NOT_CARRIED,
    OWNER,
    PARTS,
    PARTS_OF,
    STARTS,
    Part,
    Sizes,
    check_fitting,
    check_layout,
    check_parameters,
    check_starts,
    check_strings,
    check_whole,
    checked_array,
    criteria_sizes,
)
from paretodepth.models.plain_values import Decoder, encoded, read_by_named_metrics
from paretodepth.pairs.limits import FREE_SHARE, free_bytes
from paretodepth.pairs.pairs import ComputedPairs, Criteria, Encodings, HeldPairs
from paretodepth.scoring.blend_measures import BlendMeasurer, blend_counts
from paretodepth.scoring.calibration import check_alpha, check_threshold
from paretodepth.scoring.fitting import calibrated_model
from paretodepth.scoring.measures import DepthMeasurer, Measurer, Measures
from paretodepth.scoring.methods import METHODS, MethodName
from paretodepth.scoring.model import Model

KIND = "fitted detector"
MAX_RECOMPUTED = 2**23
"""Dyads of pairs of criteria whose fronts are computed in less than half a second."""
SORTING_COSTS = {1: 2, 2: 2, 3: 12}
"""How much longer the fronts of some numbers of criteria take than those of a pair among several."""
MAX_SORTING_COST = 30
"""The same of more criteria."""
COLUMNS_SORTED = 32
"""Columns that are compared in the time that a dyad takes in the fronts of a pair of criteria."""
TRAINING, HELD_OUT = 1, 2
"""What a sample given to fit was used for; 0 of those that a criterion dropped."""


def save_model(path: str | os.PathLike[str], parameters: Mapping[str, Any], model: Model) -> None:
    """Write a detector's parameters and model to a file atomically."""
    carried = {name: value for name, value in parameters.items() if name not in NOT_CARRIED}
    fitted, measurer = model.criteria.fitted, model.measurer
    use = np.zeros(len(model.scores), np.uint8)
    use[model.rows], use[model.held_out] = TRAINING, HELD_OUT
    arrays: Arrays = {
        "use": use,
        "profiles": model.profiles,
        "dyad_quantiles": model.dyad_quantiles,
        "weights": measurer.weights,
    }
    names = METHODS[model.method].fitted
    of_measures = {"measures": model.measures, "held_out": model.held_out_measures}
    arrays |= {f"{part}/{name}": own[name] for part, own in of_measures.items() for name in names if own}
    if isinstance(measurer, BlendMeasurer):
        arrays |= {"pairs": measurer.fronts.criteria, "softening": measurer.softening}
        arrays |= {"local_means": measurer.local_means}
    else:
        arrays |= {"n_neighbors": measurer.n_neighbors}
    settings = {
        "parameters": {name: encoded(value, f"{name} of the detector") for name, value in carried.items()},
        "criteria": [encoded(own.criterion, "criteria of the model") for own in fitted],
        "layout": vars(model.criteria.layout),
        "columns": _saved_columns(model, arrays),
        "method": model.method,
        "depth": measurer.depths.kind if isinstance(measurer, DepthMeasurer) else "paper",
        "threshold": encoded(model.threshold if model.alpha is None else None, "threshold"),
        "alpha": model.alpha,
        "is_exact": model.is_exact,
        "advice": model.advice,
        "fronts": _saved_fronts(model, arrays),
    }
    check_parameters(parameters, model.criteria.names, len(model.rows))
    write_container(path, KIND, settings, arrays)


def _saved_fronts(model: Model, arrays: Arrays) -> dict[str, list[int | None]]:
    """Add the fronts to the arrays unless they are fast to compute; return the last front that each set keeps."""
    fronts = model.fronts
    sets = {"kept": (fronts,), "sampled": ()} if isinstance(fronts, Fronts) else _of_pairs(fronts)
    is_whole = model.is_exact and not sets["sampled"] and all(own.max_depth is None for own in sets["kept"])
    fitted, is_pairwise = model.criteria.fitted, isinstance(fronts, PairFronts)
    if is_whole and fronts_are_fast(fitted, model.training, len(sets["kept"]), is_pairwise=is_pairwise):
        return {"kept": [], "sampled": []}
    for part, several in sets.items():
        for place, own in enumerate(several):
            arrays |= {f"{part}/{place}/dyads": own.dyads, f"{part}/{place}/starts": own.starts}
    return {part: [own.max_depth for own in several] for part, several in sets.items()}


def _of_pairs(fronts: PairFronts) -> dict[str, tuple[Fronts, ...]]:
    return {"kept": fronts.fronts, "sampled": fronts.sampled}


def _saved_columns(model: Model, arrays: Arrays) -> list[dict[str, Any]]:
    """Add the columns that criteria read, and their matrices, to the arrays; return where each is."""
    fitted = model.criteria.fitted
    columns = dict(model.columns)
    for place, (own, encoding) in enumerate(zip(fitted, model.training, strict=True)):
        if own.is_precomputed:
            columns[own.columns[0] if own.columns else place] = encoding
    of_functions = {column for own in fitted if own.criterion.registered is None for column in own.columns}
    tables: dict[str, list[int]] = {}
    saved = []
    for place, column in columns.items():
        if column.dtype.kind != "O" and column.ndim == 1:
            tables.setdefault(column.dtype.str, []).append(place)
        else:
            saved.append(_saved_column(place, column, place in of_functions, arrays))
    for places in tables.values():
        arrays[f"columns/{places[0]}"] = np.array([columns[place] for place in places])
        saved.append({"kind": "table", "places": places})
    return saved


def _saved_column(place: int, column: Column, is_read_by_function: bool, arrays: Arrays) -> dict[str, Any]:
    """Add a column of rows or sequences to the arrays; return its place, and of others the cells."""
    if column.dtype.kind != "O":
        arrays[f"columns/{place}"] = column
        return {"kind": "rows", "places": [place]}
    if _are_sequences(column):
        arrays[f"columns/{place}"] = np.concatenate(list(column))
        arrays[f"columns/{place}/starts"] = np.cumsum([0, *map(len, column)])
        return {"kind": "sequences", "places": [place]}
    cells, where = [], "samples of the model"
    for cell in column:
        try:
            cells.append(encoded(cell, where))
        except TypeError:
            if is_read_by_function:
                raise
            cells.append(encoded(read_by_named_metrics(cell), where))
    return {"kind": "cells", "places": [place], "cells": cells}


def _are_sequences(column: Column) -> bool:
    """Return whether all cells are arrays of numbers, not empty, that can stand one after the other."""
    first = column[0]
    if not isinstance(first, np.ndarray) or first.ndim == 0 or first.dtype.kind not in "fiub":
        return False
    form = first.dtype, first.shape[1:]
    return all(
        isinstance(cell, np.ndarray) and cell.flags.c_contiguous and len(cell) and (cell.dtype, cell.shape[1:]) == form
        for cell in column
    )


def load_model(
    path: str | os.PathLike[str], defaults: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]
) -> tuple[dict[str, Any], Model]:
    """Return the parameters and the model that `save_model` wrote to a file.

    Parameters
    ----------
    path : str or path
    defaults : mapping
        All parameters of the detector; those that a file does not carry keep these values.
    functions : mapping of str to callable
        Metrics that a file cannot carry, by the criterion's name.
    """
    settings, arrays = read_container(os.fspath(path), KIND)
    decoder = Decoder(functions)
    with understood(path, settings):
        carried = {name: decoder.value(node) for name, node in settings["parameters"].items()}
        check_fitting(carried.keys() <= set(defaults) - set(NOT_CARRIED), "parameters")
        parameters = {**defaults, **carried}
        criteria = decoder.value(settings["criteria"])
    decoder.check_functions()
    with understood(path, settings):
        model = _model(settings, arrays, criteria, decoder)
        check_parameters(parameters, model.criteria.names, len(model.rows))
    return parameters, model


def _model(settings: dict[str, Any], arrays: Arrays, criteria: list[Criterion], decoder: Decoder) -> Model:
    """Return the model of a file, each part checked; what follows from samples and measures is computed again."""
    method = check_choice(settings["method"], "method", tuple(METHODS), OWNER)
    use = checked_array(arrays, "use", Part(np.uint8, (None,), high=HELD_OUT), {})
    rows, held_out = np.flatnonzero(use == TRAINING), np.flatnonzero(use == HELD_OUT)
    check_fitting(len(rows) >= 2, "numbers of samples")
    sizes = {"held_out": len(held_out), **criteria_sizes(len(criteria), len(rows), method, arrays)}
    others = {name: checked_array(arrays, name, part, sizes) for name, part in (PARTS | PARTS_OF[method]).items()}
    threshold, alpha = check_threshold(decoder.value(settings["threshold"]), OWNER), None
    check_fitting((settings["alpha"] is None) != (threshold is None), "rates and thresholds")
    if threshold is None:
        alpha = check_alpha(settings["alpha"], len(held_out) or len(rows), OWNER)
    are_matrices = all(criterion.is_precomputed for criterion in criteria)
    layout = check_layout(Layout(**settings["layout"]), len(use) if are_matrices else None)
    columns = _columns(settings["columns"], arrays, len(rows), decoder)
    fitted, training = refit(criteria, layout, columns, len(use), int(FREE_SHARE * free_bytes()))
    model = calibrated_model(
        n_samples=len(use),
        criteria=fitted,
        training=training,
        columns={place: column for place, column in columns.items() if not are_matrices},
        rows=rows,
        held_out=held_out,
        measurer=_measurer(settings, arrays, others, sizes, fitted.fitted, training),
        measures=_measures(arrays, "measures", method, sizes, "training"),
        held_out_measures=_measures(arrays, "held_out", method, sizes, "held_out"),
        method=method,
        threshold=threshold,
        alpha=alpha,
        profiles=others["profiles"],
        dyad_quantiles=others["dyad_quantiles"],
        is_exact=check_flag(settings["is_exact"], "is_exact", OWNER),
        advice=check_strings(settings["advice"], "advice"),
    )
    check_fitting(bool(np.isfinite(model.scores[use > 0]).all()), "scores")
    return model


def _measurer(
    settings: dict[str, Any], arrays: Arrays, others: Arrays, sizes: Sizes, criteria: Criteria, training: Encodings
) -> Measurer:
    """Return what takes measures below the fronts of a file or, if it has none, below those of all dyads."""
    kind = check_choice(settings["depth"], "depth", DEPTHS, OWNER)
    kept, sampled = (_fronts(arrays, part, settings["fronts"][part], sizes) for part in ("kept", "sampled"))
    is_pairwise, n_training = "pairs" in others, sizes["training"]
    dyads = np.empty((0, 0))
    if not kept:
        is_fast = fronts_are_fast(criteria, training, sizes["sets"], is_pairwise=is_pairwise)
        check_whole(is_fast, "no fronts, of too many dyads to compute them")
        dyads = HeldPairs.of(ComputedPairs(criteria, training, None)).dyads
    if not is_pairwise:
        depths = Depths(kept[0], kind) if kept else Depths.of_dyads(dyads, kind)
        return DepthMeasurer.fit(depths, others["n_neighbors"], others["weights"], n_training)
    fronts = PairFronts(others["pairs"], kept, sampled)
    if not kept:
        fronts = PairFronts.from_dyads(dyads, criteria=others["pairs"], max_kept=sizes["sets"] * len(dyads))
    n_neighbors, n_summed = (np.full(sizes["criteria"], count) for count in blend_counts(n_training))
    local = others["softening"], others["local_means"]
    return BlendMeasurer(fronts, n_neighbors, n_summed, others["weights"], *local)


def _measures(arrays: Arrays, part: str, method: MethodName, sizes: Sizes, size: str) -> Measures:
    """Return the measures of some samples, none if there are no such samples."""
    if not sizes[size]:
        return {}
    sizes = {**sizes, "samples": sizes[size]}
    return {name: checked_array(arrays, f"{part}/{name}", MEASURES[name], sizes) for name in METHODS[method].fitted}


def _fronts(arrays: Arrays, part: str, max_depths: list[int | None], sizes: Sizes) -> tuple[Fronts, ...]:
    """Return the fronts of all dyads or of each pair of criteria, none if they were not saved."""
    fronts = []
    for place, max_depth in enumerate(max_depths):
        dyads = checked_array(arrays, f"{part}/{place}/dyads", DYADS, sizes)
        starts = checked_array(arrays, f"{part}/{place}/starts", STARTS, sizes)
        check_starts(starts, len(dyads))
        fronts.append(Fronts(dyads, starts, check_optional_count(max_depth, "max_depth", OWNER)))
    check_fitting(len(fronts) in (0, sizes["sets"]), "fronts")
    return tuple(fronts)


def _columns(saved: list[dict[str, Any]], arrays: Arrays, n_samples: int, decoder: Decoder) -> dict[int, Column]:
    """Return the columns that criteria read, by index."""
    columns: dict[int, Column] = {}
    for part in saved:
        kind, places = part["kind"], part["places"]
        if kind == "cells":
            found = [object_column(map(decoder.value, part["cells"]))]
        else:
            array = arrays[f"columns/{places[0]}"]
            found = list(array) if kind == "table" else [array]
        if kind == "sequences":
            starts = checked_array(arrays, f"columns/{places[0]}/starts", STARTS, {})
            check_starts(starts, len(array))
            found = [object_column(array[start:end] for start, end in pairwise(starts))]
        for place, column in zip(places, found, strict=True):
            check_fitting(is_integer(place) and 1 <= column.ndim <= 2 and len(column) == n_samples, "columns")
            columns[place] = column
    check_fitting(len(columns) > 0, "columns")
    return columns


def fronts_are_fast(criteria: Criteria, training: Encodings, n_sets: int, *, is_pairwise: bool) -> bool:
    """Return whether the fronts of all training dyads take less than half a second to compute.

    It depends on nothing but the number of dyads, the metrics, and the width of the encoded samples, not on a clock.

    Parameters
    ----------
    criteria : sequence of FittedCriterion
    training : sequence of ndarray
        The training samples as each criterion encodes them.
    n_sets : int
        How many sets of fronts there are: one a pair of criteria, or one.
    is_pairwise : bool
        Whether they are of pairs of criteria.
    """
    for fitted in criteria:
        metric = fitted.criterion.registered
        if not fitted.is_precomputed and (metric is None or metric.costly_length is not None):
            return False
    n_samples = len(training[0])
    n_columns = sum(0 if fitted.is_precomputed else own[0].size for fitted, own in zip(criteria, training, strict=True))
    of_sorting = n_sets if is_pairwise else SORTING_COSTS.get(len(criteria), MAX_SORTING_COST)
    return bool(n_samples * (n_samples - 1) // 2 * (of_sorting + n_columns / COLUMNS_SORTED) <= MAX_RECOMPUTED)
