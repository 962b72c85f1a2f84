#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A lock that is held for some time.

  hold.py hold FILE READY GO [KIND:START:LENGTH...]
      locks FILE, or ranges of it (KIND: read or write; length 0: to the end), and makes
      READY; when GO exists, writes under the lock, and prints "written" or the error
  hold.py try FILE
      prints whether FILE is locked
"""

import errno
import fcntl
import os
import sys
import time

KINDS = {"read": fcntl.LOCK_SH, "write": fcntl.LOCK_EX}


def write(file):
    """Returns what has come of it."""
    try:
        os.pwrite(file, b"held", 0)
        os.fsync(file)
        return "written"
    except OSError as error:
        return errno.errorcode[error.errno]


def hold(name, ready, go_on, *ranges):
    file = os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
    for text in ranges or ["write:0:0"]:
        kind, start, length = text.split(":")
        fcntl.lockf(file, KINDS[kind], int(length), int(start))
    with open(ready, "w", encoding="ascii"):
        pass
    while not os.path.exists(go_on):
        time.sleep(0.05)
    result = write(file)
    print(result)
    sys.exit(result != "written")


def try_lock(name):
    try:
        fcntl.lockf(os.open(name, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("free")
    except BlockingIOError:
        print("locked")


if sys.argv[1] == "hold":
    hold(*sys.argv[2:])
else:
    try_lock(sys.argv[2])
