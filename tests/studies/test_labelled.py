import numpy as np
import pyarrow as pa
import pytest

from paretodepth.tables.files import write_table
from studies.accuracy.labelled import labelled_task, read_labelled, table_files
from studies.accuracy.unseen import folder_settings

IS_ODD = np.arange(100) >= 90


def table(**columns):
    """A hundred samples of a number and other columns; the last ten are anomalies."""
    return pa.table({"size": np.random.default_rng(0).normal(size=100) + 9 * IS_ODD} | columns)


def test_npz_and_csv_make_the_same_task(tmp_path):
    size = table()["size"].to_numpy()
    np.savez(tmp_path / "a.npz", X=size[:, None], y=IS_ODD)
    write_table(table(label=np.where(IS_ODD, "anomaly", "fine")), tmp_path / "b.csv")
    a, b = (labelled_task(read_labelled(tmp_path / name), 5, name) for name in ("a.npz", "b.csv"))
    np.testing.assert_array_equal(a.is_anomaly, np.arange(55) >= 45)
    np.testing.assert_array_equal(a.is_anomaly, b.is_anomaly)
    np.testing.assert_array_equal(a.columns_test, b.columns_test)
    np.testing.assert_array_equal(a.X_train["x0"], b.X_train["size"])
    assert set(a.X_train["x0"]) <= set(size[~IS_ODD])


def test_splits_differ_from_seed_to_seed(tmp_path):
    write_table(table(label=IS_ODD), tmp_path / "a.csv")
    samples = read_labelled(tmp_path / "a.csv")
    first, again, other = (labelled_task(samples, seed, "a").X_train["size"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_categories_are_a_column_each_to_methods_without_criteria(tmp_path):
    colors = np.tile(["red", "blue", "green", "blue"], 25)
    colors[IS_ODD] = "pink"
    write_table(table(color=colors, label=IS_ODD), tmp_path / "a.csv")
    task = labelled_task(read_labelled(tmp_path / "a.csv"), 0, "a")
    assert task.columns_train.shape == (45, 4)
    assert {name for criterion in task.criteria for name in criterion.columns} == {"size", "color"}


def test_samples_that_lack_a_value_or_a_label_are_left_out(tmp_path):
    columns = table(label=[None, None, *IS_ODD.tolist()[2:]])
    size = columns["size"].to_pylist()
    size[7] = size[95] = None
    write_table(columns.set_column(0, "size", pa.array(size)), tmp_path / "a.csv")
    samples = read_labelled(tmp_path / "a.csv")
    assert len(samples.is_anomaly) == 98
    task = labelled_task(samples, 0, "a")
    assert len(task.X_train["size"]) + len(task.X_test["size"]) == 96
    assert task.is_anomaly.sum() == 9


def test_the_label_can_be_named(tmp_path):
    write_table(table(outcome=np.where(IS_ODD, "b", "a")), tmp_path / "a.csv")
    assert read_labelled(tmp_path / "a.csv", "outcome").is_anomaly.sum() == 10
    with pytest.raises(ValueError, match=r"a.csv: must have one column of two values .* Got none instead; .* --label"):
        read_labelled(tmp_path / "a.csv")


def test_tables_are_named_by_their_files_and_alike_ones_by_the_whole(tmp_path):
    for name in ("14_b.npz", "b.csv", "my_own.csv", "LICENSE"):
        (tmp_path / name).touch()
    assert list(table_files(tmp_path)) == ["14_b.npz", "b.csv", "my_own"]


def test_a_folder_says_what_it_cannot_use_and_why(tmp_path):
    write_table(table(label=IS_ODD), tmp_path / "good.csv")
    write_table(table(label=IS_ODD), tmp_path / "Pima.csv")
    write_table(table(label=np.arange(100)), tmp_path / "many.csv")
    write_table(table(label=IS_ODD).slice(0, 93), tmp_path / "few.csv")
    words = [f"word{i} and word{i * i} are unlike{7 * i}" for i in range(100)]
    write_table(pa.table({"text": words, "label": IS_ODD}), tmp_path / "words.csv")
    np.savez(tmp_path / "named.npz", data=np.zeros((3, 2)), y=np.zeros(3))
    (tmp_path / "empty.csv").touch()
    settings = folder_settings(tmp_path)
    assert settings["tables"] == ["good"]
    left_out = settings["left_out"]
    assert left_out["Pima"] == "served development"
    assert "one column of two values" in left_out["many"]
    assert "at least 60 nominal samples and 5 anomalies that lack no value. Got 90 and 3 instead" in left_out["few"]
    assert "must have a column of numbers or categories" in left_out["words"]
    assert (
        "must hold arrays X, a row a sample, and y, a label a sample. Got y of shape (3,) instead" in left_out["named"]
    )
    assert left_out.keys() == {"Pima", "many", "few", "words", "named", "empty"}
    assert not [reason for reason in left_out.values() if str(tmp_path) in reason]


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must hold labelled tables: NPZ files .* Got none instead"):
        folder_settings(tmp_path)


def test_a_folder_of_tables_that_served_development_is_refused(tmp_path):
    np.savez(tmp_path / "14_glass.npz", X=np.zeros((9, 1)), y=np.arange(9) > 7)
    with pytest.raises(ValueError, match=r"a table that can be used. Got glass \(served development\) instead"):
        folder_settings(tmp_path)
