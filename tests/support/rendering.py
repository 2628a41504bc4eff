"""Rendering of displays in tests."""

import matplotlib.pyplot as plt


def rendered(display):
    display.figure_.draw_without_rendering()
    assert display.ax_.figure is display.figure_
    plt.close(display.figure_)


def texts(display):
    return [text.get_text() for text in display.ax_.texts]
