import pyarrow as pa
import pytest

from paretodepth import Criterion
from paretodepth.criteria.encoding import read_columns
from paretodepth.criteria.suggestion import chosen_criteria


def columns_of(choice):
    return [criterion.columns for criterion in choice.criteria]


def test_named_columns_are_a_criterion_each():
    table = pa.table({"n": [7, 8, 9, 10], "name": list("abcd"), "size": [1.0, 2.5, 3.0, 9.0]})
    choice = chosen_criteria(table, columns=["n", "size"])
    assert (columns_of(choice), choice.remark) == ([["n"], ["size"]], "")


def test_without_criteria_they_are_suggested_and_what_is_left_out_is_told():
    table = pa.table({"nr": range(20), "size": [1.0, 2.5, 3.0, 9.0] * 5, "label": [0, 1] * 10})
    table = table.append_column("much", [[0.5 + (7 * row) % 20 for row in range(20)]])
    choice = chosen_criteria(table, source="'my file.csv'")
    assert columns_of(choice) == [["size"], ["much"]]
    assert choice.remark == (
        "Criteria as the table suggests: size; much. Left out: nr (numbers the rows), label (has two values and the "
        "name of a label; it would give the answer away). To change them: paretodepth suggest 'my file.csv' > "
        "criteria.toml, and give it with --criteria."
    )
    many = pa.table({f"nr{number}": range(20) for number in range(11)} | {"size": table.column("size")})
    assert "nr7 (numbers the rows) and 3 more." in chosen_criteria(many).remark


@pytest.mark.parametrize(
    ("columns", "read"),
    [
        ([["b"], "a"], ["a", "b"]),
        (["a*", ["b"]], ["a", "a2", "b"]),
        ([["a"], [1]], ["a", "a2", "b", "c"]),
        ([["a"], None], ["a", "a2", "b", "c"]),
    ],
)
def test_columns_are_read_by_name_or_glob_and_all_of_them_if_one_is_counted(columns, read):
    criteria = [Criterion(f"criterion {number}", column) for number, column in enumerate(columns)]
    assert read_columns(criteria, ["a", "a2", "b", "c"]) == read


def test_without_criteria_all_columns_are_read():
    assert read_columns(None, ["a", "b"]) == ["a", "b"]
