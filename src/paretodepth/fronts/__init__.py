"""Vectors in, fronts and depths out; knows no samples."""

from paretodepth.fronts.fronts import Fronts, front_numbers
from paretodepth.fronts.summary import FrontSummary

__all__ = ["FrontSummary", "Fronts", "front_numbers"]
