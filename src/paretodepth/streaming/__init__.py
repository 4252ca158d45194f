"""Streams: learn and score one sample after the other, exactly."""

from paretodepth.streaming.detector import StreamingDetector
from paretodepth.streaming.stream import Observation

__all__ = ["Observation", "StreamingDetector"]
