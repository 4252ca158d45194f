"""Criteria as TOML files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretodepth import Criterion, criteria_to_toml


def test_a_file_of_criteria_is_read_as_written(tmp_path):
    path = tmp_path / "criteria.toml"
    path.write_text(
        '[[criterion]]\nname = "amount"\ncolumns = "amount"\nmetric = "log_ratio"\n\n'
        '[[criterion]]\nname = "x"\ncolumns = ["x_*", 3]\nmissing = "ignore"\n[[criterion]]\nname = "time"\n'
        'metric = "cyclic"\n[criterion.params]\nperiod = 24\n'
    )
    assert Criterion.from_toml(path) == [
        Criterion("amount", "amount", "log_ratio"),
        Criterion("x", ["x_*", 3], missing="ignore"),
        Criterion("time", metric="cyclic", period=24),
    ]


@pytest.mark.parametrize("columns", [np.int64(1), np.arange(2), [np.int64(0), np.int32(1)], (np.str_("a"), "b")])
def test_numbers_and_arrays_of_numpy_are_written_as_plain_ones(columns, tmp_path):
    given = [
        Criterion("time", columns, "cyclic", period=np.float64(24)),
        Criterion("hour", columns, "cyclic", period=np.float32(0.5)),
        Criterion("warped", "s", "dtw", window=np.int64(3)),
        Criterion("speed", "path", "speed", edges=np.array([0.0, 1.5]), bins=np.int16(2)),
        Criterion("steps", "path", "speed", edges=[np.float64(0), np.int64(2)]),
    ]
    path = tmp_path / "criteria.toml"
    path.write_text(criteria_to_toml(given))
    plain = (
        columns.tolist()
        if isinstance(columns, np.generic | np.ndarray)
        else [entry if isinstance(entry, str) else int(entry) for entry in columns]
    )
    assert Criterion.from_toml(path) == [
        Criterion("time", plain, "cyclic", period=24.0),
        Criterion("hour", plain, "cyclic", period=0.5),
        Criterion("warped", "s", "dtw", window=3),
        Criterion("speed", "path", "speed", edges=[0.0, 1.5], bins=2),
        Criterion("steps", "path", "speed", edges=[0.0, 2]),
    ]
    assert "np." not in path.read_text()


def test_parameters_that_are_none_are_left_out_of_the_file():
    text = criteria_to_toml([Criterion("a", range(2), "dtw", window=None)])
    assert text == '[[criterion]]\nname = "a"\ncolumns = [0, 1]\nmetric = "dtw"\n'


@given(
    st.lists(st.text(min_size=1), min_size=1, unique=True),
    st.one_of(st.none(), st.text(), st.lists(st.text() | st.integers(0, 9))),
    st.floats(min_value=1e-300, max_value=1e300),
)
def test_any_criteria_come_back_from_their_file(tmp_path_factory, names, columns, period):
    path = tmp_path_factory.mktemp("toml") / "criteria.toml"
    criteria = [Criterion(name, columns, "cyclic", period=period) for name in names]
    text = criteria_to_toml(criteria)
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        with pytest.raises(ValueError, match="not a TOML file"):
            Criterion.from_toml(path)
    else:
        assert Criterion.from_toml(path) == criteria


BAD_FILES = {
    "no TOML": ("[[criterion]]\nname = \n", r"criteria.toml: not a TOML file: Invalid value \(at line 2"),
    "no criterion": ("", "criteria.toml: the file must hold at least one criterion, written"),
    "another table": (
        "[[criteria]]\n",
        r"only \[\[criterion\]\] tables. Got 'criteria' instead \(did you mean 'criterion'",
    ),
    "one criterion in single brackets": ('[criterion]\nname = "a"\n', r"written \[\[criterion\]\]"),
    "unknown key": (
        '[[criterion]]\nname = "a"\n\n[[criterion]]\nname = "b"\ncolumn = "x"\n',
        r"criteria.toml, line 6, criterion 2 \('b'\): the keys of a criterion must be .* Got 'column' instead "
        r"\(did you mean 'columns'\?\)",
    ),
    "no name": (
        "[[criterion]]\nmetric = 'cosine'\n",
        "line 1, criterion 1: a criterion must have a name, a string. Got None",
    ),
    "parameters that are no table": (
        '[[criterion]]\nname = "a"\nparams = 3\n',
        "'params' of a criterion must be a table",
    ),
    "unknown metric": (
        '# mine\n[[criterion]]\nname = "a"\nmetric = "levenstein"\n',
        r"line 2, criterion 1 \('a'\): The 'metric' parameter .* Got 'levenstein' instead \(did you mean 'levenshtein'",
    ),
    "unknown parameter": (
        '[[criterion]]\nname = "a"\nmetric = "dtw"\nparams = {windw = 3}\n',
        r"criterion 1 \('a'\): The parameters of the metric 'dtw' .* Got 'windw' instead \(did you mean 'window'\?\)",
    ),
    "parameter that is a key": (
        '[[criterion]]\nname = "a"\nparams = {missing = "ignore"}\n',
        r"criterion 1 \('a'\): the 'params' of a criterion must be parameters of its metric. Got 'missing'",
    ),
    "inline criteria": ('criterion = [{nam = "a"}]\n', "criteria.toml, criterion 1: the keys of a criterion must be"),
    "names twice": ('[[criterion]]\nname = "a"\n' * 2, "must have different names. Got 'a' 2 times"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_of_criteria_is_told_by_line_and_entry(case, tmp_path):
    text, message = BAD_FILES[case]
    path = tmp_path / "criteria.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        Criterion.from_toml(path)


def test_a_file_in_another_encoding_is_refused(tmp_path):
    path = tmp_path / "criteria.toml"
    path.write_bytes('[[criterion]]\nname = "Größe"\n'.encode("latin-1"))
    with pytest.raises(ValueError, match=r"criteria\.toml: not a TOML file: 'utf-8' codec"):
        Criterion.from_toml(path)
    with pytest.raises(FileNotFoundError):
        Criterion.from_toml(tmp_path / "none.toml")
