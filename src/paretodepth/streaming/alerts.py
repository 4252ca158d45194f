"""How many alerts there may be: so many an hour, or so many per thousand samples."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

UNITS = {"hour": 3600.0, "1000": 1000.0}
"""What a budget may be per, and how long that is: in seconds, or in samples."""


class AlertBudget(NamedTuple):
    """How many alerts there may be, and when the last ones were.

    Attributes
    ----------
    n_alerts : int
    unit : {"hour", "1000"}
    moments : deque of float
        Of the alerts that count: seconds since 1970, or numbers of samples.
    """

    n_alerts: int
    unit: str
    moments: deque[float]

    def allows(self, number: int, now: float) -> bool:
        """Tell whether a called sample may be an alert, and count it if so.

        Parameters
        ----------
        number : int
            Of the sample in the stream.
        now : float
            Seconds since 1970.
        """
        moment = now if self.unit == "hour" else float(number)
        while self.moments and moment - self.moments[0] >= UNITS[self.unit]:
            self.moments.popleft()
        if len(self.moments) >= self.n_alerts:
            return False
        self.moments.append(moment)
        return True


def check_max_alerts(max_alerts: object, caller: str) -> AlertBudget | None:
    """Return a budget such as "10/hour" or "5/1000", or None for no limit."""
    if max_alerts is None:
        return None
    parts = re.fullmatch(r"([1-9][0-9]{0,8})/(hour|1000)", max_alerts) if isinstance(max_alerts, str) else None
    if parts is None:
        raise ValueError(
            f"The 'max_alerts' parameter of {caller} must be None or a number of alerts an hour or per thousand "
            f"samples, such as '10/hour' or '5/1000'. Got {max_alerts!r} instead."
        )
    return AlertBudget(int(parts[1]), parts[2], deque())
