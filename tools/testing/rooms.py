#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that folders of the modules call only lower ones.

  rooms.py BUILD [--arrows]     checks the objects and sources of a build of the modules
  rooms.py --self-test          checks this program

rooms.table gives each folder, or "room", a level.  A file may use the functions and variables
of its own room and of rooms with a lower level, and include their headers.  All other uses
are arrows upwards, which lead to cycles.  Two rooms of one level may not use each other.

rooms.known lists the existing arrows upwards, as "ROOM -> ROOM SYMBOL", where SYMBOL may be
the path of a header.  It only gets shorter: an arrow that is not listed is a failure, and
so is a line without an arrow.  Only failures are printed; --arrows also prints the number
of symbols that each room uses of each other.

A line of the table, where "#" begins a comment:

  room FOLDER LEVEL       0 is the lowest; all files below FOLDER that are in no other room

Uses are read from the symbol tables of the objects.  So inline functions, macros and
members of structures count only by the header that they come from, and a function pointer
counts where it is taken, not where it is called: that is how a lower room may call a higher
one.
"""

import argparse
import collections
import os.path
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# Prefixes of symbols that the compiler or macros of the kernel generate.
MADE = ("__pfx_", "__SCT__", "__SCK__", "__traceiter_", "__probestub_", "__ksymtab", "__kstr",
        "__UNIQUE_ID", "__export", "init_module", "cleanup_module")

INCLUDE = re.compile(r'^\s*#\s*include\s*"(.+?)"', re.MULTILINE)


class Table:
    """The rooms of files, and their levels."""

    def __init__(self, text):
        self.level = {}
        for line in text.splitlines():
            match line.partition("#")[0].split():
                case []:
                    pass
                case ["room", folder, level]:
                    self.level[folder] = int(level)
                case _:
                    sys.exit(f"this line of the table is not understood: {line}")

    def room(self, source):
        """Return the room of a source file, or None if it is not part of the modules."""
        inside = (folder for folder in self.level if source.startswith(folder + "/"))
        return max(inside, key=len, default=None)

    def is_upwards(self, here, there):
        return here != there and self.level[there] >= self.level[here]


def files(build, table, pattern):
    """The files in rooms that match a pattern, in order."""
    for top in sorted({"/".join(folder.split("/")[:2]) for folder in table.level}):
        yield from sorted((build / top).rglob(pattern))


def objects(build, table):
    """The objects compiled from sources of rooms: {object: source}."""
    found = {}
    for path in files(build, table, "*.o"):
        source = path.with_suffix(".c")
        # modules are linked, and have no source
        if source.exists() and not source.name.endswith(".mod.c"):
            found[str(path)] = str(source.relative_to(build))
    return found


def symbols(found):
    """The symbols that sources define, {symbol: source}, and use, {(symbol, source)}."""
    defined, used = {}, set()
    said = subprocess.run(["nm", "-A", "-P", "-g", *found], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    for line in said.splitlines():
        path, name, kind, *_ = line.replace(": ", " ", 1).split()
        if name.startswith(MADE):
            continue
        if kind == "U":
            used.add((name, found[path]))
        else:
            defined.setdefault(name, found[path])
    return defined, used


def arrows(build, table):
    """All uses between rooms: {(room, room, symbol): sources that use it}."""
    found = objects(build, table)
    if not found:
        sys.exit(f"{build} has no objects")
    defined, used = symbols(found)
    crossing = collections.defaultdict(list)
    for name, source in sorted(used):
        if name in defined:
            here, there = table.room(source), table.room(defined[name])
            if here != there:
                crossing[here, there, name].append(source)
    return crossing


def includes(build, table):
    """All includes between rooms: {(room, room, header): files that have it}."""
    crossing = collections.defaultdict(list)
    for path in files(build, table, "*.[ch]"):
        source = str(path.relative_to(build))
        here = table.room(source)
        for name in INCLUDE.findall(path.read_text("utf-8")):
            header = os.path.normpath(f"{os.path.dirname(source)}/{name}")
            there = table.room(header)
            if here and there and here != there:
                crossing[here, there, header].append(source)
    return crossing


def check(build, table, known):
    """The failures, as lines."""
    crossing = arrows(build, table) | includes(build, table)
    upwards = {f"{here} -> {there} {name}": sources
               for (here, there, name), sources in crossing.items()
               if table.is_upwards(here, there)}
    return [f"{arrow}: upwards, from {' '.join(upwards[arrow])}"
            for arrow in sorted(upwards.keys() - known)] + \
           [f"{arrow}: is no more, take it out of rooms.known"
            for arrow in sorted(known - upwards.keys())]


def self_test():
    """Builds a module of three rooms."""
    table = Table("room m/a 0 # below\nroom m/a/b 1\nroom m/a/c 1")
    sources = {
        "m/a/low.h": "",
        "m/a/b/high.h": '#include "../low.h"',
        "m/a/c/far.h": '# include "../b/high.h"\n#include "far_too.h"',
        "m/a/low.c": "int high(void); int low(void) { return high(); }",
        "m/a/b/high.c": "int low(void); int far(void); int high(void) { return low() + far(); }",
        "m/a/c/far.c": "int late(void); int far(void) { return 0; }",
        "m/a/b/late.c": "int high(void); int late(void) { return high(); }",
    }
    up, across = "m/a -> m/a/b high", "m/a/b -> m/a/c far"
    header = "m/a/c -> m/a/b m/a/b/high.h"
    with tempfile.TemporaryDirectory() as folder:
        build = pathlib.Path(folder)
        for name, text in sources.items():
            path = build / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
            if path.suffix == ".c":
                subprocess.run(["gcc", "-c", path, "-o", path.with_suffix(".o")], check=True)
        (build / "m/gone.o").write_text("not an object", "utf-8")
        assert check(build, table, {up, across, header}) == []
        assert check(build, table, {up, header}) == [f"{across}: upwards, from m/a/b/high.c"]
        assert check(build, table, {up, across}) == [f"{header}: upwards, from m/a/c/far.h"]
        assert check(build, table, {up, across, header, "old"}) == \
            ["old: is no more, take it out of rooms.known"]


def read_known(text):
    return {line for line in text.splitlines() if line and not line.startswith("#")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--arrows", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    if not args.build:
        parser.error("which build?")
    table = Table((HERE / "rooms.table").read_text("utf-8"))
    if args.arrows:
        pairs = collections.Counter(key[:2] for key in arrows(args.build, table))
        for (here, there), count in sorted(pairs.items()):
            up = "  upwards" if table.is_upwards(here, there) else ""
            print(f"{here} -> {there}: {count}{up}")
    failures = check(args.build, table, read_known((HERE / "rooms.known").read_text("utf-8")))
    print(*failures, sep="\n", end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
