#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that acknowledged data is on a disk that fails.

  acked.py write FILE LEDGER    several writers, until LEDGER.stop exists; each creates
                                LEDGER.N.stable when data is stable
  acked.py check FILE LEDGER    compares a file with their ledgers

A file has slots, and each slot has one writer.  It fills the slot with an
increasing number, and makes it stable in its own way.  A slot that was made
stable has that number; otherwise each word may have any number that was tried
since.
"""

import ctypes
import mmap
import os
import random
import struct
import sys
import time

SLOT = 16384
SLOTS = 8                       # of each writer
LIBC = ctypes.CDLL(None, use_errno=True)
WRITE_AND_WAIT = 7              # of sync_file_range()


class Ledger:
    """For each slot of a writer: the stable number, and those tried since."""

    def __init__(self):
        self.slots = [[0, []] for _ in range(SLOTS)]
        self.stable = 0
        self.errors = 0

    def tried(self, slot, number):
        self.slots[slot][1].append(number)

    def acked(self, slot):
        self.slots[slot] = [self.slots[slot][1][-1], []]
        self.stable += 1

    def save(self, name):
        with open(name, "w", encoding="ascii") as file:
            print(self.stable, self.errors, file=file)
            for stable, tried in self.slots:
                print(stable, *tried, file=file)


class Writer:
    def __init__(self, name, index, flags):
        self.ledger = Ledger()
        self.first = index * SLOTS
        self.fd = os.open(name, os.O_RDWR | flags)
        self.memory = mmap.mmap(-1, SLOT)       # aligned, for O_DIRECT

    def put(self, slot, number):
        self.memory[:] = struct.pack("<Q", number) * (SLOT // 8)
        self.ledger.tried(slot, number)
        offset = (self.first + slot) * SLOT
        if os.pwrite(self.fd, self.memory, offset) != SLOT:
            raise OSError("a short write")
        return offset

    def step(self, number):
        """One slot, by a write that is stable by itself."""
        slot = random.randrange(SLOTS)
        self.put(slot, number)
        self.ledger.acked(slot)


class Syncer(Writer):
    """Writes several slots to the server, which may fail, and then calls fsync."""

    def step(self, number):
        slots = random.sample(range(SLOTS), 3)
        for slot in slots:
            offset = self.put(slot, number)
            # returns errors like fsync, which does not return them again
            if LIBC.sync_file_range(self.fd, ctypes.c_longlong(offset),
                                    ctypes.c_longlong(SLOT), WRITE_AND_WAIT):
                raise OSError("sync_file_range")
        time.sleep(random.choice((0, 0.02, 0.1)))
        os.fsync(self.fd)
        for slot in slots:
            self.ledger.acked(slot)


WRITERS = ((Syncer, 0), (Syncer, 0), (Writer, os.O_DSYNC), (Writer, os.O_SYNC),
           (Writer, os.O_DSYNC | os.O_DIRECT))


def write_some(writer, stop, stable):
    number = 0
    while not os.path.exists(stop):
        number += 1
        try:
            writer.step(number)
            if not os.path.exists(stable):
                open(stable, "wb").close()
        except OSError:
            writer.ledger.errors += 1
            time.sleep(0.01)


def write(name, ledger):
    children = []
    for index, (kind, flags) in enumerate(WRITERS):
        child = os.fork()
        if not child:
            random.seed(index)
            writer = kind(name, index, flags)
            write_some(writer, f"{ledger}.stop", f"{ledger}.{index}.stable")
            writer.ledger.save(f"{ledger}.{index}")
            os._exit(0)
        children.append(child)
    return max(os.waitpid(child, 0)[1] for child in children)


def words(data):
    return set(struct.unpack(f"<{len(data) // 8}Q", data))


def check_writer(file, ledger, index):
    """Prints what is wrong; returns how often data was stable, and the number of errors."""
    with open(f"{ledger}.{index}", encoding="ascii") as lines:
        stable, errors = map(int, next(lines).split())
        for slot, line in enumerate(lines):
            allowed = set(map(int, line.split()))
            file.seek((index * SLOTS + slot) * SLOT)
            found = words(file.read(SLOT))
            if not found <= allowed:
                print(f"writer {index}, slot {slot}: {sorted(found)[:5]}"
                      f" and not one of {sorted(allowed)[:5]}")
                return None
    return stable, errors


def check(name, ledger):
    with open(name, "rb") as file:
        got = [check_writer(file, ledger, index) for index in range(len(WRITERS))]
    if None in got:
        return 1
    print(*(f"{stable} stable, {errors} errors;" for stable, errors in got))
    # the test needs a disk that both failed and worked
    return 0 if all(stable for stable, _ in got) and any(errors for _, errors in got) else 1


if __name__ == "__main__":
    sys.exit({"write": write, "check": check}[sys.argv[1]](*sys.argv[2:]))
