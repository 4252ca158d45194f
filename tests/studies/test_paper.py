"""Small versions of the paper's experiments; the bounds are wide enough for their few runs."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from studies.pages import REPRODUCTION
from studies.paper import appendix_b, figure1, figure2, table1a, table1b, theorem1, theorem2
from tests.data import DATA
from tests.studies.small import SMALL, assert_section_is_written, cells


@pytest.mark.slow
def test_the_anomalous_sample_of_figure_1_lies_deeper(runs):
    nominal, anomalous = (float(row["mean depth"]) for row in cells(figure1.tables(runs("figure1"), {}), "mean_depths"))
    assert anomalous > 2 * nominal


@pytest.mark.slow
def test_linear_combinations_miss_nearly_all_of_a_non_convex_front(runs):
    non_convex, square = cells(figure2.tables(runs("figure2"), {}), "sizes")
    assert int(non_convex["|F \\ L|"]) > 0.6 * int(non_convex["|F|"])
    assert 0 <= int(square["|F \\ L|"]) < 0.6 * int(square["|F|"])


@pytest.mark.slow
def test_pda_beats_every_method_with_its_best_weight_on_the_cube(runs):
    rows = cells(table1a.tables(runs("simulation"), SMALL["simulation"][0]), "table1a")
    areas = {(row["method"], row["weight"]): float(row["ours, per run"].split()[0]) for row in rows}
    # Six runs of standard deviation 0.02.
    assert 0.92 < areas["PDA", "no weights"] < 0.98
    assert all(area < areas["PDA", "no weights"] for (name, _), area in areas.items() if name != "PDA")
    assert len(rows) == 9


@pytest.mark.slow
def test_pedestrians_are_told_apart_better_the_stronger_the_anomaly(runs):
    settings = SMALL["pedestrians"][0]
    tables = table1b.tables(runs("pedestrians"), settings)
    areas = [float(row["median weight"]) for row in cells(tables, "table1b") if row["method"] == "PDA"]
    assert areas == sorted(areas)
    assert areas[-1] > 0.9
    blend = [row for row in cells(tables, "table1b") if row["method"] == "blend"]
    assert [(row["best weight"], row["paper"]) for row in blend] == [("no weights", "–")] * 3
    assert float(blend[-1]["median weight"]) > 0.9
    assert tables[0].caption.count("The blend gains") == 3
    assert "this is the simulated scene" in tables[0].caption


def test_pedestrians_are_the_simulated_ones_where_the_tracks_are_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", str(tmp_path))
    assert table1b.settings(False) == {"source": table1b.SIMULATED, "ours": ["PDA", "blend"]}


@pytest.mark.skipif(not (DATA / "edinburgh").is_dir(), reason="the Edinburgh tracks are not here")
def test_pedestrians_are_the_real_ones_where_the_tracks_are(monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", str(DATA))
    settings = table1b.settings(False)
    assert settings["source"] == table1b.EDINBURGH
    scene = table1b.scene(0, settings["source"], "strong")
    # The mean of ten splits is 0.83 with a standard deviation of 0.03.
    assert 0.72 < roc_auc_score(scene.split.is_anomaly, scene.mean_depth) < 0.94


@pytest.mark.slow
def test_the_number_near_a_smooth_boundary_tends_to_the_theorems(runs):
    for row in cells(theorem1.tables(runs("theorem1"), SMALL["theorem1"][0]), "ratios"):
        # About 60 to 2000 points near T in each run: a relative error of at most 0.13 / sqrt(8) and a bias of n^(-1/d).
        assert float(row["n = 100,000"].split()[0]) == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize(("domain", "d", "expected"), [("ball", 2, 0.4354), ("cube less ball", 3, 0.0849)])
def test_the_theorems_constant_agrees_with_a_sum_over_the_surface(domain, d, expected):
    rng = np.random.default_rng(0)
    directions = np.abs(rng.standard_normal((10**6, d)))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    angles = [np.arctan2(directions[:, 1], directions[:, 0])]
    angles += [np.arccos(directions[:, 2])] if d == 3 else []
    inside = np.all([(a > low) & (a < high) for a, (low, high) in zip(angles, theorem1.ANGLES[d], strict=True)], axis=0)
    radius, volume = (1, np.pi) if domain == "ball" else (0.7, 1 - np.pi * 0.7**3 / 6)
    surface = np.pi / 2 * radius ** (d - 1)  # of one quadrant or octant
    integral = surface * np.mean(inside * directions.prod(axis=1) ** (1 / d))
    factor = {2: 2**0.5 * np.pi**0.5 / 2, 3: 6 ** (1 / 3) * 2.678938534707747 / 3}[d]
    assert theorem1.front_constant(domain, d) == pytest.approx(factor * volume ** (1 / d - 1) * integral, rel=0.01)
    assert theorem1.front_constant(domain, d) == pytest.approx(expected, abs=1e-4)


@pytest.mark.slow
def test_linear_combinations_reach_about_seven_tenths_of_the_squares_front(runs):
    tables = theorem2.tables(runs("theorem2"), SMALL["theorem2"][0])
    last = cells(tables, "sizes")[-1]
    # E|F| is the harmonic number, 9.79 for 10^4; |F| counts records, so the error of its mean is 0.16.
    assert float(last["|F|"].split()[0]) == pytest.approx(9.79, abs=0.6)
    assert 0.68 < float(last["|L| / |F|"]) < 0.76


@pytest.mark.slow
def test_missed_dyads_grow_as_the_appendix_says(runs):
    rows = cells(appendix_b.tables(runs("dyads"), SMALL["dyads"][0]), "fits")
    square, _, exponent = (float(row["ours"].split()[0]) for row in rows)
    # Thirty runs to 10^6 in place of 1000 to 10^9: an error of 0.02.
    assert 0.2 < square < 0.4
    assert 0.48 < exponent < 0.52


@pytest.mark.slow
@pytest.mark.parametrize("name", REPRODUCTION.experiments)
def test_an_experiment_writes_its_tables_pictures_and_section(name, runs, tmp_path):
    assert_section_is_written(REPRODUCTION, name, runs(name), tmp_path)
