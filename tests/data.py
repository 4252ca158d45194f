"""Where real data is looked for; tests that need it run when it is there."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("PARETODEPTH_DATA", ROOT.parent / "shared" / "data"))
