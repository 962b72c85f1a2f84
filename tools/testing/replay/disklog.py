# SPDX-License-Identifier: GPL-2.0
"""Reads what dm-log-writes has recorded: Documentation/admin-guide/device-mapper/log-writes.rst
of the kernel.

The log has a write when a flush that was begun after its end has ended; one that bypasses the
cache (FUA) at its end; and a mark at once.  So a write before a flush is durable, what stands
between two flushes was in the disk's cache together, and what is behind a mark had not been
flushed then.
"""

import struct

FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
MAGIC = 0x6A736677736872
SECTOR = 512


class Entry:
    """A write, a flush, or a mark."""

    def __init__(self, flags, sector, data):
        self.flags = flags
        self.offset = sector * SECTOR
        self.data = data

    @property
    def flush(self):
        return bool(self.flags & FLUSH)

    @property
    def durable(self):
        return bool(self.flags & FUA)

    @property
    def mark(self):
        return self.data.rstrip(b"\0").decode() if self.flags & MARK else None

    @property
    def write(self):
        return bool(self.data) and not self.flags & MARK


def entries(name):
    """All of a log, in order"""
    with open(name, "rb") as file:
        magic, version, count, sector_size = struct.unpack("=QQQI", file.read(28))
        if (magic, version, sector_size) != (MAGIC, 1, SECTOR):
            raise ValueError(f"{name} is no log of this format")
        at = SECTOR
        for _ in range(count):
            file.seek(at)
            head = file.read(SECTOR)
            sector, sectors, flags, size = struct.unpack_from("=QQQQ", head)
            at += SECTOR
            if flags & MARK:
                data = head[32:32 + size]
            elif flags & DISCARD:
                data = bytes(sectors * SECTOR)
            else:
                data = file.read(sectors * SECTOR)
                at += len(data)
            entry = Entry(flags, sector, data)
            if entry.flush and entry.write and not entry.durable:
                raise ValueError("a write that begins with a flush is recorded as one")
            yield entry


class Window:
    """What was in the disk's cache at a time: writes up to a flush, that one included.

    self.first and self.last are the numbers of its first entry and of its flush.
    """

    def __init__(self, log, first, last):
        self.first = first
        self.last = last
        self.cached = [n for n in range(first, last + 1)
                       if log[n].write and not log[n].durable]
        self.durable = [n for n in range(first, last + 1) if log[n].write and log[n].durable]


def windows(log):
    """What is behind the last flush is of no window."""
    first = 0
    for n, entry in enumerate(log):
        if entry.flush:
            yield Window(log, first, n)
            first = n + 1
