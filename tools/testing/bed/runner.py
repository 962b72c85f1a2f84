#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs test suites and reports.

A suite is a shell script in tools/testing/suites whose head says:

  # One line about it.
  # bed: um | qemu | smp | host
  # timeout: SECONDS
  # memory: 1G                (optional; the guest's)
  # needs: SET...             (optional; of tools/testing/bed/packages, and on the
                               host kernels to build before its time begins)
  # processors: all           (optional; nothing else runs beside it)
  # may-skip: PATTERN         (optional, more than one; a test that is skipped
                               and that no pattern names has failed)
  # may-log: WORDS            (optional, more than one; of a line in the kernel's log
                               that would be a failure elsewhere)
"""

import argparse
import concurrent.futures
import fcntl
import fnmatch
import os
import pathlib
import signal
import subprocess
import sys
import time

import guest
import report

SUITES = guest.TESTING / "suites"
LOGS = pathlib.Path(os.environ.get("DAFS_CACHE", "/var/cache/dafs"), "log")
GUEST_KIB = 3 << 20     # with what is built beside it
ORDER = ["host", "um", "smp", "qemu"]


class Suite:
    """A suite's script and what its head says."""

    def __init__(self, path):
        self.name = path.stem
        self.path = path
        self.about = ""
        self.args = ()
        self.may_skip = []
        self.may_log = []
        self.head = {"bed": "um", "timeout": "300", "memory": "", "needs": "",
                     "processors": ""}
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#"):
                break
            key, colon, value = line.lstrip("# ").partition(": ")
            if colon and key in self.head:
                self.head[key] = value.strip()
            elif colon and key == "may-skip":
                self.may_skip.append(value.strip())
            elif colon and key == "may-log":
                self.may_log.append(value.strip())
            elif not self.about and line.endswith("."):
                self.about = line.lstrip("# ")

    @property
    def bed(self):
        return self.head["bed"]

    def move(self, bed):
        """Moves the suite to another kernel, if it has one at all."""
        if bed and self.bed != "host":
            self.head["bed"] = bed

    @property
    def timeout(self):
        """Its time limit, which is to detect hangs, not slow tests."""
        return float(self.head["timeout"]) * guest.SPARE

    @property
    def alone(self):
        """True if nothing may run beside it, such as a two-processor emulation."""
        return self.bed in ("qemu", "smp") or self.head["processors"] == "all"

    def kernels(self):
        """The kernels to build before its time begins, in this order."""
        if self.bed != "host":
            return [self.bed]
        return [name for name in guest.KERNELS if name in self.packages()]

    def prepare(self):
        for name in self.kernels():
            (guest.kernel if self.bed == "host" else guest.prepare)(name)

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
    """A test result for a guest's kernel, if it ended properly: no complaints."""
    wrong = report.complaints(outcome.results) + report.splats(log, suite.may_log)
    if outcome.status is None and not wrong:
        return []
    if outcome.status is not None:
        wrong += report.unchecked(outcome.results,
                                  guest.CHECKERS.get(suite.bed, ()))
    return [report.Test(f"the {suite.bed} kernel has nothing to complain of",
                        not wrong, why=wrong)]


def judge_skips(suite, tests):
    """A skipped test has failed, unless the suite's head allows it."""
    for test in tests:
        if test.skipped and not any(fnmatch.fnmatchcase(test.name, pattern)
                                    for pattern in suite.may_skip):
            test.ok = test.skipped = False
            test.why.insert(0, "skipped, which the suite's head does not allow")


def judge(suite, outcome):
    """The test results of one suite, with explanations of failures."""
    log = suite.log.read_text("utf-8", "replace").splitlines()
    log = report.since_boot(log)
    tests = report.parse(outcome.results)
    judge_skips(suite, tests)
    for test in tests:
        if not test.ok:
            test.why += report.before(log, test.name)
    if outcome.timed_out:
        tests.append(failure(f"ends within {suite.timeout:.0f} s", log[-30:]))
    elif outcome.status is None:
        tests.append(failure("the guest survives", log[-30:]))
    elif outcome.status and all(test.ok for test in tests):
        tests.append(failure(f"exit status {outcome.status}", log[-30:]))
    if suite.bed != "host":
        tests += judge_kernel(suite, outcome, log)
        outcome.soft_roce = report.soft_roce(log)
    return tests


def claim(log):
    """Locks the log, so that another runner's is neither truncated nor read."""
    try:
        fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"(waiting)      another runner writes {log.name}", flush=True)
        fcntl.flock(log, fcntl.LOCK_EX)
    log.truncate(0)


def run_suite(suite):
    """Returns the suite's tests and its outcome."""
    with open(suite.log, "ab") as log:
        claim(log)
        try:
            suite.prepare()
            outcome = guest.run(suite.bed, suite.path, suite.args,
                                timeout=suite.timeout,
                                memory=suite.head["memory"], sink=log.write)
        except (OSError, guest.BedError) as error:
            why = str(error).splitlines()
            return [failure("the bed can be made", why)], guest.Outcome()
        log.flush()
        return judge(suite, outcome), outcome


def show(suite, tests, outcome):
    """Prints a line for the suite and a paragraph for each failed test."""
    failed = [test for test in tests if not test.ok]
    skipped = sum(test.skipped for test in tests)
    passed = len(tests) - len(failed) - skipped
    note = f", {skipped} skipped" if skipped else ""
    print(f"{suite.name:14} {suite.bed:5} {outcome.seconds:6.1f} s "
          f"({outcome.processor:5.1f} s busy)  "
          f"{passed} passed, {len(failed)} failed{note}", flush=True)
    if outcome.soft_roce:
        print(f"# {suite.name}: {outcome.soft_roce} warnings of soft-RoCE, of "
              f"{report.SOFT_ROCE_MOST} that are allowed", flush=True)
    for test in failed:
        print(f"\n  FAILED {suite.name}: {test.name}")
        for line in test.why[:100]:
            print(f"    | {line}")
        print(f"    whole log: {suite.log}\n", flush=True)
    return passed, len(failed)


def run_and_show(suite):
    return show(suite, *run_suite(suite))


def build(suites):
    """Builds the kernels that the suites need, in their order."""
    for suite in suites:
        begin = time.monotonic()
        try:
            suite.prepare()
        except guest.BedError:
            continue    # reported by each suite that needs it
        seconds = time.monotonic() - begin
        if seconds >= 1:
            print(f"{'(building)':14} {suite.bed:5} {seconds:6.1f} s  for "
                  f"{suite.name}", flush=True)


def guests_beside():
    """The number of concurrent guests: one more than processors, because they also wait."""
    with open("/proc/meminfo", encoding="ascii") as info:
        has = {line.split(":")[0]: int(line.split()[1]) for line in info}
    return max(1, min(4, os.cpu_count() + 1, has["MemAvailable"] // GUEST_KIB))


def run_all(suites):
    """Runs all suites; returns the numbers of passed and failed tests.

    A guest of User Mode Linux has one processor, so several of them run at a
    time, the long ones first, beside the checks of sources and builds. All
    other suites run alone.
    """
    beside = sorted((suite for suite in suites if not suite.alone),
                    key=lambda suite: (suite.bed != "host", -suite.timeout))
    alone = [suite for suite in suites if suite.alone]
    with concurrent.futures.ThreadPoolExecutor(1) as builder, \
            concurrent.futures.ThreadPoolExecutor(guests_beside()) as pool:
        built = builder.submit(build, beside + alone)
        counts = list(pool.map(run_and_show, beside))
        built.result()
    return counts + [run_and_show(suite) for suite in alone]


def die(number, _frame):
    """Exits at once from any thread; guests end with their runner."""
    os.write(2, b"\nstopped\n")
    os._exit(128 + number)


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
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, die)
    install(chosen)
    LOGS.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    counts = run_all(chosen)
    passed = sum(count[0] for count in counts)
    failed = sum(count[1] for count in counts)
    minutes = (time.monotonic() - begin) / 60
    print(f"\nin {minutes:.1f} minutes\n{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
