import contextlib
import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from paretodepth.datasets import trajectory_table
from studies import download
from studies.paper import edinburgh
from studies.paper.edinburgh import fetch_edinburgh, load_edinburgh
from studies.paper.injection import STRENGTHS, make_injected_split
from studies.paper.splines import smoothed
from tests import naive
from tests.data import DATA

METRES_AND_SECONDS = [0.0247, 0.0247, 1 / 9]
PROPERTIES = "Properties.R{}=[59 95 164 568.49 30.02 31.27 122.93 1.92 ];"


def walk(n_points=30, *, x=100, y=80, start=1, step=5):
    return [[x + step * i, y, start + i] for i in range(n_points)]


def track_line(points, separator=";", name="R1"):
    return f" TRACK.{name}=[" + separator.join("[{} {} {}]".format(*point) for point in points) + "];"


def write_day(folder, tracks, *, header=None, separator=";", name="tracks.01Jan.txt"):
    lines = [] if header is None else [header, ""]
    for number, points in enumerate(tracks, start=1):
        lines += [PROPERTIES.format(number), track_line(points, separator, f"R{number}")]
    file = folder / name
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("separator", [";", "; "])
@pytest.mark.parametrize("mark", [None, "% ", ""])
def test_tracks_are_read_in_metres_and_seconds(tmp_path, mark, separator):
    header = None if mark is None else f"{mark}Total number of trajectories in file are  2"
    file = write_day(tmp_path, [walk(), walk(40, y=200)], header=header, separator=separator)
    tracks = load_edinburgh(file)
    assert tracks.ids == ["tracks.01Jan.R1", "tracks.01Jan.R2"]
    for trajectory, points in zip(tracks.trajectories, [walk(), walk(40, y=200)], strict=True):
        assert_allclose(trajectory, np.array(points) * METRES_AND_SECONDS, rtol=1e-15)
    assert sum(tracks.dropped.values()) == tracks.n_repeated == 0


FAULTY = {
    "backward": [*walk(), [300, 80, 5]],
    "short": walk(19, step=10),
    "still": walk(30, step=1),
    "jump": [*walk(), [100 + 5 * 29 + 61, 80, 31]],
}
USABLE = {"short": walk(20, step=10), "still": walk(26, step=2), "jump": [*walk(), [100 + 5 * 29 + 60, 80, 31]]}


@pytest.mark.parametrize("reason", FAULTY)
def test_a_faulty_track_is_dropped_and_counted_but_not_one_at_the_limit(tmp_path, reason):
    tracks = load_edinburgh(write_day(tmp_path, [FAULTY[reason], walk(40, y=200)]))
    assert tracks.ids == ["tracks.01Jan.R2"]
    assert tracks.dropped == dict.fromkeys(("backward", "short", "still", "jump", "duplicate"), 0) | {reason: 1}
    assert tracks.n_tracks == 2
    if reason in USABLE:
        assert load_edinburgh(write_day(tmp_path, [USABLE[reason]])).ids == ["tracks.01Jan.R1"]


def test_of_points_with_one_time_the_first_stays(tmp_path):
    points = walk()
    tracks = load_edinburgh(write_day(tmp_path, [[*points[:10], [999, 999, 10], *points[10:]]]))
    assert_allclose(tracks.trajectories[0], np.array(points) * METRES_AND_SECONDS, rtol=1e-15)
    assert tracks.n_repeated == 1
    # They do not make a track long enough either.
    assert load_edinburgh(write_day(tmp_path, [[*walk(19, step=10), [999, 999, 19]]])).dropped["short"] == 1


def test_of_tracks_written_twice_the_longer_stays(tmp_path):
    tracks = load_edinburgh(write_day(tmp_path, [walk(30), walk(40), walk(40), walk(60, start=21, x=200)]))
    # The last shares 20 of its 60 points with those of 40, which is 20 of 40 of theirs: not over half.
    assert tracks.ids == ["tracks.01Jan.R2", "tracks.01Jan.R4"]
    assert tracks.dropped["duplicate"] == 2


def test_duplicates_are_sought_within_a_day_only(tmp_path):
    for day in ("02Jan", "01Jan"):
        write_day(tmp_path, [walk(), walk(20)], name=f"tracks.{day}.txt")
    (tmp_path / "notes.txt").write_text("not a track file")
    tracks = load_edinburgh(tmp_path)
    assert tracks.ids == ["tracks.01Jan.R1", "tracks.02Jan.R1"]
    assert (tracks.dropped["duplicate"], tracks.n_tracks) == (2, 4)


@pytest.mark.parametrize("seed", range(30))
def test_distinct_tracks_equal_the_naive_ones(seed):
    rng = np.random.default_rng(seed)
    # Pieces of a few long tracks overlap by any share, exactly half included.
    people = [np.column_stack([rng.integers(3, size=(40, 2)), np.arange(40)]) for _ in range(3)]
    pieces = [(rng.integers(3), rng.integers(20), rng.integers(2, 20)) for _ in range(25)]
    tracks = [people[person][start : start + length] for person, start, length in pieces]
    assert edinburgh.distinct_tracks(tracks) == naive.distinct_tracks([track.tolist() for track in tracks])


MALFORMED = {
    track_line(walk())[:-20]: "Line 2 of .*tracks.01Jan.txt must be a whole track.* Got 'TRACK.R1",
    " TRACK.R1=[[1 2];[3 4]];": "Line 2 .* in whole numbers. Got 'TRACK.R1=.* download the file again",
    "<html>": "Line 2 .* must be a track, .* or its properties, .* Got '<html>' instead",
    f" TRACK.R1=[[1 2 {'9' * 30}]];": "Line 2 .* must be a whole track",
    track_line(walk()): "tracks.01Jan.txt must hold the 2 tracks .* Got 1 instead; download the file again",
}


@pytest.mark.parametrize("line", MALFORMED)
def test_a_malformed_file_is_refused_by_file_and_line(tmp_path, line):
    file = tmp_path / "tracks.01Jan.txt"
    file.write_text(f"% Total number of trajectories in file are  2\n{line}\n")
    with pytest.raises(ValueError, match=MALFORMED[line]):
        load_edinburgh(file)


@pytest.mark.parametrize("path", ["nowhere.txt", ".", 5])
def test_a_path_without_tracks_is_refused(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="'path' parameter of load_edinburgh must be a file, or a folder of files"):
        load_edinburgh(path)


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        self.server.n_requests += 1


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Serve the folder "served" with a generated day, whose checksum is the expected one."""
    folder = tmp_path / "served"
    folder.mkdir()
    content = write_day(folder, [walk(), walk(40, y=200)], name="tracks.01Jul.txt").read_bytes()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=folder))
    server.n_requests, server.is_sent = 0, False
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setattr(edinburgh, "SOURCE", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setitem(edinburgh.SHA256, "01Jul", hashlib.sha256(content).hexdigest())
    server.file = folder / "tracks.01Jul.txt"
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("variable", [None, "PARETODEPTH_DATA", "SCIKIT_LEARN_DATA"])
def test_a_day_is_downloaded_once(server, tmp_path, monkeypatch, variable):
    home = tmp_path / "new" / "home"
    for name in ("PARETODEPTH_DATA", "SCIKIT_LEARN_DATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(home))
    for _ in range(2):
        tracks = fetch_edinburgh(data_home=None if variable else home)
        assert tracks.ids == ["tracks.01Jul.R1", "tracks.01Jul.R2"]
        assert server.n_requests == 1
    assert [file.name for file in (home / "edinburgh").iterdir()] == ["tracks.01Jul.txt"]


def endless(server):
    class Endless(QuietHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                for _ in range(64):
                    self.wfile.write(bytes(1 << 20))
                server.is_sent = True

    server.RequestHandlerClass = Endless


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda server: server.file.write_text("more"),
            r"gave is not the expected file. Put the file into {}.*SHA-256 must be .* Got",
        ),
        (
            lambda server: server.file.unlink(),
            r"could not be downloaded \(.*404.*\). Put the file into {}; it comes from",
        ),
        (endless, r"could not be downloaded \(more than 2 MB came from http.*\). Put the file into {}"),
    ],
)
def test_a_failed_download_says_what_to_put_where_and_leaves_nothing(server, tmp_path, monkeypatch, spoil, message):
    monkeypatch.setattr(download, "MAX_BYTES", 2 << 20)
    spoil(server)
    file = tmp_path / "home" / "edinburgh" / "tracks.01Jul.txt"
    with pytest.raises(OSError, match=message.format(file)):
        fetch_edinburgh(data_home=tmp_path / "home")
    assert list(file.parent.iterdir()) == []
    assert not server.is_sent


@pytest.mark.slow
def test_a_file_that_is_missing_or_spoilt_in_the_data_home_is_refused(server, tmp_path):
    with pytest.raises(OSError, match=r"does not exist. Put the file into .*tracks.01Jul.txt"):
        fetch_edinburgh(data_home=tmp_path, download_if_missing=False)
    assert server.n_requests == 0
    fetch_edinburgh(data_home=tmp_path)
    (tmp_path / "edinburgh" / "tracks.01Jul.txt").write_text("spoilt")
    with pytest.raises(OSError, match=r"tracks.01Jul.txt is not the expected file. Put the file into"):
        fetch_edinburgh(data_home=tmp_path)


def test_an_unknown_day_is_refused():
    with pytest.raises(ValueError, match=r"'day' .* fetch_edinburgh must be one of '01Jul', '01Aug'. Got '1Jul'"):
        fetch_edinburgh("1Jul")


needs_tracks = pytest.mark.skipif(not (DATA / "edinburgh").is_dir(), reason="the Edinburgh tracks are not here")
REAL = {"01Jul": (1262, 1047), "01Aug": (146, 116)}


@needs_tracks
@pytest.mark.parametrize("day", REAL)
def test_the_real_days_leave_about_as_many_tracks_as_expected(day):
    n_tracks, n_usable = REAL[day]
    tracks = fetch_edinburgh(day, data_home=DATA, download_if_missing=False)
    assert tracks.n_tracks == n_tracks
    assert len(tracks.trajectories) == pytest.approx(n_usable, rel=0.01)
    points = [{tuple(point) for point in trajectory} for trajectory in tracks.trajectories]
    neighbors = [(i, j) for i in range(len(points)) for j in range(i + 1, min(i + 40, len(points)))]
    assert all(2 * len(points[i] & points[j]) <= min(len(points[i]), len(points[j])) for i, j in neighbors)
    assert_array_equal([len(trajectory) >= 20 for trajectory in tracks.trajectories], True)


@needs_tracks
@pytest.mark.parametrize("strength", STRENGTHS)
def test_anomalies_can_be_put_into_the_real_tracks(strength):
    trajectories = fetch_edinburgh("01Jul", data_home=DATA, download_if_missing=False).trajectories
    split = make_injected_split(trajectories, strength=strength, random_state=0)
    assert (len(split.train), len(split.test), split.is_anomaly.sum()) == (500, 200, 40)
    table = trajectory_table(smoothed(split.test))
    assert np.isfinite(table).all()
    assert_allclose(table[:, :20].sum(axis=1), 1)
