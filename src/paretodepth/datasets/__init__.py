"""Simulated data with known anomalies, and pedestrians that a camera saw."""

from paretodepth.datasets.edinburgh import EdinburghTracks, fetch_edinburgh, load_edinburgh
from paretodepth.datasets.hypercube import Hypercube, make_hypercube
from paretodepth.datasets.injection import InjectedSplit, inject, make_injected_split
from paretodepth.datasets.pedestrians import Pedestrians, make_pedestrians, trajectory_criteria, trajectory_table

__all__ = [
    "EdinburghTracks",
    "Hypercube",
    "InjectedSplit",
    "Pedestrians",
    "fetch_edinburgh",
    "inject",
    "load_edinburgh",
    "make_hypercube",
    "make_injected_split",
    "make_pedestrians",
    "trajectory_criteria",
    "trajectory_table",
]
