"""Files from the net, kept in a folder."""

import hashlib
import os
import tempfile
import urllib.request
from http.client import HTTPException
from pathlib import Path

from sklearn.datasets import get_data_home

TIMEOUT = 30  # seconds without an answer
BLOCK_BYTES = 1 << 20
MAX_BYTES = 1 << 28
"""Of a file: some ten times as much as the largest has."""


def data_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of data sets: the given one, PARETODEPTH_DATA, or scikit-learn's."""
    return Path(data_home or os.environ.get("PARETODEPTH_DATA") or get_data_home())


def downloaded(file: Path, url: str, sha256: str, home: str, download_if_missing: bool) -> Path:
    """Return a file whose content has the given checksum, downloading it if it is not there.

    It is written under another name in the same folder and renamed when complete, so that
    neither an interruption nor two downloads at once leave a part of it.
    """
    remedy = f"Put the file into {file}; it comes from {url} and is part of the data set at {home}."
    if file.exists():
        _check_content(file, sha256, f"{file} is not the expected file. {remedy}")
        return file
    if not download_if_missing:
        raise OSError(f"{file} does not exist. {remedy}")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f"{file.name}.") as folder:
        part = Path(folder, file.name)
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, part.open("wb") as target:
                while block := answer.read(BLOCK_BYTES):
                    _check_length(target.tell() + len(block), url)
                    target.write(block)
        except (OSError, HTTPException) as error:
            raise OSError(f"{url} could not be downloaded ({error}). {remedy}") from error
        _check_content(part, sha256, f"What {url} gave is not the expected file. {remedy}")
        os.replace(part, file)
    return file


def _check_length(n_bytes: int, url: str) -> None:
    """Refuse an answer that is too long."""
    if n_bytes > MAX_BYTES:
        raise OSError(f"more than {MAX_BYTES >> 20} MB came from {url}")


def _check_content(file: Path, sha256: str, message: str) -> None:
    """Refuse a file with another checksum."""
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != sha256:
        raise OSError(f"{message} Its SHA-256 must be {sha256}. Got {found} instead.")
