import time

import numpy as np
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth._blocks import BLOCK_VALUES, BufferPool, map_blocks, print_progress, progress_to, row_blocks
from tests.draws import fitted_detector, small_blocks


def test_a_block_holds_no_more_values_than_the_working_memory_unless_a_row_does():
    assert row_blocks(10, BLOCK_VALUES // 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    with small_blocks(70):
        assert row_blocks(10, 20) == [slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 10)]
        assert row_blocks(2, 71) == [slice(0, 1), slice(1, 2)]
    with small_blocks(10 * BLOCK_VALUES):
        assert row_blocks(2, BLOCK_VALUES) == [slice(0, 1), slice(1, 2)]


def test_a_room_is_used_again_unless_it_is_taken_or_too_small():
    rooms = BufferPool()
    with rooms.taken((2, 3)) as first:
        assert first.shape == (2, 3)
        with rooms.taken((2, 3)) as second:
            assert not np.shares_memory(first, second)
    with rooms.taken((5,)) as again:
        assert np.shares_memory(again, first)
        assert again.flags.c_contiguous
    with rooms.taken((4, 4)) as larger:
        assert larger.shape == (4, 4)


def test_results_come_in_the_order_of_the_blocks_whoever_ends_first():
    def late(block):
        time.sleep(0.05 if block == 0 else 0.0)
        return block

    assert map_blocks(late, range(5), 2) == [0, 1, 2, 3, 4]


def test_nothing_more_is_computed_after_an_interruption():
    asked = []

    def interrupted(A, B):
        asked.append(len(A))
        if len(asked) == 3:
            raise KeyboardInterrupt
        time.sleep(0.01)
        return np.abs(A - B.T)

    detector = ParetoDepthDetector([Criterion("a", [0], interrupted)], n_jobs=2)
    with small_blocks(60), pytest.raises(KeyboardInterrupt):
        detector.fit(np.random.default_rng(0).random((60, 1)))
    # There are 60 blocks; those that were being worked on end.
    assert len(asked) < 10


def test_phases_are_told_to_who_watches():
    encoded = []
    with progress_to(lambda *what: encoded.append(what)):
        fitted_detector(np.random.default_rng(0).random((30, 2)), max_depth=10)
    titles = list(dict.fromkeys(title for title, _, _ in encoded))
    assert titles == [
        "dissimilarities of 435 pairs of samples",
        "neighbors",
        "Pareto fronts of 435 dyads",
        "leave-one-out scores",
        "advice",
    ]
    assert all(0 <= n_done <= n_all for _, n_done, n_all in encoded)
    assert ("neighbors", 1, 1) in encoded


def test_progress_is_told_with_the_time_left(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with print_progress("a test", seconds_between=0.0):
        fitted_detector(np.random.default_rng(0).random((30, 2)), max_depth=10)
    lines = capsys.readouterr().out
    assert "[a test] Pareto fronts of 435 dyads … 100%, 0 s left" in lines
    assert lines.count("\n") == 5
