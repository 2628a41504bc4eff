"""The core of the rows, the law of regular ones, and verdicts that follow from it."""
