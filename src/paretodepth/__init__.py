"""Multi-criteria anomaly detection by Pareto depth analysis: several dissimilarities, no weights."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paretodepth.criteria.criterion import Criterion, criteria_to_toml
    from paretodepth.criteria.suggestion import Suggestion
    from paretodepth.detector import ParetoDepthDetector
    from paretodepth.fronts.fronts import Fronts, front_numbers
    from paretodepth.reports.detect import detect, fit, suggest
    from paretodepth.reports.findings import Findings
    from paretodepth.reports.score import explain, score
    from paretodepth.scoring.advice import AdviceWarning
    from paretodepth.scoring.explanation import Explanation
    from paretodepth.streaming.watch import watch

_HOMES = {
    "AdviceWarning": "scoring.advice",
    "Criterion": "criteria.criterion",
    "Explanation": "scoring.explanation",
    "Findings": "reports.findings",
    "Fronts": "fronts.fronts",
    "ParetoDepthDetector": "detector",
    "Suggestion": "criteria.suggestion",
    "criteria_to_toml": "criteria.criterion",
    "detect": "reports.detect",
    "explain": "reports.score",
    "fit": "reports.detect",
    "front_numbers": "fronts.fronts",
    "score": "reports.score",
    "suggest": "reports.detect",
    "watch": "streaming.watch",
}
__all__ = [
    "AdviceWarning", "Criterion", "Explanation", "Findings", "Fronts", "ParetoDepthDetector", "Suggestion",
    "criteria_to_toml", "detect", "explain", "fit", "front_numbers", "score", "suggest",
    "watch",
]  # fmt: skip


# Names are looked up on first use (PEP 562): the command line's help must not wait for numba and scikit-learn.
def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("importlib.metadata").version("paretodepth")
    if name in _HOMES:
        return getattr(import_module(f"paretodepth.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
