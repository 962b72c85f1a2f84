#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Breaks the modules on purpose, one line at a time, and tells which tests notice.

  mutate.py --check             are all faults of the lists still about this source?
  mutate.py [--jobs N] [WORD...]  tries those whose file or function has one of the
                                words in its name; all by default, which takes hours

A list (tools/testing/mutate/*.faults) is made of such entries:

  @ drivers/dafsd/io.c dafsd_io_room kunit:dafs_io* data
  -	if (len > most)
  +	if (len > most + 1)

File, function, and the suites that ought to notice, of which the first that does
ends the trial; then the lines to replace, which stand in that function once, and
what takes their place, if anything.  "# survives: REASON" below it is for a fault
that cannot be seen from outside.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]
CACHE = pathlib.Path(os.environ.get("DAFS_CACHE", "/var/cache/dafs"))
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
FAILED = re.compile(r"^  FAILED (.*)$", re.M)


class Fault:
    """One fault: where, what, and who ought to notice."""

    def __init__(self, where, head):
        self.where = where              # in the list, for messages
        self.path, self.function, *self.suites = head.split()
        self.old = []
        self.new = []
        self.excuse = ""

    def name(self):
        return f"{self.path} {self.function}"

    def apply(self, text):
        """The source with the fault; ValueError if it has no such place."""
        begin, end = function_span(text, self.function)
        body = text[begin:end]
        old = "".join(f"{line}\n" for line in self.old)
        if not self.old or body.count(old) != 1:
            raise ValueError(f"the lines stand {body.count(old)} times in"
                             f" {self.function}()")
        new = "".join(f"{line}\n" for line in self.new)
        return text[:begin] + body.replace(old, new) + text[end:]


def function_span(text, name):
    """Where the definition of a function, or of a table, begins and ends."""
    for match in re.finditer(rf"^[^\s#/*].*\b{re.escape(name)}(\(|\[| = ).*", text, re.M):
        opening = re.compile(r"^\{|\{$", re.M).search(text, match.start())
        semicolon = text.find(";\n", match.start())
        if not opening or -1 < semicolon < opening.start():
            continue
        end = re.compile(r"^\}", re.M).search(text, opening.end())
        return match.start(), end.end()
    raise ValueError(f"there is no {name}()")


def read_list(path):
    faults = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.startswith("@ "):
            faults.append(Fault(f"{path.name}:{number}", line[2:]))
        elif line.startswith("-"):
            faults[-1].old.append(line[1:])
        elif line.startswith("+"):
            faults[-1].new.append(line[1:])
        elif line.startswith("# survives: "):
            faults[-1].excuse = line.partition(": ")[2]
    return faults


def all_faults():
    return [fault for path in sorted(HERE.glob("*.faults"))
            for fault in read_list(path)]


def check(faults):
    """Returns how many faults do not fit the source, and says which."""
    wrong = 0
    for fault in faults:
        try:
            fault.apply((REPO / fault.path).read_text("utf-8"))
            if not fault.suites:
                raise ValueError("no suite")
        except (OSError, ValueError) as error:
            print(f"{fault.where}: {fault.path}: {error}")
            wrong += 1
    return wrong


class Bench:
    """A copy of the tree, with builds and kernels of its own."""

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
        """Returns the output of one suite there, and whether it noticed."""
        done = subprocess.run(
            ["tools/testing/run", suite], cwd=self.tree, text=True, check=False,
            env={**os.environ, "DAFS_CACHE": str(self.cache)},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.stdout, done.returncode != 0

    def builds(self, output):
        return "the bed can be made" not in output

    def try_fault(self, fault):
        """Returns "caught", "survived" or "does not build", and by which test."""
        path = self.tree / fault.path
        text = path.read_text("utf-8")
        path.write_text(fault.apply(text), encoding="utf-8")
        try:
            for suite in fault.suites:
                output, noticed = self.run(suite)
                if not self.builds(output):
                    return "does not build", suite
                if noticed:
                    failed = FAILED.search(output)
                    return "caught", failed[1] if failed else suite
            return "survived", " ".join(fault.suites)
        finally:
            path.write_text(text, encoding="utf-8")


def work(bench, queue, results):
    while queue:
        fault = queue.pop(0)
        begin = time.monotonic()
        verdict, by_whom = bench.try_fault(fault)
        results.append((fault, verdict))
        print(f"{verdict:14} {fault.where:22} {fault.function}: {by_whom}"
              f" ({time.monotonic() - begin:.0f} s)", flush=True)


def summary(results):
    """Prints what survived, and the sum.  Returns true if none did without a reason."""
    survivors = [fault for fault, verdict in results if verdict == "survived"]
    broken = [fault for fault, verdict in results if verdict == "does not build"]
    for fault in survivors:
        print(f"\n{fault.where}: {fault.name()}  {fault.excuse or 'not explained'}")
        for line in fault.old:
            print(f"  -{line}")
        for line in fault.new:
            print(f"  +{line}")
    tried = len(results) - len(broken)
    print(f"\n{tried} faults, {tried - len(survivors)} caught, {len(survivors)} survived,"
          f" {len(broken)} do not build")
    return not broken and all(fault.excuse for fault in survivors)


def main():
    parser = argparse.ArgumentParser(prog="tools/testing/mutate/mutate.py",
                                     description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true",
                        help="only see whether the faults fit the source")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="trials at a time, 1 by default")
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
    results = []
    benches = [Bench(number) for number in range(options.jobs)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = [pool.submit(work, bench, faults, results) for bench in benches]
        for future in futures:
            future.result()
    return 0 if summary(results) else 1


if __name__ == "__main__":
    sys.exit(main())
