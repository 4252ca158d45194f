import pytest

from paretodepth import ParetoDepthDetector
from paretodepth.criteria.choice import chosen_criteria
from paretodepth.reports import detect
from tests.newcomer import PLANTED, invoice_table


@pytest.fixture(scope="session")
def found():
    """Three planted anomalies among 120 invoices, found."""
    nominal = invoice_table(0, 200)
    detector = ParetoDepthDetector(chosen_criteria(nominal).criteria, method="union")
    return detect(detector, nominal, invoice_table(1, 120, PLANTED))
