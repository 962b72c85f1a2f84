#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Breaks the modules on purpose, one line at a time, and tells which tests notice.

  mutate.py --check             do all faults of the lists match the source?
  mutate.py [--jobs N] [WORD...]  tries those whose file, function or place in its list
                                contains one of the words; all by default, which takes
                                hours.  Faults that were caught before in the same
                                function by the same suites, or need not be, are tried
                                only with --again.
  mutate.py --table             results of those that were tried

A list (tools/testing/mutate/*.faults) is made of such entries:

  # area: bulk data
  @ drivers/dafsd/request/rdma.c dafsd_io_room kunit:dafs_io* data
  -	if (len > most)
  +	if (len > most + 1)

File, function, and the suites that should detect it, of which the first that does ends
the trial; then the lines to replace, which occur once in that function, and their
replacement, if any.  "# survives: REASON" below it is for a fault that the tests cannot
detect; "# alike: REASON" for one that has no visible effect, because other code does
the same.

A fault is caught if a test fails, or if the kernel of a guest complains.  The suite
must have passed without a fault before, once while mutate.py runs; and if it hangs,
once more within the same time.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]
CACHE = pathlib.Path(os.environ.get("DAFS_CACHE", "/var/cache/dafs"))
RESULTS = CACHE / "mutate-results"
# Seconds that a suite may take; one KUnit suite is short.
LIMIT = 300
KUNIT_LIMIT = 180


class Fault:
    """One fault: its place, the replacement, and the suites that should detect it."""

    def __init__(self, where, area, head):
        self.where = where              # in the list, for messages
        self.area = area
        self.path, self.function, *self.suites = head.split()
        self.old = []
        self.new = []
        self.excuse = ""
        self.alike = False
        self.id = ""                    # of this fault
        self.key = ""                   # of this fault in the function as it is now

    def name(self):
        return f"{self.path} {self.function} {self.where}"

    def replaced(self, text):
        """The source before, in and after the function, with the fault; ValueError
        if the lines are not found."""
        begin, end = function_span(text, self.function)
        body = text[begin:end]
        old = "".join(f"{line}\n" for line in self.old)
        if not self.old or body.count(old) != 1:
            raise ValueError(f"the lines stand {body.count(old)} times in"
                             f" {self.function}()")
        new = "".join(f"{line}\n" for line in self.new)
        return text[:begin], body.replace(old, new), text[end:]

    def apply(self, text):
        """The source with the fault."""
        return "".join(self.replaced(text))

    def identify(self):
        """Sets id and key; ValueError as above."""
        self.id = digest(self.path, self.function, *self.old, "", *self.new)
        faulty = self.replaced((REPO / self.path).read_text("utf-8"))[1]
        self.key = digest(self.path, faulty)


def digest(*lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def function_span(text, name):
    """The range of the definition of a function or a table."""
    for match in re.finditer(rf"^[^\s#/*].*\b{re.escape(name)}(\(|\[| = ).*", text, re.M):
        opening = re.compile(r"^\{|\{$", re.M).search(text, match.start())
        semicolon = text.find(";\n", match.start())
        if not opening or -1 < semicolon < opening.start():
            continue
        end = re.compile(r"^\}", re.M).search(text, opening.end())
        return match.start(), end.end()
    raise ValueError(f"there is no {name}()")


def read_list(path):
    faults, area = [], path.stem
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("# area: "):
            area = line.partition(": ")[2]
        elif line.startswith("@ "):
            faults.append(Fault(f"{path.name}:{number}", area, line[2:]))
        elif line.startswith("-"):
            faults[-1].old.append(line[1:])
        elif line.startswith("+"):
            faults[-1].new.append(line[1:])
        elif line.startswith(("# survives: ", "# alike: ")):
            faults[-1].excuse = line.partition(": ")[2]
            faults[-1].alike = line.startswith("# alike: ")
    return faults


def all_faults():
    return [fault for path in sorted(HERE.glob("*.faults"))
            for fault in read_list(path)]


def check(faults):
    """Returns the number of faults that do not match the source, and prints them."""
    wrong = 0
    for fault in faults:
        try:
            fault.identify()
            if not fault.suites:
                raise ValueError("no suite")
        except (OSError, ValueError) as error:
            print(f"{fault.where}: {fault.path}: {error}")
            wrong += 1
    return wrong


def load_results(by):
    """The last result of each fault, by its id or key."""
    if not RESULTS.exists():
        return {}
    lines = (json.loads(line) for line in RESULTS.read_text("utf-8").splitlines())
    return {result[by]: result for result in lines}


def is_settled(fault, result):
    """Older results do not include the suites."""
    return result.get("suites", fault.suites) == fault.suites and \
        result.get("verdict") in ("caught", "survived" if fault.excuse else "caught")


class Sound:
    """Whether suites pass without a fault; each is run once."""

    def __init__(self):
        self.locks = collections.defaultdict(threading.Lock)
        self.verdicts = {}

    def verdict(self, bench, suite):
        with self.locks[suite]:
            if suite not in self.verdicts:
                self.verdicts[suite] = bench.run(suite)[0]
                if self.verdicts[suite] != "passed":
                    print(f"{suite} without a fault: {self.verdicts[suite]}", flush=True)
        return self.verdicts[suite]


SOUND = Sound()


class Bench:
    """A copy of the tree, with separate builds and kernels."""

    def __init__(self, number):
        self.cache = CACHE / f"mutate-{number}"
        self.tree = self.cache / "tree"
        self.tree.mkdir(parents=True, exist_ok=True)
        for path in CACHE.glob("*"):
            if path.name.startswith(("kernel-", "linux-source-")) and path.is_dir():
                link = self.cache / path.name
                if not link.is_symlink():
                    link.symlink_to(path)
        subprocess.run(["rsync", "-rlpc", "--delete", "--exclude=.git", f"{REPO}/",
                        f"{self.tree}/"], check=True)

    def run(self, suite):
        """Runs a suite there; returns the verdict and its explanation."""
        limit = KUNIT_LIMIT if suite.startswith("kunit:") else LIMIT
        done = subprocess.run(
            [sys.executable, "-B", "tools/testing/mutate/trial.py", str(limit), suite],
            cwd=self.tree, text=True, check=False,
            env={**os.environ, "DAFS_CACHE": str(self.cache)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for path in self.cache.glob("modules-*/root-*"):
            shutil.rmtree(path)
        *why, verdict = done.stdout.splitlines() or [f"exit status {done.returncode}"]
        return verdict, why

    def try_fault(self, fault):
        """Returns "caught", "survived", "undecided" or "does not build", by which
        test or suites, and the explanation."""
        for suite in fault.suites:
            verdict = SOUND.verdict(self, suite)
            if verdict != "passed":
                return "undecided", suite, [f"without the fault: {verdict}"]
        path = self.tree / fault.path
        text = path.read_text("utf-8")
        path.write_text(fault.apply(text), encoding="utf-8")
        try:
            for suite in fault.suites:
                verdict, why = self.run(suite)
                if verdict != "passed":
                    break
        finally:
            path.write_text(text, encoding="utf-8")
        if verdict == "passed":
            return "survived", " ".join(fault.suites), why
        if verdict == "hangs" and self.run(suite)[0] == "passed":
            return "caught", f"{suite} hangs", why
        if verdict.startswith("failed: "):
            return "caught", f"{suite.partition(':')[0]}: {verdict[8:]}", why
        return verdict if verdict == "does not build" else "undecided", suite, why


LOCK = threading.Lock()


def work(bench, queue, results):
    while queue:
        fault = queue.pop(0)
        begin = time.monotonic()
        verdict, by_whom, why = bench.try_fault(fault)
        result = {"id": fault.id, "key": fault.key, "fault": fault.name(), "verdict": verdict,
                  "by": by_whom, "seconds": round(time.monotonic() - begin), "why": why,
                  "suites": fault.suites}
        with LOCK, RESULTS.open("a", encoding="utf-8") as file:
            print(json.dumps(result), file=file)
        results.append((fault, verdict))
        print(f"{verdict:14} {fault.where:22} {fault.function}: {by_whom}"
              f" ({result['seconds']} s)", flush=True)


def show(fault):
    print(f"\n{fault.where}: {fault.path} {fault.function}  "
          f"{fault.excuse or 'not explained'}")
    for line in fault.old:
        print(f"  -{line}")
    for line in fault.new:
        print(f"  +{line}")


def summary(results):
    """Prints the survivors and the totals.  Returns true if none survived without a
    reason."""
    count = {name: [fault for fault, verdict in results if verdict == name]
             for name in ("caught", "survived", "undecided", "does not build")}
    for fault in count["survived"]:
        show(fault)
    print(f"\n{len(results)} faults: " +
          ", ".join(f"{len(faults)} {name}" for name, faults in count.items()))
    return not count["undecided"] and not count["does not build"] and \
        all(fault.excuse for fault in count["survived"])


def table(faults):
    """Prints a table by area, in reStructuredText, and the survivors.  Returns true if
    all were tried, and none survived without a reason."""
    known = load_results("id")
    rows = {}
    survivors = []
    for fault in faults:
        verdict = known.get(fault.id, {"verdict": "not tried"})["verdict"]
        for area in fault.area, "all":
            rows.setdefault(area, collections.Counter()).update([verdict, "faults"])
        if verdict == "survived":
            survivors.append(fault)
            for area in fault.area, "all":
                rows[area]["alike"] += fault.alike
    rows["all"] = rows.pop("all")
    width = max(map(len, rows))
    rule = f"{'=' * width}  ======  =====  ======  ========  ====="
    print(f"{rule}\n{'Area':{width}}  faults  tried  caught  survived  alike\n{rule}")
    for area, row in rows.items():
        tried = row["caught"] + row["survived"]
        print(f"{area:{width}}  {row['faults']:6}  {tried:5}  {row['caught']:6}"
              f"  {row['survived']:8}  {row['alike']:5}")
    print(rule)
    for fault in survivors:
        show(fault)
    return rows["all"]["faults"] == rows["all"]["caught"] + len(survivors) and \
        all(fault.excuse for fault in survivors)


def main():
    parser = argparse.ArgumentParser(prog="tools/testing/mutate/mutate.py",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="only see whether the faults fit the source")
    parser.add_argument("--table", action="store_true",
                        help="only print what came of those tried before")
    parser.add_argument("--again", action="store_true",
                        help="also those that were caught before, or need not be")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="trials at a time, 1 by default")
    parser.add_argument("--bench", type=int, default=0, metavar="N",
                        help="number of the first folder to work in")
    parser.add_argument("words", nargs="*", metavar="WORD",
                        help="of the name of a file or a function")
    options = parser.parse_args()

    faults = [fault for fault in all_faults() if not options.words or
              any(word in fault.name() for word in options.words)]
    if not faults:
        parser.error("no such fault")
    if check(faults):
        return 1
    print(f"{len(faults)} faults", flush=True)
    if options.check:
        return 0
    if options.table:
        return 0 if table(faults) else 1
    if not options.again:
        known = load_results("key")
        faults = [fault for fault in faults if not is_settled(fault, known.get(fault.key, {}))]
        print(f"{len(faults)} to try", flush=True)
    results = []
    benches = [Bench(options.bench + number) for number in range(options.jobs)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(work, bench, faults, results) for bench in benches]
        for future in futures:
            future.result()
    return 0 if summary(results) else 1


if __name__ == "__main__":
    sys.exit(main())
