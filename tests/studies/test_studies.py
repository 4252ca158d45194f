"""Small versions of the experiments; the bounds are wide enough for their few runs."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from paretodepth.studies.accuracy import areas as accuracy
from paretodepth.studies.accuracy import regimes, validity
from paretodepth.studies.pages import (
    ACCURACY,
    REPRODUCTION,
    SCALING,
    chosen_experiments,
    reproduce_experiment,
    write_page,
)
from paretodepth.studies.paper import appendix_b as dyads
from paretodepth.studies.paper import figure1, figure2, theorem1, theorem2
from paretodepth.studies.paper import table1a as simulation
from paretodepth.studies.paper import table1b as pedestrians
from paretodepth.studies.runs import finished_runs
from paretodepth.studies.scaling import cluster, subsets
from paretodepth.studies.scaling import large_fits as fits
from paretodepth.studies.tables import Mean
from tests.data import DATA

EXPERIMENTS = REPRODUCTION.experiments | ACCURACY.experiments | SCALING.experiments
SMALL = {
    "figure1": ({"n_samples": 40}, 1),
    "figure2": ({"n_points": {"non-convex domain": 300, "square": 300}}, 1),
    "simulation": ({"n_values": 3, "fixed_k": [5, 10], "every": 4}, 6),
    "pedestrians": ({"source": pedestrians.SIMULATED}, 1),
    "theorem1": ({"counts": [10**3, 10**4, 10**5]}, 8),
    "theorem2": ({"counts": [10**2, 10**3, 10**4]}, 300),
    "dyads": ({"n_dyads": 10**6, "step": 10**5}, 30),
    "accuracy": ({"regimes": ["cube, K = 4", "joint band, K = 2", "categories, K = 6"]}, 2),
    "validity": ({"alphas": list(validity.ALPHAS)}, 12),
    "speed": ({"n_criteria": [2]}, 3),
    "fits": ({"fits": [[2, 120, {"max_depth": "auto"}], [2, 60, {"max_depth": 5}], [3, 100, {"max_dyads": 900}]]}, 1),
    "subsets": ({"n_samples": 120, "n_criteria": [2, 4], "shares": [1.0, 0.1, 0.01]}, 6),
    "cluster": ({"n_samples": 100, "n_workers": 2}, 1),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    return {
        name: finished_runs(EXPERIMENTS[name], settings, range(n_runs), folder / f"{name}.jsonl", n_jobs=2)
        for name, (settings, n_runs) in SMALL.items()
    }


def cells(tables, name):
    (table,) = (table for table in tables if table.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.slow
def test_depths_of_capped_fits_are_confirmed_by_brute_force(runs):
    automatic, capped, drawn = cells(fits.tables(runs["fits"], {}), "scores")
    for row in (automatic, capped):
        n_right, n_checked = map(int, row["confirmed"].split(" of "))
        assert n_right == n_checked > 3
    assert drawn["confirmed"] == "0 of 0"
    modelled = cells(fits.tables(runs["fits"], {}), "model")
    assert [row["dyads"] for row in modelled] == ["5.0e+09", "5.0e+11", "5.0e+13", "5.0e+15"]
    assert modelled[0]["to hold them"] == "80 GB"


@pytest.mark.slow
def test_depths_of_more_dyads_are_closer_to_the_exact_ones(runs):
    rows = cells(subsets.tables(runs["subsets"], SMALL["subsets"][0]), "shares")
    for n_criteria in (2, 4):
        correlations = [float(row[f"K = {n_criteria}: rank correlation"].split()[0]) for row in rows]
        assert correlations[0] == 1.0
        assert correlations == sorted(correlations, reverse=True)
        assert correlations[-1] > 0.5


@pytest.mark.slow
def test_a_cluster_fits_as_threads_do(runs):
    (row,) = cells(cluster.tables(runs["cluster"], SMALL["cluster"][0]), "times")
    assert row["same scores, bit by bit"] == "yes"


def test_every_experiment_has_a_small_version():
    assert SMALL.keys() == EXPERIMENTS.keys()


@pytest.mark.slow
def test_the_anomalous_sample_of_figure_1_lies_deeper(runs):
    nominal, anomalous = (float(row["mean depth"]) for row in cells(figure1.tables(runs["figure1"], {}), "mean_depths"))
    assert anomalous > 2 * nominal


@pytest.mark.slow
def test_linear_combinations_miss_nearly_all_of_a_non_convex_front(runs):
    non_convex, square = cells(figure2.tables(runs["figure2"], {}), "sizes")
    assert int(non_convex["|F \\ L|"]) > 0.6 * int(non_convex["|F|"])
    assert 0 <= int(square["|F \\ L|"]) < 0.6 * int(square["|F|"])


@pytest.mark.slow
def test_pda_beats_every_method_with_its_best_weight_on_the_cube(runs):
    rows = cells(simulation.tables(runs["simulation"], SMALL["simulation"][0]), "table1a")
    areas = {(row["method"], row["weight"]): float(row["ours, per run"].split()[0]) for row in rows}
    # Six runs of standard deviation 0.02.
    assert 0.92 < areas["PDA", "no weights"] < 0.98
    assert all(area < areas["PDA", "no weights"] for (name, _), area in areas.items() if name != "PDA")
    assert len(rows) == 9


@pytest.mark.slow
def test_pedestrians_are_told_apart_better_the_stronger_the_anomaly(runs):
    settings = SMALL["pedestrians"][0]
    tables = pedestrians.tables(runs["pedestrians"], settings)
    areas = [float(row["median weight"]) for row in cells(tables, "table1b") if row["method"] == "PDA"]
    assert areas == sorted(areas)
    assert areas[-1] > 0.9
    assert "this is the simulated scene" in tables[0].caption


def test_pedestrians_are_the_simulated_ones_where_the_tracks_are_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", str(tmp_path))
    assert pedestrians.settings(False) == {"source": pedestrians.SIMULATED}


@pytest.mark.skipif(not (DATA / "edinburgh").is_dir(), reason="the Edinburgh tracks are not here")
def test_pedestrians_are_the_real_ones_where_the_tracks_are(monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", str(DATA))
    settings = pedestrians.settings(False)
    assert settings == {"source": pedestrians.EDINBURGH}
    scene = pedestrians.scene(0, settings["source"], "strong")
    # The mean of ten splits is 0.83 with a standard deviation of 0.03.
    assert 0.72 < roc_auc_score(scene.split.is_anomaly, scene.mean_depth) < 0.94


@pytest.mark.slow
def test_the_number_near_a_smooth_boundary_tends_to_the_theorems(runs):
    for row in cells(theorem1.tables(runs["theorem1"], SMALL["theorem1"][0]), "ratios"):
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
    tables = theorem2.tables(runs["theorem2"], SMALL["theorem2"][0])
    last = cells(tables, "sizes")[-1]
    # E|F| is the harmonic number, 9.79 for 10^4; |F| counts records, so the error of its mean is 0.16.
    assert float(last["|F|"].split()[0]) == pytest.approx(9.79, abs=0.6)
    assert 0.68 < float(last["|L| / |F|"]) < 0.76


@pytest.mark.slow
def test_missed_dyads_grow_as_the_appendix_says(runs):
    rows = cells(dyads.tables(runs["dyads"], SMALL["dyads"][0]), "fits")
    square, _, exponent = (float(row["ours"].split()[0]) for row in rows)
    # Thirty runs to 10^6 in place of 1000 to 10^9: an error of 0.02.
    assert 0.2 < square < 0.4
    assert 0.48 < exponent < 0.52


@pytest.mark.slow
def test_the_union_is_near_the_better_of_depth_and_criteria_in_every_regime(runs):
    tables = accuracy.tables(runs["accuracy"], SMALL["accuracy"][0])
    areas = {
        row["regime"]: {name: float(row[name].split()[0]) for name in ("PDA", "criteria", "union")}
        for row in cells(tables, "areas")
    }
    assert areas["cube, K = 4"]["criteria"] > areas["cube, K = 4"]["PDA"] + 0.02
    assert areas["joint band, K = 2"]["PDA"] > areas["joint band, K = 2"]["criteria"] + 0.2
    for area in areas.values():
        assert area["union"] > max(area["PDA"], area["criteria"]) - 0.03
    summary = {row["method"]: row for row in cells(tables, "summary")}
    assert summary["k-NN sum, best weight"]["among label-free"] == "needs labels"
    assert float(summary["union"]["among label-free"]) <= float(summary["PDA"]["among label-free"])
    assert {"LOF", "IsolationForest"} <= summary.keys()


@pytest.mark.slow
def test_false_alarms_and_discoveries_hold_their_rates(runs):
    tables = validity.tables(runs["validity"], SMALL["validity"][0])
    rows = cells(tables, "alarms")
    assert [row["method, calibration"] for row in rows] == [
        f"{method}, {calibration}" for calibration in ("leave-one-out", "split") for method in validity.METHODS
    ]
    for row in rows:
        mean, error = (float(part) for part in row["alpha = 0.1"].split(" ± "))
        assert 0.05 < mean < 0.1 + 3 * error
    for row in cells(tables, "discoveries"):
        mean, error = (float(part) for part in row["fdr = 0.1"].split(" ± "))
        assert mean < 0.1 + 3 * error


def test_regimes_of_real_data_are_there_when_their_files_are(tmp_path, monkeypatch):
    monkeypatch.setenv("PARETODEPTH_DATA", str(tmp_path))
    simulated = list(regimes.regimes())
    assert simulated == [
        "cube, K = 4",
        "cube, K = 2",
        "joint band, K = 2",
        "joint band, K = 3",
        "categories, K = 6",
        "pedestrians, K = 2",
    ]
    rng = np.random.default_rng(0)
    (tmp_path / "mfeat").mkdir()
    digits = np.repeat(np.arange(10), 20)
    for view in regimes.VIEWS["6 views"]:
        table = np.column_stack([rng.random((200, 4)) + digits[:, None], digits])
        np.savetxt(tmp_path / "mfeat" / f"mfeat-{view}.csv", table, delimiter=",", header="0,1,2,3,0", comments="")
    (tmp_path / "adbench").mkdir()
    base = rng.random((90, 4))
    X = np.column_stack([base, base + 0.01 * rng.random((90, 4)), np.ones(90)])
    np.savez(tmp_path / "adbench" / "7_small.npz", X=X, y=np.arange(90) >= 80)
    regimes._digit_view.cache_clear()
    draws = regimes.regimes()
    assert list(draws)[len(simulated) : -1] == [
        f"digits, {views}, {n}" for n in ("one digit", "three digits") for views in ("2 views", "3 views", "6 views")
    ]
    task = draws["digits, 2 views, three digits"](0)
    assert task.X_train.shape == (30, 8)
    assert [criterion.name for criterion in task.criteria] == ["mor", "fou"]
    assert task.is_anomaly.sum() == 50
    task = draws["small"](3)
    assert task.X_train.shape == (40, 9)
    assert task.columns_train.shape == (40, 8)
    assert sorted(criterion.columns for criterion in task.criteria) == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert task.is_anomaly.tolist() == [False] * 40 + [True] * 10
    regimes._digit_view.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_writes_its_tables_pictures_and_section(name, runs, tmp_path):
    experiment = EXPERIMENTS[name]
    settings, n_runs = SMALL[name]
    page = next(page for page in (REPRODUCTION, ACCURACY, SCALING) if name in page.experiments)
    folder = tmp_path / page.name
    folder.mkdir()
    finished_runs(_given(experiment, settings, runs[name]), settings, range(n_runs), folder / f"{name}.jsonl")
    small = _given(experiment, settings, runs[name])
    shown = []
    tables = reproduce_experiment(
        page, small, tmp_path, runs=n_runs, full=False, seed=0, n_jobs=1, report=lambda *numbers: shown.append(numbers)
    )
    assert shown == [(n_runs, n_runs)]
    text = write_page(page, tmp_path).read_text()
    assert experiment.title in text
    assert all(table.to_markdown() in text for table in tables)
    pictures = sorted(path.name for path in folder.glob("*.png"))
    assert pictures or name in ("speed", "cluster")
    for picture in pictures:
        assert f"{page.name}/{picture}" in text
        assert (folder / picture).with_suffix(".svg").exists()
    assert len(list(folder.glob("*.csv"))) == len(tables)


def _given(experiment, settings, values):
    """An experiment whose runs are known."""
    return type(experiment)(
        **vars(experiment) | {"settings": lambda full: settings, "run": lambda seed, settings: values[seed]}
    )


@pytest.mark.slow
def test_an_interrupted_experiment_goes_on_and_gives_the_same_numbers(tmp_path):
    command = [sys.executable, "-c", "from paretodepth.cli import main; main()", "reproduce", "dyads"]
    interrupted, whole = tmp_path / "interrupted", tmp_path / "whole"
    options = ["--runs", "4", "--jobs", "1"]
    process = subprocess.Popen([*command, *options, "--out", str(interrupted)], stdout=subprocess.DEVNULL)
    path = interrupted / "reproduction" / "dyads.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (path.exists() and path.read_text().count("\n") >= 2):
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = path.read_text().splitlines()[1:]
    assert 1 <= len(finished) < 4
    with path.open("a") as file:
        file.write('{"seed": 3, "val')
    for out in (interrupted, whole):
        subprocess.run([*command, *options, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    after = path.read_text().splitlines()
    assert after[1 : len(finished) + 1] == finished
    other = (whole / "reproduction" / "dyads.jsonl").read_text().splitlines()
    assert sorted(map(json.dumps, map(json.loads, after))) == sorted(map(json.dumps, map(json.loads, other)))
    tables = [(out / "reproduction" / "dyads_fits.csv").read_text() for out in (interrupted, whole)]
    assert tables[0] == tables[1]


def test_runs_of_other_settings_are_not_taken_over(tmp_path):
    path = tmp_path / "runs.jsonl"
    experiment = EXPERIMENTS["theorem2"]
    few = finished_runs(experiment, {"counts": [10]}, [0, 1], path)
    more = finished_runs(experiment, {"counts": [10, 20]}, [0, 1], path)
    assert len(few[0]["optimal"]) == 1
    assert len(more[0]["optimal"]) == 2


def test_experiments_are_chosen_by_name_in_the_order_of_the_page():
    chosen = chosen_experiments(REPRODUCTION, ["dyads", "figure1"])
    assert [experiment.name for experiment in chosen] == ["figure1", "dyads"]
    assert [experiment.name for experiment in chosen_experiments(ACCURACY, ["all"])] == list(ACCURACY.experiments)
    with pytest.raises(ValueError, match=r"must be one of 'figure1'.*Got 'figure3' instead"):
        chosen_experiments(REPRODUCTION, ["figure3"])


def test_a_difference_is_told_in_standard_errors():
    assert Mean(0.95, 0.003).distance(Mean(0.94, 0.004)) == "+2.0"
    assert Mean.of([1.0, 3.0]) == Mean(2.0, 1.0)
    assert str(Mean.of([1.0])) == "1.000"
