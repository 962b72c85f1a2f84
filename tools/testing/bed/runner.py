#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs test suites and reports.

A suite is a shell script in tools/testing/suites whose head says:

  # One line about it.
  # bed: um | qemu | smp | host
  # timeout: SECONDS
  # memory: 1G                (optional; the guest's)
  # needs: SET...             (optional; of tools/testing/bed/packages)
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

import guest
import report

SUITES = guest.TESTING / "suites"
LOGS = pathlib.Path(os.environ.get("DAFS_CACHE", "/var/cache/dafs"), "log")
ORDER = ["host", "um", "smp", "qemu"]


class Suite:
    """A suite's script and what its head says."""

    def __init__(self, path):
        self.name = path.stem
        self.path = path
        self.about = ""
        self.args = ()
        self.head = {"bed": "um", "timeout": "300", "memory": "",
                     "needs": ""}
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                break
            key, colon, value = line.lstrip("# ").partition(": ")
            if colon and key in self.head:
                self.head[key] = value.strip()
            elif not self.about and line.endswith("."):
                self.about = line.lstrip("# ")

    @property
    def bed(self):
        return self.head["bed"]

    def move(self, bed):
        """To another kernel, if it has one at all."""
        if bed and self.bed != "host":
            self.head["bed"] = bed

    @property
    def timeout(self):
        return float(self.head["timeout"])

    @property
    def log(self):
        return LOGS / f"{self.name}.log"

    def packages(self):
        needs = self.head["needs"].split()
        return needs if self.bed == "host" else [self.bed, *needs]


def all_suites():
    suites = [Suite(path) for path in SUITES.glob("*.sh")]
    return sorted(suites, key=lambda s: (ORDER.index(s.bed), s.name))


def choose(known, wanted):
    """The suites asked for by NAME or NAME:ARGUMENT; ValueError if unknown."""
    if not wanted:
        return known
    arguments = {}
    for text in wanted:
        name, colon, argument = text.partition(":")
        arguments.setdefault(name, []).extend([argument] if colon else [])
    unknown = sorted(set(arguments) - {suite.name for suite in known})
    if unknown:
        raise ValueError(f"no such suite: {' '.join(unknown)}")
    chosen = [suite for suite in known if suite.name in arguments]
    for suite in chosen:
        suite.args = arguments[suite.name]
    return chosen


def install(suites):
    sets = sorted({name for suite in suites for name in suite.packages()})
    subprocess.run([guest.BED / "packages", *sets], check=True)


def failure(name, why):
    return report.Test(name, False, why=why)


def judge_kernel(suite, outcome, log):
    """One test for a guest's kernel, if it lived: did it stay clean?"""
    wrong = report.complaints(outcome.results) + report.splats(log)
    if outcome.status is None and not wrong:
        return []
    return [report.Test(f"the {suite.bed} kernel has nothing to complain of",
                        not wrong, why=wrong)]


def judge(suite, outcome):
    """The tests of one suite's run, with what explains the failed ones."""
    log = suite.log.read_text("utf-8", "replace").splitlines()
    log = report.since_boot(log)
    tests = report.parse(outcome.results)
    for test in tests:
        if not test.ok:
            test.why += report.before(log, test.name)
    if outcome.timed_out:
        tests.append(failure(f"ends within {suite.timeout:.0f} s", log[-30:]))
    elif outcome.status is None:
        tests.append(failure("the guest survives", log[-30:]))
    elif outcome.status and all(test.ok for test in tests):
        tests.append(failure(f"exit status {outcome.status}", log[-30:]))
    if not tests:
        tests.append(failure("has tests", log[-30:]))
    if suite.bed != "host":
        tests += judge_kernel(suite, outcome, log)
    return tests


def run_suite(suite):
    """Returns the suite's tests and its seconds."""
    with open(suite.log, "wb") as log:
        try:
            outcome = guest.run(suite.bed, suite.path, suite.args,
                                timeout=suite.timeout,
                                memory=suite.head["memory"], sink=log.write)
        except (OSError, guest.BedError) as error:
            why = str(error).splitlines()
            return [failure("the bed can be made", why)], 0
    return judge(suite, outcome), outcome.seconds


def show(suite, tests, seconds):
    """One line for the suite, and one paragraph for each failed test."""
    failed = [test for test in tests if not test.ok]
    skipped = sum(test.skipped for test in tests)
    passed = len(tests) - len(failed) - skipped
    note = f", {skipped} skipped" if skipped else ""
    print(f"{suite.name:14} {suite.bed:5} {seconds:6.1f} s  "
          f"{passed} passed, {len(failed)} failed{note}", flush=True)
    for test in failed:
        print(f"\n  FAILED {suite.name}: {test.name}")
        for line in test.why[:100]:
            print(f"    | {line}")
        print(f"    whole log: {suite.log}\n", flush=True)
    return passed, len(failed)


def run_and_show(suite):
    return show(suite, *run_suite(suite))


def run_all(suites):
    """Passed and failed of each.

    A guest of User Mode Linux has one processor, so several of them run at a
    time, the long ones first; whatever else there is has all processors to itself.
    """
    small = sorted((suite for suite in suites if suite.bed == "um"),
                   key=lambda suite: -suite.timeout)
    with concurrent.futures.ThreadPoolExecutor(min(4, os.cpu_count())) as pool:
        counts = [run_and_show(suite) for suite in suites if suite.bed == "host"]
        if small:
            guest.try_to_prepare("um")   # once, not by each at a time
        counts += pool.map(run_and_show, small)
        counts += [run_and_show(suite) for suite in suites
                   if suite.bed not in ("host", "um")]
    return counts


def main():
    parser = argparse.ArgumentParser(prog="tools/testing/run",
                                     description="Runs test suites.")
    parser.add_argument("--list", action="store_true",
                        help="print the suites, where each runs, and how long"
                        " it may take")
    parser.add_argument("--bed", choices=[b for b in ORDER if b != "host"],
                        help="run the suites of guests on this bed instead")
    parser.add_argument("suite", nargs="*", metavar="SUITE[:ARGUMENT]",
                        help="default: all; an argument is for the suite:"
                        " kunit:dafs_open runs the KUnit suite dafs_open")
    options = parser.parse_args()

    known = all_suites()
    try:
        chosen = choose(known, options.suite)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        for suite in known:
            print(f"{suite.name:14} {suite.bed:5} {suite.timeout:5.0f} s  "
                  f"{suite.about}")
        return 0

    for suite in chosen:
        suite.move(options.bed)
    install(chosen)
    LOGS.mkdir(parents=True, exist_ok=True)
    counts = run_all(chosen)
    passed = sum(count[0] for count in counts)
    failed = sum(count[1] for count in counts)
    print(f"\n{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
