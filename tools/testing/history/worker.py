#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Opens, locks, reads, writes and renames files at random, and logs all of that.

  worker.py --seed N --client NAME --number N [--local] DIR LOG STOP

DIR is a mount of the client NAME or, with --local, the folder of the server. Ends when
STOP exists. LOG is a file, or HOST:PORT of a collector. check.py judges the logs of all
workers.
"""

import argparse
import fcntl
import os
import random

import history
import remote


class Worker:
    """A program; it waits for a lock only if it has none, so that there are no deadlocks."""

    def __init__(self, options, recorder):
        self.options = options
        self.record = recorder
        self.random = random.Random(f"{options.seed} {options.client} {options.number}")
        self.fds = {}           # of files
        self.held = {}          # the kind of lock of (file, slot)
        self.stamps = 0

    def names(self):
        return self.record.run(lambda: sorted(os.listdir(self.options.dir)), "list")[0] or []

    def step_open(self):
        """Opens a file by one of the names that there were a moment ago."""
        names = self.names()
        if not names:
            return
        name = self.random.choice(names)
        if history.file_of(name) in self.fds:
            return
        # local programs have no client that sends again what a crash has lost
        flags = os.O_RDWR | (os.O_DSYNC if self.options.local else 0)
        number = None

        def open_file():
            nonlocal number
            number = os.open(f"{self.options.dir}/{name}", flags)
            return os.pread(number, history.STAMP, 0).decode().strip()

        file, result = self.record.run(open_file, "open", name=name)
        if result == "ok":
            self.fds[file] = number
        elif number is not None:
            os.close(number)

    def step_rename(self):
        """Each new name is used once, so that the logs tell which one a file had when."""
        names = self.names()
        if names:
            old = self.random.choice(names)
            new = f"{history.file_of(old)}.{self.record.common['who']}.{self.record.number}"
            self.record.run(lambda: os.rename(f"{self.options.dir}/{old}",
                                              f"{self.options.dir}/{new}"),
                            "rename", old=old, new=new)

    def close(self, file):
        """Ends all locks of this program on the file."""
        number = self.fds.pop(file)
        self.held = {place: kind for place, kind in self.held.items() if place[0] != file}
        self.record.run(lambda: os.close(number), "close", file=file)

    def do_file(self, file, function, operation, **arguments):
        """After an error the file is opened again."""
        value, result = self.record.run(function, operation, file=file, **arguments)
        if result not in ("ok", "EAGAIN"):
            self.close(file)
        return value, result

    def slots(self):
        """A range: its slots, and its bytes; often a single slot, sometimes the whole file."""
        if self.random.random() < 0.15:
            return 0, history.SLOTS - 1, 0, 0
        first = self.random.randrange(history.SLOTS)
        last = min(history.SLOTS - 1, first + self.random.choice([0, 0, 0, 1, 2]))
        return first, last, history.place(first), (last - first + 1) * history.SLOT

    def step_lock(self):
        file = self.random.choice(sorted(self.fds))
        first, last, start, length = self.slots()
        wait = not self.held
        kind = self.random.choice("rww")
        command = ((fcntl.LOCK_SH if kind == "r" else fcntl.LOCK_EX) |
                   (0 if wait else fcntl.LOCK_NB))
        _, result = self.do_file(
            file, lambda: fcntl.lockf(self.fds[file], command, length, start),
            "lock", first=first, last=last, kind=kind, wait=wait)
        if result == "ok":
            self.held.update(((file, slot), kind) for slot in range(first, last + 1))

    def step_unlock(self):
        """What is held, as a whole or in part."""
        file = self.random.choice(sorted(self.held))[0]
        first, last, start, length = self.slots()
        if self.random.random() < 0.7:
            first, last, start, length = 0, history.SLOTS - 1, 0, 0
        for slot in range(first, last + 1):
            self.held.pop((file, slot), None)
        self.do_file(file, lambda: fcntl.lockf(self.fds[file], fcntl.LOCK_UN, length, start),
                     "unlock", first=first, last=last)

    def read(self, file, slot):
        self.do_file(file, lambda: history.decode(os.pread(
            self.fds[file], history.SLOT, history.place(slot))), "read", slot=slot)

    def write(self, file, slot):
        self.stamps += 1
        stamp = f"{self.record.common['who']}.{self.stamps}".ljust(history.STAMP, "-")
        self.do_file(file, lambda: os.pwrite(
            self.fds[file], history.encode(stamp), history.place(slot)),
            "write", slot=slot, stamp=stamp)

    def step_data(self):
        (file, slot), kind = self.random.choice(sorted(self.held.items()))
        if kind == "w" and self.random.random() < 0.6:
            self.write(file, slot)
        else:
            self.read(file, slot)

    def step_fsync(self):
        file = self.random.choice(sorted(self.fds))
        self.do_file(file, lambda: os.fsync(self.fds[file]), "fsync")

    def step_close(self):
        self.close(self.random.choice(sorted(self.fds)))

    def step(self):
        if not self.fds:
            steps = {self.step_open: 8, self.step_rename: 1}
        elif not self.held:
            steps = {self.step_open: 2, self.step_rename: 2, self.step_lock: 12,
                     self.step_close: 1}
        else:
            steps = {self.step_data: 16, self.step_unlock: 5, self.step_lock: 3,
                     self.step_fsync: 2, self.step_rename: 1, self.step_close: 1}
        self.random.choices(list(steps), list(steps.values()))[0]()

    def run(self):
        while not os.path.exists(self.options.stop):
            self.step()
        while self.fds:
            self.step_close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--number", type=int, required=True)
    parser.add_argument("--local", action="store_true")
    parser.add_argument("dir")
    parser.add_argument("log")
    parser.add_argument("stop")
    options = parser.parse_args()
    log = (remote.log_there if ":" in options.log else history.local_log)(options.log)
    who = f"{options.client}.{options.number}"
    Worker(options, history.Recorder(log, who, options.client)).run()


if __name__ == "__main__":
    main()
