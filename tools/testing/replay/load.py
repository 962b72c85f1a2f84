#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Clients of a server whose disk is recorded: locks that survive, and what must stay with them.

  load.py HISTORY SEED STEPS EXPORTED STATE

The server exports EXPORTED as "data" and keeps its state in STATE.  What is done to a file or a
client is a chain of states.  Before a step the mark "begin:OBJECT:N" is written into the log of
the disk, and when it was acknowledged "done:OBJECT:N", where N is the number of the state that
it leads to.  HISTORY gets all states: what a server that finds the disk in that state must know.

"locks" of a state are as system.locks() shows them, and "between" as they may be before the step
that leads to it has ended; of the object "exact" it is what may be in "data" then.  "content" is
the checksum of the file when all that is to be undone has been; null if it is undone only later.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import time
import traceback

import store
import system

LOCK = 0xDA << 8
READ, WRITE, UNLOCK, ABORT = 1, 2, 3, 4
PERSIST, REPAIR, AUTORECOVER = 2, 4, 8
SERVER = "10.9.0.1:/data"
GRACE = "/sys/module/dafsd/parameters/grace"
PATIENCE = 300
CLIENT = "replay-"
EXACT = "s"
PAGE = 4096


def digest(data):
    return hashlib.sha256(data).hexdigest()


def until(condition, what):
    """Waits, also on a slow machine."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.05)


class Record:
    """The history, and the marks that belong to it."""

    def __init__(self, name):
        self.out = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.mark = system.Marks()
        self.server = system.administration()

    def note(self, thing, number, **state):
        line = {"object": thing, "n": number, **state}
        os.write(self.out, f"{json.dumps(line)}\n".encode())

    @contextlib.contextmanager
    def step(self, thing, number, **state):
        self.note(thing, number, **state)
        self.mark(f"begin:{thing}:{number}")
        yield
        self.mark(f"done:{thing}:{number}")


class File:
    """A file with locks, whose chain of states one task continues at a time."""

    def __init__(self, record, name, exported, number=0):
        self.record = record
        self.name = name
        self.handle = system.handle_of(f"{exported}/{name}")
        with open(f"{exported}/{name}", "rb") as file:
            self.data = file.read()
        self.number = number
        self.cells = {}
        self.content = digest(self.data)
        self.fd = -1

    def state(self):
        return {"handle": self.handle, "locks": self.cells, "content": self.content}

    def open(self, where):
        self.fd = os.open(f"{where}/{self.name}", os.O_RDWR)

    def lock(self, kind, flags=0, start=0, length=0):
        fcntl.ioctl(self.fd, LOCK, struct.pack("=IIIIQQ", 32, kind, flags, 0, start, length))

    def step(self, cells, content=None, later=False, between=None):
        """To be left when it was acknowledged.

        between: the cells as they may be on the way; later: what is to be undone is so later.
        """
        self.number += 1
        self.cells = cells
        self.content = content or self.content
        state = self.state()
        if later:
            state["content"] = None
        if between:
            state["between"] = between
        return self.record.step(self.name, self.number, **state)

    def verify(self):
        """Does the server see what was acknowledged as we do?"""
        found = system.locks(self.record.server).get(self.handle, {})
        if found != self.cells:
            raise ValueError(f"{self.name}: {found}, but not {self.cells}")


def whole(client, kind, broken=False):
    return {str(n): [[client, True, broken, kind]] for n in range(system.CELLS)}


class Worker:
    """A client that locks files and writes to them, until it is killed."""

    def __init__(self, record, name, where, exported, seed):
        self.random = random.Random(f"{seed} {name}")
        self.name = name
        self.persists = [File(record, f"{name}.persist{n}", exported) for n in range(2)]
        self.recovers = [File(record, f"{name}.recover{n}", exported) for n in range(2)]
        for file in self.persists + self.recovers:
            record.note(file.name, 0, **file.state())
            file.open(where)

    def persist(self, file):
        """Locks some cells, or unlocks them."""
        first = self.random.randrange(system.CELLS - 1)
        count = self.random.randint(1, system.CELLS - 1 - first)
        kind = self.random.choice((READ, WRITE, WRITE, UNLOCK))
        cells = dict(file.cells)
        between = {}
        for cell in map(str, range(first, first + count)):
            before = cells.pop(cell, None)
            if kind != UNLOCK:
                cells[cell] = [[self.name, kind == WRITE, False, "persist"]]
            if kind == READ and before:
                between[cell] = before
        # locks for writing become locks for reading after the rest was granted
        with file.step(cells, between={**cells, **between} if between else None):
            file.lock(kind, 0 if kind == UNLOCK else PERSIST, first * system.CELL,
                      count * system.CELL)
        file.verify()

    def change(self, file):
        """Writes to it, and cuts off, durably; and returns what is in it then."""
        data = bytearray(os.pread(file.fd, 1 << 20, 0))
        for _ in range(self.random.randint(1, 3)):
            at = self.random.randrange(len(data) + 5000)
            new = self.random.randbytes(self.random.choice((7, 700, 9000)))
            if self.random.random() < 0.2:
                os.ftruncate(file.fd, at)
                data = data[:at].ljust(at, b"\0")
            os.pwrite(file.fd, new, at)
            data = data.ljust(at, b"\0")
            data[at:at + len(new)] = new
            if self.random.random() < 0.5:
                os.fsync(file.fd)
        os.fsync(file.fd)
        return bytes(data)

    def begin(self, file, persists=False):
        kind = "persist,autorecovery" if persists else "autorecovery"
        with file.step(whole(self.name, kind), later=persists):
            file.lock(WRITE, AUTORECOVER | (PERSIST if persists else 0))
        file.verify()

    def transaction(self, file):
        self.begin(file, self.random.random() < 0.3)
        data = self.change(file)
        if self.random.random() < 0.4:
            file.lock(ABORT)
            if os.pread(file.fd, 1 << 20, 0) != file.data:
                raise ValueError(f"{file.name}: not all is undone")
            data = file.data
            if self.random.random() < 0.7:
                data = self.change(file)
        with file.step({}, digest(data)):
            file.lock(UNLOCK)
        file.data = data
        file.verify()

    def work(self, steps):
        for _ in range(steps):
            if self.random.random() < 0.5:
                self.persist(self.random.choice(self.persists))
            else:
                self.transaction(self.random.choice(self.recovers))

    def leave(self):
        """What it has when it is lost: all kinds of locks, with changes"""
        for file, persists in zip(self.recovers, (False, True)):
            self.begin(file, persists)
            self.change(file)


class Exact:
    """A client whose requests are executed once, also by a server that crashes."""

    def __init__(self, record, where, exported, state):
        self.record = record
        self.where = where
        self.exported = exported
        self.state = state
        self.log = os.open(f"{where}/log", os.O_WRONLY | os.O_APPEND)
        # each write is one request, and stable
        self.direct = os.open(f"{where}/data", os.O_WRONLY | os.O_DIRECT)
        self.names = {"data", "log"}
        self.content = b""
        self.data = b""
        self.mode = 0o644
        self.between = None
        self.number = 0
        self.told = store.executed(state, CLIENT + EXACT)
        self.note()

    def there(self):
        return {"names": sorted(self.names), "content": digest(self.content),
                "data": digest(self.data), "mode": self.mode, "between": self.between}

    def note(self, request=None):
        self.record.note("exact", self.number, request=request, **self.there())
        self.between = None

    def path(self, name):
        return f"{self.where}/{name}"

    def step(self, function, *args):
        """To be called when the state is as it will be."""
        self.number += 1
        with self.record.step("exact", self.number, **self.there()):
            function(*args)
        told = store.executed(self.state, CLIENT + EXACT)
        request, = told - self.told
        self.told = told
        self.note(request)

    def work(self, rounds):
        """No two requests of a kind follow each other."""
        for number in range(rounds):
            self.names.add("new")
            self.step(os.mkdir, self.path("new"))
            self.names ^= {"new", "old"}
            self.step(os.rename, self.path("new"), self.path("old"))
            self.names.remove("old")
            self.step(os.rmdir, self.path("old"))
            self.names.add("name")
            self.step(os.link, self.path("log"), self.path("name"))
            self.names.remove("name")
            self.step(os.unlink, self.path("name"))
            # the second one is in several pages
            line = f"{number:08}\n".encode() * (1000 if number % 2 else 1)
            self.content += line
            self.step(os.write, self.log, line)
            self.write(number, PAGE)
            self.mode ^= 0o020
            self.step(os.chmod, self.path("data"), self.mode)
            self.write(number, 2 * PAGE)
            self.data = self.data[:PAGE // 2]
            self.step(os.truncate, self.path("data"), len(self.data))

    def write(self, number, offset):
        """A page behind the end of the file

        It is there as a whole or not; but the file system may set the size in one transaction,
        and make the page readable in the next one.
        """
        page = mmap.mmap(-1, PAGE)
        page.write(f"{number:07}\n".encode() * (PAGE // 8))
        self.data = self.data.ljust(offset, b"\0")
        self.between = digest(self.data + bytes(PAGE))
        self.data += page[:]
        self.step(os.pwrite, self.direct, page, offset)


def mount(where, client):
    os.makedirs(where, exist_ok=True)
    respcache = "stable" if client == EXACT else "volatile"
    subprocess.run(["mount", "-t", "dafs", "-o",
                    f"clientid={CLIENT}{client},respcache={respcache}", SERVER, where],
                   check=True)


class Others:
    """Processes that use a mount each, and end with it."""

    def __init__(self):
        self.pids = []
        self.mounts = []

    def start(self, function, *args):
        """Returns when it is done, or a function that waits for that."""
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            status = 1
            try:
                function(*args)
                os.write(writer, b".")
                status = signal.pause() or 0
            except BaseException:       # pylint: disable=broad-exception-caught
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writer)
        self.pids.append(pid)

        def wait():
            if not os.read(reader, 1):
                raise ChildProcessError(f"{function.__name__} has failed")
            os.close(reader)
        return wait

    def lose(self):
        """As if their machines had crashed; the server is not there."""
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        for where in self.mounts:
            subprocess.run(["umount", "-f", "-l", where], check=True)
        for pid in self.pids:
            os.waitpid(pid, 0)


def works(record_name, name, where, exported, seed, steps):
    record = Record(record_name)
    with record.step(f"client-{name}", 1, present=True):
        worker = Worker(record, name, where, exported, seed)
    worker.work(steps)
    worker.leave()


def appears(record_name, name, where):
    """Another client: it opens a file, no more."""
    record = Record(record_name)
    with record.step(f"client-{name}", 1, present=True):
        os.open(f"{where}/any", os.O_RDONLY)


def is_exact(record_name, name, where, exported, state, rounds):
    record = Record(record_name)
    with record.step(f"client-{name}", 1, present=True):
        exact = Exact(record, f"{where}/exact", exported, state)
    exact.work(rounds)


def serve(exported, state):
    subprocess.run(["modprobe", "dafsd", f"exports={exported}:no_root_squash",
                    f"state_dir={state}", "lease=3600", "respcache=stable"], check=True)


def states(name):
    """The last state of each object in the history"""
    last = {}
    with open(name, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            last[entry["object"]] = entry
    return last


def end_grace(record, history, exported):
    """The clients are not back: locks that undo do so, and the clients are forgotten."""
    last = states(history)
    lost = [entry for entry in last.values() if entry.get("present")]
    undone = [entry for entry in last.values()
              if any("autorecovery" == what[3] for cell in entry.get("locks", {}).values()
                     for what in cell)]
    with contextlib.ExitStack() as steps:
        for entry in lost:
            steps.enter_context(record.step(entry["object"], entry["n"] + 1, present=False))
        for entry in undone:
            steps.enter_context(record.step(entry["object"], entry["n"] + 1,
                                            handle=entry["handle"], locks={},
                                            content=entry["content"]))
        with open(GRACE, "w", encoding="ascii") as file:
            file.write("0")
        until(lambda: open(GRACE, encoding="ascii").read().strip() == "0", "grace")
        until(lambda: not any(entry["kind"] == "autorecovery"
                              for entry in record.server.list("persist", None)), "undo")
    for entry in undone:
        with open(f"{exported}/{entry['object']}", "rb") as file:
            if digest(file.read()) != entry["content"]:
                raise ValueError(f"{entry['object']}: not all is undone")


def is_broken(file):
    try:
        file.lock(WRITE)
    except OSError as error:
        if error.errno != errno.EOWNERDEAD:
            raise
        return True
    return False


def take_over(record, worker, entry, where, exported):
    """Finds a lock broken, repairs it, and unlocks a part of it, and then all."""
    recovers = "recover" in entry["object"]
    kind = AUTORECOVER if recovers else 0
    name = "persist,autorecovery" if recovers else "persist"
    file = File(record, entry["object"], exported, number=entry["n"])
    broken = {cell: [[what[0], what[1], True, "persist"] for what in of]
              for cell, of in entry["locks"].items()}
    file.open(where)
    before = entry["before"]
    with file.step(broken, before):
        if not is_broken(file):
            raise ValueError(f"{file.name}: not broken")
    file.verify()
    with open(f"{exported}/{file.name}", "rb") as plain:
        file.data = plain.read()
    if digest(file.data) != before:
        raise ValueError(f"{file.name}: not all is undone")
    with file.step(whole("c", name), later=recovers):
        file.lock(WRITE, PERSIST | REPAIR | kind)
    file.verify()
    if recovers:
        file.data = worker.change(file)
    with file.step({}, digest(file.data)):
        file.lock(UNLOCK)
    file.verify()


def comes_after(record_name, where, exported, seed, steps):
    """A client that finds what the lost ones have left."""
    record = Record(record_name)
    last = states(record_name)
    with record.step("client-c", 1, present=True):
        worker = Worker(record, "c", where, exported, seed)
    for entry in last.values():
        if entry.get("locks"):
            take_over(record, worker, entry, where, exported)
    worker.work(steps)
    worker.leave()


def remember_contents(history):
    """A lock that is left with changes has them undone later; tell to what."""
    contents = {}
    lines = []
    with open(history, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            thing = entry["object"]
            if entry.get("content"):
                contents[thing] = entry["content"]
            if "content" in entry:
                entry["before"] = contents[thing]
            lines.append(json.dumps(entry))
    with open(history, "w", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def main():
    history, seed, steps, exported, state = sys.argv[1:]
    steps = int(steps)
    for client in "abc":
        for kind in "persist", "recover":
            for n in range(2):
                with open(f"{exported}/{client}.{kind}{n}", "wb") as file:
                    file.write(random.Random(f"{client}{kind}{n}").randbytes(20000))
    os.mkdir(f"{exported}/exact")
    for name in "any", "exact/data", "exact/log":
        with open(f"{exported}/{name}", "wb"):
            pass
    os.sync()
    mark = system.Marks()
    mark("begin:key:1")
    serve(exported, state)
    with open(f"{state}/fh_key", encoding="ascii") as file:
        key = file.read()
    record = Record(history)
    record.note("key", 0, key=None)
    record.note("key", 1, key=key)
    for client in "abdesc":
        record.note(f"client-{client}", 0, present=False)
    others = Others()
    others.mounts = [f"/mnt/{client}" for client in "abdes"]
    for client in "abdes":
        mount(f"/mnt/{client}", client)
    record.mark("done:key:1")
    waits = [others.start(works, history, client, f"/mnt/{client}", exported, seed, steps)
             for client in "ab"]
    waits += [others.start(appears, history, client, f"/mnt/{client}") for client in "de"]
    waits.append(others.start(is_exact, history, EXACT, f"/mnt/{EXACT}", exported, state, steps))
    for wait in waits:
        wait()
    remember_contents(history)
    subprocess.run(["modprobe", "-r", "dafsd"], check=True)
    others.lose()
    serve(exported, state)
    end_grace(Record(history), history, exported)
    remember_contents(history)
    last = Others()
    last.mounts = ["/mnt/c"]
    mount("/mnt/c", "c")
    last.start(comes_after, history, "/mnt/c", exported, seed, steps // 2)()
    record.mark("end")
    subprocess.run(["modprobe", "-r", "dafsd"], check=True)
    last.lose()


main()
