#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs a suite up to the first failure, and prints it.

  trial.py SECONDS SUITE[:ARGUMENT]

The last line is "passed", "failed: NAME", "hangs", or "does not build"; lines that
explain it come before.  The time to build and boot does not count.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bed"))

import guest                    # noqa: E402
import report                   # noqa: E402
import runner                   # noqa: E402

FAILED = re.compile(r"^(?:\[[^]]*\](?:\[[^]]*\])? *)?\s*"
                    r"(?:not ok \d+(?: -)? (.*)|# (\w+): (?:EXPECTATION|ASSERTION) FAILED.*)$")
KEPT = 30


class Enough(Exception):
    """The trial is decided; the text is the verdict."""


class Watch:
    """Takes a guest's console, and raises Enough at the first failure."""

    def __init__(self, log, may_log=()):
        self.log = log
        self.may_log = may_log
        self.partial = b""
        self.begun = False
        self.ended = False
        self.lines = []

    def feed(self, data):
        self.log.write(data)
        *whole, self.partial = (self.partial + data).split(b"\n")
        for line in (raw.decode("utf-8", "replace") for raw in whole):
            self.look(line)

    def look(self, line):
        if not self.begun:
            self.begun = bool(report.LOG_BEGIN.search(line))
            return
        # what follows is the test of KASAN
        self.ended = self.ended or bool(report.LOG_END.match(line))
        if self.ended:
            return
        self.lines = [*self.lines[-KEPT:], line]
        failed = FAILED.match(line)
        if failed:
            raise Enough(failed[1] or failed[2])
        if report.splats([line], self.may_log):
            raise Enough(f"the kernel's log: {line.partition(']')[2].strip()}")


def explain(lines):
    for line in lines[-KEPT:]:
        print(f"  | {line}")


def run(suite, seconds):
    """Returns the verdict."""
    with open(suite.log, "wb") as log:
        watch = Watch(log, suite.may_log)
        try:
            suite.prepare()
            outcome = guest.run(suite.bed, suite.path, suite.args, timeout=seconds,
                                memory=suite.head["memory"], sink=watch.feed)
        except guest.BedError as error:
            explain(str(error).splitlines())
            return "does not build"
        except Enough as decided:
            explain(watch.lines)
            return f"failed: {decided}"
    if outcome.timed_out:
        explain(watch.lines)
        return "hangs"
    for test in runner.judge(suite, outcome):
        if not test.ok:
            explain(test.why)
            return f"failed: {test.name}"
    return "passed"


def main():
    seconds, wanted = sys.argv[1:]
    [suite] = runner.choose(runner.all_suites(), [wanted])
    runner.LOGS.mkdir(parents=True, exist_ok=True)
    print(run(suite, min(float(seconds), suite.timeout)))


if __name__ == "__main__":
    main()
