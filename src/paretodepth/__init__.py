"""Multi-criteria anomaly detection by Pareto depth analysis: several dissimilarities, no weights."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paretodepth.criteria.criterion import Criterion, criteria_to_toml
    from paretodepth.criteria.suggestion import suggest_criteria
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.fronts.fronts import Fronts, front_numbers
    from paretodepth.scoring.advice import AdviceWarning
    from paretodepth.scoring.explanation import Explanation

__all__ = [
    "AdviceWarning",
    "Criterion",
    "Explanation",
    "Fronts",
    "ParetoDepthDetector",
    "criteria_to_toml",
    "front_numbers",
    "suggest_criteria",
]

_HOMES = {
    "AdviceWarning": "paretodepth.scoring.advice",
    "Criterion": "paretodepth.criteria.criterion",
    "Explanation": "paretodepth.scoring.explanation",
    "Fronts": "paretodepth.fronts.fronts",
    "ParetoDepthDetector": "paretodepth.detector",
    "criteria_to_toml": "paretodepth.criteria.criterion",
    "front_numbers": "paretodepth.fronts.fronts",
    "suggest_criteria": "paretodepth.criteria.suggestion",
}


# Names are looked up on first use (PEP 562): the command line's help must not wait for numba and scikit-learn.
def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("paretodepth")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
