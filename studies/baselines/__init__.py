"""Rival methods: one dissimilarity, the weighted sum of the criteria, and nearest neighbors."""

from studies.baselines.detector import WeightedDetector
from studies.baselines.scores import RIVALS, klpe, knn, knn_sum, lof
from studies.baselines.weights import areas_under_curves, weight_grid, weighted_scores

__all__ = [
    "RIVALS",
    "WeightedDetector",
    "areas_under_curves",
    "klpe",
    "knn",
    "knn_sum",
    "lof",
    "weight_grid",
    "weighted_scores",
]
