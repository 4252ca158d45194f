"""The report, opened from disk in a real browser."""

import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.detect import find
from paretodepth.reports.labels import Labels
from paretodepth.reports.page import write_report
from paretodepth.reports.results import headline
from paretodepth.reports.score import find_in
from tests.reports.browser import column, n_called

NASTY = "</script><script>window.injected = 1</script><img src=x onerror='window.injected = 2'>\"'&amp; =1+1 😀"


@pytest.mark.slow
def test_counts_are_those_of_the_detection(found, report, opened):
    page = opened(report)
    assert page.inner_text("#title") == "Anomalies in new.csv"
    assert n_called(page) == found.is_anomaly.sum()
    assert page.inner_text("#rate") == "5 %"
    assert page.inner_text("#advice li") == f"{found.detector.advice_[0]}"
    assert "All scores are exact" in page.inner_text("#basis")
    assert column(page, "row")[:3] == [str(row + 2) for row in found.most_unusual[:3]]


@pytest.mark.slow
def test_dragging_the_threshold_counts_anew(found, report, opened):
    page = opened(report)
    handle = page.locator("#handle").bounding_box()
    x, y = handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 150, y, steps=5)
    page.mouse.up()
    page.wait_for_function(f"() => document.getElementById('n-called').textContent !== '{found.is_anomaly.sum()}'")
    threshold = float(page.get_attribute("#handle", "aria-valuenow"))
    assert threshold < found.threshold
    assert abs(n_called(page) - (found.scores > threshold).sum()) <= 1
    assert n_called(page) > found.is_anomaly.sum()
    assert column(page, "call").count("▲ anomaly") > found.is_anomaly.sum()
    page.click("#reset")
    assert n_called(page) == found.is_anomaly.sum()


@pytest.mark.slow
def test_the_keyboard_moves_the_threshold_and_the_choice(found, report, opened):
    page = opened(report)
    page.focus("#handle")
    page.keyboard.press("End")
    assert n_called(page) == 0
    page.keyboard.press("Home")
    assert n_called(page) == len(found.scores)
    page.focus("#grid")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#sample-name").startswith(f"Row {found.most_unusual[1] + 2} ")
    page.keyboard.press("End")
    assert page.inner_text("#sample-name").startswith(f"Row {found.most_unusual[-1] + 2} ")
    assert page.inner_text("#rows tr[aria-selected=true] td") == str(found.most_unusual[-1] + 2)


@pytest.mark.slow
def test_sorting_and_filtering(found, report, opened):
    page = opened(report)
    page.click("#headings button:text('amount')")
    assert page.get_attribute("#headings th:has(button:text('amount'))", "aria-sort") == "ascending"
    amounts = found.samples.column("amount").to_numpy()
    assert column(page, "row")[0] == str(amounts.argmin() + 2)
    page.click("#headings button:text('amount')")
    assert column(page, "row")[0] == str(amounts.argmax() + 2)
    page.fill("#search", "INV-60")
    assert column(page, "invoice") == ["inv-60"]
    page.fill("#search", "")
    page.select_option("#show", label="anomalies because of hour")
    assert "62" in column(page, "row")
    assert set(column(page, "because")) == {"hour"}
    page.select_option("#show", label="anomalies")
    assert page.inner_text("#n-shown") == f"{found.is_anomaly.sum()} of 120"


@pytest.mark.slow
def test_clicked_samples_change_the_panel(found, report, opened):
    page = opened(report)
    explanation = found.explanation(found.most_unusual[:3])
    pictures = []
    page.click("#score-part summary")
    for sample in (2, 0, 1):
        page.click(f"#rows tr[data-sample='{sample}']")
        assert page.inner_text("#sentence") == explanation.sentences[sample]
        page.select_option("#first-criterion", "0")
        dyads = page.evaluate("document.getElementById('dyads-plot').data.at(-1).x")
        expected = found.nearest_dyads(found.most_unusual[[sample]])[0, :, 0]
        np.testing.assert_allclose(dyads, np.maximum(expected, min(dyads)), rtol=5e-3)
        pictures.append(dyads)
        page.select_option("#neighbors-by", label="amount")
        nearest = page.locator("#neighbors tr:first-child th").all_inner_texts()
        expected = [f"nominal row {row + 2}" for row in explanation.neighbors[0][sample, :3]]
        assert nearest == ["this sample", *expected]
        ids = page.locator("#neighbors tr:nth-child(2) td").all_inner_texts()
        assert ids[1] == f"inv-{explanation.neighbors[0][sample, 0]}"
        bars = page.evaluate("document.getElementById('criteria-plot').data[0].x")
        np.testing.assert_allclose(bars, -np.log10(explanation.criterion_p_values[sample]), atol=0.01)
    assert pictures[0] != pictures[1] != pictures[2]
    page.select_option("#first-criterion", label="weight")
    assert page.evaluate("document.getElementById('dyads-plot').layout.xaxis.title.text") == "dissimilarity in weight"
    page.select_option("#second-criterion", label="weight")
    assert page.input_value("#first-criterion") != page.input_value("#second-criterion")


@pytest.mark.slow
def test_markup_in_the_data_is_text(tmp_path, opened):
    rng = np.random.default_rng(0)
    nominal = pa.table({NASTY: rng.random(60), "b": rng.random(60), "note": [NASTY] * 60})
    new = pa.table({NASTY: [9.0, 0.5], "b": [0.5, 0.5], "note": [NASTY, "x" * 10_000]})
    criteria = [Criterion(name, [name], "cityblock") for name in (NASTY, "b")]
    found = find(ParetoDepthDetector(criteria, method="blend"), nominal, new)
    found.report(tmp_path / "report.html", title=NASTY)
    page = opened(tmp_path / "report.html")
    assert page.evaluate("window.injected") is None
    assert page.inner_text("#title") == NASTY
    # A sentence cuts long names.
    assert NASTY[:29] in page.inner_text("#sentence")
    assert column(page, "because")[0] == NASTY
    page.click("#cells-part summary")
    page.click("#score-part summary")
    assert NASTY in page.locator("#cells dd").all_inner_texts()
    assert page.locator("#page script, #page img").count() == 0
    page.hover("#criteria-plot")
    page.click("#rows tr[data-sample='1']")
    assert page.locator("#cells dd").last.inner_text() == "x" * 200 + "…"
    assert page.evaluate("window.injected") is None


@pytest.mark.slow
def test_ten_thousand_samples_stay_small_and_quick(tmp_path, opened):
    rng = np.random.default_rng(0)
    n_samples = 10_000
    nominal = pa.table({name: rng.random(100) for name in "abc"})
    letters = rng.integers(97, 123, (n_samples, 60), dtype=np.uint8)
    notes = {f"note {i}": [bytes(row).decode() for row in np.roll(letters, i, 1)] for i in range(3)}
    new = pa.table({name: rng.random(n_samples) for name in "abc"} | notes)
    found = find(ParetoDepthDetector([Criterion(name, name) for name in "abc"], method="blend"), nominal, new)
    found.report(tmp_path / "report.html")
    assert os.path.getsize(tmp_path / "report.html") < 6e6
    page = opened(tmp_path / "report.html")
    assert n_called(page) == found.is_anomaly.sum()
    milliseconds = page.evaluate(
        "() => { const start = performance.now(); document.querySelector('#headings button').click();"
        " document.querySelector('#rows').offsetHeight; return performance.now() - start; }"
    )
    assert milliseconds < 500
    page.evaluate("document.getElementById('grid').scrollTop = 1e9")
    page.wait_for_selector(f"#rows tr:has(td:text-is('{n_samples - 1}'))")
    assert page.locator("#rows tr").count() < 100


@pytest.mark.slow
def test_phone_dark_mode_and_print(report, opened):
    phone = opened(report, width=390, height=844, color_scheme="dark")
    phone.click("button[data-mark='confirmed']")
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 29)"
    assert phone.evaluate("document.getElementById('distribution').layout.font.color") == "#e8ebf0"
    phone.emulate_media(media="print", color_scheme="dark")
    phone.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert phone.is_visible("#provenance")
    assert not phone.is_visible("#search")
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    assert phone.evaluate("document.getElementById('distribution').layout.font.color") == "#1b2230"
    assert phone.locator("#rows tr.sample").count() == 25


@pytest.mark.slow
def test_trajectories_and_series_are_drawn_over_nominal_ones(tmp_path, opened):
    rng = np.random.default_rng(0)

    def table(bends):
        t = np.linspace(0, 1, 12)
        tracks = [np.column_stack([t, bend * t, t + rng.random() / 9]).tolist() for bend in bends]
        return pa.table({"track": tracks, "pulse": [(np.sin(9 * t) * bend).tolist() for bend in bends]})

    nominal, new = table(rng.normal(1, 0.1, 60)), table([1.0, -2.0])
    criteria = [Criterion("way", "track", "frechet"), Criterion("beat", "pulse", "euclidean")]
    found = find(ParetoDepthDetector(criteria, method="blend"), nominal, new)
    found.report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    titles = page.locator("#drawings h3").all_inner_texts()
    assert titles == ["track: this sample over nominal ones", "pulse: this sample over nominal ones"]
    ends = [page.evaluate(f"document.getElementById('drawing-{i}').data.at(-1).y.at(-1)") for i in (0, 1)]
    np.testing.assert_allclose(ends, [-2, -2 * np.sin(9)], rtol=1e-3)
    assert page.evaluate("document.getElementById('drawing-0').data.length") > 30


@pytest.mark.slow
def test_one_criterion_has_no_dyads_to_draw_and_left_out_samples_are_told(tmp_path, opened):
    nominal = pa.table({"a": np.random.default_rng(0).random(50)})
    found = find(ParetoDepthDetector(method="blend"), nominal)
    found.report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert not page.is_visible("#dyads-part")
    assert "Each sample is compared with all the others" in page.inner_text("#basis")
    assert n_called(page) == found.is_anomaly.sum()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [None, np.arange(0, 120, 2)])
def test_of_one_file_the_page_speaks_of_no_nominal_samples_and_tells_the_label(found, rows, tmp_path, opened):
    samples = found.samples.append_column("bad", pa.array([row in (17, 60, 88) for row in range(120)]))
    one = find(ParetoDepthDetector(found.detector.criteria, method="blend"), samples, rows=rows)
    one = replace(one, labels=Labels.of(samples, "bad"))
    one.report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    figures = one.labels.figures(one.scores)
    assert page.inner_text("#label-area") == f"{figures['area']:.3f}"
    assert page.inner_text("#label-precision") == f"{figures['average_precision']:.3f}"
    assert page.inner_text("#label-at-n") == f"{figures['precision_at_n']:.3f}"
    assert "out beyond what the rest suggests" in page.inner_text("#rate-of")
    assert page.inner_text("#rate") == str(len(one.clear))
    assert page.inner_text("#n-called") == str(one.n_anomalies) == "6"
    assert page.inner_text("#by-chance") == ("119" if rows is None else "60")
    assert page.inner_text("#headline") == headline(one)
    page.select_option("#neighbors-by", "0")
    nearest = page.locator("#neighbors tr:first-child th").all_inner_texts()[1]
    assert nearest == f"row {one.reasons(1)[0].neighbors[0][0] + 2}"
    assert "nominal" not in page.inner_text("body").lower()


@pytest.mark.slow
def test_samples_beyond_the_page_are_counted(found, tmp_path, opened):
    write_report(found, str(tmp_path / "report.html"), max_samples=50)
    page = opened(tmp_path / "report.html")
    assert "of 120 samples" in page.inner_text("#n-called-of")
    assert "70 more score less" in page.inner_text("#grid-note")
    page.focus("#handle")
    page.keyboard.press("Home")
    assert n_called(page) == 49


@pytest.mark.slow
def test_details_are_kept_of_as_many_samples_as_fit(found, tmp_path, opened, monkeypatch):
    monkeypatch.setattr("paretodepth.reports.page.DETAILS_BYTES", 20_000)
    found.report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    page.focus("#grid")
    page.keyboard.press("End")
    assert "are kept for the" in page.inner_text("#no-details")
    assert not page.is_visible("#dyads-part")


def test_a_report_is_the_same_whenever_it_is_written(found, report, tmp_path):
    found.report(tmp_path / "again.html", title="Anomalies in new.csv")
    assert (tmp_path / "again.html").read_bytes() == report.read_bytes()


@pytest.mark.slow
def test_without_training_samples_the_usual_ranges_are_those_of_the_model(found, tmp_path, opened):
    find_in(found.detector, found.samples).report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert n_called(page) == found.n_anomalies
    assert page.inner_text("#sentence") == found.reasons(1)[0].sentence
    assert page.locator("#strips .strip").count() == 3
    assert page.locator("#strips li").first.inner_text().split("usual ")[1] in page.inner_text("#sentence")
    for part in ("#neighbors-part", "#values-plot"):
        assert not page.is_visible(part)
    page.click("#score-part summary")
    # Drawn when it is opened, a moment after the click.
    page.wait_for_selector("#dyads-plot .main-svg", state="visible")


LONG = "n" * 100_000
HOSTILE = {
    "<script>window.injected = 3</script>": "</script><script>window.injected = 4</script>",
    "quote\"'`&amp;": "\"'`${window.injected = 5}",
    "עברית \u202eright to left": "\u202eمرحبا بالعالم",
    "constructor": "__proto__",
    "score": "=cmd|' /C calc'!A0",
    LONG: "x" * 10_000,
}


@pytest.mark.slow
def test_a_hostile_table_is_text_everywhere(tmp_path, opened):
    rng = np.random.default_rng(0)

    def table(n_rows):
        numbers = {name: rng.random(n_rows) for name in HOSTILE}
        return pa.table(
            {"id": [f"{text}{row}" for row in range(n_rows) for text in ["<b>"]]}
            | numbers
            | {f"text {i}": [text] * n_rows for i, text in enumerate(HOSTILE.values())}
        )

    nominal, new = table(60), table(20)
    new = new.set_column(1, new.column_names[1], pa.array([9.0] + [0.5] * 19))
    new = new.set_column(6, LONG, pa.array([8.0] + [0.5] * 19))
    criteria = [Criterion(name, name, "cityblock") for name in HOSTILE]
    found = find(ParetoDepthDetector(criteria, method="blend"), nominal, new)
    replace(found, id_column="id").report(tmp_path / "report.html", title=LONG)
    assert os.path.getsize(tmp_path / "report.html") < 3e6
    page = opened(tmp_path / "report.html", width=390, height=844)
    for details in ("#score-part", "#cells-part"):
        page.click(f"{details} summary")
    page.fill("#note", "<img src=x onerror='window.injected = 6'>")
    page.click("#reasons .bar >> nth=0")
    page.click("#groups .bar >> nth=0")
    page.hover("#criteria-plot")
    page.hover("#values-plot")
    assert "moved from" not in page.inner_text("#headline")
    assert column(page, "mark")[0] == "✎ <img src=x onerror='window.injected = 6'>"
    assert page.locator("#page script, #page img, #page b:not(.tile b, .strip-words b)").count() == 0
    assert page.evaluate("window.injected") is None
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert max(len(text) for text in page.locator("#page *").all_text_contents()) < 50_000
    milliseconds = page.evaluate(
        "() => { const start = performance.now(); document.getElementById('next').click();"
        " document.body.offsetHeight; return performance.now() - start; }"
    )
    assert milliseconds < 2000


@pytest.mark.slow
def test_the_page_allows_nothing_from_outside(report, opened):
    page = opened(report)
    policy = page.get_attribute("meta[http-equiv=Content-Security-Policy]", "content")
    assert policy.startswith("default-src 'none'; script-src 'nonce-")
    assert "base-uri 'none'; form-action 'none'" in policy
    assert "http" not in policy


@pytest.mark.slow
def test_of_many_criteria_only_the_strangest_are_explained(tmp_path, opened):
    rng = np.random.default_rng(0)
    nominal, new = (pa.table({f"c{i}": rng.random(n) for i in range(12)}) for n in (60, 400))
    found = find(ParetoDepthDetector(), nominal, new)
    write_report(found, str(tmp_path / "report.html"), max_explained=30)
    page = opened(tmp_path / "report.html")
    assert page.inner_text("#n-shown") == "400 of 400"
    assert page.inner_text("#sentence") == found.reasons(1)[0].sentence
    page.focus("#grid")
    page.keyboard.press("End")
    assert "Reasons are included for the 30 samples with the highest scores" in page.inner_text("#sentence")
    assert page.locator("#strips li").count() == 6
    page.focus("#handle")
    page.keyboard.press("Home")
    assert n_called(page) == 400
    assert page.locator("#reasons .bar-count").all_inner_texts()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::paretodepth.AdviceWarning")
def test_a_page_of_no_samples_opens(tmp_path, opened):
    nominal = pa.table({name: np.random.default_rng(0).random(50) for name in "ab"})
    criteria = [Criterion(name, name, "cityblock", missing="drop") for name in "ab"]
    new = pa.table({"a": [0.5, 0.5], "b": pa.array([None, None], pa.float64())})
    find(ParetoDepthDetector(criteria), nominal, new).report(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    assert "Not scored because of missing values: 2 samples" in page.inner_text("#advice")
    assert not page.is_visible("#panel")
    page.focus("#handle")
    page.keyboard.press("Home")
    assert n_called(page) == 0
