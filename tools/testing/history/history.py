#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Histories of what programs on several clients did: the files, the log, and its clock.

  history.py make DIR          the files that workers use
  history.py read LOG DIR      what DIR has in the end

A log has two lines for each operation, before it begins and when it has ended, with the
time. All times are of one clock: workers of one machine share CLOCK_MONOTONIC, those of
several send their lines to a collector on one of them. Then an operation began after the
collector has acknowledged that, and ended before it was told so.
"""

import errno
import json
import os
import sys
import time

FILES = ("f0", "f1", "f2")
SLOTS = 6
SLOT = 64               # bytes
STAMP = 16              # bytes; a slot has it several times, to find torn writes
START = 4096 - 96       # the second slot crosses the end of a page
SIZE = 3 * 4096


def initial(file, slot):
    return f"{file}.{slot}".ljust(STAMP, "-")


def encode(stamp):
    return stamp.encode() * (SLOT // STAMP)


def decode(data):
    """The stamp of a slot; something else if it was not written as a whole."""
    stamp = data[:STAMP]
    if len(data) == SLOT and data == stamp * (SLOT // STAMP):
        return stamp.decode("ascii", "backslashreplace")
    return f"torn {data!r}"


def place(slot):
    return START + slot * SLOT


def file_of(name):
    """Names of a file begin with what its first bytes say."""
    return name.partition(".")[0]


def local_log(path):
    """Adds to a log of this machine, by one write(2), which a killed program has done or not."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def add(line):
        line["t"] = time.monotonic()
        os.write(file, json.dumps(line).encode() + b"\n")
    return add


class Recorder:
    """Logs the operations of one program."""

    def __init__(self, log, who, client):
        self.log = log          # local_log() or remote.log_there()
        self.common = {"who": who, "client": client}
        self.number = 0

    def begin(self, operation, **arguments):
        self.number += 1
        self.log({**self.common, "n": self.number, "op": operation, **arguments})

    def end(self, result, value=None):
        self.log({**self.common, "n": self.number, "result": result, "value": value})

    def run(self, function, operation, **arguments):
        """Calls the function, and returns its result and "ok", or None and an error."""
        self.begin(operation, **arguments)
        value, result = None, "ok"
        try:
            value = function()
        except OSError as error:
            result = errno.errorcode[error.errno]
        self.end(result, value)
        return value, result


def make(folder):
    for file in FILES:
        with open(f"{folder}/{file}.start", "wb") as out:
            out.write(file.ljust(STAMP).encode())
            for slot in range(SLOTS):
                out.seek(place(slot))
                out.write(encode(initial(file, slot)))
            out.truncate(SIZE)


def read_end(log, folder):
    recorder = Recorder(local_log(log), "end", "end")
    names, _ = recorder.run(lambda: sorted(os.listdir(folder)), "list")
    for name in names:
        with open(f"{folder}/{name}", "rb") as file:
            data = file.read()
        for slot in range(SLOTS):
            recorder.begin("read", file=data[:STAMP].decode().strip(), slot=slot)
            recorder.end("ok", decode(data[place(slot):place(slot + 1)]))


if __name__ == "__main__":
    {"make": make, "read": read_end}[sys.argv[1]](*sys.argv[2:])
