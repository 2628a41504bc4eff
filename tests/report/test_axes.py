"""Scores and loadings: their data, and the plots in a real browser."""

import base64

import numpy as np
import pytest
from report_pages import pixels

from trueaxis.report.axes import axes_data, component_names, score_spreads


def unpacked(text):
    return np.frombuffer(base64.b64decode(text), dtype="<i2") / 32767


def test_scores_and_loadings_are_the_model_s(pump):
    drawn, spread = np.arange(200)[::-1], score_spreads(pump.model)
    data = axes_data(pump, drawn)
    reach, text = data["scores"]
    scores = np.sinh(unpacked(text) * reach).reshape(2, 200).T
    own = (pump.raw - pump.model.mean_) @ pump.model.components_.T / spread
    np.testing.assert_allclose(scores, own[drawn], rtol=1e-3, atol=1e-3)
    loadings = [most * unpacked(packed) for most, packed in data["loadings"]]
    exact = pump.model.loadings_
    np.testing.assert_allclose(loadings, exact, atol=2e-5 * np.abs(exact).max())
    plain = np.array(data["plain"]["covariance"]).reshape(2, 2)
    np.testing.assert_allclose(plain, np.cov(own.T, bias=True), rtol=1e-4)
    assert data["cutoff"] == pytest.approx(pump.diagnosis.score_cutoff, rel=1e-3)
    assert data["names"] == component_names(pump.model)
    assert data["positions"] is None


# ---------------------------------------------------------------- in a browser


def test_components_can_be_chosen(visit):
    page = visit("many")
    seen = {pixels(page, "score-canvas")}
    assert page.locator("#component-x option").count() == 5
    page.select_option("#component-x", label="x: component 3")
    seen.add(pixels(page, "score-canvas"))
    page.select_option("#component-y", label="y: component 5")
    seen.add(pixels(page, "score-canvas"))
    page.select_option("#component-y", label="y: orth. distance")
    seen.add(pixels(page, "score-canvas"))
    assert len(seen) == 4
    said = page.get_attribute("#score-canvas", "aria-label")
    assert "component 3" in said and "orthogonal distance" in said
    # A row stays selected on other components.
    page.locator("#score-canvas").press("ArrowRight")
    page.locator("#score-canvas").press("Enter")
    assert page.locator("#body tr.chosen").count() == 1


def test_a_single_component_is_shown_against_the_orthogonal_distance(visit):
    page = visit("line")
    assert page.input_value("#component-y") == "-1"
    assert page.locator("#arrows").is_disabled()
    page.locator("#score-canvas").press("ArrowRight")
    page.locator("#score-tip").wait_for(state="visible")
    assert page.locator("#colour-by").count() == 0


def test_rows_are_colored_by_their_labels(visit):
    page = visit("many")
    by_kind, on_map = pixels(page, "score-canvas"), pixels(page, "canvas")
    legend = page.locator("#label-legend")
    assert not legend.is_visible()
    page.select_option("#colour-by", "label")
    assert pixels(page, "score-canvas") != by_kind and pixels(page, "canvas") == on_map
    items = legend.locator("li").all_inner_texts()
    assert len(items) == 9 and items[-1].startswith("4 other labels")
    shown = [int(item.split()[-1].replace(",", "")) for item in items]
    assert sum(shown) == 10_000 and shown[-1] == max(shown)
    page.select_option("#colour-by", "kind")
    assert pixels(page, "score-canvas") == by_kind and not legend.is_visible()


def test_arrows_show_the_columns(visit):
    page = visit()
    without = pixels(page, "score-canvas")
    page.check("#arrows")
    arrows = pixels(page, "score-canvas")
    assert arrows != without
    page.uncheck("#arrows")
    assert pixels(page, "score-canvas") == without


def painted(page, canvas, act):
    """Texts that a canvas shows after an action."""
    page.evaluate(
        """(id) => {
        const { prototype } = CanvasRenderingContext2D, { fillText } = prototype;
        window.texts = [];
        prototype.fillText = function (text, ...place) {
            if (this.canvas.id === id) window.texts.push(text);
            fillText.call(this, text, ...place);
        };
        }""",
        canvas,
    )
    act()
    pixels(page, canvas)
    return page.evaluate("window.texts")


@pytest.mark.parametrize("width", [1280, 400])
def test_bent_axes_say_so(visit, width):
    page = visit(viewport={"width": width, "height": 800})
    texts = painted(page, "score-canvas", lambda: page.click("#scale-log"))
    titles = [text for text in texts if "log beyond 3" in text]
    assert len(titles) >= 2 and all("in st" in text for text in titles)
    numbers = [text for text in texts if text.lstrip("−").isdigit()]
    assert len(set(numbers)) >= 5
    texts = painted(page, "score-canvas", lambda: page.click("#scale-linear"))
    assert texts and not any("log" in text for text in texts)
    texts = painted(page, "canvas", lambda: page.click("#scale-log"))
    assert sum("in cut-offs" in text and "log beyond 1" in text for text in texts) >= 2


def beside_the_axes(page):
    """Pixels of the score plot right next to its frame, on all four sides."""
    pixels(page, "score-canvas")
    return page.evaluate(
        """() => {
        const canvas = document.getElementById("score-canvas");
        const pen = canvas.getContext("2d"), { width: w, height: h } = canvas;
        const strips = [[52, 0, 9, h - 46], [w - 15, 0, 15, h], [62, 0, w, 13],
            [62, h - 44, w, 12]];
        return strips.map((strip) => pen.getImageData(...strip).data.join());
        }"""
    )


@pytest.mark.parametrize("scale", ["#scale-linear", "#scale-log"])
def test_arrows_stay_within_the_axes(visit, scale):
    page = visit()
    page.click(scale)
    for _ in range(4):  # arrows are longer than the view, once it is zoomed
        page.uncheck("#arrows")
        without, plain = beside_the_axes(page), pixels(page, "score-canvas")
        page.check("#arrows")
        assert (
            pixels(page, "score-canvas") != plain and beside_the_axes(page) == without
        )
        page.click("#zoom-in")


def test_loadings_are_bars_by_size(visit, pump):
    page = visit()
    for component in (0, 1):
        page.select_option("#component", str(component))
        names = page.locator("#loadings-shown .name").all_inner_texts()
        values = page.locator("#loadings-shown .value").all_inner_texts()
        exact = dict(
            zip(pump.names.tolist(), pump.model.loadings_[component], strict=True)
        )
        assert sorted(names) == sorted(exact)
        shown = [float(value.replace("−", "-")) for value in values]
        np.testing.assert_allclose(shown, [exact[name] for name in names], rtol=2e-3)
        assert np.abs(shown).tolist() == sorted(np.abs(shown), reverse=True)
    assert not page.locator("#loadings-more").is_visible()


def test_loadings_of_spectra_are_a_curve(visit):
    page = visit("spectra")
    curve = page.locator("#loadings-shown svg.curves")
    assert "largest at" in curve.get_attribute("aria-label")
    line = curve.locator("path").get_attribute("d")
    assert line.count("L") == 59
    page.select_option("#component", "1")
    assert curve.locator("path").get_attribute("d") != line
    ticks = curve.locator("text").all_text_contents()
    assert "500" in ticks and "600" in ticks


@pytest.mark.parametrize("width", [1280, 400])
def test_titles_of_curves_fit_and_axes_have_ticks(visit, width):
    page = visit("spectra", viewport={"width": width, "height": 800})
    page.locator("#body .open").first.click()
    for curve in ("#body svg.curves", "#loadings-shown svg.curves"):
        beyond = page.evaluate(
            """(curve) => {
            const svg = document.querySelector(curve);
            const edge = svg.getBoundingClientRect();
            return [...svg.querySelectorAll("text")].filter((text) => {
                const box = text.getBoundingClientRect();
                return box.right > edge.right + 8 || box.left < edge.left - 1;
            }).map((text) => text.textContent);
            }""",
            curve,
        )
        assert beyond == []
        ticks = page.locator(f"{curve} text[text-anchor=middle]").all_text_contents()
        assert len(ticks) >= 3
    titles = " ".join(page.locator("#body svg.curves .name").all_text_contents())
    assert titles == "value deviation, in standard deviations of regular rows"
