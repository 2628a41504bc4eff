"""What the script unpacks is what was packed."""

import base64

import numpy as np

from trueaxis.report.packing import (
    MISSING,
    _decimal,
    bent,
    coded,
    decimals,
    digits,
    floats,
    fractions,
)


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def unbent(reach, text):
    return np.sinh(unpacked(text, "<i2") / 32767 * reach)


def test_floats_have_seven_digits_and_no_infinity():
    values = np.array([1.2345678, -3e-20, 4e10, np.inf, np.nan, 1e300])
    again = unpacked(floats(values), "<f4")
    np.testing.assert_allclose(again[:3], values[:3], rtol=1e-7)
    assert np.isnan(again[3:]).all()


def test_fractions_and_bent_numbers_come_back():
    values = np.linspace(-1, 1, 101)
    again = unpacked(fractions(values), "<i2") / 32767
    np.testing.assert_allclose(again, values, atol=2e-5)
    far = np.array([0.0, 0.01, -1.0, 3.5, -80.0, 1e6, 1e13])
    np.testing.assert_allclose(unbent(*bent(far)), far, rtol=1e-3, atol=1e-3)
    assert unbent(*bent(np.zeros(3))).tolist() == [0, 0, 0]


def test_digits_and_names():
    assert digits(np.array([0, 9, 10, 35])) == "09az"
    names, places = coded(np.array(["b", "a", "b", ""]))
    assert names == ["b", "", "a"]
    assert [names[i] for i in places] == ["b", "a", "b", ""]


def test_decimals_come_back_as_they_were():
    values = [0.0, -0.0, 9.1501, 8.078198, -123.4567, 1e-5, 9999999.6, 3.2e60, -7e-57]
    found = unpacked(decimals(values), "<i4").astype(int)
    digits, power = np.divmod(found, 128)
    again = [float(f"{m}e{e - 64}") for m, e in zip(digits, power, strict=True)]
    assert again == [float(f"{x:.7g}") for x in values]
    lost = unpacked(decimals([np.nan, np.inf, -np.inf, 1e70]), "<i4")
    assert (lost == MISSING).all()
    assert unpacked(decimals([1e-70]), "<i4") == [64]  # 0


def test_decimals_of_many_numbers_are_those_of_each():
    rng = np.random.default_rng(0)
    size = 10.0 ** rng.uniform(-75, 75, 3000)
    halves = np.arange(20_000_001, 20_003_001) / 2  # halfway between seven digits
    odd = [0.0, -0.0, np.nan, np.inf, 1e50, 1e-50, 9999999.5, 999999.95, 1.0000005]
    values = np.concatenate([rng.standard_normal(3000), -size, halves, odd])
    each = [_decimal(x) for x in values.tolist()]
    assert unpacked(decimals(values), "<i4").tolist() == each
