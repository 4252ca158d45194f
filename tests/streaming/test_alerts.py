"""The budget of alerts."""

import pytest

from paretodepth.streaming import StreamingDetector
from paretodepth.streaming.alerts import check_max_alerts


def test_so_many_alerts_an_hour():
    budget = check_max_alerts("2/hour", "a test")
    moments = [0, 10, 20, 3599, 3600, 3605, 3610, 7300]
    assert [budget.allows(0, moment) for moment in moments] == [True, True, False, False, True, False, True, True]


def test_so_many_alerts_per_thousand_samples():
    budget = check_max_alerts("1/1000", "a test")
    assert [budget.allows(number, 0.0) for number in (5, 6, 1004, 1005, 2004, 2005)] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("given", ["ten", "0/hour", "5/day", "-1/hour", "5/1000 ", 5, ""])
def test_other_budgets_are_refused(given):
    with pytest.raises(ValueError, match="'max_alerts' parameter of StreamingDetector must be None or a number"):
        StreamingDetector(max_alerts=given).update_one([1.0])
