"""A report on a fitted model and rows: the analysis, and its HTML page."""

from trueaxis.report.analysis import Analysis, analyze
from trueaxis.report.page import render, write_report

__all__ = ["Analysis", "analyze", "render", "write_report"]
