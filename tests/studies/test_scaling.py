"""Small versions of the experiments on many samples."""

import pytest

from studies.pages import SCALING
from studies.scaling import cluster, large_fits
from tests.studies.small import SMALL, assert_section_is_written, cells


@pytest.mark.slow
def test_depths_of_capped_fits_are_confirmed_by_brute_force(runs):
    automatic, capped = cells(large_fits.tables(runs("fits"), {}), "scores")
    for row in (automatic, capped):
        n_right, n_checked = map(int, row["confirmed"].split(" of "))
        assert n_right == n_checked > 3
    modelled = cells(large_fits.tables(runs("fits"), {}), "model")
    assert [row["dyads"] for row in modelled] == ["5.0e+09", "5.0e+11", "5.0e+13", "5.0e+15"]
    assert modelled[0]["to hold them"] == "80 GB"


@pytest.mark.slow
def test_a_cluster_fits_as_threads_do(runs):
    (row,) = cells(cluster.tables(runs("cluster"), SMALL["cluster"][0]), "times")
    assert row["same scores, bit by bit"] == "yes"


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALING.experiments)
def test_an_experiment_writes_its_tables_pictures_and_section(name, runs, tmp_path):
    assert_section_is_written(SCALING, name, runs(name), tmp_path)
