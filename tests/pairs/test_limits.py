import re
import subprocess
import sys
import tracemalloc
from itertools import product

import numpy as np
import pytest

from paretodepth import AdviceWarning, Criterion, ParetoDepthDetector
from paretodepth.pairs.capped_fronts import auto_max_depth
from paretodepth.pairs.limits import Limits, free_bytes
from paretodepth.pairs.pairs import HeldPairs
from tests import naive
from tests.draws import UnheldPairs, assert_same_results, draw_samples, fitted_detector, pairs_of, small_blocks


def write_group(root, path, **figures):
    """Write the files of a control group."""
    for name, figure in figures.items():
        file = root / "sys/fs/cgroup" / path / name.replace("_", ".", 1)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{figure}\n")


def test_a_container_limits_what_is_free(tmp_path):
    whole = free_bytes(tmp_path)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/app/web\n")
    assert free_bytes(tmp_path) == pytest.approx(whole, rel=0.2)
    write_group(tmp_path, "app/web", memory_max="max", memory_current=10**6)
    assert free_bytes(tmp_path) == pytest.approx(whole, rel=0.2)
    # The limit of a group around counts, and cached files give way.
    write_group(tmp_path, "app", memory_max=5 * 10**6, memory_current=4 * 10**6, memory_stat="anon 7\ninactive_file 30")
    assert free_bytes(tmp_path) == 10**6 + 30
    write_group(tmp_path, "app/web", memory_max=3 * 10**6, memory_current=4 * 10**6)
    assert free_bytes(tmp_path) == 0


def test_a_container_of_the_first_kind_limits_what_is_free(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("5:cpu,memory:/docker/1f\n0::/\n")
    # Within a container, the folder is that of the container itself.
    write_group(tmp_path, "memory", memory_limit_in_bytes=9000, memory_usage_in_bytes=5000)
    assert free_bytes(tmp_path) == 4000


def test_the_limit_of_the_process_is_seen():
    code = """
import psutil
from paretodepth.pairs.limits import free_bytes
used = psutil.Process().memory_info().vms
psutil.Process().rlimit(psutil.RLIMIT_AS, (used + 10**8, used + 10**8))
print(free_bytes())
"""
    free = int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert 0 < free <= 10**8


def test_pairs_are_held_if_they_are_small_or_all_of_them_are_sorted():
    # 500,000 pairs of two criteria are 8,000,000 bytes; an eighth of the limit may be held, and two GiB at most.
    assert Limits("auto", 64_000_000).holds(500_000, 2)
    assert not Limits("auto", 63_000_000).holds(500_000, 2)
    assert not Limits(7, 10**12).holds(200_000_000, 2)
    assert Limits(None, 63_000_000).holds(500_000, 2)


@pytest.mark.parametrize("n_criteria", [1, 2, 3])
@pytest.mark.parametrize("kind", ["distinct", "normal", "tied", "equal", "duplicate", "sorted", "clusters"])
def test_a_cap_beyond_the_last_front_changes_no_bit(kind, n_criteria):
    X = draw_samples(kind, 60, n_criteria)
    new = np.random.default_rng(1).random((10, n_criteria)) * 1.5
    whole = {method: fitted_detector(X, method=method) for method in ("depth", "blend")}
    for method, expected in whole.items():
        with small_blocks(500):
            capped = fitted_detector(X, pairs_type=UnheldPairs, method=method, max_depth=10**6, n_jobs=2)
            assert_same_results(capped, expected, new, method)
        assert capped.exact_
        assert capped.n_fronts_ == expected.n_fronts_


@pytest.mark.slow
def test_block_sizes_change_no_bit():
    X = np.round(np.random.default_rng(0).random((20, 2)), 1)
    expected = fitted_detector(X, method="blend", max_depth=4)
    # From one row a block to all rows in one.
    for n_values in range(15, 900, 15):
        with small_blocks(n_values):
            blocks = fitted_detector(X, pairs_type=UnheldPairs, method="blend", max_depth=4, n_jobs=2)
            assert_same_results(blocks, expected, X, f"blocks of {n_values}")


@pytest.mark.parametrize("kind", ["distinct", "tied", "duplicate"])
def test_deeper_dyads_count_one_more_than_the_cap(kind):
    X = draw_samples(kind, 30, 2)
    new = np.random.default_rng(1).random((8, 2)) * 2
    dyads = naive.pairwise_dyads([np.abs(column[:, None] - column) for column in X.T])
    numbers = naive.front_numbers(dyads)
    for depth, max_depth in product(("paper", "insertion", "mid"), (1, 3)):
        case = f"{depth} depth, cap {max_depth}"
        detector = fitted_detector(X, n_neighbors=3, depth=depth, max_depth=max_depth)
        kept = numbers <= max_depth
        for sample in new:
            rows = np.abs(sample[:, None] - X.T)
            near = rows[:, naive.nearest(rows, (3, 3))].T
            expected = naive.depths(near, dyads[kept], numbers[kept], depth).mean()
            assert detector.mean_depth(sample[None])[0] == expected, case
            uncapped = np.minimum(naive.depths(near, dyads, numbers, depth), max_depth + 1)
            if depth != "mid":
                assert expected == uncapped.mean(), case


def test_an_automatic_cap_leaves_nominal_scores_alone():
    X = np.random.default_rng(0).random((400, 2))
    exact, capped = fitted_detector(X), fitted_detector(X, max_depth="auto")
    assert capped.n_fronts_ < exact.n_fronts_
    assert np.mean(capped.training_scores_ == exact.training_scores_) > 0.97
    assert capped.n_fronts_ == auto_max_depth(HeldPairs.of(pairs_of(None, X)), capped.n_neighbors_)


def test_what_is_not_exact_is_said():
    X = np.random.default_rng(0).random((40, 2))
    with pytest.warns(AdviceWarning, match="deeper than the last front kept, 1, and share one depth. Keep more fronts"):
        ParetoDepthDetector(max_depth=1).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "'max_depth' parameter of ParetoDepthDetector must be an integer of at least 1. Got 0"),
        ({"max_depth": "all"}, "'max_depth' parameter of ParetoDepthDetector must be one of 'auto'"),
        ({"memory_limit": 0}, "'memory_limit' parameter of ParetoDepthDetector must be an integer of at least 1"),
        (
            {"memory_limit": 1000},
            "about 673,280 bytes for 780 dyads of 40 samples. Got 1,000 instead.*max_depth='auto'",
        ),
        ({"memory_limit": 10**6, "max_depth": "auto"}, "'memory_limit' parameter .* must allow for what the fit needs"),
    ],
)
def test_limits_that_cannot_be_met_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        ParetoDepthDetector(**parameters).fit(np.random.default_rng(0).random((40, 2)))


def test_many_samples_are_refused_before_anything_is_computed():
    def never(A, B):
        raise AssertionError("computed")

    detector = ParetoDepthDetector([Criterion("a", [0], never)], memory_limit=2**30)
    with pytest.raises(ValueError, match="about 480,283,017,728 bytes for 4,999,950,000 dyads of 100,000 samples"):
        detector.fit(np.zeros((100_000, 1)))


@pytest.mark.parametrize("n_criteria", [65, 600, 1200])
def test_more_criteria_than_fronts_can_tell_of_are_refused(n_criteria):
    expected = rf"at most 64 criteria. Got {n_criteria:,} instead; join related columns into criteria"
    with pytest.raises(ValueError, match=expected):
        ParetoDepthDetector().fit(np.random.default_rng(0).random((5, n_criteria)))
    precomputed = [Criterion(str(number), metric="precomputed") for number in range(n_criteria)]
    with pytest.raises(ValueError, match=expected):
        ParetoDepthDetector(precomputed).fit([np.zeros((5, 5))] * n_criteria)


@pytest.mark.parametrize(
    ("n_samples", "n_criteria", "parameters"),
    [
        (60, 64, {}),
        (60, 64, {"n_neighbors": 59}),
        (200, 10, {"depth": "mid"}),
        (60, 64, {"max_depth": 3}),
        (300, 3, {"depth": "mid"}),
        (300, 2, {}),
        (200, 1, {}),
    ],
)
@pytest.mark.parametrize("levels", [6, 10**6])
def test_a_fit_takes_no_more_memory_than_it_says(n_samples, n_criteria, parameters, levels):
    X = np.random.default_rng(0).integers(levels, size=(n_samples, n_criteria)).astype(float)
    with pytest.raises(ValueError, match="must allow for what the fit needs") as refused:
        fitted_detector(X, memory_limit=1, **parameters)
    needed = int(re.search(r"about ([\d,]+) bytes", str(refused.value))[1].replace(",", ""))
    fitted_detector(X[:20], **parameters | ({"n_neighbors": 3} if "n_neighbors" in parameters else {}))
    tracemalloc.start()
    try:
        fitted_detector(X, memory_limit=needed, **parameters)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= needed


def test_free_memory_changes_no_score(monkeypatch):
    X = np.random.default_rng(0).random((900, 3))
    detectors = []
    for n_free in (2**29, 2**40):
        monkeypatch.setattr("paretodepth.pairs.limits.free_bytes", lambda n_free=n_free: n_free)
        detectors.append(ParetoDepthDetector(method="blend").fit(X))
    np.testing.assert_array_equal(detectors[0].training_scores_, detectors[1].training_scores_)
    assert detectors[0].model_.fronts.sampled == detectors[1].model_.fronts.sampled == ()
