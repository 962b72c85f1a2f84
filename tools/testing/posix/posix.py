#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Tests of POSIX behaviour that programs expect of a file system.

  posix.py DIRECTORY SERVER OTHER CASE

DIRECTORY, OTHER and SERVER are the same file system on one client, on another
client and on the server. All may be the same: then a local file system is
tested. CASE is the name of a function case_*; its three arguments are an empty
directory there, as seen by each.
"""

import contextlib
import ctypes
import errno
import fcntl
import mmap
import os
import signal
import socket
import stat
import subprocess
import sys
import time
import traceback

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)


def expect(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r:.300} instead of {want!r:.300}")


def fails(error, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except OSError as caught:
        expect(errno.errorcode[caught.errno], errno.errorcode[error],
               f"the error of {function.__name__}")
    else:
        raise AssertionError(f"{function.__name__} did not fail")


@contextlib.contextmanager
def opened(path, flags, mode=0o644):
    fd = os.open(path, flags, mode)
    try:
        yield fd
    finally:
        os.close(fd)


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def exit_status(function):
    """Runs function in a child: its status, or the negative signal."""
    child = os.fork()
    if not child:
        status = 1
        with contextlib.suppress(Exception):
            status = function() or 0
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def forget():
    """Drops clean pages and unused dentries and inodes."""
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3")


# -- files: holes, sizes, mappings


def pieces(fd, size):
    """(start, end) of the data that SEEK_DATA and SEEK_HOLE find."""
    end = 0
    while end < size:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
        except OSError as error:
            expect(error.errno, errno.ENXIO, "SEEK_DATA in the last hole")
            return
        end = os.lseek(fd, start, os.SEEK_HOLE)
        yield start, end


def case_sparse(top, server, other):
    data = {0: b"first", 1 << 20: b"x" * 5000, (4 << 30) - 3: b"across 4 GiB",
            (6 << 30) + 12345: b"last"}
    size = (6 << 30) + 12349
    with opened(f"{top}/f", os.O_RDWR | os.O_CREAT) as fd:
        for pos, text in data.items():
            os.pwrite(fd, text, pos)
    for view in top, other, server:
        with opened(f"{view}/f", os.O_RDONLY) as fd:
            st = os.fstat(fd)
            expect(st.st_size, size, f"size in {view}")
            expect(st.st_blocks < 1000, True, f"holes take no space in {view}")
            for pos, text in data.items():
                expect(os.pread(fd, len(text), pos), text, f"{view} at {pos}")
            expect(os.pread(fd, 70000, 2 << 30), bytes(70000), "the hole")
            expect(os.pread(fd, 10, size), b"", "beyond the end")
            parts = list(pieces(fd, size))
            for pos, text in data.items():
                expect(any(a <= pos and pos + len(text) <= b for a, b in parts),
                       True, f"{pos} is data to lseek in {view}")
            fails(errno.ENXIO, os.lseek, fd, size, os.SEEK_DATA)
            fails(errno.ENXIO, os.lseek, fd, size, os.SEEK_HOLE)
            expect(os.lseek(fd, size - 1, os.SEEK_HOLE), size, "the end is a hole")
    with opened(f"{top}/f", os.O_RDWR) as fd:
        with mmap.mmap(fd, 2 * PAGE, offset=(4 << 30) - PAGE) as mapped:
            expect(mapped[PAGE - 3:PAGE + 9], b"across 4 GiB", "mapped")
            mapped[PAGE + 9:PAGE + 16] = b" mapped"
        os.ftruncate(fd, (4 << 30) + 100)
    expect(read_at(f"{server}/f", (4 << 30) - 3, 200),
           b"across 4 GiB mapped" + bytes(84), "what is left")


def read_at(path, pos, count):
    with opened(path, os.O_RDONLY) as fd:
        return os.pread(fd, count, pos)


def case_fallocate(top, server, other):
    """fallocate either allocates or fails."""
    keep_size, punch = 1, 2
    write_file(f"{top}/f", b"x" * 10000)
    with opened(f"{top}/f", os.O_RDWR) as fd:
        for mode in 0, keep_size, keep_size | punch:
            args = [ctypes.c_int(fd), ctypes.c_int(mode), ctypes.c_long(4096),
                    ctypes.c_long(4096)]
            done = LIBC.fallocate(*args) == 0
            if not done:
                expect(ctypes.get_errno(), errno.EOPNOTSUPP, "fallocate")
            want = 4096 if done and mode & punch else 0
            expect(os.pread(fd, 10000, 0).count(0), want, f"after mode {mode}")
        os.posix_fallocate(fd, 0, 100000)
    expect(os.stat(f"{top}/f").st_size, 100000, "size")
    expect(os.stat(f"{server}/f").st_blocks >= 100000 // 512, True, "it is allocated")


def case_limits(top, server, other):
    with opened(f"{top}/f", os.O_RDWR | os.O_CREAT) as fd:
        fails(errno.EFBIG, os.pwrite, fd, b"x", (1 << 63) - 2)
        fails(errno.EFBIG, os.ftruncate, fd, (1 << 63) - 2)
        fails(errno.EINVAL, os.ftruncate, fd, -1)
        fails(errno.EINVAL, os.lseek, fd, -1, os.SEEK_SET)
        expect(os.fstat(fd).st_size, 0, "size")
        # The maximum file size of ext4.
        os.pwrite(fd, b"x", (16 << 40) - 2 * PAGE)
        expect(os.fstat(fd).st_size, (16 << 40) - 2 * PAGE + 1, "size")
    expect(os.stat(f"{server}/f").st_size, (16 << 40) - 2 * PAGE + 1, "size")
    fails(errno.EISDIR, os.open, top, os.O_WRONLY)
    with opened(top, os.O_RDONLY) as fd:
        fails(errno.EISDIR, os.read, fd, 1)


def touch_mapped(mapped, pos):
    signal.signal(signal.SIGBUS, signal.SIG_DFL)
    return mapped[pos]


def case_mapped(top, server, other):
    """Truncation and extension of a mapped file."""
    with opened(f"{top}/f", os.O_RDWR | os.O_CREAT) as fd:
        os.write(fd, b"a" * (8 * PAGE))
        mapped = mmap.mmap(fd, 8 * PAGE)
        mapped[5 * PAGE:6 * PAGE] = b"b" * PAGE
        os.ftruncate(fd, PAGE + 100)
        expect(mapped[:2 * PAGE], b"a" * (PAGE + 100) + bytes(PAGE - 100), "cut")
        expect(exit_status(lambda: touch_mapped(mapped, 2 * PAGE)),
               -signal.SIGBUS, "beyond the end")
        os.truncate(f"{top}/f", 8 * PAGE)
        expect(mapped[:], b"a" * (PAGE + 100) + bytes(7 * PAGE - 100), "grown")
        mapped[3 * PAGE] = 99
        os.fsync(fd)
        expect(read_file(f"{server}/f")[3 * PAGE:3 * PAGE + 2], b"c\0", "fsync")
        private = mmap.mmap(fd, 8 * PAGE, flags=mmap.MAP_PRIVATE)
        private[4 * PAGE] = 100
        expect(os.pread(fd, 1, 4 * PAGE), b"\0", "a private mapping is private")
        os.pwrite(fd, b"written", 4 * PAGE)
        expect(mapped[4 * PAGE:4 * PAGE + 7], b"written", "a write shows")
        os.unlink(f"{top}/f")
        mapped[0] = 101
        expect(os.pread(fd, 2, 0), b"ea", "after unlink")
        private.close()
        mapped.close()


def case_append(top, server, other):
    with opened(f"{top}/log", os.O_WRONLY | os.O_APPEND | os.O_CREAT) as fd, \
            opened(f"{top}/log", os.O_WRONLY) as plain:
        os.write(fd, b"one ")
        os.pwrite(plain, b"two ", 4)
        os.write(fd, b"three ")
        os.ftruncate(plain, 4)
        os.write(fd, b"four")
    for view in top, server, other:
        expect(read_file(f"{view}/log"), b"one four", view)

    def writer(who):
        with opened(f"{top}/many", os.O_WRONLY | os.O_APPEND | os.O_CREAT) as fd:
            for i in range(200):
                os.write(fd, f"{who} {i:03} {'x' * (i % 7)}\n".encode())

    children = []
    for who in range(4):
        child = os.fork()
        if not child:
            writer(who)
            os._exit(0)
        children.append(child)
    for child in children:
        expect(os.waitpid(child, 0)[1], 0, "a writer")
    lines = read_file(f"{server}/many").decode().splitlines()
    expect(sorted(lines), sorted(f"{who} {i:03} {'x' * (i % 7)}" for who in range(4)
                                 for i in range(200)), "lines of four writers")


# -- signals


def transfer(call, fd, buffer, offset):
    """The result of pread or pwrite, or the error; without the retry of Python on EINTR."""
    count = call(fd, ctypes.byref(buffer), ctypes.c_size_t(len(buffer)),
                 ctypes.c_long(offset))
    return os.strerror(ctypes.get_errno()) if count < 0 else count


@contextlib.contextmanager
def busy(function):
    """A child that calls function all the time."""
    child = os.fork()
    if not child:
        with contextlib.suppress(Exception):
            while True:
                function()
        os._exit(1)
    try:
        yield
        expect(os.waitpid(child, os.WNOHANG)[0], 0, "the child that ended")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@contextlib.contextmanager
def alarms(seconds):
    """Frequent signals with a handler without SA_RESTART."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, True)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def case_signals(top, server, other):
    """Reads and writes are not cut short by signals."""
    length = 2 << 20
    memory = mmap.mmap(-1, length)
    memory.write(os.urandom(length))
    buffer = (ctypes.c_char * length).from_buffer(memory)
    data = bytes(memory)
    for flags in 0, os.O_DIRECT:
        with opened(f"{top}/f", os.O_RDWR | os.O_CREAT | flags) as fd:
            with alarms(0.002):
                for i in range(8):
                    expect(transfer(LIBC.pwrite, fd, buffer, i * length), length, "write")
            os.fsync(fd)
            expect(read_file(f"{server}/f") == data * 8, True, "data at the server")
            with opened(f"{top}/f", os.O_RDWR) as writer, \
                    busy(lambda: os.pwrite(writer, data, 0)), alarms(0.002):
                for i in range(16):
                    expect(transfer(LIBC.pread, fd, buffer, i % 8 * length), length, "read")
            expect(bytes(memory) == data, True, "data that were read")
            os.unlink(f"{top}/f")


# -- times


def case_times(top, server, other):
    giga = 10 ** 9
    write_file(f"{top}/f", b"x")
    os.mkdir(f"{top}/d")
    os.symlink("x", f"{top}/l")
    for name in "f", "d", "l":
        for atime, mtime in ((1, giga - 1), (giga + 123456789, 2 * giga + 1),
                             (-giga - 1, -1), (0, 4000000000 * giga + 7)):
            os.utime(f"{top}/{name}", ns=(atime, mtime), follow_symlinks=False)
            for view in top, server, other:
                forget()
                st = os.lstat(f"{view}/{name}")
                expect((st.st_atime_ns, st.st_mtime_ns), (atime, mtime),
                       f"times of {name} in {view}")
    os.utime(f"{top}/f", ns=(giga, giga))
    before = os.stat(f"{top}/f")
    with opened(f"{top}/f", os.O_WRONLY) as fd:
        time.sleep(0.05)
        os.write(fd, b"y")
        written = os.fstat(fd)
        expect(written.st_mtime_ns > before.st_mtime_ns, True, "write sets mtime")
        expect(written.st_ctime_ns > before.st_ctime_ns, True, "and ctime")
        os.utime(fd, ns=(5, 6))
        expect(os.fstat(fd).st_mtime_ns, 6, "utime after write")
        os.write(fd, b"z")
        os.utime(fd, ns=(5, 6))
    expect(os.stat(f"{top}/f").st_mtime_ns, 6, "close does not set it again")
    expect(os.stat(f"{server}/f").st_mtime_ns, 6, "nor on the server")
    before = os.stat(f"{top}/f")
    time.sleep(0.05)
    os.chmod(f"{top}/f", 0o600)
    after = os.stat(f"{top}/f")
    expect(after.st_ctime_ns > before.st_ctime_ns, True, "chmod sets ctime")
    expect(after.st_mtime_ns, 6, "and not mtime")
    write_file(f"{top}/empty", b"")
    for name in "f", "empty":
        for change in os.rename, os.link:
            before = os.stat(f"{top}/{name}")
            time.sleep(0.05)
            change(f"{top}/{name}", f"{top}/{name}2")
            expect(os.stat(f"{top}/{name}2").st_ctime_ns > before.st_ctime_ns, True,
                   f"{change.__name__} of {name} sets ctime")
            os.rename(f"{top}/{name}2", f"{top}/{name}")
    os.utime(f"{top}/d", ns=(giga, giga))
    write_file(f"{top}/d/new", b"")
    expect(os.stat(f"{top}/d").st_mtime_ns > giga, True, "create sets mtime")
    with open(f"{top}/f", "wb"):
        pass
    expect(os.stat(f"{top}/f").st_mtime_ns > 6, True, "truncating open sets mtime")


def births(view, names):
    """Times of birth, to the nanosecond; Python does not tell them."""
    return subprocess.run(["stat", "-c", "%w", *(f"{view}/{name}" for name in names)],
                          check=True, capture_output=True, text=True).stdout.splitlines()


def case_birth(top, server, other):
    names = ["file", "link", "dir", "symlink", "fifo", "server"]
    write_file(f"{top}/file", b"x")
    os.link(f"{top}/file", f"{top}/link")
    os.mkdir(f"{top}/dir")
    os.symlink("x", f"{top}/symlink")
    os.mkfifo(f"{top}/fifo")
    # ext4's clock has steps
    time.sleep(0.1)
    write_file(f"{server}/server", b"x")
    born = births(server, names)
    expect("-" in born, False, "the server's file system has times of birth")
    expect(born[-1] > born[0], True, "they differ")
    for view in top, other:
        expect(births(view, names), born, view)
    # The birth time does not change when all other times do.
    write_file(f"{top}/file", b"longer")
    os.utime(f"{top}/file", ns=(5, 6))
    os.chmod(f"{top}/dir", 0o700)
    for name in names:
        os.rename(f"{top}/{name}", f"{top}/{name}2")
    for view in top, server, other:
        forget()
        expect(births(view, [f"{name}2" for name in names]), born, f"{view} after changes")
    os.rename(f"{top}/server2", f"{top}/file2")
    expect(births(top, ["file2"]), [born[-1]], "another file of that name")


# -- names


def case_names(top, server, other):
    names = ["挨" * 85, "é" * 127 + "x", "n" * 255, " ", "-", "...", "\n", "\\",
             "a\tb", "*?[]", "ﬀ", "é", "e\u0301", "𝄞", "\x01\x7f"]
    for name in names:
        write_file(f"{top}/{name}", name.encode())
    for view in top, server, other:
        expect(sorted(set(os.listdir(view)) - {"lost+found"}), sorted(names), view)
        for name in names:
            expect(read_file(f"{view}/{name}").decode(), name, f"content in {view}")
    for name in names:
        os.rename(f"{top}/{name}", f"{top}/{name[:-1]}z")
        os.unlink(f"{server}/{name[:-1]}z")
    for name in ("挨" * 85 + "x", "n" * 256):
        fails(errno.ENAMETOOLONG, os.stat, f"{top}/{name}")
        fails(errno.ENAMETOOLONG, write_file, f"{top}/{name}", b"")
        fails(errno.ENAMETOOLONG, os.mkdir, f"{top}/{name}")
        fails(errno.ENAMETOOLONG, os.symlink, "x", f"{top}/{name}")
    write_file(f"{top}/f", b"")
    fails(errno.ENAMETOOLONG, os.rename, f"{top}/f", f"{top}/{'n' * 256}")
    fails(errno.ENOTDIR, os.stat, f"{top}/f/")
    fails(errno.ENOTDIR, os.stat, f"{top}/f/x")
    fails(errno.EISDIR, os.open, f"{top}/new/", os.O_CREAT | os.O_WRONLY)
    fails(errno.ENOENT, os.stat, f"{top}/none")
    fails(errno.ENOENT, os.open, f"{top}/none/new", os.O_CREAT | os.O_WRONLY)
    fails(errno.EEXIST, os.open, f"{top}/f", os.O_CREAT | os.O_EXCL)
    fails(errno.EEXIST, os.mkdir, f"{top}/f")
    fails(errno.EEXIST, os.symlink, "x", f"{top}/f")
    fails(errno.EEXIST, os.mkfifo, f"{top}/f")


def case_symlinks(top, server, other):
    target = "/".join(["t" * 99] * 41)[:4095]
    os.symlink(target, f"{top}/long")
    os.symlink("挨/拶", f"{top}/short")
    for view in top, server, other:
        expect(os.readlink(f"{view}/long"), target, f"4095 bytes in {view}")
        expect(os.lstat(f"{view}/long").st_size, 4095, "its size")
        expect(os.readlink(f"{view}/short"), "挨/拶", f"UTF-8 in {view}")
    fails(errno.ENAMETOOLONG, os.symlink, target + "xx", f"{top}/longer")
    fails(errno.EINVAL, os.readlink, top)
    os.symlink("loop", f"{top}/loop")
    fails(errno.ELOOP, os.stat, f"{top}/loop")
    fails(errno.ELOOP, os.open, f"{top}/short", os.O_NOFOLLOW)
    os.symlink("there", f"{top}/dangling")
    fails(errno.ENOENT, os.open, f"{top}/dangling", os.O_RDONLY)
    fails(errno.EEXIST, os.open, f"{top}/dangling", os.O_CREAT | os.O_EXCL)
    write_file(f"{top}/dangling", b"made through the link")
    expect(read_file(f"{server}/there"), b"made through the link", "its target")
    # Replaced on the server: the new target, not the cached one.
    os.unlink(f"{server}/short")
    os.symlink("new", f"{server}/short")
    forget()
    expect(os.readlink(f"{other}/short"), "new", "the new target")


def case_deep(top, server, other):
    """A path far longer than PATH_MAX, step by step."""
    home = os.getcwd()
    os.chdir(top)
    depth = 150
    for level in range(depth):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    write_file("bottom", b"deep")
    fails(errno.ENAMETOOLONG, os.readlink, "/proc/self/cwd")
    inode = os.stat(".").st_ino
    forget()
    expect(read_file("bottom"), b"deep", "the file below")
    expect(os.stat(".").st_ino, inode, "the directory")
    os.unlink("bottom")
    for level in range(depth):
        os.chdir("..")
        os.rmdir("d" * 200)
    expect(os.listdir("."), [], "all is removed")
    os.chdir(home)
    path = "/".join(["p" * 120] * 30)
    os.makedirs(f"{top}/{path}")
    write_file(f"{top}/{path}/f", b"x")
    expect(read_file(f"{server}/{path}/f"), b"x", "by one path of 3.6 KB")
    expect(read_file(f"{other}/{path}/f"), b"x", "from the other client")


# -- directories


def listing(path):
    with os.scandir(path) as entries:
        for entry in entries:
            yield entry.name


def case_directory(top, server, other):
    """10,000 entries, read while others are added and removed."""
    count = 10000
    for i in range(count):
        os.close(os.open(f"{server}/stays {i}", os.O_CREAT | os.O_WRONLY))
        if not i % 20:
            os.close(os.open(f"{server}/goes {i}", os.O_CREAT | os.O_WRONLY))
    stays = {f"stays {i}" for i in range(count)}
    seen = []
    gone = 0
    for number, name in enumerate(listing(top)):
        seen.append(name)
        if not number % 25 and gone < count:
            view = other if number % 50 else top
            os.unlink(f"{view}/goes {gone}")
            write_file(f"{top}/comes {gone}", b"")
            gone += 20
    expect(len(seen), len(set(seen)), "each name is there once")
    expect(stays - set(seen), set(), "what stayed was read")
    expect(gone > 4000, True, "enough was changed")
    now = set(os.listdir(server))
    expect(set(os.listdir(top)) ^ now, set(), "read again")
    expect(set(os.listdir(other)) ^ now, set(), "read by the other client")
    # Removed while it is read, as rm -r does.
    for i in range(1000, count):
        os.unlink(f"{server}/stays {i}")
    forget()
    for name in listing(top):
        os.unlink(f"{top}/{name}")
    expect(os.listdir(server), [], "all is removed")


class Reader:
    """readdir(3) and its kin"""

    def __init__(self, path):
        LIBC.opendir.restype = ctypes.c_void_p
        LIBC.readdir.restype = ctypes.c_void_p
        LIBC.telldir.restype = ctypes.c_long
        self.handle = ctypes.c_void_p(LIBC.opendir(path.encode()))

    def next(self):
        entry = LIBC.readdir(self.handle)
        return ctypes.string_at(entry + 19) if entry else None

    def tell(self):
        return LIBC.telldir(self.handle)

    def seek(self, place):
        LIBC.seekdir(self.handle, ctypes.c_long(place))

    def rewind(self):
        LIBC.rewinddir(self.handle)

    def close(self):
        LIBC.closedir(self.handle)


class BigDirectory:
    """Changes at the server to a directory with the names 0, 1, ... in it."""

    def __init__(self, server):
        self.server = server
        self.stays = set(os.listdir(server))
        self.count = len(self.stays)
        self.gone = set()
        self.added = 0

    def remove(self, victim):
        if victim in self.stays:
            os.unlink(f"{self.server}/{victim}")
            self.stays.discard(victim)
            self.gone.add(victim)

    def change(self):
        self.remove(str((self.added * 104729 + 7919) % self.count))
        write_file(f"{self.server}/new {self.added}", b"")
        self.added += 1

    def check(self, seen):
        """Checks names that were read while the directory was changed."""
        names = set(seen) - {".", ".."}
        expect(len(seen), len(names) + 2, "each name is there once")
        expect(self.stays - names, set(), "what stayed was read")
        new = {f"new {i}" for i in range(self.added)}
        expect(names - self.stays - self.gone - new, set(), "what was never there")


def case_huge(top, server, other):
    """100,000 entries, read while others are added and removed; and its positions."""
    big = BigDirectory(server)
    expect(big.count, 100000, "entries")
    # The first listing makes an inode or a dentry of each name, which takes long.
    next(listing(top))
    reader = Reader(top)
    names, places = [], []
    while True:
        places.append(reader.tell())
        name = reader.next()
        if name is None:
            break
        names.append(name.decode())
        if not len(names) % 100:
            big.change()
    big.check(names)
    expect(big.added >= 990, True, "enough was changed")
    # A position is valid even if the entry before it was removed.
    for i in range(len(names) - 1, 1, -4999):
        if names[i] not in big.stays:
            continue
        big.remove(names[i - 1])
        reader.seek(places[i])
        name = reader.next().decode()
        while name.startswith("new") and name != names[i]:
            name = reader.next().decode()
        expect(name, names[i], f"after seekdir to {i}")
    reader.seek(places[1])
    expect(reader.next().decode(), names[1], "after seekdir to the beginning")
    reader.close()


def case_seekdir(top, server, other):
    """telldir, seekdir and rewinddir."""
    for i in range(500):
        write_file(f"{server}/{i}", b"")
    reader = Reader(top)
    names, places = [], []
    while True:
        places.append(reader.tell())
        name = reader.next()
        if name is None:
            break
        names.append(name)
    expect(len(names), 502, "entries")
    for i in list(range(0, 502, 37)) + [0, 501]:
        reader.seek(places[i])
        expect(reader.next(), names[i], f"after seekdir to {i}")
    write_file(f"{top}/new", b"")
    reader.rewind()
    again = []
    while (name := reader.next()) is not None:
        again.append(name)
    expect(sorted(again), sorted([*names, b"new"]), "after rewinddir")
    reader.close()


def case_rename(top, server, other):
    write_file(f"{top}/a", b"a")
    write_file(f"{top}/b", b"b")
    os.mkdir(f"{top}/d")
    os.mkdir(f"{top}/d/sub")
    os.mkdir(f"{top}/empty")
    fails(errno.ENOENT, os.rename, f"{top}/none", f"{top}/a")
    fails(errno.EISDIR, os.rename, f"{top}/a", f"{top}/d")
    fails(errno.ENOTDIR, os.rename, f"{top}/d", f"{top}/a")
    fails(errno.ENOTEMPTY, os.rename, f"{top}/empty", f"{top}/d")
    fails(errno.EINVAL, os.rename, f"{top}/d", f"{top}/d/sub/x")
    fails(errno.ENOTEMPTY, os.rename, f"{top}/empty", f"{top}/d")
    os.rename(f"{top}/a", f"{top}/a")
    expect(read_file(f"{server}/a"), b"a", "renamed to itself")
    # RENAME does not support RENAME_NOREPLACE, RENAME_EXCHANGE and RENAME_WHITEOUT.
    for flags, name in (1, "new"), (2, "b"), (4, "new"):
        ctypes.set_errno(0)
        done = LIBC.renameat2(-100, f"{top}/a".encode(), -100, f"{top}/{name}".encode(), flags)
        expect((done, ctypes.get_errno()), (-1, errno.EINVAL), f"renameat2 with {flags}")
    expect((read_file(f"{server}/a"), read_file(f"{server}/b")), (b"a", b"b"), "both as they were")
    with opened(f"{top}/a", os.O_RDWR) as old, opened(f"{top}/b", os.O_RDWR) as new:
        os.rename(f"{top}/b", f"{top}/a")
        expect(os.pread(old, 9, 0), b"a", "the replaced file is still open")
        expect(os.fstat(old).st_nlink, 0, "and has no name")
        os.pwrite(old, b"nameless", 0)
        os.fsync(old)
        expect(os.pread(old, 9, 0), b"nameless", "and is written to")
        os.pwrite(new, b"renamed", 0)
        expect(os.fstat(new).st_nlink, 1, "names of the other")
    for view in top, server, other:
        expect(read_file(f"{view}/a"), b"renamed", view)
        expect(os.path.exists(f"{view}/b"), False, f"the old name in {view}")
    os.rename(f"{top}/d", f"{top}/empty")
    expect(os.listdir(f"{top}/empty"), ["sub"], "an empty directory is replaced")
    os.rename(f"{top}/empty/sub", f"{top}/up")
    expect(os.stat(f"{top}/up/..").st_ino, os.stat(top).st_ino, "its parent")
    expect(os.stat(f"{top}/empty").st_nlink, 2, "links of where it was")
    os.chdir(f"{top}/up")
    os.rename(f"{top}/up", f"{top}/empty/down")
    write_file("here", b"x")
    expect(read_file(f"{server}/empty/down/here"), b"x", "the current directory moved")
    os.chdir("/")


def case_unlink(top, server, other):
    fails(errno.EISDIR, os.unlink, top)
    write_file(f"{top}/f", b"data")
    fails(errno.ENOTDIR, os.rmdir, f"{top}/f")
    os.mkdir(f"{top}/d")
    write_file(f"{top}/d/f", b"")
    fails(errno.ENOTEMPTY, os.rmdir, f"{top}/d")
    with opened(f"{top}/f", os.O_RDWR) as fd:
        os.unlink(f"{top}/f")
        fails(errno.ENOENT, os.stat, f"{top}/f")
        expect(os.fstat(fd).st_nlink, 0, "links")
        expect(os.pread(fd, 9, 0), b"data", "an open file without a name")
        os.pwrite(fd, b"y" * 100000, 50)
        os.fsync(fd)
        os.ftruncate(fd, 60000)
        forget()
        expect(os.pread(fd, 100000, 0), b"data" + bytes(46) + b"y" * 59950, "written")
        os.fchmod(fd, 0o600)
        expect(stat.S_IMODE(os.fstat(fd).st_mode), 0o600, "its mode")
        # The name is free for another file.
        write_file(f"{top}/f", b"new")
        expect(read_file(f"{other}/f"), b"new", "another file of that name")
        expect(os.pread(fd, 4, 0), b"data", "is another one")
    expect(read_file(f"{top}/f"), b"new", "after close")
    with opened(f"{top}/d", os.O_RDONLY) as fd:
        os.unlink(f"{top}/d/f")
        os.rmdir(f"{top}/d")
        fails(errno.ENOENT, os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=fd)
        expect(os.fstat(fd).st_nlink, 0, "links of a removed directory")


# Operations on a name while it is replaced, as by editors and databases.
USE_NAME = {
    "open": lambda p: expect(len(read_file(p)), 100, "bytes of a whole version"),
    "open to write": lambda p: os.close(os.open(p, os.O_RDWR)),
    "create": lambda p: os.close(os.open(p, os.O_RDONLY | os.O_CREAT)),
    "access": lambda p: expect(os.access(p, os.R_OK | os.W_OK), True, "access"),
    "stat": lambda p: expect(os.stat(p).st_size, 100, "size of a whole version"),
    "chmod": lambda p: os.chmod(p, 0o640),
    "utime": lambda p: os.utime(p, (1, 2)),
    "truncate": lambda p: os.truncate(p, 100),
    "readlink": lambda p: expect(os.path.basename(os.readlink(f"{p}.link")), "name",
                                "target"),
    "follow": lambda p: expect(len(read_file(f"{p}.link")), 100, "bytes by a link"),
}


def replace_often(top):
    """Without end."""
    version = 0
    while True:
        write_file(f"{top}/new", b"%d" % (version % 10) * 100)
        os.rename(f"{top}/new", f"{top}/name")
        os.symlink("name" if version % 2 else "././name", f"{top}/new")
        os.rename(f"{top}/new", f"{top}/name.link")
        version += 1


def case_replace(top, server, other):
    """A name that is replaced by rename always leads to a file."""
    write_file(f"{top}/name", b"x" * 100)
    os.symlink("name", f"{top}/name.link")
    users = {}
    with busy(lambda: replace_often(top)):
        for what, use in USE_NAME.items():
            child = os.fork()
            if not child:
                try:
                    for _ in range(300):
                        use(f"{top}/name")
                except Exception:
                    print(what)
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            users[child] = what
        for _ in list(users):
            child, status = os.wait()
            expect(status, 0, users.pop(child))


def case_nameless(top, server, other):
    """Unlinked objects of all kinds stay usable while they are open."""
    write_file(f"{top}/file", b"data")
    os.symlink("nowhere", f"{top}/link")
    os.mkfifo(f"{top}/fifo", 0o600)
    os.mknod(f"{top}/zero", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    os.mkdir(f"{top}/dir")
    path_only = os.O_PATH | os.O_NOFOLLOW
    with opened(f"{top}/file", path_only) as file, opened(f"{top}/link", path_only) as link, \
            opened(f"{top}/fifo", os.O_RDWR) as fifo, opened(f"{top}/zero", os.O_RDWR) as zero, \
            opened(f"{top}/dir", os.O_RDONLY) as folder:
        fds = {"file": file, "link": link, "fifo": fifo, "zero": zero}
        before = {name: os.fstat(fd) for name, fd in fds.items()}
        for name in fds:
            os.unlink(f"{top}/{name}")
        os.mkdir(f"{top}/dir2")
        os.rename(f"{top}/dir2", f"{top}/dir")
        for name, fd in fds.items():
            after = os.fstat(fd)
            expect(after.st_nlink, 0, f"links of {name}")
            for what in "st_mode", "st_ino", "st_size", "st_uid", "st_mtime", "st_rdev":
                expect(getattr(after, what), getattr(before[name], what), f"{what} of {name}")
        expect(os.fstat(folder).st_nlink, 0, "links of a directory that was replaced")
        expect(os.readlink("", dir_fd=link), "nowhere", "the target of a link")
        os.write(fifo, b"through")
        with opened(f"/proc/self/fd/{fifo}", os.O_RDONLY) as again:
            expect(os.read(again, 9), b"through", "a fifo opened once more")
        for fd in fifo, zero:
            os.fchmod(fd, 0o640)
            os.fchown(fd, 1, 2)
            os.utime(fd, ns=(10 ** 9 + 1, 10 ** 9 + 2))
            st = os.fstat(fd)
            expect((stat.S_IMODE(st.st_mode), st.st_uid, st.st_gid, st.st_mtime_ns),
                   (0o640, 1, 2, 10 ** 9 + 2), "what was changed")
        expect(os.read(zero, 2), bytes(2), "a device without a name")
    os.mkdir(f"{top}/cwd")
    os.chdir(f"{top}/cwd")
    os.rmdir(f"{top}/cwd")
    expect(os.stat(".").st_nlink, 0, "links of the current directory")
    os.chdir("/")


class FileHandle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int),
                ("data", ctypes.c_ubyte * 128)]


def handle_of(path):
    """name_to_handle_at(2)"""
    handle, mount_id = FileHandle(bytes=128), ctypes.c_int()
    if LIBC.name_to_handle_at(-100, path.encode(), ctypes.byref(handle),
                              ctypes.byref(mount_id), 0):
        raise OSError(ctypes.get_errno(), f"name_to_handle_at {path}")
    return handle


def open_handle(view, handle, flags):
    """open_by_handle_at(2)"""
    with opened(view, os.O_RDONLY) as mount:
        fd = LIBC.open_by_handle_at(mount, ctypes.byref(handle), flags)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "open_by_handle_at")
    return fd


def read_handle(view, handle):
    fd = open_handle(view, handle, os.O_RDONLY)
    try:
        return os.read(fd, 100)
    finally:
        os.close(fd)


def case_handles(top, server, other):
    """Files are found again without their names, and by other clients."""
    os.makedirs(f"{top}/a/b")
    write_file(f"{top}/a/b/f", b"data")
    os.symlink("x", f"{top}/a/link")
    file, folder = handle_of(f"{top}/a/b/f"), handle_of(f"{top}/a/b")
    link = handle_of(f"{top}/a/link")
    expect(bytes(file.data) != bytes(folder.data), True, "handles differ")
    for _ in "cached", "not":
        expect(read_handle(top, file), b"data", "a file by its handle")
        forget()
    fd = open_handle(top, file, os.O_RDWR)
    expect(os.pwrite(fd, b"DATA", 0), 4, "written by its handle")
    os.close(fd)
    expect(read_file(f"{server}/a/b/f"), b"DATA", "at the server")
    os.rename(f"{top}/a/b/f", f"{top}/a/moved")
    expect(read_handle(top, file), b"DATA", "after a rename")
    os.rename(f"{server}/a/moved", f"{server}/a/again")
    expect(read_handle(top, file), b"DATA", "after a rename by others")
    expect(read_handle(other, file), b"DATA", "on another client")
    for view in top, other:
        forget()
        fd = open_handle(view, folder, os.O_RDONLY)
        expect(os.readlink(f"/proc/self/fd/{fd}"), f"{view}/a/b", "the way to a directory")
        write_file(f"/proc/self/fd/{fd}/new", b"new")
        os.close(fd)
        expect(read_file(f"{server}/a/b/new"), b"new", "made in a directory")
    fails(errno.ELOOP, open_handle, top, link, os.O_RDONLY)
    fd = open_handle(top, link, os.O_PATH)
    expect(os.readlink("", dir_fd=fd), "x", "a symbolic link")
    os.close(fd)
    fd = open_handle(top, file, os.O_RDONLY)
    os.unlink(f"{top}/a/again")
    expect(read_handle(top, file), b"DATA", "a file that is open and has no name")
    os.close(fd)
    fails(errno.ESTALE, open_handle, top, file, os.O_RDONLY)
    file.data[20] ^= 1
    fails(errno.ESTALE, open_handle, top, file, os.O_RDONLY)
    file.bytes -= 4
    fails(errno.ESTALE, open_handle, top, file, os.O_RDONLY)
    small = FileHandle(bytes=8)
    expect(LIBC.name_to_handle_at(-100, top.encode(), ctypes.byref(small),
                                  ctypes.byref(ctypes.c_int()), 0), -1, "no room")
    expect((ctypes.get_errno(), small.bytes), (errno.EOVERFLOW, 64), "how much it takes")


def case_groups(top, server, other):
    """A user with more groups than fit into a request keeps as many as fit."""
    groups = range(10000, 30000)
    for name, group in ("first", groups[0]), ("last", groups[-1]):
        write_file(f"{top}/{name}", b"data")
        os.chown(f"{top}/{name}", 0, group)
        os.chmod(f"{top}/{name}", 0o640)
    write_file(f"{top}/all", b"data")

    def child():
        os.setgroups(groups)
        os.setresuid(1000, 1000, 1000)
        expect(read_file(f"{top}/all"), b"data", "what all may read")
        expect(read_file(f"{top}/first"), b"data", "what the first group may read")
        fails(errno.EACCES, os.open, f"{top}/last", os.O_RDONLY)

    os.chmod(top, 0o755)
    expect(exit_status(child), 0, "a user in many groups")


def case_special(top, server, other):
    os.mkfifo(f"{top}/fifo")
    child = os.fork()
    if not child:
        write_file(f"{top}/fifo", b"through the fifo")
        os._exit(0)
    expect(read_file(f"{top}/fifo"), b"through the fifo", "fifo")
    os.waitpid(child, 0)
    with socket.socket(socket.AF_UNIX) as listener, \
            socket.socket(socket.AF_UNIX) as client:
        listener.bind(f"{top}/socket")
        listener.listen()
        client.connect(f"{top}/socket")
        client.send(b"hello")
        expect(listener.accept()[0].recv(9), b"hello", "socket")
    os.mknod(f"{top}/zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    expect(read_at(f"{top}/zero", 0, 3), bytes(3), "/dev/zero")
    for view in top, server, other:
        expect([stat.filemode(os.lstat(f"{view}/{name}").st_mode)[0]
                for name in ("fifo", "socket", "zero")], ["p", "s", "c"], view)


def case_locks(top, server, other):
    """flock and fcntl, among the processes of one client."""
    write_file(f"{top}/f", b"x" * 100)

    def blocked(lock, *args):
        def child():
            with opened(f"{top}/f", os.O_RDWR) as fd:
                try:
                    lock(fd, *args)
                except OSError as error:
                    return error.errno
        return exit_status(child) in (errno.EAGAIN, errno.EACCES)

    with opened(f"{top}/f", os.O_RDWR) as fd:
        fcntl.flock(fd, fcntl.LOCK_SH)
        expect(blocked(fcntl.flock, fcntl.LOCK_SH | fcntl.LOCK_NB), False, "shared")
        expect(blocked(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB), True, "exclusive")
        fcntl.flock(fd, fcntl.LOCK_UN)
        expect(blocked(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB), False, "unlocked")
        fcntl.lockf(fd, fcntl.LOCK_EX, 10, 20)
        write_nb = fcntl.LOCK_EX | fcntl.LOCK_NB
        expect(blocked(fcntl.lockf, write_nb, 10, 10), False, "before the range")
        expect(blocked(fcntl.lockf, write_nb, 1, 29), True, "its end")
        expect(blocked(fcntl.lockf, write_nb, 0, 30), False, "after the range")
        with opened(f"{top}/f", os.O_RDONLY):
            pass
        expect(blocked(fcntl.lockf, write_nb, 1, 29), False, "close has unlocked")


# -- file systems


def case_statfs(top, server, other):
    mine, theirs = os.statvfs(top), os.statvfs(server)
    expect(mine.f_namemax, 255, "longest name")
    for field in "f_blocks", "f_bfree", "f_bavail":
        expect(getattr(mine, field) * mine.f_frsize,
               getattr(theirs, field) * theirs.f_frsize, field)
    for field in "f_files", "f_ffree":
        expect(getattr(mine, field), getattr(theirs, field), field)
    write_file(f"{top}/f", b"x" * 1000000)
    used = mine.f_bfree * mine.f_frsize - os.statvfs(top).f_bfree * mine.f_frsize
    expect(1000000 <= used < 1200000, True, "what a file takes")


def all_of(count, data):
    """A short write has filled the disk, and the next one returns ENOSPC."""
    expect(count > 0, True, "bytes written")
    if count != len(data):
        raise OSError(errno.ENOSPC, "short")


def by_cached_write(path, data):
    with opened(path, os.O_WRONLY | os.O_CREAT) as fd:
        all_of(os.write(fd, data), data)
        os.fsync(fd)


def by_close(path, data):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        all_of(os.write(fd, data), data)
    except OSError:
        with contextlib.suppress(OSError):
            os.close(fd)
        raise
    os.close(fd)


def by_direct_write(path, data):
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    with opened(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT) as fd:
        all_of(os.write(fd, memory), data)


def by_mapping(path, data):
    with opened(path, os.O_RDWR | os.O_CREAT) as fd:
        os.ftruncate(fd, len(data))
        with mmap.mmap(fd, len(data)) as mapped:
            mapped[:] = data
            mapped.flush()


def by_sync_write(path, data):
    with opened(path, os.O_WRONLY | os.O_CREAT | os.O_SYNC) as fd:
        all_of(os.write(fd, data), data)


def by_sendfile(path, data):
    """From memory, through the page cache."""
    with opened(path, os.O_WRONLY | os.O_CREAT) as fd, memory_file(data) as source:
        done = 0
        while done < len(data):
            done += os.sendfile(fd, source, done, len(data) - done)
        os.fsync(fd)


@contextlib.contextmanager
def memory_file(data):
    fd = os.memfd_create("data")
    try:
        os.write(fd, data)
        yield fd
    finally:
        os.close(fd)


def by_splice(path, data):
    """Out of a pipe, each piece stable before the next one."""
    source, sink = os.pipe()
    try:
        with opened(path, os.O_WRONLY | os.O_CREAT | os.O_DSYNC) as fd:
            for start in range(0, len(data), 16 * PAGE):
                left = os.write(sink, data[start:start + 16 * PAGE])
                while left:
                    left -= os.splice(source, fd, left)
    finally:
        os.close(source)
        os.close(sink)


def by_append(path, data):
    with opened(path, os.O_WRONLY | os.O_CREAT) as fd:
        all_of(os.pwritev(fd, [data], 0, os.RWF_APPEND), data)


def by_tmpfile(path, data):
    """A file that gets its name after all data is written."""
    with opened(os.path.dirname(path), os.O_RDWR | os.O_TMPFILE) as fd:
        all_of(os.write(fd, data), data)
        os.fsync(fd)
        # AT_FDCWD and AT_SYMLINK_FOLLOW: os.link() does not follow
        if LIBC.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, path.encode(), 0x400):
            raise OSError(ctypes.get_errno(), "linkat")


class ControlBlock(ctypes.Structure):
    """struct iocb"""
    _fields_ = [("data", ctypes.c_uint64), ("key", ctypes.c_uint32),
                ("rw_flags", ctypes.c_int32), ("opcode", ctypes.c_uint16),
                ("priority", ctypes.c_int16), ("fd", ctypes.c_uint32),
                ("buffer", ctypes.c_uint64), ("length", ctypes.c_uint64),
                ("offset", ctypes.c_int64), ("reserved", ctypes.c_uint64),
                ("flags", ctypes.c_uint32), ("event_fd", ctypes.c_uint32)]


# Of x86-64; after the first always call the second, see bed/README.md.
IO_SETUP, IO_DESTROY, IO_GETEVENTS, IO_SUBMIT = 206, 207, 208, 209
IO_PWRITE = 1
PARTS = 4


def aio_writes(context, fd, memory):
    """The results of all parts, which are written at the same time."""
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    part = len(memory) // PARTS
    blocks = [ControlBlock(fd=fd, opcode=IO_PWRITE, buffer=address + i * part, length=part,
                           offset=i * part) for i in range(PARTS)]
    pointers = (ctypes.POINTER(ControlBlock) * PARTS)(*map(ctypes.pointer, blocks))
    events = (ctypes.c_int64 * (4 * PARTS))()
    expect(LIBC.syscall(IO_SUBMIT, context, ctypes.c_long(PARTS), pointers), PARTS, "io_submit")
    expect(LIBC.syscall(IO_GETEVENTS, context, ctypes.c_long(PARTS), ctypes.c_long(PARTS),
                        events, None), PARTS, "io_getevents")
    return events[2::4]


def by_aio(path, data):
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    context = ctypes.c_ulong(0)
    with opened(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT) as fd:
        expect(LIBC.syscall(IO_SETUP, ctypes.c_long(PARTS), ctypes.byref(context)), 0,
               "io_setup")
        try:
            results = aio_writes(context, fd, memory)
        finally:
            expect(LIBC.syscall(IO_DESTROY, context), 0, "io_destroy")
    for result in results:
        if result < 0:
            raise OSError(-result, "asynchronous write")
        all_of(result, data[:len(data) // PARTS])


def fill(top, how, data_of):
    """Writes files until one does not fit; returns the data of the others by name."""
    written = {}
    for i in range(10000):
        try:
            how(f"{top}/{i}", data_of(i))
        except OSError as error:
            expect(errno.errorcode[error.errno], "ENOSPC", how.__name__)
            return written
        written[str(i)] = data_of(i)
    raise AssertionError(f"{how.__name__}: the disk is not full")


def case_full(top, server, other):
    """Data reported as written is there, although the disk is full."""
    length = 40 * PAGE
    for how in (by_cached_write, by_close, by_direct_write, by_mapping, by_sync_write,
                by_sendfile, by_splice, by_append, by_tmpfile, by_aio):
        def data_of(i):
            return (f"{how.__name__} {i} ".encode() * length)[:length]

        written = fill(top, how, data_of)
        expect(len(written) > 10, True, f"files by {how.__name__}")
        forget()
        for path, data in written.items():
            expect(read_file(f"{server}/{path}") == data, True,
                   f"{path} by {how.__name__}")
        rest = set(os.listdir(server)) - set(written)
        expect(len(rest) <= (how != by_tmpfile), True, f"files beyond by {how.__name__}")
        if how == by_append:
            expect([os.stat(f"{server}/{path}").st_size for path in rest], [0],
                   "an append that was refused")
        for path in os.listdir(top):
            os.unlink(f"{top}/{path}")
        how(f"{top}/again", data_of(0))
        expect(read_file(f"{server}/again") == data_of(0), True, f"{how.__name__}: room again")
        os.unlink(f"{top}/again")


def main():
    top, server, other, name = sys.argv[1:]
    os.umask(0o022)
    # directories that take long to create may exist
    os.makedirs(f"{top}/{name}", exist_ok=True)
    try:
        globals()[f"case_{name}"](*(f"{view}/{name}" for view in (top, server, other)))
    except (AssertionError, OSError):
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
