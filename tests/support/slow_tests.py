"""List the tests that are too slow for `make quick`, from a JUnit report.

`make slow-tests` writes the list to tests/slow_tests.txt. It has names of functions,
without their files, so that it survives moving them.
"""

import sys
import xml.etree.ElementTree as ET
from collections import defaultdict

CASE_SECONDS = 0.1  # limit of a single case,
TEST_SECONDS = 0.3  # and of all cases of a parametrized test together


def slow_tests(report):
    """Return the sorted names of the tests that take longer than the limits."""
    seconds = defaultdict(list)
    for case in ET.parse(report).iter("testcase"):
        test = case.get("classname"), case.get("name").partition("[")[0]
        seconds[test].append(float(case.get("time")))
    return sorted(
        {
            name
            for (_, name), cases in seconds.items()
            if max(cases) > CASE_SECONDS or sum(cases) > TEST_SECONDS
        }
    )


if __name__ == "__main__":
    print("\n".join(slow_tests(sys.argv[1])))
