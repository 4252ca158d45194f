"""The parameters of a stream, checked."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from paretodepth._checks import check_choice, check_rate
from paretodepth.criteria.criterion import resolve_criteria
from paretodepth.criteria.samples import MIN_SAMPLES
from paretodepth.scoring.fitting import Settings
from paretodepth.streaming.window import check_window, refuse_precomputed

LEARN = ("nominal", "all")
BATCH_PARAMETERS: dict[str, Any] = {
    "depth": "paper",
    "calibration": "leave-one-out",
    "n_neighbors": "connected",
    "threshold": None,
    "max_depth": None,
    "max_dyads": None,
    "memory_limit": None,
    "random_state": 0,
}
"""Parameters of the batch detector that a stream leaves as they are; its fits use no random numbers."""


class Rules(NamedTuple):
    """The parameters of a stream, checked.

    Attributes
    ----------
    size, n_later : int
        How many samples the window holds, and how many are learnt between two fits.
    n_needed : int
        How many samples the first fit needs.
    max_unlearnt : int
        How many of the last `size` samples may be skipped, that is, not learnt.
    settings : Settings
        Of the fits.
    """

    size: int
    n_later: int
    n_needed: int
    max_unlearnt: int
    settings: Settings

    @classmethod
    def checked(cls, parameters: dict[str, Any], caller: str) -> Rules:
        """Return the parameters of a streaming detector, refusing what cannot be."""
        criteria = resolve_criteria(parameters["criteria"], caller)
        refuse_precomputed(criteria, caller)
        alpha = check_rate(parameters["alpha"], "alpha", caller, "the false-alarm rate, for example 0.01")
        n_needed = max(MIN_SAMPLES, math.ceil(1 / alpha - 1e-9) - 1)
        size, n_later = check_window(
            parameters["window"], parameters["refresh"], n_needed, len(criteria or [None]), caller
        )
        share = parameters["max_unlearnt"]
        if share is None:
            share = alpha
        else:
            check_rate(share, "max_unlearnt", caller, "the share of samples that may be left out of the window")
        is_picky = check_choice(parameters["learn"], "learn", LEARN, caller) == "nominal"
        settings = Settings.checked(BATCH_PARAMETERS | parameters, caller)._replace(is_advised=False)
        return cls(size, n_later, n_needed, math.floor(share * size + 1e-9) if is_picky else 0, settings)
