#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Random locks of programs on several clients, and at the server, against a model.

  locks.py --seed N --steps N SERVER CLIENT...

SERVER is the exported directory, each CLIENT a mount of it by another client. In each of
them two processes lock and unlock bytes of one file by fcntl(2) and flock(2), ask for
locks, and read and write what they have locked. The model knows which of that must
succeed, and what must be read. The first difference is printed, with the steps before.
"""

import argparse
import errno
import fcntl
import multiprocessing
import os
import random
import struct
import sys

SIZE = 3 * 4096
UNLOCKED, SHARED, EXCLUSIVE = range(3)
COMMANDS = {UNLOCKED: fcntl.LOCK_UN, SHARED: fcntl.LOCK_SH | fcntl.LOCK_NB,
            EXCLUSIVE: fcntl.LOCK_EX | fcntl.LOCK_NB}
# struct flock of 64-bit machines
FLOCK = struct.Struct("hhqqi4x")
TYPES = {SHARED: fcntl.F_RDLCK, EXCLUSIVE: fcntl.F_WRLCK}


class Program:
    """A process with the file open, that does one step at a time."""

    def __init__(self, path, client, number):
        self.client = client
        self.name = f"{client}.{number}"
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(
            target=self.serve, args=(path, other), daemon=True)
        self.process.start()
        other.close()

    def serve(self, path, pipe):
        self.fd = os.open(path, os.O_RDWR)
        while True:
            try:
                name, *args = pipe.recv()
            except EOFError:
                return
            try:
                pipe.send(getattr(self, f"do_{name}")(*args))
            except OSError as error:
                pipe.send(errno.errorcode[error.errno])

    def do_fcntl(self, level, start, length):
        fcntl.lockf(self.fd, COMMANDS[level], length, start)

    def do_flock(self, level):
        fcntl.flock(self.fd, COMMANDS[level])

    def do_getlk(self, level, start, length):
        answer = FLOCK.unpack(fcntl.fcntl(
            self.fd, fcntl.F_GETLK, FLOCK.pack(TYPES[level], 0, start, length, 0)))
        return answer[0] == fcntl.F_UNLCK

    def do_read(self, start, length):
        return os.pread(self.fd, length, start)

    def do_write(self, start, data):
        return os.pwrite(self.fd, data, start)

    def do_reopen(self, path):
        os.close(self.fd)
        self.fd = os.open(path, os.O_RDWR)

    def run(self, *step):
        self.pipe.send(step)
        return self.pipe.recv()


class Model:
    """Who has locked what, and what the file contains."""

    def __init__(self, programs):
        # The last "byte" is all that is behind the others.
        self.fcntl = {p: [UNLOCKED] * (SIZE + 1) for p in programs}
        self.flock = {p: UNLOCKED for p in programs}
        self.content = bytearray(SIZE)

    def in_the_way(self, program, other, kind, level, start, end):
        """Does a lock of another program deny this one?"""
        if program.client == other.client:
            # fcntl(2) and flock(2) of one machine do not know of each other.
            held = self.flock[other] if kind == "flock" else max(self.fcntl[other][start:end])
        elif program.client == "server" and kind == "flock":
            held = UNLOCKED
        else:
            held = max(self.fcntl[other][start:end])
            if other.client != "server":
                held = max(held, self.flock[other])
        return EXCLUSIVE in (held, level) and UNLOCKED not in (held, level)

    def denied(self, program, kind, level, start=0, end=SIZE + 1):
        return any(self.in_the_way(program, other, kind, level, start, end)
                   for other in self.flock if other is not program)

    def may(self, program, level, start, end):
        return (self.flock[program] >= level and program.client != "server" or
                min(self.fcntl[program][start:end]) >= level)


def bytes_of(rnd):
    """A range that begins or ends in all parts of pages, or goes to the end of the file."""
    start = rnd.choice([rnd.randrange(SIZE), rnd.randrange(3) * 4096,
                        rnd.randrange(60)])
    if rnd.random() < 0.1:
        return start, SIZE + 1
    return start, min(SIZE, start + rnd.choice([1, 10, 100, 4096, 5000]))


def length(start, end):
    return 0 if end > SIZE else end - start


def step_fcntl(rnd, model, program):
    level = rnd.choice([UNLOCKED, UNLOCKED, SHARED, EXCLUSIVE, EXCLUSIVE])
    start, end = bytes_of(rnd)
    denied = model.denied(program, "fcntl", level, start, end)
    if not denied:
        model.fcntl[program][start:end] = [level] * (end - start)
    return ("fcntl", level, start, length(start, end)), "EAGAIN" if denied else None


def step_flock(rnd, model, program):
    level = rnd.choice([UNLOCKED, UNLOCKED, SHARED, EXCLUSIVE])
    denied = model.denied(program, "flock", level)
    if not denied:
        model.flock[program] = level
    elif program.client == "server":
        # A local file system gives the old lock up first.
        model.flock[program] = UNLOCKED
    return ("flock", level), "EAGAIN" if denied else None


def step_getlk(rnd, model, program):
    level = rnd.choice([SHARED, EXCLUSIVE])
    start, end = bytes_of(rnd)
    return ("getlk", level, start, length(start, end)), not model.denied(program, "fcntl", level, start, end)


def step_data(rnd, model, program):
    """Read or write what is locked, if anything is."""
    for _ in range(20):
        start, end = bytes_of(rnd)
        end = min(end, SIZE)
        if model.may(program, EXCLUSIVE, start, end) and rnd.random() < 0.7:
            data = rnd.randbytes(end - start)
            model.content[start:end] = data
            return ("write", start, data), len(data)
        if model.may(program, SHARED, start, end):
            return ("read", start, end - start), bytes(model.content[start:end])
    return step_fcntl(rnd, model, program)


def brief(step):
    return [f"{len(x)} bytes" if isinstance(x, bytes) else x for x in step]


def difference(result, expected):
    if isinstance(result, bytes) and isinstance(expected, bytes):
        wrong = [n for n, (a, b) in enumerate(zip(result, expected)) if a != b]
        return f"{len(wrong)} bytes differ, from the {wrong[:1]}th on"
    return f"{result!r} instead of {expected!r}"


def run(options, programs):
    rnd = random.Random(options.seed)
    model = Model(programs)
    done = []
    for number in range(options.steps):
        program = rnd.choice(programs)
        if rnd.random() < 0.02:
            model.fcntl[program] = [UNLOCKED] * (SIZE + 1)
            model.flock[program] = UNLOCKED
            step, expected = ("reopen", program.path), None
        else:
            step, expected = rnd.choice(
                [step_fcntl, step_fcntl, step_flock, step_getlk, step_data, step_data,
                 step_data])(rnd, model, program)
        result = program.run(*step)
        done.append(f"{number}: {program.name} {brief(step)}")
        if result != expected:
            print(*done[-30:], sep="\n")
            print(f"seed {options.seed}: {difference(result, expected)}")
            return 1
    print(f"seed {options.seed}: {options.steps} steps")
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("server")
    parser.add_argument("client", nargs="+")
    options = parser.parse_args()
    with open(f"{options.server}/locks", "wb") as file:
        file.write(bytes(SIZE))
    programs = []
    for number, where in enumerate([options.server, *options.client]):
        for n in range(2):
            path = f"{where}/locks"
            programs.append(Program(path, f"client{number}" if number else "server", n))
            programs[-1].path = path
    sys.exit(run(options, programs))


if __name__ == "__main__":
    main()
