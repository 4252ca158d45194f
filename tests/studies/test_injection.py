import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth.criteria.metrics.paths import path_length
from paretodepth.datasets import make_pedestrians
from studies.paper.injection import ANOMALY_KINDS, SIZES, STRENGTHS, inject, make_injected_split
from studies.paper.splines import smoothed

SCENE = np.array([[-8.0, -6.0], [8.0, 6.0]])
WALKS = make_pedestrians(20, random_state=0).trajectories
CASES = [(kind, strength) for kind in ANOMALY_KINDS for strength in STRENGTHS]
every_case = pytest.mark.parametrize(("kind", "strength"), CASES)


def injected(trajectory, kind, strength, seed=0):
    return inject(trajectory, kind, strength=strength, scene=SCENE, rng=np.random.default_rng(seed))


def size(kind, strength):
    return SIZES[kind][STRENGTHS.index(strength)]


def length(trajectory):
    return path_length(trajectory)[-1]


def duration(trajectory):
    return trajectory[-1, 2] - trajectory[0, 2]


def smooth_walks():
    """Walks without jitter, whose speed can be told from their points."""
    return smoothed(WALKS)


@every_case
def test_an_injection_keeps_both_ends_and_goes_forward_in_time(kind, strength):
    for seed, walk in enumerate(WALKS):
        before = walk.copy()
        new = injected(walk, kind, strength, seed)
        assert_array_equal(walk, before)
        assert (np.diff(new[:, 2]) > 0).all()
        assert_array_equal(new[0], walk[0])
        assert_allclose(new[-1, :2], walk[-1, :2], atol=1e-12)
        assert_array_equal(new, injected(walk, kind, strength, seed))


@pytest.mark.parametrize("kind", ["stopping", "running"])
@pytest.mark.parametrize("strength", STRENGTHS)
def test_anomalies_in_speed_leave_every_point_where_it_is(kind, strength):
    for seed, walk in enumerate(WALKS):
        new = injected(walk, kind, strength, seed)
        stays = np.concatenate(([True], np.diff(new[:, :2], axis=0).any(axis=1)))
        assert_array_equal(new[stays, :2], walk[:, :2])


@pytest.mark.parametrize("kind", ["loop", "detour", "reversal"])
@pytest.mark.parametrize("strength", STRENGTHS)
def test_anomalies_in_shape_keep_the_speed(kind, strength):
    for seed, walk in enumerate(smooth_walks()):
        new = injected(walk, kind, strength, seed)
        assert length(new) > length(walk)
        speeds, new_speeds = (np.diff(path_length(t)) / np.diff(t[:, 2]) for t in (walk, new))
        # Every step is as fast as one of the walk's; chords of a circle of half a metre are 0.4 % shorter than arcs.
        assert np.abs(new_speeds[:, None] / speeds - 1).min(axis=1).max() < 0.006
        if kind == "detour":
            assert_allclose(new_speeds, speeds, rtol=1e-9)


@pytest.mark.parametrize("strength", STRENGTHS)
def test_injections_are_as_large_as_they_claim(strength):
    for seed, walk in enumerate(smooth_walks()):
        new = {kind: injected(walk, kind, strength, seed) for kind in ANOMALY_KINDS}
        assert duration(new["stopping"]) - duration(walk) == pytest.approx(size("stopping", strength))
        assert duration(walk) / duration(new["running"]) == pytest.approx(size("running", strength))
        circle = 2 * np.pi * size("loop", strength)
        assert length(new["loop"]) - length(walk) == pytest.approx(circle, rel=0.02)
        aside = np.hypot(*(new["detour"] - walk)[:, :2].T)
        assert 0.98 * size("detour", strength) < aside.max() <= size("detour", strength)
        back = (length(new["reversal"]) - length(walk)) / 2
        # The turn is at the first point that lies far enough back.
        assert size("reversal", strength) <= back < size("reversal", strength) + np.diff(path_length(walk)).max()


def test_a_reversal_goes_back_to_the_start_where_the_way_is_short():
    walk = smooth_walks()[0]
    short = walk[path_length(walk) < 3]
    new = injected(short, "reversal", "strong")
    assert (new[1:, :2] == short[0, :2]).all(axis=1).sum() == 1


def test_a_detour_and_a_loop_stay_in_the_scene_where_they_can():
    edge = np.column_stack([np.linspace(-8, 8, 100), np.full(100, 5.5), np.linspace(0, 12, 100)])
    for kind in ("loop", "detour"):
        for seed in range(10):
            assert injected(edge, kind, "strong", seed)[:, 1].max() < 6
    middle = edge * [1, 0, 1]
    tops = {bool(injected(middle, "detour", "strong", seed)[:, 1].max() > 1) for seed in range(10)}
    assert tops == {True, False}


def test_a_walk_that_returns_to_its_start_can_be_changed():
    angle = np.linspace(0, 2 * np.pi, 80)
    closed = np.column_stack([np.cos(angle), np.sin(angle), np.arange(80) / 9])
    closed[-1, :2] = closed[0, :2]
    for kind in ANOMALY_KINDS:
        assert np.isfinite(injected(closed, kind, "strong")).all()


TRAJECTORIES = make_pedestrians(150, random_state=1).trajectories


def test_a_split_is_as_large_as_the_protocol_says():
    walks = [walk + np.array([0, 0, shift]) for shift in range(5) for walk in TRAJECTORIES]
    split = make_injected_split(walks, random_state=0)
    assert (len(split.train), len(split.test)) == (500, 200)
    assert {kind: int((split.kinds == kind).sum()) for kind in ANOMALY_KINDS} == dict.fromkeys(ANOMALY_KINDS, 8)
    assert split.is_anomaly.sum() == 40
    assert len(set(split.train_indices) | set(split.test_indices)) == 700


def test_only_anomalies_differ_from_the_given_trajectories():
    split = make_injected_split(TRAJECTORIES, random_state=3)
    for trajectory, index in zip(split.train, split.train_indices, strict=True):
        assert_array_equal(trajectory, TRAJECTORIES[index])
    for trajectory, index, is_anomaly in zip(split.test, split.test_indices, split.is_anomaly, strict=True):
        assert np.array_equal(trajectory, TRAJECTORIES[index]) != is_anomaly


def test_a_split_is_scaled_down_to_the_trajectories_there_are():
    split = make_injected_split(TRAJECTORIES[:116], random_state=0)
    assert (len(split.train), len(split.test)) == (82, 33)
    assert {kind: int((split.kinds == kind).sum()) for kind in ANOMALY_KINDS} == dict(
        zip(ANOMALY_KINDS, (2, 2, 1, 1, 1), strict=True)
    )


def test_splits_of_all_strengths_are_paired_and_repeat_with_their_seed():
    weak, strong = (make_injected_split(TRAJECTORIES, strength=s, random_state=5) for s in ("weak", "strong"))
    assert_array_equal(weak.train_indices, strong.train_indices)
    assert_array_equal(weak.test_indices, strong.test_indices)
    assert_array_equal(weak.kinds, strong.kinds)
    stops = [split.test[int((split.kinds == "stopping").argmax())] for split in (weak, strong)]
    places = [stop[np.diff(stop[:, :2], axis=0).any(axis=1).argmin(), :2] for stop in stops]
    assert_array_equal(*places)
    again = make_injected_split(TRAJECTORIES, strength="weak", random_state=5)
    for one, other in zip(weak.test, again.test, strict=True):
        assert_array_equal(one, other)
    other_seed = make_injected_split(TRAJECTORIES, strength="weak", random_state=6)
    assert not np.array_equal(weak.train_indices, other_seed.train_indices)
