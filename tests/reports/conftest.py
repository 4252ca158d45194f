import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

from paretodepth import Criterion, ParetoDepthDetector
from paretodepth.reports.detect import find
from paretodepth.reports.page import write_report
from tests.newcomer import PLANTED, invoice_table


@pytest.fixture(scope="session")
def found():
    """Three planted anomalies among 120 invoices, found."""
    nominal = invoice_table(0, 200)
    criteria = [Criterion(name, name, "cityblock") for name in ("amount", "hour", "weight")]
    detector = ParetoDepthDetector(criteria, method="blend")
    return find(detector, nominal, invoice_table(1, 120, PLANTED))


@pytest.fixture(scope="session")
def report(found, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(found, str(path), title="Anomalies in new.csv")
    return path


@pytest.fixture(scope="session")
def browser():
    program = os.environ.get("PARETODEPTH_BROWSER") or shutil.which("chromium")
    if program is None:
        missing = "no browser: install chromium, or name one in PARETODEPTH_BROWSER"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser):
    """Open a page; at the end there must have been no error and no request but for the page itself."""
    contexts, troubles = [], []

    def trouble_of_request(request):
        if not request.url.startswith(("file:", "blob:", "data:")):
            troubles.append(request.url)

    def opened(path, width=1300, height=900, script="", **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(script)
        page.set_default_timeout(20_000)
        page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", trouble_of_request)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []
