"""The report's answer: what is to blame, who is alike, when it was, and a sample's values against the usual."""

import re
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.detect import find
from paretodepth.reports.page import write_report
from paretodepth.reports.results import results_table
from tests.reports.browser import column, n_called

pytestmark = pytest.mark.slow


def bars(page, part):
    """Return the bars of a part as names and counts."""
    names = page.locator(f"#{part} .bar-name").all_inner_texts()
    counts = [int(text.replace(",", "")) for text in page.locator(f"#{part} .bar-count").all_inner_texts()]
    return dict(zip(names, counts, strict=True))


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    """A page of sales with a time, a shop and an amount, three of them odd in different ways."""
    rng = np.random.default_rng(0)

    def table(n_rows):
        start = datetime(2024, 1, 1)
        hours = rng.integers(8, 18, n_rows)
        return {
            "time": [start + timedelta(days=row, hours=int(hour), minutes=30) for row, hour in enumerate(hours)],
            "shop": rng.choice(["north", "south", "east"], n_rows).tolist(),
            "amount": np.exp(rng.normal(3, 0.3, n_rows)).tolist(),
        }

    nominal, new = table(150), table(60)
    new["amount"][7] = 4000.0
    new["shop"][8], new["amount"][8] = "moon", 3000.0
    new["time"][9] = new["time"][9].replace(hour=3)
    criteria = [
        Criterion("clock", "time", "time_of_day"),
        Criterion("shop", "shop", "mismatch"),
        Criterion("amount", "amount", "cityblock"),
    ]
    found = find(ParetoDepthDetector(criteria, method="blend"), pa.table(nominal), pa.table(new))
    path = tmp_path_factory.mktemp("shops") / "report.html"
    found.report(path)
    return found, path


def test_bars_count_the_reasons_and_filter_the_table(found, report, opened):
    page = opened(report)
    blamed = [reason.because for reason in found.reasons(found.n_anomalies)]
    assert bars(page, "reasons") == {name: blamed.count(name) for name in set(blamed)}
    for because, values in zip(column(page, "because"), column(page, "blamed values"), strict=True):
        # The value of the main reason goes first, by its name if there are more.
        assert because in ("", "unusual combination") or "," not in values or values.startswith(f"{because} ")
    page.click("#reasons .bar:has-text('hour')")
    assert set(column(page, "because")) == {"hour"}
    assert page.get_attribute("#reasons .bar:has-text('hour')", "aria-pressed") == "true"
    page.focus("#reasons .bar:has-text('hour')")
    page.keyboard.press("Enter")
    assert page.input_value("#show") == "all"
    page.focus("#handle")
    page.keyboard.press("End")
    assert not page.is_visible("#overview")


def test_bars_count_all_anomalies_as_the_results_do_or_say_how_many(tmp_path, opened):
    rng = np.random.default_rng(0)
    table = pa.table({name: rng.standard_t(3, 2600) for name in "abcdefg"})
    some = np.sort(rng.choice(2600, 120, replace=False))
    found = find(ParetoDepthDetector(method="blend"), table, contamination=0.9, rows=some)
    because = results_table(found).column("because").drop_null().to_pylist()
    assert len(because) == found.n_anomalies == 2340
    for limits in ({}, {"max_explained": 500}, {"max_samples": 700}):
        write_report(found, str(tmp_path / "report.html"), **limits)
        page = opened(tmp_path / "report.html")
        assert n_called(page) == found.n_anomalies
        assert f"{found.n_anomalies:,} anomalies without a mark" in page.inner_text("#progress")
        told = Counter(reason.because for reason in found.reasons(min([found.n_anomalies, *limits.values()])))
        assert bars(page, "reasons") == told
        note = page.inner_text("#reasons-note")
        if limits:
            assert f"{told.total():,} of 2,340 anomalies" in note
        else:
            assert told == Counter(because)
            assert note == ""
            rest = int(re.match(r"\d*", page.inner_text("#groups-rest"))[0] or 0)
            assert sum(bars(page, "groups").values()) + rest == 2340
    assert page.inner_text("#anomaly-key") == "called anomalies, the 500 with the highest scores"
    assert "Scores are estimates: only 120 random rows of 2,600 were fitted." in page.inner_text("#basis")
    assert "exact" not in page.inner_text("#basis")


def test_ids_keep_their_digits_and_sentences_stand_beside_values(tmp_path, opened):
    rng = np.random.default_rng(0)
    ids = 1234560 + rng.permutation(120)
    sizes = rng.random(120)
    sizes[17] = 1012.5
    table = pa.table({"id": ids, "as float": ids.astype(float), "size": sizes})
    blend = ParetoDepthDetector([Criterion("size", "size")], method="blend")
    found = replace(find(blend, table), id_column="id")
    found.report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", width=2400)
    row = {name: column(page, name)[0] for name in ("row", "id", "as float", "why", "blamed values")}
    assert (row["row"], row["id"], row["as float"], row["blamed values"]) == ("19", *2 * [str(ids[17])], "1012.5")
    assert row["why"] == found.reasons(1)[0].sentence
    assert row["why"].startswith("size 1012.5 is ")
    assert page.inner_text("#strips b") == "1012.5"
    nearest = found.reasons(1)[0].neighbors[0][0]
    assert page.inner_text("#neighbors tr:first-child th >> nth=1") == f"row {nearest + 2}"
    assert "Rows are counted from 2." in page.inner_text("footer")


def test_alike_anomalies_are_grouped_by_what_they_are_far_in(shops, opened):
    found, path = shops
    page = opened(path)
    groups = bars(page, "groups")
    assert sum(groups.values()) == found.n_anomalies
    assert groups["shop + amount"] == 1
    page.click("#groups .bar:has-text('shop + amount')")
    assert column(page, "row") == ["10"]
    values = {"shop": "shop moon, amount 3000", "amount": "amount 3000, shop moon"}
    assert column(page, "blamed values") == [values[column(page, "because")[0]]]
    page.wait_for_function("() => location.hash.includes('show=alike')")
    page.reload()
    page.wait_for_selector("html[data-ready=true]")
    assert column(page, "row") == ["10"]


def test_a_time_column_makes_a_time_line(shops, opened):
    found, path = shops
    page = opened(path)
    drawn = page.evaluate("document.getElementById('timeline').data[1].customdata")
    assert len(drawn) == found.n_anomalies
    times = page.evaluate("document.getElementById('timeline').data[1].x")
    first = found.samples.column("time")[int(found.most_unusual[0])].as_py()
    assert times[0] == (first - datetime(1970, 1, 1)).total_seconds() * 1000
    assert "Score over time" in page.inner_text("#timeline-note")


def test_without_a_time_column_there_is_no_time_line(report, opened):
    assert not opened(report).is_visible("#timeline-part")


def test_a_panel_begins_with_the_oddest_values_against_the_usual(shops, opened):
    found, path = shops
    page = opened(path)
    *_, amount = found.model.criteria.fitted

    def strips(row):
        page.evaluate(f"location.hash = 'row={row}'")
        page.wait_for_function(f"() => document.getElementById('sample-name').textContent.startsWith('Row {row}')")
        return page.locator("#strips li").all_inner_texts()

    first, *others = strips(9)
    told = re.fullmatch(r"amount\s+4000 above the usual ([\d.]+)–([\d.]+)", first)
    assert (float(told[1]), float(told[2])) == amount.typical[0].ends
    assert f"above the typical {told[1]}–{told[2]}" in page.inner_text("#sentence")
    assert len(others) == 2
    assert {text.split()[0] for text in strips(10)[:2]} == {"shop", "amount"}
    assert "moon 0 of 150 nominal samples have it" in " ".join(strips(10))
    clock, *_ = strips(11)
    assert re.fullmatch(r"clock\s+03:30 outside the usual \d\d:30–\d\d:30", clock)
    assert clock.split("usual ")[1] in page.inner_text("#sentence")
    assert page.locator("#strips li svg").count() == 3


def test_the_blamed_pair_is_drawn_and_the_nearest_stand_beside_the_sample(shops, opened):
    _, path = shops
    page = opened(path)
    page.evaluate("location.hash = 'row=10'")
    page.wait_for_function("() => document.getElementById('sample-name').textContent.startsWith('Row 10')")
    assert page.input_value("#first-criterion") == "1"
    assert page.input_value("#second-criterion") == "2"
    # Three shops and the unknown one: dots stand beside each other, not on one another.
    x = page.evaluate("document.getElementById('values-plot').data[0].x")
    assert len(set(x)) > 100
    assert set(np.rint(x)) == {0, 1, 2}
    assert page.evaluate("document.getElementById('values-plot').data[2].x") == [3]
    differing = page.locator("#neighbors tr:has(th:text-is('shop')) td.differs").count()
    assert differing == page.locator("#neighbors tr:first-child th").count() - 1
    assert page.locator("#score-part").get_attribute("open") is None
