#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes disks as a power failure may have left them, and has a server start on each.

  replay.py [--all | --lies] [--ends N] [--more N] [--seed N]
            MODULE BASE LOG HISTORY DISK PART...

BASE was the disk before load.py and LOG what dm-log-writes has recorded of it.  DISK is the file
of a disk to be written, and PART is DEVICE:TYPE:FOLDER, a file system on it and where it is
mounted; MODULE is dafsd.ko.  FOLDER of the last one has "data", and that of the first one
"state".

A disk has all writes up to a flush, and of those behind it: the first ones, in the order in
which they ended; or any of them; or any of them, and one of which some sectors are old.  The
server that starts there must know what had been acknowledged before the next flush, and nothing
that had not been asked for.

--all takes all disks of the first sort and three of the others for each flush; otherwise it is
the disk at each flush, or N of them, and N more.  With --lies each disk has lost the last that it
had flushed, after which a step was acknowledged; it ends well if that is noticed.
"""

import argparse
import bisect
import collections
import contextlib
import hashlib
import json
import mmap
import os
import random
import re
import sys
import time

import disklog
import store
import system

CHUNK = 65536
SUPERBLOCK = 4096       # of ext4, which relies on it not to be torn
# Messages of the kernel that matter begin so.
OURS = "dafs", "EXT4-fs", "JBD2", "XFS"


class Wrong(Exception):
    """The server does not know what it should."""


class Thing:
    """An object of the history: its states, and where the marks of each are in the log."""

    def __init__(self):
        self.states = {}
        self.begins = []        # of state n + 1
        self.ends = []

    def may_be(self, done, begun):
        """States that it may have: done and begun are numbers of entries."""
        first = bisect.bisect_left(self.ends, done)
        last = bisect.bisect_left(self.begins, begun)
        # a step that has written nothing
        last = max(first, last)
        return [self.states[n] for n in range(first, last + 1)]


def read_history(name, log):
    things = collections.defaultdict(Thing)
    with open(name, encoding="utf-8") as file:
        for line in file:
            entry = json.loads(line)
            things[entry["object"]].states[entry["n"]] = entry
    for number, entry in enumerate(log):
        words = (entry.mark or "").split(":")
        if len(words) == 3:
            thing = things[words[1]]
            (thing.begins if words[0] == "begin" else thing.ends).append(number)
    return things


class Disk:
    """The disk to be written."""

    def __init__(self, name, size):
        self.file = os.open(name, os.O_RDWR)
        self.map = mmap.mmap(self.file, size)

    def put(self, image):
        """Writes what differs."""
        for at in range(0, len(image), CHUNK):
            if image[at:at + CHUNK] != self.map[at:at + CHUNK]:
                self.map[at:at + CHUNK] = image[at:at + CHUNK]


class Kernel:
    """What the kernel says"""

    def __init__(self):
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.file, 0, os.SEEK_END)

    def said(self):
        """Pairs of level and text since the last call"""
        while True:
            try:
                text = os.read(self.file, 8192).decode(errors="replace")
            except BlockingIOError:
                return
            except BrokenPipeError:
                continue
            head, _, message = text.partition(";")
            yield int(head.split(",")[0]) & 7, message.split("\n")[0]


class Server:
    """The server on a disk"""

    def __init__(self, module, parts):
        self.module = module
        self.parts = [part.split(":") for part in parts]
        self.state = f"{self.parts[0][2]}/state"
        self.exported = f"{self.parts[-1][2]}/data"
        self.kernel = Kernel()
        self.clients = 0
        self.rest = []

    @contextlib.contextmanager
    def running(self):
        with contextlib.ExitStack() as mounts:
            for device, kind, where in self.parts:
                system.mount(device, where, kind)
                mounts.callback(system.umount, where)
            list(self.kernel.said())
            try:
                system.load(self.module, f"exports={self.exported}:no_root_squash"
                            f" state_dir={self.state} lease=3600 respcache=stable")
            except OSError as error:
                raise Wrong(f"{error}: {self.complaints()}") from error
            try:
                yield
            finally:
                system.unload("dafsd")

    def complaints(self):
        """Listens: sets the number of clients that may come back."""
        found = []
        for level, text in self.kernel.said():
            clients = re.search(r"(\d+) clients may reclaim", text)
            if clients:
                self.clients = int(clients[1])
            elif level <= 4 and text.startswith(OURS):
                found.append(text)
        return found

    @staticmethod
    def until(condition, what):
        end = time.monotonic() + system.PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise Wrong(what)
            time.sleep(0.01)

    def recover(self):
        """Ends the grace period, and waits until all is undone that is to be."""
        server = system.administration()
        self.clients = 0
        wrong = self.complaints()
        found = system.locks(server)
        with open("/sys/module/dafsd/parameters/grace", "w", encoding="ascii") as file:
            file.write("0")
        self.until(lambda: not any(entry["kind"] == "autorecovery" or
                                   entry["state"] == "undoing"
                                   for entry in server.list("persist", None)),
                   "there is something that is not undone")
        self.rest = list(server.list("persist", None))
        wrong += self.complaints()
        if wrong:
            raise Wrong(f"the kernel says {wrong}")
        return found

    def key(self):
        with open(f"{self.state}/fh_key", encoding="ascii") as file:
            return file.read()

    def content(self, name):
        with open(f"{self.exported}/{name}", "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def exact(self):
        """The names in the folder of the client whose requests are executed once, and its files"""
        return {"names": sorted(os.listdir(f"{self.exported}/exact")),
                "content": self.content("exact/log"),
                "data": self.content("exact/data"),
                "mode": os.stat(f"{self.exported}/exact/data").st_mode & 0o777}

    def check_rest(self):
        """Each file of before-images is of a lock."""
        wanted = sum("autorecovery" in entry["kind"] for entry in self.rest)
        self.until(lambda: wanted == sum(name.startswith("undo.")
                                         for name in os.listdir(self.state)),
                   f"there are other files of before-images than those of {wanted} locks")


def undoes(state):
    return any(what[3] == "autorecovery" for cell in state["locks"].values() for what in cell)


def fits(state, locks, content, clients, reached):
    """Without a grace period all may have been undone before it could be seen locked."""
    gone = not locks and not clients and undoes(state)
    between = not reached and locks == state.get("between")
    return (locks == state["locks"] or gone or between) and state["content"] in (None, content)


def check_clients(server, allowed):
    least = sum(min(state["present"] for state in states) for states in allowed.values())
    most = sum(max(state["present"] for state in states) for states in allowed.values())
    if not least <= server.clients <= most:
        raise Wrong(f"{server.clients} clients, not {least} to {most}")


def shown(locks, content):
    """Locks, by what is locked and in which cells, and some of the checksum"""
    cells = collections.defaultdict(list)
    for cell, of in sorted(locks.items(), key=lambda item: int(item[0])):
        for client, writes, broken, kind in of:
            cells[f"{client} {kind}{' for writing' * writes}{', broken' * broken}"].append(cell)
    return [f"{what}: {','.join(where)}" for what, where in cells.items()], (content or "?")[:8]


def check_files(server, locks, allowed):
    for name, states in allowed.items():
        found = locks.pop(states[0]["handle"], {})
        content = server.content(name)
        if not any(fits(state, found, content, server.clients, not number)
                   for number, state in enumerate(states)):
            wanted = [shown(state["locks"], state["content"]) for state in states]
            raise Wrong(f"{name}: {shown(found, content)}, but not one of {wanted}")
    if locks:
        raise Wrong(f"locked, but never were: {locks}")


def is_between(found, states):
    """Is it as it may be while the last request is being executed?"""
    return any(found.items() <= {**state, "data": state["between"]}.items()
               for state in states[1:])


def check_exact(server, states):
    """The last request has been executed, or not, and the server knows which of the two."""
    found = server.exact()
    if not any(found.items() <= state.items() for state in states) and \
            not is_between(found, states):
        raise Wrong(f"exact: {found}, but not one of {states}")
    last = states[-1]
    if not last["request"]:
        return
    told = store.Request(*last["request"]) in store.executed(server.state, "replay-s")
    if told != (found.items() <= last.items()):
        raise Wrong(f"exact: {last['n']} was {'not ' * told}executed, and is told to be"
                    f"{' not' * (not told)}")


def check(server, things, done, begun):
    """One start of the server; raises Wrong."""
    allowed = {name: thing.may_be(done, begun) for name, thing in things.items()}
    keys = {state["key"] for state in allowed.pop("key")}
    exact = allowed.pop("exact")
    clients = {name: allowed.pop(name) for name in things if name.startswith("client-")}
    with server.running():
        check_exact(server, exact)
        locks = server.recover()
        check_clients(server, clients)
        check_files(server, locks, allowed)
        server.check_rest()
        if None not in keys and server.key() not in keys:
            raise Wrong("the key of filehandles has changed")


class Cut:
    """A disk to be made, and what is to be there."""

    def __init__(self, window, sort, seed, wrote, done, begun):
        self.window = window
        self.sort = sort
        self.seed = seed
        self.wrote = wrote      # numbers of the entries that are written
        self.done = done        # what was acknowledged before this entry counts
        self.begun = begun      # what was begun before this entry may count

    def __str__(self):
        return f"{self.sort} {self.window.first}-{self.window.last} seed {self.seed}" \
            f" up to {self.wrote[-1] if self.wrote else '-'}"


def next_write(log, number):
    """The number of the first write behind an entry, or of the end"""
    number += 1
    while number < len(log) and not log[number].write:
        number += 1
    return number


def prefixes(log, window):
    """One for each write: what counts has been acknowledged before the next one."""
    writes = sorted(window.durable + window.cached)
    for count, number in enumerate(writes):
        yield Cut(window, "prefix", 0, writes[:count + 1], next_write(log, number), number)


def variants(window, seed, count, sort):
    """All that bypasses the cache is there, and acknowledged up to the flush."""
    for n in range(count):
        chosen = random.Random(f"{seed} {window.first} {n} {sort}")
        last = [chosen.choice(window.cached)] if sort == "torn" else []
        wrote = [number for number in window.cached
                 if chosen.random() < 0.5 and number not in last] + last
        yield Cut(window, sort, f"{seed} {n}", window.durable + wrote, window.last,
                  window.last)


def lies(log, window):
    """If a step was acknowledged directly after the flush, the disk before what was flushed"""
    behind = next_write(log, window.last)
    if any((entry.mark or "").startswith("done:") for entry in log[window.last:behind]):
        yield Cut(window, "lie", 0, [], behind, window.last)


def torn(entry, seed):
    """Some sectors of a write"""
    chosen = random.Random(seed)
    for at in range(0, len(entry.data), disklog.SECTOR):
        if chosen.random() < 0.5:
            yield entry.offset + at, entry.data[at:at + disklog.SECTOR]


def written(log, cut):
    """Pairs of offset and data, in order"""
    for number in cut.wrote:
        entry = log[number]
        if cut.sort == "torn" and number == cut.wrote[-1] and entry.offset >= SUPERBLOCK:
            yield from torn(entry, f"{cut.seed} {number}")
        else:
            yield entry.offset, entry.data


def overwrite(image, offset, data):
    """Returns what was there."""
    place = slice(offset, offset + len(data))
    before = image[place]
    image[place] = data
    return before


@contextlib.contextmanager
def altered(image, writes):
    """An image with some writes, for a time"""
    before = [(offset, overwrite(image, offset, data)) for offset, data in writes]
    yield image
    for offset, data in reversed(before):
        overwrite(image, offset, data)


def all_cuts(log, window, seed):
    yield from prefixes(log, window)
    if window.cached:
        yield from variants(window, seed, 2, "some")
        yield from variants(window, seed, 1, "torn")


def sample(cuts, count, seed):
    """Some of the cuts, in order"""
    if count is None or count >= len(cuts):
        return cuts
    return [cuts[n] for n in sorted(random.Random(seed).sample(range(len(cuts)), count))]


def at_flush(cut):
    return cut.sort in ("prefix", "lie") and cut.done > cut.window.last


def choose(log, windows, options):
    """What is to be tried, in the order of the windows"""
    if options.lies:
        cuts = [cut for window in windows for cut in lies(log, window)]
    else:
        cuts = [cut for window in windows for cut in all_cuts(log, window, options.seed)]
    if options.all:
        return cuts
    ends = sample([cut for cut in cuts if at_flush(cut)], options.ends, options.seed)
    more = sample([cut for cut in cuts if not at_flush(cut)], options.more, options.seed)
    return sorted(ends + more, key=lambda cut: cut.window.first)


def worth_it(log):
    """The windows between the marks of the begin and of the end"""
    marks = {entry.mark: number for number, entry in enumerate(log) if entry.mark}
    for window in disklog.windows(log):
        if marks["begin:key:1"] < window.first and window.last < marks["end"]:
            yield window


class Trials:
    """All disks in turn"""

    def __init__(self, options):
        self.log = list(disklog.entries(options.log))
        self.things = read_history(options.history, self.log)
        with open(options.base, "rb") as file:
            self.image = bytearray(file.read())
        self.disk = Disk(options.disk, len(self.image))
        self.server = Server(options.module, options.part)
        self.counts = collections.Counter()
        self.wrong = []
        self.at = 0

    def advance(self, window):
        """The image becomes the disk before a window."""
        for number in range(self.at, window.first):
            if self.log[number].write:
                overwrite(self.image, self.log[number].offset, self.log[number].data)
        self.at = window.first

    def attempt(self, cut):
        with altered(self.image, written(self.log, cut)) as image:
            self.disk.put(image)
        self.counts[cut.sort] += 1
        try:
            check(self.server, self.things, cut.done, cut.begun)
        except (Wrong, OSError) as error:
            self.wrong.append(f"{cut}: {error}")
            print(self.wrong[-1], flush=True)

    def run(self, cuts):
        for cut in cuts:
            self.advance(cut.window)
            self.attempt(cut)

    def summary(self):
        kinds = ", ".join(f"{count} {sort}" for sort, count in sorted(self.counts.items()))
        writes = sum(entry.write for entry in self.log)
        flushes = sum(entry.flush for entry in self.log)
        return f"{writes} writes and {flushes} flushes were recorded; disks: {kinds};" \
            f" wrong: {len(self.wrong)}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--lies", action="store_true")
    parser.add_argument("--ends", type=int)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    for name in "module", "base", "log", "history", "disk":
        parser.add_argument(name)
    parser.add_argument("part", nargs="+")
    options = parser.parse_args()
    begin = time.monotonic()
    trials = Trials(options)
    windows = list(worth_it(trials.log))
    trials.run(choose(trials.log, windows, options))
    print(f"{trials.summary()}; {time.monotonic() - begin:.0f} seconds", flush=True)
    # again, where the end of a long log shows it
    for wrong in trials.wrong[:4]:
        print(wrong, flush=True)
    sys.exit(not trials.counts or bool(trials.wrong) != options.lies)


main()
