"""The Edinburgh Informatics Forum Pedestrian Database: people filmed by a camera from above.

The data set is of B. Majecka, "Statistical models of pedestrian behaviour in the Forum", MSc
dissertation, School of Informatics, University of Edinburgh, 2009, to be cited where it is
used. Its home is https://homepages.inf.ed.ac.uk/rbf/FORUMTRACKING/.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretodepth._checks import check_choice
from paretodepth.criteria.metrics.paths import Trajectory
from paretodepth.datasets.pedestrians import FRAMES_PER_SECOND
from studies.download import data_folder, downloaded

METRES_PER_PIXEL = 0.0247
MIN_POINTS = 20
MIN_DISPLACEMENT = 50  # pixels from the first point to the last
MAX_STEP = 60  # pixels from a point to the next
HOME = "https://homepages.inf.ed.ac.uk/rbf/FORUMTRACKING/"
# Two days are kept as plain text in a repository whose commit names their content for good.
SOURCE = (
    "https://raw.githubusercontent.com/crowdbotp/OpenTraj/d1a91ba99d8648a4ffd69c54ae7760f9b38ea94b/"
    "datasets/Edinburgh/annotations/"
)
SHA256 = {
    "01Jul": "89646c7d4be4bcbf7d067e77f9dcc9321b3eba7b499ed651050f6b639bfae726",
    "01Aug": "392e3d04e4d91d67cd704d0703743e65108acc568d166dcbd0136030b0bb9fd1",
}
TOTAL = re.compile(r"%?\s*Total number of trajectories in file are\s+(\d+)\s*")
PROPERTIES = re.compile(r"\s*Properties\.R\d+=\[[^\]]*\];\s*|\s*")
POINT = r"\[\d{1,9} \d{1,9} \d{1,9}\]"
TRACK = re.compile(rf"\s*TRACK\.(R\d+)=\[({POINT}(?:; ?{POINT})*)\];\s*")
SEPARATORS = str.maketrans("[];", "   ")
MAX_LINE = 2**24  # characters; the longest track of the data set has a hundred thousand
Points = NDArray[np.int64]


class EdinburghTracks(NamedTuple):
    """Usable trajectories, and how many tracks were not.

    Attributes
    ----------
    trajectories : list of ndarray of shape (n_points, 3)
        x and y in metres from the image's corner, and the time in seconds.
    ids : list of str
        File and name of each trajectory's track, "tracks.01Jul.R1" say.
    dropped : dict
        How many tracks were dropped for each reason: "backward" in time, "short", "still",
        "jump" and "duplicate". A track is counted for the first reason that holds.
    n_repeated : int
        How many points of all tracks were dropped because they repeated the time before.
    """

    trajectories: list[Trajectory]
    ids: list[str]
    dropped: dict[str, int]
    n_repeated: int

    @property
    def n_tracks(self) -> int:
        """How many tracks the files hold."""
        return len(self.trajectories) + sum(self.dropped.values())


def load_edinburgh(path: str | os.PathLike[str]) -> EdinburghTracks:
    r"""Read and clean tracks of the Edinburgh Informatics Forum Pedestrian Database.

    Of points with the same time the first is kept. Then tracks are dropped whose times run
    backward, that have under 20 points, end under 50 pixels from where they began, or jump
    over 60 pixels from a point to the next. The tracker wrote some people twice, so of two
    tracks of a file that share over half of the shorter one's points only the longer is
    kept, of equally long ones the first: tracks are gone through from the longest to the
    shortest, and one is dropped if it shares over half of its points with one kept before.

    Parameters
    ----------
    path : str or path-like
        A track file, or a folder of files named "tracks.*.txt", each of which is a day.

    Returns
    -------
    tracks : EdinburghTracks
        In the order of the files' names and of the tracks in a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from studies.paper.edinburgh import load_edinburgh
    >>> points = ";".join(f"[{100 + 5 * frame} 80 {frame}]" for frame in range(30))
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "tracks.01Jan.txt")
    ...     _ = file.write_text(f"TRACK.R1=[{points}];\nTRACK.R2=[[9 9 1];[9 9 2]];\n")
    ...     tracks = load_edinburgh(file)
    >>> tracks.ids, tracks.dropped["short"], tracks.trajectories[0].shape
    (['tracks.01Jan.R1'], 1, (30, 3))
    """
    trajectories, ids, n_repeated = [], [], 0
    dropped = dict.fromkeys(("backward", "short", "still", "jump", "duplicate"), 0)
    for file in check_files(path, "tracks.*.txt", "load_edinburgh"):
        names, tracks = [], []
        for name, points in _read_tracks(file):
            is_first = np.diff(points[:, 2], prepend=-1) != 0
            n_repeated += int((~is_first).sum())
            reason = _fault(points[is_first])
            if reason:
                dropped[reason] += 1
            else:
                names.append(name)
                tracks.append(points[is_first])
        kept = distinct_tracks(tracks)
        dropped["duplicate"] += len(tracks) - len(kept)
        ids += [f"{file.stem}.{names[track]}" for track in kept]
        scale = [METRES_PER_PIXEL, METRES_PER_PIXEL, 1 / FRAMES_PER_SECOND]
        trajectories += [tracks[track] * scale for track in kept]
    return EdinburghTracks(trajectories, ids, dropped, n_repeated)


def fetch_edinburgh(
    day: str = "01Jul", *, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> EdinburghTracks:
    """Read a day of the Edinburgh pedestrian tracks, downloading it the first time.

    Parameters
    ----------
    day : {"01Jul", "01Aug"}, default="01Jul"
        Days with 1262 and 146 tracks. For others get the tracked target files from
        the data set's home and use `load_edinburgh`.
    data_home : str, path-like or None, default=None
        The file is kept in its folder "edinburgh". None for the environment variable
        PARETODEPTH_DATA or, if that is not set, scikit-learn's data folder.
    download_if_missing : bool, default=True
        If False, a file that is not there is an error.

    Returns
    -------
    tracks : EdinburghTracks

    Raises
    ------
    OSError
        If the file is neither there nor to be had, or is not the expected one.
    """
    day = check_choice(day, "day", tuple(SHA256), "fetch_edinburgh")
    file = data_folder(data_home) / "edinburgh" / f"tracks.{day}.txt"
    return load_edinburgh(downloaded(file, SOURCE + file.name, SHA256[day], HOME, download_if_missing))


def distinct_tracks(tracks: Sequence[Points]) -> list[int]:
    """Return which tracks to keep so that none shares over half of its points with a longer or earlier one."""
    kept: list[int] = []
    owners: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for track in sorted(range(len(tracks)), key=lambda track: -len(tracks[track])):
        points = list(map(tuple, tracks[track].tolist()))
        n_shared = Counter(owner for point in points for owner in owners.get(point, ()))
        if 2 * max(n_shared.values(), default=0) > len(points):
            continue
        kept.append(track)
        for point in points:
            owners[point].append(track)
    return sorted(kept)


def _fault(points: Points) -> str | None:
    """Return why a track is of no use, if so."""
    if (np.diff(points[:, 2]) < 0).any():
        return "backward"
    if len(points) < MIN_POINTS:
        return "short"
    if np.hypot(*(points[-1] - points[0])[:2]) < MIN_DISPLACEMENT:
        return "still"
    if np.hypot(*np.diff(points[:, :2], axis=0).T).max() > MAX_STEP:
        return "jump"
    return None


def _read_tracks(path: Path) -> Iterator[tuple[str, Points]]:
    """Yield the name and the points (x, y, time) of each track of a file, a line at a time."""
    announced, n_tracks = None, 0
    with path.open(encoding="ascii", errors="replace") as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE), ""), start=1):
            place = f"Line {number} of {path}"
            if number == 1 and (total := TOTAL.fullmatch(line)):
                announced = int(total[1])
            elif line.lstrip().startswith("TRACK"):
                expected = "a whole track, TRACK.R1=[[x y time];[x y time]];, in whole numbers"
                track = check_line(TRACK.fullmatch(line), expected, line, place)
                n_tracks += 1
                yield track[1], np.array(track[2].translate(SEPARATORS).split(), dtype=np.int64).reshape(-1, 3)
            else:
                expected = "a track, TRACK.R1=[…];, or its properties, Properties.R1=[…];"
                check_line(PROPERTIES.fullmatch(line), expected, line, place)
    check_n_tracks(n_tracks, announced, path)


def check_files(path: str | os.PathLike[str], pattern: str, caller: str) -> list[Path]:
    """Return a file that exists, or those of a folder whose names match, in order."""
    files: list[Path] = []
    if isinstance(path, str | os.PathLike):
        files = sorted(Path(path).glob(pattern)) if Path(path).is_dir() else [Path(path)]
    if not files or not files[0].exists():
        raise ValueError(
            f"The 'path' parameter of {caller} must be a file, or a folder of files named {pattern}. Got {path!r} "
            "instead, where there is none."
        )
    return files


def check_line(match: re.Match[str] | None, expected: str, line: str, place: str) -> re.Match[str]:
    """Return the match of a line of a file with a pattern; `place` names the file and the line."""
    if match is None:
        raise ValueError(f"{place} must be {expected}. Got {line[:60].strip()!r} instead; download the file again.")
    return match


def check_n_tracks(n_tracks: int, announced: int | None, path: object) -> None:
    """Refuse a track file that holds another number of tracks than its first line says."""
    if announced is not None and n_tracks != announced:
        raise ValueError(
            f"{path} must hold the {announced} tracks that its first line announces. Got {n_tracks} instead; "
            "download the file again, or delete the line if the file is whole."
        )
