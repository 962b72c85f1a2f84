#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""storm.py SECONDS FOLDER...: tasks that use the same few names at once.

One task for each FOLDER and kind of work; the folders are one directory as one
or more clients see it. Fails on an error that no race explains.
"""

import errno
import os
import random
import sys
import time

NAMES = [f"name{number}" for number in range(6)]
LOST = {errno.ENOENT, errno.EEXIST, errno.ESTALE}


def replace(folder, name):
    """Replaces a file, like editors do."""
    new = f"{folder}/.{os.getpid()}"
    with open(new, "wb") as file:
        file.write(b"x" * random.randrange(20000))
    os.rename(new, f"{folder}/{name}")


def rewrite(folder, name):
    fd = os.open(f"{folder}/{name}", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        os.pwrite(fd, b"y" * random.randrange(1, 9000), random.randrange(30000))
        if not random.randrange(3):
            os.fsync(fd)
        os.pread(fd, 9000, 0)
        os.fstat(fd)
    finally:
        os.close(fd)


def remove(folder, name):
    """Removes open files, which stay usable."""
    fd = os.open(f"{folder}/{name}", os.O_RDONLY)
    try:
        os.unlink(f"{folder}/{name}")
        os.pread(fd, 100, 0)
    finally:
        os.close(fd)


def look(folder, name):
    os.listdir(folder)
    os.stat(f"{folder}/{name}")
    os.truncate(f"{folder}/{name}", random.randrange(9000))


def work(folder, kinds, end):
    """Returns the number of operations that succeeded."""
    done = 0
    while time.monotonic() < end:
        kind = random.choice(kinds)
        try:
            kind(folder, random.choice(NAMES))
            done += 1
        except OSError as error:
            if error.errno not in LOST:
                sys.exit(f"{kind.__name__} in {folder}: {error}")
    return done


def main():
    end = time.monotonic() + float(sys.argv[1])
    tasks = []
    for folder in sys.argv[2:]:
        for kinds in ([replace, remove], [rewrite, look]):
            pid = os.fork()
            if not pid:
                random.seed(os.getpid())
                done = work(folder, kinds, end)
                print(f"{folder} {[k.__name__ for k in kinds]}: {done}", flush=True)
                os._exit(0 if done else 1)
            tasks.append(pid)
    sys.exit(any([os.waitpid(pid, 0)[1] for pid in tasks]))


if __name__ == "__main__":
    main()
