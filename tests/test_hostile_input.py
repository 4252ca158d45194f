"""Bad input through the functions and through the command line: a clear error, at once, and nothing written."""

import time

import numpy as np
import pytest

from paretodepth import ParetoDepthDetector
from tests.bad_columns import BAD_COLUMNS
from tests.bad_input import BAD_INPUT

pytestmark = pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")

CASES = {**BAD_INPUT, **BAD_COLUMNS}
SECONDS = 1.0


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """The loops that refused input may come to, so that no case waits for their compilation."""
    X = np.random.default_rng(0).random((10, 3))
    ParetoDepthDetector().fit(X).explain(X)


def test_no_case_hides_another():
    assert len(CASES) == len(BAD_INPUT) + len(BAD_COLUMNS) >= 80


@pytest.mark.parametrize("case", CASES)
def test_bad_input_gets_a_clear_error_at_once_and_nothing_is_written(case, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    # Columns are refused before the library is called, which need not be installed.
    monkeypatch.setattr("paretodepth.fitted_criteria.check_extra", lambda module, extra: None)
    call, error, text = CASES[case]
    start = time.process_time()
    with pytest.raises(error, match=text):
        call()
    assert time.process_time() - start < SECONDS
    assert not list(tmp_path.iterdir())
