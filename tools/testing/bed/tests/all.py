#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the unit tests of the bed and reports them in TAP."""

import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Results(unittest.TextTestResult):
    """Also writes a line for each test to the results channel."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.count = 0
        self.file = open(os.environ.get("RESULTS", os.devnull), "a",
                         encoding="utf-8")

    def stopTest(self, test):
        super().stopTest(test)
        self.count += 1
        failed = any(test is case or getattr(case, "test_case", None) is test
                     for case, _ in self.failures + self.errors)
        name = test.id().partition(".")[2]
        print(f"{'not ok' if failed else 'ok'} {self.count} - {name}",
              file=self.file, flush=True)

    def stopTestRun(self):
        super().stopTestRun()
        print(f"1..{self.count}", file=self.file, flush=True)


def main():
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    tests = unittest.defaultTestLoader.discover(str(HERE))
    runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2,
                                     resultclass=Results)
    return 0 if runner.run(tests).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
