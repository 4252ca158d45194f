"""Work with the report: marks, notes, the address, a reload, and the download, in a real browser."""

import csv
import io

import pytest

from tests.reports.browser import column, n_called

pytestmark = pytest.mark.slow
TELLS_ADDRESS = "() => location.hash.includes({!r})"


def downloaded(page):
    """Return the lines of the file that the page gives, and its text as it comes."""
    with page.expect_download() as waiting:
        page.click("#download")
    with open(waiting.value.path(), encoding="utf-8-sig", newline="") as file:
        text = file.read()
    return list(csv.DictReader(io.StringIO(text, newline=""))), text


def reloaded(page):
    page.reload()
    page.wait_for_selector("html[data-ready=true]")


def test_marks_and_the_view_survive_a_reload_and_are_in_the_address(found, report, opened):
    page = opened(report)
    second = str(found.most_unusual[1] + 2)
    page.click("#rows tr[data-sample='1']")
    page.click("button[data-mark='confirmed']")
    page.fill("#note", "asked Ümit; he & she know =1")
    page.select_option("#show", "called")
    page.fill("#search", "inv-")
    page.click("#headings button:text('amount')")
    page.focus("#handle")
    page.keyboard.press("ArrowLeft")
    moved = page.inner_text("#n-called"), page.inner_text("#headline"), page.inner_text("#handle-label")
    page.wait_for_function(TELLS_ADDRESS.format("threshold="))
    assert f"row={second}&" in page.url
    assert f"marks={second}c" in page.url

    def assert_same(page):
        assert (page.inner_text("#n-called"), page.inner_text("#headline"), page.inner_text("#handle-label")) == moved
        assert page.inner_text("#sample-name").startswith(f"Row {second} ")
        assert page.get_attribute("button[data-mark='confirmed']", "aria-pressed") == "true"
        assert page.input_value("#note") == "asked Ümit; he & she know =1"
        assert page.input_value("#show") == "called"
        assert page.input_value("#search") == "inv-"
        assert page.get_attribute("#headings th:has(button:text('amount'))", "aria-sort") == "ascending"

    reloaded(page)
    assert_same(page)
    # Another browser knows nothing but the address.
    other = opened(report)
    other.evaluate(f"location.hash = {page.url.partition('#')[2]!r}")
    other.wait_for_function("() => document.getElementById('note').value !== ''")
    assert_same(other)


def test_what_is_not_in_the_address_is_kept_by_the_browser(found, report, opened):
    page = opened(report)
    page.click("button[data-mark='false alarm']")
    page.wait_for_function(TELLS_ADDRESS.format("marks="))
    page.goto("about:blank")
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready=true]")
    assert column(page, "mark")[0] == "✗ false alarm"
    page.click("button[data-mark='false alarm']")
    assert column(page, "mark")[0] == ""
    assert page.inner_text("#progress").startswith("0 confirmed, 0 marked as false alarm")


def test_a_page_works_where_the_browser_keeps_nothing(report, opened):
    refuse = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('not allowed'); } });"
    page = opened(report, script=refuse)
    page.click("button[data-mark='confirmed']")
    page.wait_for_function(TELLS_ADDRESS.format("marks="))
    assert "in its address alone" in page.inner_text("#kept-note")
    reloaded(page)
    assert page.get_attribute("button[data-mark='confirmed']", "aria-pressed") == "true"


def test_an_address_may_hold_anything(found, report, opened):
    page = opened(report)
    hostile = "row=zwei&threshold=NaN&show=constructor&sort=-&marks=999999c.1x.__proto__c&note-5=<b>x</b>&note-x=1&%zz"
    page.evaluate(f"location.hash = {hostile!r}")
    page.wait_for_function("() => Object.keys(localStorage).length > 0")
    assert n_called(page) == found.is_anomaly.sum()
    assert page.inner_text("#sample-name").startswith(f"Row {found.most_unusual[0] + 2} ")
    page.select_option("#show", "noted")
    assert column(page, "row") == ["5"]
    assert column(page, "mark") == ["✎ <b>x</b>"]


def test_the_keyboard_alone_marks_filters_and_notes(found, report, opened):
    page = opened(report)
    page.focus("#grid")
    page.keyboard.press("c")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("f")
    page.keyboard.press("n")
    page.keyboard.type("fine, n c f")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    assert column(page, "mark")[:3] == ["✓ confirmed", "✗ false alarm fine, n c f", ""]
    assert page.inner_text("#sample-name").startswith(f"Row {found.most_unusual[2] + 2} ")
    left = found.n_anomalies - 2
    assert f"1 confirmed, 1 marked as false alarm, {left} anomal" in page.inner_text("#progress")
    page.select_option("#show", "open")
    assert page.inner_text("#n-shown") == f"{left} of 120"


def test_the_download_holds_what_is_shown_with_marks_and_notes(found, report, opened):
    page = opened(report)
    page.click("button[data-mark='confirmed']")
    page.fill("#note", '=HYPERLINK("http://example.org"), "so"')
    page.select_option("#show", "called")
    lines, text = downloaded(page)
    assert [int(line["row"]) for line in lines] == (found.most_unusual[: found.n_anomalies] + 2).tolist()
    assert text.count("\r\n") == text.count("\n") == found.n_anomalies + 1
    first, row = lines[0], found.most_unusual[0]
    assert first["invoice"] == f"inv-{row}"
    assert float(first["amount"]) == pytest.approx(found.samples.column("amount")[row].as_py(), rel=1e-5)
    assert (first["decision"], first["mark"]) == ("anomaly", "confirmed")
    assert first["because"] == found.reasons(1)[0].because
    assert first["why"] == found.reasons(1)[0].sentence
    assert first["note"] == '\'=HYPERLINK("http://example.org"), "so"'
    assert lines[1]["mark"] == lines[1]["note"] == ""
    page.uncheck("#guard")
    assert downloaded(page)[0][0]["note"] == '=HYPERLINK("http://example.org"), "so"'


def test_the_headline_follows_the_threshold(found, report, opened):
    page = opened(report)
    first = page.inner_text("#headline")
    page.focus("#handle")
    page.keyboard.press("End")
    assert page.inner_text("#headline").startswith("0 of 120 samples called anomalies, beyond a threshold moved from")
    page.click("#reset")
    assert page.inner_text("#headline") == first
