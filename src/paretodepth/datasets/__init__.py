"""Simulated data with known anomalies."""

from paretodepth.datasets.hypercube import Hypercube, make_hypercube
from paretodepth.datasets.pedestrians import Pedestrians, make_pedestrians, trajectory_criteria, trajectory_table

__all__ = [
    "Hypercube",
    "Pedestrians",
    "make_hypercube",
    "make_pedestrians",
    "trajectory_criteria",
    "trajectory_table",
]
