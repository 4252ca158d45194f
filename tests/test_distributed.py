import multiprocessing
import os
import signal
import threading
import time
from functools import partial

import dask.array
import dask.dataframe
import numpy as np
import pandas as pd
import psutil
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from typer.testing import CliRunner

from paretodepth import Criterion, ParetoDepthDetector, distributed
from paretodepth.cli import app
from paretodepth.distributed import cluster
from paretodepth.distributed.cluster import TrackedClient, check_client
from paretodepth.pairs.capped_fronts import auto_max_depth, capped_fronts, pair_fronts
from paretodepth.pairs.limits import Limits
from paretodepth.pairs.pairs import ComputedPairs
from tests.draws import (
    UnheldPairs,
    assert_same_fronts,
    assert_same_results,
    draw_samples,
    fitted,
    fitted_detector,
    small_blocks,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning"),
    pytest.mark.slow,
    # Dask's own, when workers come and go.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def new_cluster(n_workers=2):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit="2GB"
    )


@pytest.fixture(scope="module")
def client():
    with new_cluster() as cluster, Client(cluster) as client:
        yield client


@pytest.fixture(autouse=True)
def blocks():
    with small_blocks(600):
        yield


class UnheldClusterPairs(distributed.ClusterPairs):
    """Pairs that the workers compute whenever they are asked for, as those of too many samples to be held are."""

    def held(self):
        return self


def fitted_on(client, X, *, tasks_per_thread=8, **parameters):
    """Fit a detector to a few samples as to many: nothing is held here, and parts of them are worth a journey too."""
    sizes = {"few_to_send": 20, "tasks_per_thread": tasks_per_thread}
    return fitted_detector(
        X, pairs_type=partial(UnheldClusterPairs, client=TrackedClient(client), **sizes), **parameters
    )


@pytest.mark.parametrize("kind", ["distinct", "tied", "duplicate"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"method": "blend"},
        {"max_depth": 3, "method": "blend"},
        {"max_depth": "auto", "method": "blend"},
        {"max_depth": "auto", "n_neighbors": 3},
        {"max_depth": 5, "calibration": "split", "random_state": 0},
    ],
    ids=str,
)
def test_a_fit_on_a_cluster_is_that_of_one_machine_bit_by_bit(client, kind, parameters):
    X = draw_samples(kind, 100, 2)
    expected = fitted_detector(X, pairs_type=UnheldPairs, **parameters)
    detector = fitted_on(client, X, **parameters)
    assert_same_results(detector, expected, X[:7] + 0.1)
    of_pairs = [getattr(fronts, "fronts", (fronts,)) for fronts in (detector.fronts_, expected.fronts_)]
    for fronts, same in zip(*of_pairs, strict=True):
        assert_same_fronts(fronts, same)
    assert detector.exact_ == expected.exact_


@pytest.mark.parametrize("kind", ["distinct", "tied", "duplicate"])
@pytest.mark.parametrize("n_criteria", [2, 3])
def test_fronts_foreseen_on_a_cluster_are_those_of_one_machine(client, kind, n_criteria):
    own = fitted(None, draw_samples(kind, 100, n_criteria))
    here = ComputedPairs(own.criteria, own.encodings, 1)
    there = distributed.ClusterPairs(own.criteria, own.encodings, 1, client=TrackedClient(client), few_to_send=20)
    assert isinstance(there.subset(np.arange(25)), distributed.ClusterPairs)
    assert not isinstance(there.subset(np.arange(20)), distributed.ClusterPairs)
    n_neighbors = np.full(n_criteria, 3)
    max_depth = auto_max_depth(here, n_neighbors, few_samples=40)
    assert auto_max_depth(there, n_neighbors, few_samples=40) == max_depth
    assert_same_fronts(capped_fronts(there, 3, few_samples=40), capped_fronts(here, 3))
    limits = Limits("auto", 2**30)
    found, expected = (pair_fronts(pairs, limits, few_samples=40, n_sampled=600) for pairs in (there, here))
    for fronts, same in zip(found.fronts + found.sampled, expected.fronts + expected.sampled, strict=True):
        assert_same_fronts(fronts, same)


@pytest.mark.parametrize("n_tasks", [1, 3])
def test_the_number_of_tasks_changes_no_bit(client, n_tasks):
    X = np.round(np.random.default_rng(0).random((60, 3)), 1)
    expected = fitted_detector(X, max_depth=4)
    with small_blocks(200 * n_tasks):
        detector = fitted_on(client, X, tasks_per_thread=n_tasks, max_depth=4)
    assert_same_results(detector, expected, X[:5])


def test_the_workers_take_turns_and_results_keep_their_order(client):
    own = fitted(None, np.random.default_rng(0).random((30, 2)))
    pairs = distributed.ClusterPairs(own.criteria, own.encodings, 1, client=TrackedClient(client))
    results = list(pairs.map(lambda pairs, part: (part, os.getpid()), range(7)))
    assert [part for part, _ in results] == list(range(7))
    assert {worker for _, worker in results} == set(client.run(os.getpid).values())
    assert list(pairs.map(lambda pairs, part: part, [3])) == [3]
    assert list(pairs.map(lambda pairs, part: part, [])) == []


@pytest.mark.timeout(60)
def test_tasks_wait_for_workers_that_come_back():
    own = fitted(None, np.random.default_rng(0).random((30, 2)))
    with new_cluster(n_workers=0) as cluster, Client(cluster) as client:
        pairs = distributed.ClusterPairs(own.criteria, own.encodings, 1, client=TrackedClient(client))
        start = threading.Timer(1.0, cluster.scale, (1,))
        start.start()
        assert list(pairs.map(lambda pairs, part: part, range(3))) == [0, 1, 2]
        start.join()


def test_samples_of_dask_are_fitted_and_scored_as_those_of_numpy_and_pandas(client):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((90, 2)), columns=["a", "b"])
    new = pd.DataFrame(rng.random((31, 2)) * 1.5, columns=["a", "b"])
    expected = fitted_detector(frame)
    partitions = dask.dataframe.from_pandas(frame, npartitions=4)
    detector = distributed.fit(ParetoDepthDetector(), partitions, client)
    scores = expected.score_samples(new)
    some_empty = dask.dataframe.from_pandas(new, npartitions=3)
    some_empty = dask.dataframe.concat([some_empty[some_empty.a > 9], some_empty])
    for samples in (new, dask.dataframe.from_pandas(new, npartitions=3), some_empty):
        assert_array_equal(distributed.score_samples(detector, samples, client), scores)
    by_array = fitted_detector(frame.to_numpy())
    array = dask.array.from_array(new.to_numpy(), chunks=(8, 2))
    assert_array_equal(distributed.score_samples(by_array, array, client), scores)
    of_array = dask.array.from_array(frame.to_numpy(), chunks=(40, 2))
    assert_same_results(distributed.fit(ParetoDepthDetector(), of_array, client), by_array, new.to_numpy())


def test_rows_are_numbered_and_missing_values_counted_over_all_blocks(client):
    X = np.random.default_rng(0).random((90, 2))
    detector = fitted_detector(X)
    new = np.random.default_rng(1).random((60, 2))
    new[[33, 50], 1] = np.inf
    with pytest.raises(ValueError, match=r"Got inf in '1', sample 33;"):
        distributed.score_samples(detector, new, client)
    new[[33, 50], 1] = np.nan
    with pytest.raises(ValueError, match=r"Got 2 in '1' instead"):
        distributed.score_samples(detector, new, client)


def test_samples_that_lack_a_value_are_dropped_as_on_one_machine(client):
    criteria = [Criterion("a", "a", "difference", missing="drop"), Criterion("b", "b", "difference", missing="drop")]
    frame = pd.DataFrame(np.random.default_rng(0).random((90, 2)), columns=["a", "b"])
    frame.iloc[[4, 40], 0] = np.nan
    new = pd.DataFrame(np.random.default_rng(1).random((60, 2)), columns=["a", "b"])
    new.iloc[[0, 33, 59], 1] = np.nan
    here = ParetoDepthDetector(criteria).fit(frame)
    there = distributed.fit(ParetoDepthDetector(criteria), frame, client)
    assert_array_equal(there.training_scores_, here.training_scores_)
    scores = here.score_samples(new)
    assert_array_equal(np.flatnonzero(np.isnan(scores)), [0, 33, 59])
    for samples in (new, dask.dataframe.from_pandas(new, npartitions=3)):
        assert_array_equal(distributed.score_samples(there, samples, client), scores)
    assert np.isnan(distributed.score_samples(there, new.iloc[:1], client)).all()


def no_answer(A, B):
    return np.where(A[:, None, 0] == 7, np.nan, np.abs(A[:, None, 0] - B[:, 0]))


def test_a_bad_dissimilarity_is_told_by_its_row_in_all_blocks(client):
    detector = fitted_detector(np.random.default_rng(0).random((90, 1)), criteria=[Criterion("a", [0], no_answer)])
    new = np.where(np.arange(60) == 33, 7.0, 0.5)[:, None]
    with pytest.raises(ValueError, match=r"sample 33\b"):
        distributed.score_samples(detector, new, client)


def test_a_bad_value_in_a_collection_of_dask_is_told_by_its_partition(client):
    X = np.random.default_rng(0).random((90, 2))
    new = np.random.default_rng(1).random((30, 2))
    new[23, 0] = np.inf
    expected = r"In partition 2 of the samples, counted from 0: .* Got inf in '{}', sample 3;"
    with pytest.raises(ValueError, match=expected.format("0")):
        distributed.score_samples(fitted_detector(X), dask.array.from_array(new, chunks=(10, 2)), client)
    frames = [pd.DataFrame(part, columns=["a", "b"]) for part in (X, new)]
    with pytest.raises(ValueError, match=expected.format("a")):
        distributed.score_samples(
            fitted_detector(frames[0]), dask.dataframe.from_pandas(frames[1], npartitions=3), client
        )
    frames[1] = pd.DataFrame({"a": ["x"] * 30, "b": new[:, 1]})
    with pytest.raises(TypeError, match=r"In partition 0 .* must hold numbers. Got 'x'"):
        distributed.score_samples(
            fitted_detector(frames[0]), dask.dataframe.from_pandas(frames[1], npartitions=3), client
        )


def test_samples_in_a_dict_and_matrices_are_scored_as_on_one_machine(client):
    rng = np.random.default_rng(0)
    columns, new = ({name: rng.random(n) for name in "ab"} for n in (90, 60))
    detector = fitted_detector(columns, method="blend")
    assert_array_equal(distributed.score_samples(detector, new, client), detector.score_samples(new))
    distances = np.abs(columns["a"][:, None] - columns["a"])
    across = np.abs(new["a"][:, None] - columns["a"])
    criteria = [Criterion("a", metric="precomputed"), Criterion("b", metric="precomputed")]
    detector = fitted_detector([distances, distances**2], criteria=criteria, calibration="split", random_state=0)
    matrices = [across, across**2]
    assert_array_equal(distributed.score_samples(detector, matrices, client), detector.score_samples(matrices))


def listening():
    """Return the addresses at which this process and its children wait for others."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    found = [connection for process in processes for connection in process.net_connections("inet")]
    return {connection.laddr.ip for connection in found if connection.status == psutil.CONN_LISTEN}


def test_a_cluster_on_this_machine_listens_to_nobody_else():
    with cluster.connected("local"):
        assert listening() == {"127.0.0.1"}
    with cluster.local_cluster(1):
        assert listening() == {"127.0.0.1"}


def test_the_command_detect_fits_on_a_cluster(client, tmp_path):
    rng = np.random.default_rng(0)
    for name, n_samples in (("nominal", 80), ("new", 20)):
        pd.DataFrame(rng.random((n_samples, 2)), columns=["a", "b"]).to_csv(tmp_path / f"{name}.csv", index=False)
    scores = []
    for options in ([], ["--dask", client.scheduler.address]):
        out = tmp_path / f"{len(options)}.csv"
        files = [str(tmp_path / "new.csv"), "--reference", str(tmp_path / "nominal.csv"), "--out", str(out), "--quiet"]
        assert CliRunner().invoke(app, ["detect", *files, *options]).exit_code == 0
        scores.append(out.read_text())
    assert scores[0] == scores[1]
    with pytest.raises(ConnectionError, match=r"Got 'tcp://127.0.0.1:1' instead, where none answers"):
        CliRunner().invoke(app, ["detect", *files, "--dask", "tcp://127.0.0.1:1"], catch_exceptions=False)


def slow(A, B):
    """A function that takes its time on a worker."""
    if multiprocessing.parent_process() is not None:
        time.sleep(0.02)
    return np.abs(A[:, None, 0] - B[:, 0])


@pytest.mark.timeout(120)
def test_a_worker_may_be_killed_in_the_middle():
    X = np.random.default_rng(0).random((100, 2))
    criteria = [Criterion("slow", [0], slow), Criterion("b", [1])]
    expected = fitted_detector(X, criteria=criteria, max_depth=20)
    with new_cluster() as cluster, Client(cluster) as client:
        victim = next(iter(cluster.workers.values())).process.pid
        killer = threading.Timer(1.0, os.kill, (victim, signal.SIGKILL))
        killer.start()
        detector = fitted_on(client, X, criteria=criteria, max_depth=20)
        assert not killer.is_alive()
        assert victim not in [worker.process.pid for worker in cluster.workers.values() if worker.process]
    assert_same_results(detector, expected, X[:5])


def dying(A, B):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.timeout(120)
def test_workers_that_keep_dying_are_told_of():
    X = np.random.default_rng(0).random((60, 1))
    with new_cluster() as cluster, Client(cluster) as client:
        own = fitted([Criterion("dying", [0], dying)], X)
        pairs = distributed.ClusterPairs(own.criteria, own.encodings, 1, client=TrackedClient(client))
        with pytest.raises(ConnectionError, match=r"distributed.fit must have a cluster to the end. Dask says instead"):
            list(pairs.map(lambda pairs, rows: pairs.block(rows), [slice(0, 5)]))


@pytest.mark.timeout(60)
def test_a_cluster_that_is_gone_or_empty_is_refused():
    X = np.zeros((5, 1))
    cluster = new_cluster(n_workers=0)
    client = Client(cluster)
    with pytest.raises(ConnectionError, match=r"cluster with at least one worker. There was none for 1 seconds"):
        check_client(client, "distributed.fit", seconds=1)
    client.close()
    cluster.close()
    with pytest.raises(ConnectionError, match=r"connected to a running cluster. Its status is 'closed' instead"):
        distributed.fit(ParetoDepthDetector(), X, client)


def test_other_input_is_refused(client):
    X = np.random.default_rng(0).random((30, 2))
    with pytest.raises(TypeError, match=r"'client' parameter of distributed.fit must be a distributed.Client"):
        distributed.fit(ParetoDepthDetector(), X, "tcp://localhost")
    with pytest.raises(TypeError, match=r"'detector' parameter of distributed.fit must be a ParetoDepthDetector"):
        distributed.fit("detector", X, client)
    with pytest.raises(TypeError, match=r"'detector' parameter of distributed.score_samples must be a Pareto"):
        distributed.score_samples("detector", X, client)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        distributed.score_samples(ParetoDepthDetector(), X, client)
    with pytest.raises(ValueError, match="chunks of whole rows"):
        distributed.fit(ParetoDepthDetector(), dask.array.from_array(X, chunks=(10, 1)), client)
    frames = [pd.DataFrame({"a": [1.0], "b": [2.0]}), pd.DataFrame({"a": [1.0], "c": [2.0]})]
    uneven = dask.dataframe.from_delayed([dask.delayed(frame) for frame in frames], meta=frames[0], verify_meta=False)
    with pytest.raises(ValueError, match=r"must have its columns, 'a', 'b'. Got 'a', 'c' in partition 1 instead"):
        distributed.fit(ParetoDepthDetector(), uneven, client)


def failing(A, B):
    """A function that fails on a worker, where the training samples are by then."""
    if multiprocessing.parent_process() is not None:
        message = "no such dissimilarity"
        raise RuntimeError(message)
    return np.abs(A[:, None, 0] - B[:, 0])


@pytest.mark.timeout(120)
def test_a_fit_or_score_that_fails_leaves_nothing_on_the_cluster(client):
    def n_tasks(dask_scheduler):
        return len(dask_scheduler.tasks)

    X = np.random.default_rng(0).random((100, 2))
    criteria = [Criterion("failing", [0], failing), Criterion("b", [1])]
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no such dissimilarity"), cluster.checked_client(client, "test") as own:
            fitted_on(own, X, criteria=criteria, max_depth=5)
        with pytest.raises(RuntimeError, match="no such dissimilarity"):
            distributed.score_samples(ParetoDepthDetector(criteria).fit(X), X[:5], client)
    deadline = time.monotonic() + 20
    # What was let go of is forgotten by and by.
    while client.run_on_scheduler(n_tasks) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert client.run_on_scheduler(n_tasks) == 0
    detector = distributed.fit(ParetoDepthDetector(), X, client)
    assert_same_results(detector, ParetoDepthDetector().fit(X), X[:5])


def test_workers_with_other_versions_or_too_little_memory_are_refused(client):
    class Other:
        def __init__(self, version):
            self.version = version

        def get_versions(self, packages):
            found = client.get_versions(packages=packages)
            next(iter(found["workers"].values()))["packages"]["paretodepth"] = self.version
            return found

        def scheduler_info(self):
            return {"workers": {"a": {"memory_limit": 0}, "b": {"memory_limit": 2**28}}}

    cluster.check_versions(client, "distributed.fit")
    for version, told in (("0.0.1", "0.0.1"), (None, "not at all")):
        with pytest.raises(ValueError, match=rf"versions that are here, paretodepth .* Got paretodepth {told} on tcp"):
            cluster.check_versions(Other(version), "distributed.fit")
    cluster.check_worker_memory(10**6, client, "distributed.fit")
    cluster.check_worker_memory(2**26, Other("1.0"), "distributed.fit")
    with pytest.raises(ValueError, match=r"must each have 384 MB of memory, .* One has 256 MB instead; start workers"):
        cluster.check_worker_memory(2**27, Other("1.0"), "distributed.fit")
