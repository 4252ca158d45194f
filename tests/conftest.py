"""Runs as if optional libraries were not installed, if asked to: PARETODEPTH_WITHOUT=rapidfuzz,dtaidistance."""

import os
import sys

for name in filter(None, os.environ.get("PARETODEPTH_WITHOUT", "").split(",")):
    sys.modules[name] = None
