#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the loads of tools/testing/bench in a guest, on each folder in turn.

Results go to the results channel, one a line: "rate ROW PEER NUMBER".
"""

import argparse
import collections
import contextlib
import fcntl
import fnmatch
import functools
import itertools
import json
import mmap
import operator
import os
import pathlib
import subprocess
import time

import sampler

SIZES = {"4k": "IOPS", "1m": "MB/s"}
BYTES = {"4k": 4096, "1m": 1 << 20}
NAMES = "create", "stat", "restat", "readdirplus", "unlink"
REOPENED = 100   # files
RECALLED = 50
ACREGMIN = 3     # default lifetime of attributes in seconds


def write(*lines):
    print(*lines, sep="\n", flush=True)
    with open(os.environ["RESULTS"], "a", encoding="ascii") as results:
        results.write("\n".join(lines) + "\n")


def report(row, peer, rate):
    write(f"rate {row} {peer} {rate:.6g}")


def report_samples(row, peer, digests):
    write(*(f"sample {row} {peer} {count} {' '.join(digest)}"
            for digest, count in digests.items()))


def data_rows(quick):
    """Block size, pattern, direct or not, depth."""
    if quick:
        return [(bs, rw, True, depth)
                for bs, depth in (("4k", 1), ("4k", 16), ("1m", 1))
                for rw in ("randread", "randwrite")]
    return list(itertools.product(
        SIZES, ("randread", "randwrite", "read", "write"), (True, False),
        (1, 16)))


def fio_job(bs, rw, direct, depth, options, peer):
    """One peer's section of a fio job file.

    Buffered I/O has its depth from threads, and ends with fsync. fio drops the
    client's cache before reads.
    """
    megabytes = options.megabytes
    lines = [f"[{peer.name}]", "stonewall", f"filename={peer}/data",
             f"bs={bs}", f"rw={rw}", f"runtime={1000 * options.seconds:.0f}ms"]
    if direct:
        lines += ["direct=1", "ioengine=libaio", f"iodepth={depth}",
                  f"size={megabytes}m", "time_based=1"]
    else:
        lines += ["ioengine=psync", f"numjobs={depth}", "group_reporting=1",
                  f"size={megabytes // depth}m",
                  f"offset_increment={megabytes // depth}m"]
        if "write" in rw:
            lines.append("end_fsync=1")
    return lines


def run_fio(lines):
    job = pathlib.Path("/tmp/job")
    common = ["[global]", "thread=1", "fallocate=none", "randrepeat=0",
              "gtod_reduce=1"]
    job.write_text("\n".join(common + lines) + "\n", encoding="ascii")
    done = subprocess.run(["fio", "--output-format=json", job], check=True,
                          stdout=subprocess.PIPE)
    text = done.stdout.decode()
    return json.loads(text[text.index("{"):])["jobs"]


def name_of(bs, rw, direct, depth):
    return f"{bs}-{rw}-{'direct' if direct else 'cached'}-{depth}"


def measure_data(row, options, peers):
    bs, rw = row[:2]
    lines = [line for peer in peers
             for line in fio_job(*row, options, peer)]
    for job in run_fio(lines):
        result = job["write" if "write" in rw else "read"]
        rate = result["iops"] if SIZES[bs] == "IOPS" else \
            result["bw_bytes"] / 1e6
        report(name_of(*row), job["jobname"], rate)


def floor_rows(quick):
    """Operation, block size, depth."""
    yield from (("null", "", depth) for depth in (1, 16))
    for size, depth in itertools.product(SIZES, (1, 16)):
        if not quick or (size, depth) != ("1m", 16):
            yield from ((op, size, depth) for op in ("read", "write", "pingpong"))


def is_wanted(name, options):
    """Has the row a name that was asked for?"""
    return any(part in name for part in options.only.split(","))


def measure_floor(row, options):
    """The bare transport, measured by the module dafs_floor."""
    op, size, depth = row
    peer = "rdma" if size else "dafs"
    name = "-".join(filter(None, (peer if size else "", op, size, str(depth))))
    if not is_wanted(name, options):
        return
    with open("/sys/kernel/debug/dafs_floor/run", "r+b", buffering=0) as run:
        run.write(b"%s %d %d %d" % (op.encode(), BYTES.get(size, 1), depth,
                                    1000 * options.seconds))
        done, nanoseconds = map(int, run.read(64).split())
    amount = done * BYTES[size] / 1e6 if size == "1m" else done
    report(name, peer, 1e9 * amount / nanoseconds)


def drop_names():
    """Drops dentries and inodes of client and server."""
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("2", encoding="ascii")


def timed(row, peer, amount, function):
    begin = time.monotonic()
    function()
    report(row, peer.name, amount / (time.monotonic() - begin))


def sampled(row, peer, _amount, function):
    def with_samples():
        with sampler.enabled():
            function()
    report_samples(row, peer.name, sampler.sample(with_samples))


def profile_data(row, options, peers):
    for peer in peers:
        lines = fio_job(*row, options, peer)
        lines += [f"exec_{when}={sampler.shell_command(word)}" for when, word in
                  (("prerun", "enable"), ("postrun", "disable"))]
        digests = sampler.sample(lambda: run_fio(lines))
        report_samples(name_of(*row), peer.name, digests)


def create(name):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))


def for_each(function, things):
    """With few instructions of its own, because the mount is to be measured."""
    collections.deque(map(function, things), maxlen=0)


def measure_names(options, peer, measure=timed):
    """Relative to the folder: paths through the guest's root file system, hostfs
    or 9p, are walked twice, because it refuses RCU walk."""
    folder = peer / "many"
    folder.mkdir()
    amount = options.files
    names = [f"file{n:05}" for n in range(amount)]
    with contextlib.chdir(folder):
        measure("create", peer, amount, lambda: for_each(create, names))
        drop_names()
        measure("stat", peer, amount, lambda: for_each(os.stat, names))
        time.sleep(ACREGMIN + 1)
        measure("restat", peer, amount, lambda: for_each(os.stat, names))
        drop_names()
        measure("readdirplus", peer, amount, lambda: for_each(
            operator.methodcaller("stat", follow_symlinks=False), os.scandir()))
        measure("unlink", peer, amount, lambda: for_each(os.unlink, names))
    folder.rmdir()


def lock_until(end, path, step):
    """Locks and unlocks one byte until that time."""
    with open(path, "r+b") as file:
        while time.monotonic() < end:
            fcntl.lockf(file, fcntl.LOCK_EX, 1)
            step()
            fcntl.lockf(file, fcntl.LOCK_UN, 1)


def measure_lock(options, peer):
    """One program alone."""
    done = itertools.count()
    begin = time.monotonic()
    lock_until(begin + options.seconds, peer / "data", lambda: next(done))
    report("lock", peer.name, next(done) / (time.monotonic() - begin))


def other_mount(peer):
    """The same folder as another client sees it"""
    return peer.parent.parent / f"other-{peer.name}" / peer.name


def measure_hand_over(options, peer):
    """Two programs on two mounts that both want the lock: how often it changes hands."""
    other = other_mount(peer)
    if not other.is_dir():
        return
    shared = mmap.mmap(-1, 16)

    def take(who):
        last, changes = int.from_bytes(shared[:8], "little"), shared[8:]
        if last != who:
            shared[:8] = who.to_bytes(8, "little")
            shared[8:] = (int.from_bytes(changes, "little") + 1).to_bytes(8, "little")

    begin = time.monotonic()
    child = os.fork()
    lock_until(begin + options.seconds, (peer if child else other) / "data",
               lambda: take(1 if child else 2))
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    report("hand-over", peer.name,
           int.from_bytes(shared[8:], "little") / (time.monotonic() - begin))


def read_whole(name):
    with open(name, "rb", buffering=0) as file:
        file.read(4096)


def measure_reopen(options, peer):
    """Small files that one program opens, reads and closes, again and again."""
    folder = peer / "reopened"
    if not folder.is_dir():
        folder.mkdir()
        for n in range(REOPENED):
            (folder / f"{n}").write_bytes(bytes(4096))
    names = [f"{n}" for n in range(REOPENED)]
    done = 0
    with contextlib.chdir(folder):
        for_each(read_whole, names * 3)
        begin = time.monotonic()
        while time.monotonic() < begin + options.seconds:
            for_each(read_whole, names)
            done += REOPENED
        report("reopen", peer.name, done / (time.monotonic() - begin))


def delegations_returned(peer):
    """How many its client has given back since it was mounted, or None"""
    with open("/proc/self/mountstats", encoding="ascii") as stats:
        for line in stats:
            if line.startswith("device "):
                here = f" mounted on {peer.parent} " in line
            elif here and line.split()[:1] == ["DELEGRETURN:"]:
                return int(line.split()[1])
    return None


def measure_recall(_, peer):
    """Small files that one client reads, and has delegated, are opened for writing by another."""
    other = other_mount(peer)
    if not other.is_dir():
        return
    folder = peer / f"recalled{time.monotonic_ns()}"
    folder.mkdir()
    names = [f"{n}" for n in range(RECALLED)]
    for name in names:
        (folder / name).write_bytes(bytes(4096))
    with contextlib.chdir(folder):
        for_each(read_whole, names * 3)
    with contextlib.chdir(other / folder.name):
        for_each(os.stat, names)
        begin = time.monotonic()
        for_each(lambda name: os.close(os.open(name, os.O_WRONLY)), names)
        report("recall", peer.name, RECALLED / (time.monotonic() - begin))
    if (returned := delegations_returned(peer)) is not None:
        print(f"# {peer.name}: {returned} delegations were returned", flush=True)


PROGRAMS = {"lock": measure_lock, "hand-over": measure_hand_over,
            "reopen": measure_reopen, "recall": measure_recall}


def profile(options, peers):
    """Runs each chosen row twice: without and then with sampling."""
    def chosen(row):
        return any(fnmatch.fnmatch(row, pattern)
                   for pattern in options.profile.split(","))

    def sample_chosen(row, peer, amount, function):
        if chosen(row):
            sampled(row, peer, amount, function)
        else:
            function()

    for row in data_rows(False):
        if chosen(name_of(*row)):
            measure_data(row, options, peers)
            profile_data(row, options, peers)
    for peer in peers if any(map(chosen, NAMES)) else ():
        measure_names(options, peer)
        measure_names(options, peer, sample_chosen)
    for (row, measure), peer in itertools.product(PROGRAMS.items(), peers):
        if chosen(row):
            measure(options, peer)
            sampled(row, peer, None, functools.partial(measure, options, peer))


def lay_out(peers, megabytes):
    for peer in peers:
        with open(peer / "data", "wb") as file:
            for _ in range(megabytes):
                file.write(os.urandom(1 << 20))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--megabytes", type=int, default=128)
    parser.add_argument("--only", default="")
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--profile", default="")
    parser.add_argument("peers", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    peers = options.peers

    # The file servers share one export, so each peer needs a separate file.
    peers = [peer / peer.name for peer in peers]
    for peer in peers:
        peer.mkdir()
    lay_out(peers, options.megabytes)
    os.sync()
    if options.profile:
        profile(options, peers)
        return
    for turn in range(options.rounds):
        # Each peer is the first in turn.
        order = peers[turn % len(peers):] + peers[:turn % len(peers)]
        for row in floor_rows(options.quick) if options.floor else ():
            measure_floor(row, options)
        for row in data_rows(options.quick):
            if is_wanted(name_of(*row), options):
                measure_data(row, options, order)
        # One by one, because each row uses the files of the one before.
        if "names" in options.only.split(",") or any(is_wanted(row, options) for row in NAMES):
            for peer in order:
                measure_names(options, peer)
        for row, measure in PROGRAMS.items():
            for peer in order if is_wanted(row, options) else ():
                measure(options, peer)


if __name__ == "__main__":
    main()
