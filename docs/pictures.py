"""Redraw the pictures of the docs: python docs/pictures.py.

The picture of the report is a screenshot from Chromium, driven by Playwright.
"""

import shutil
import tempfile
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright

from trueaxis import DSWL
from trueaxis.cli.commands import demo
from trueaxis.datasets import sensors
from trueaxis.plots import CellMapDisplay, OutlierMapDisplay, ScoresDisplay

IMAGES = Path(__file__).parent / "images"
EXAMPLES = Path(__file__).parent.parent / "examples"
table = sensors()
X = pd.DataFrame(table.X, columns=table.columns)
model = DSWL(2).fit(X)


def draw_map():
    display = OutlierMapDisplay.from_estimator(model, X)
    display.figure_.savefig(IMAGES / "outlier-map.png", dpi=110)


def draw_map_of_the_tutorial():
    pumps = pd.read_csv(EXAMPLES / "pumps.csv", index_col="serial")
    readings = pumps.drop(columns=["site", "reader"])
    model = DSWL().fit(readings)
    display = OutlierMapDisplay.from_estimator(model, readings, n_labels=4)
    display.figure_.savefig(IMAGES / "tutorial-map.png", dpi=110)


def draw_cells():
    of_cells = DSWL(2, cells=True).fit(X)
    display = CellMapDisplay.from_estimator(of_cells, X)
    display.figure_.savefig(IMAGES / "cell-map.png", dpi=110)


def draw_demo():
    figure = Figure(figsize=(12, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    ScoresDisplay.from_estimator(model, X, ax=left)
    OutlierMapDisplay.from_estimator(model, X, ax=right)
    figure.savefig(IMAGES / "demo.png", dpi=110)


def capture_report():
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_path = Path(folder) / "demo.html"
        demo(str(page_path))
        browser = playwright.chromium.launch(
            executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1240})
        page.goto(page_path.as_uri())
        page.locator("#canvas").focus()
        page.keyboard.press("ArrowRight")  # show the worst row
        page.keyboard.press("Enter")
        page.check("#arrows")
        page.evaluate("window.scrollTo(0, 0)")
        page.wait_for_timeout(300)
        page.screenshot(path=IMAGES / "report.png")
        browser.close()


draw_map()
draw_map_of_the_tutorial()
draw_cells()
draw_demo()
capture_report()
