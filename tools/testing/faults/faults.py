#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""System calls on a mount while one allocation of the modules fails.

  faults.py SIDE CLIENT SERVER CASE...

SIDE is client for allocations of the client's task, or slab or page for those of
the work queues (inject.py). CLIENT is a DAFS mount and SERVER the same directory
on the server. A CASE is repeated, and each time a later allocation fails, until a
run has fewer allocations. The result of the call must be true, and the next call
must work.

Prints a line for each case: number of errors, its name, and the numbers of failed
allocations and calls.
"""

import contextlib
import ctypes
import errno
import fcntl
import functools
import mmap
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

import inject

LIBC = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE
SMALL = 3000
LARGE = 100000
MOUNT = "/mnt/fault"
ROOT = "/mnt/root"                              # all exports
SESSIONS = "/sys/fs/dafsd"
OPTIONS = os.environ.get("FAULT_OPTIONS", "max_requests=2,actimeo=0,nosharecache,backchannel")
MS_REMOUNT = 32
MNT_DETACH = 2
AT_FDCWD, AT_SYMLINK_FOLLOW = -100, 0x400
FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
DELETE_MODULE, FINIT_MODULE = 176, 313          # numbers of x86-64
# Modules are loaded without modprobe(8), which would add state_dir.  What is delegated stays
# open, and could not be told from what has leaked.
EXPORTS = os.environ.get("FAULT_EXPORTS", "exports=/srv/data:no_root_squash") + \
    " state_dir=/tmp/dafs max_delegations=0"

# Errors of a call if the client or the server has no memory. ENFILE: an open
# for which the server has no memory
WANT = {errno.ENOMEM, errno.EIO, errno.ENFILE}


def expect(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r:.300} instead of {want!r:.300}")


def pattern(size, seed):
    block = bytes((seed * 37 + i * 7) & 255 for i in range(251))
    return (block * (size // len(block) + 1))[:size]


def libc(name, *args):
    if getattr(LIBC, name)(*args) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def mount(options=OPTIONS, flags=0, export="data", where=MOUNT):
    libc("mount", f"10.9.0.1:/{export}".encode(), where.encode(), b"dafs", flags,
         options.encode())


def umount(where=MOUNT):
    libc("umount2", where.encode(), 0)


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def opens():
    """The number of files that clients have open at the server."""
    return sum(int(inject.get(f"{SESSIONS}/{session}/opens"))
               for session in os.listdir(SESSIONS))


def resources():
    """The number of RDMA resources of each kind of both sides, as counted by rdma(8)."""
    said = subprocess.run(["rdma", "resource", "show"], check=True, capture_output=True,
                          text=True)
    words = said.stdout.partition(": rx0: ")[2].split()
    return dict(zip(words[::2], map(int, words[1::2])))


def wait_for(look, want, what, seconds=120):
    """Resources are freed in a work queue, so wait."""
    end = time.monotonic() + seconds
    while (got := look()) != want and time.monotonic() < end:
        time.sleep(0.1)
    expect(got, want, what)


def all_freed(before):
    """Waits until a mount that is gone has left nothing behind.

    Less than before is fine: other mounts free regions that they have not used for some
    seconds.
    """
    def left():
        return {kind: count for kind, count in resources().items()
                if count > before.get(kind, 0)}

    wait_for(left, {}, f"left of a mount, beside {before}")


def forget():
    inject.put("/proc/sys/vm/drop_caches", 3)


def on_disk(path, data):
    """A file without cached pages."""
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    forget()


class Round:
    """One run of a case: the call in which an allocation fails, and its files."""

    def __init__(self, injection, client, server, number):
        self.injection = injection
        self.client = client
        self.server = server
        self.root = server
        self.number = number
        self.errors = []

    def paths(self, name):
        return f"{self.client}/{name}", f"{self.server}/{name}"

    def attempt(self, function, *args, may=()):
        """Returns the result of function, or None if it failed for lack of memory."""
        self.injection.begin()
        try:
            return function(*args)
        except OSError as caught:
            code = caught.errno
        finally:
            self.injection.end()
        if code not in WANT and code not in may:
            raise AssertionError(f"{function.__name__}: {os.strerror(code)}")
        if not self.injection.fired():
            raise AssertionError(f"{function.__name__} failed by itself: {os.strerror(code)}")
        self.errors.append(code)
        return None

    def attempt_in_child(self, function):
        """For functions that may end by SIGBUS. True on success."""
        injection = self.injection
        if not injection.of_task:
            injection.begin()
        ends = os.pipe()
        child = os.fork()
        if not child:
            os._exit(self.child(function, ends[1]))
        os.close(ends[1])
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if injection.of_task:
            injection.left = int(os.read(ends[0], 20) or 0)
        else:
            injection.end()
        os.close(ends[0])
        if status not in (0, 1, -signal.SIGBUS):
            raise AssertionError(f"{function.__name__} in a child: {status}")
        if status and not injection.fired():
            raise AssertionError(f"{function.__name__} failed by itself in a child: {status}")
        if status:
            self.errors.append(errno.EIO)
        return not status

    def child(self, function, end):
        status = 2
        if self.injection.of_task:
            self.injection.here()
            self.injection.begin()
        try:
            function()
            status = 0
        except OSError as error:
            status = 1 if error.errno in WANT else 2
        except Exception:
            traceback.print_exc()
        if self.injection.of_task:
            self.injection.end()
            os.write(end, b"%d" % self.injection.left)
        return status

    def agree(self):
        """Checks that client and server have the same names."""
        expect(sorted(os.listdir(self.client)), sorted(os.listdir(self.server)),
               "names")
        for name in os.listdir(self.server):
            here, there = self.paths(name)
            expect(os.path.lexists(here), True, name)
            mine, theirs = os.lstat(here), os.lstat(there)
            expect((mine.st_mode, mine.st_size, mine.st_nlink),
                   (theirs.st_mode, theirs.st_size, theirs.st_nlink), name)

    def healthy(self):
        """Checks that everything works again, and nothing is left open."""
        here, there = self.paths("healthy")
        write_file(here, b"well")
        expect(read_file(there), b"well", "written")
        os.unlink(here)
        expect(os.path.exists(there), False, "unlinked")
        wait_for(opens, 0, "files open at the server")


# ---- names

def case_mkdir(at):
    here, _ = at.paths("dir")
    at.attempt(os.mkdir, here)
    at.agree()
    with contextlib.suppress(FileExistsError):
        os.mkdir(here)
    at.attempt(os.rmdir, here)
    at.agree()


def case_mknod(at):
    here, _ = at.paths("fifo")
    at.attempt(os.mkfifo, here)
    at.agree()


def case_symlink(at):
    here, there = at.paths("link")
    at.attempt(os.symlink, "t" * 1000, here)
    at.agree()
    if not os.path.lexists(there):
        os.symlink("t" * 1000, there)
    forget()
    text = at.attempt(os.readlink, here)
    expect(text or os.readlink(here), "t" * 1000, "link")


def case_link(at):
    here, there = at.paths("file")
    other, _ = at.paths("other")
    write_file(here, b"x")
    at.attempt(os.link, here, other)
    at.agree()
    at.attempt(os.unlink, here)
    at.agree()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(here)
    expect(os.path.exists(there), False, "unlinked")


def case_rename(at):
    here, there = at.paths("file")
    other, beyond = at.paths("other")
    write_file(here, b"new")
    write_file(other, b"old")
    at.attempt(os.rename, here, other)
    at.agree()
    expect(read_file(beyond), b"old" if os.path.exists(there) else b"new", "target")
    with contextlib.suppress(FileNotFoundError):
        os.rename(here, other)
    expect(read_file(other), b"new", "renamed")


def case_lookup(at):
    here, there = at.paths("a")
    os.makedirs(f"{there}/b/c")
    forget()
    found = at.attempt(os.stat, f"{here}/b/c")
    expect((found or os.stat(f"{here}/b/c")).st_ino, os.stat(f"{there}/b/c").st_ino, "c")
    at.attempt(os.access, f"{here}/b", os.W_OK)
    at.attempt(os.statvfs, here)


def case_attributes(at):
    here, there = at.paths("file")
    write_file(there, pattern(SMALL, 1))
    os.chmod(there, 0o640)
    os.stat(here)
    seen = at.attempt(os.stat, here)
    expect((seen or os.stat(here)).st_mode, os.stat(there).st_mode, "mode")
    at.attempt(os.statvfs, at.client)
    with open(here, "rb") as file:
        seen = at.attempt(os.fstat, file.fileno())
        expect((seen or os.fstat(file.fileno())).st_size, SMALL, "size")


def case_readdir(at):
    """More names than fit into one message."""
    many = os.path.join(os.path.dirname(at.client), "many")
    there = os.path.join(os.path.dirname(at.server), "many")
    names = [f"{'n' * 240}{i}" for i in range(14)]
    if not os.path.isdir(there):
        os.mkdir(there)
        for name in names:
            write_file(f"{there}/{name}", b"")
    forget()
    listed = at.attempt(os.listdir, many)
    expect(sorted(os.listdir(many) if listed is None else listed), sorted(names), "names")


def case_crossing(at):
    below = os.path.join(os.path.dirname(at.client), "inner")
    found = at.attempt(os.listdir, below)
    expect(os.listdir(below) if found is None else found, ["here"], "an inner export")
    libc("umount2", below.encode(), 0)


# ---- attributes

def case_setattr(at):
    here, there = at.paths("file")
    write_file(here, pattern(SMALL, 1))
    at.attempt(os.chmod, here, 0o700)
    at.attempt(os.chown, here, 7, 8)
    at.attempt(os.utime, here, (1, 2))
    at.attempt(os.truncate, here, 10)
    at.agree()
    os.truncate(here, 10)
    expect(read_file(there), pattern(SMALL, 1)[:10], "truncated")


# ---- opening

def try_open(at, path, flags):
    fd = at.attempt(os.open, path, flags, 0o644)
    if fd is not None:
        at.attempt(os.close, fd)
    return fd is not None


def case_open(at):
    here, there = at.paths("file")
    write_file(there, b"x")
    forget()
    try_open(at, here, os.O_RDWR)
    expect(read_file(here), b"x", "opened")


def case_create(at):
    here, there = at.paths("file")
    made = try_open(at, here, os.O_CREAT | os.O_WRONLY)
    at.agree()
    expect(made and not os.path.exists(there), False, "lost")
    write_file(here, b"x")


def case_create_excl(at):
    here, _ = at.paths("file")
    try_open(at, here, os.O_CREAT | os.O_EXCL | os.O_RDWR)
    at.agree()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(here)
    os.close(os.open(here, os.O_CREAT | os.O_EXCL))


def case_tmpfile(at):
    here, there = at.paths("named")
    fd = at.attempt(os.open, at.client, os.O_TMPFILE | os.O_RDWR, 0o600)
    if fd is None:
        return
    os.write(fd, b"nameless")
    at.attempt(libc, "linkat", AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD,
               here.encode(), AT_SYMLINK_FOLLOW)
    at.attempt(os.close, fd)
    at.agree()
    if os.path.exists(there):
        expect(read_file(there), b"nameless", "data of what had no name")


def case_unlink_open(at):
    here, there = at.paths("file")
    with open(here, "w+b", buffering=0) as file:
        file.write(b"still")
        at.attempt(os.unlink, here)
        at.agree()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(here)
        expect(os.path.exists(there), False, "unlinked")
        if at.attempt(file.write, b" there") is not None:
            file.seek(0)
            expect(file.read(), b"still there", "without a name")


# ---- data

def written(at, path, data, flags, calls):
    """Writes and closes: if all calls succeed, the data must be there."""
    here, there = path
    fd = os.open(here, os.O_CREAT | os.O_RDWR | flags, 0o644)
    try:
        for call in calls:
            count = at.attempt(call, fd)
            if call.__name__ == "write" and count is not None:
                while count < len(data):
                    count += os.pwrite(fd, data[count:], count)
    finally:
        at.attempt(os.close, fd)
    if not at.errors:
        expect(read_file(there) == data, True, "nobody said that the data is lost")
    fd = os.open(here, os.O_RDWR | os.O_TRUNC)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    expect(read_file(there) == data, True, "the data, once more")


def case_write(at, size=SMALL, flags=0):
    data = pattern(size, at.number)

    def write(fd):
        return os.write(fd, data)

    written(at, at.paths("file"), data, flags, [write, os.fsync])


def case_write_large(at):
    case_write(at, LARGE)


def case_write_sync(at):
    case_write(at, SMALL, os.O_SYNC)


def case_write_close(at):
    data = pattern(SMALL, at.number)

    def write(fd):
        return os.write(fd, data)

    written(at, at.paths("file"), data, 0, [write])


def case_commit(at):
    """Unstable data, which fsync(2) makes stable by COMMIT."""
    data = pattern(LARGE, at.number)

    def write(fd):
        return os.write(fd, data)

    def write_back(fd):
        libc("sync_file_range", fd, ctypes.c_int64(0), ctypes.c_int64(0), 7)

    written(at, at.paths("file"), data, 0, [write, write_back, os.fsync])


def buffer_of(data):
    memory = mmap.mmap(-1, -(-len(data) // PAGE) * PAGE)
    memory[:len(data)] = data
    return memory


def case_direct(at, size=PAGE):
    data = pattern(size, at.number)
    memory = buffer_of(data)
    here, there = at.paths("file")
    write_file(there, bytes(size))
    fd = os.open(here, os.O_RDWR | os.O_DIRECT)
    count = at.attempt(os.writev, fd, [memory])
    if count is not None:
        expect(read_file(there)[:count] == data[:count], True, "written directly")
    os.pwrite(fd, memory, 0)
    expect(read_file(there) == data, True, "written directly, once more")
    memory[:] = bytes(size)
    count = at.attempt(os.preadv, fd, [memory], 0)
    if count is not None:
        expect(count > 0 and memory[:count] == data[:count], True, f"read directly ({count})")
    os.close(fd)


def case_direct_large(at):
    case_direct(at, 64 * PAGE)


def case_append(at, size=SMALL):
    here, there = at.paths("log")
    write_file(there, b"begin")
    fd = os.open(here, os.O_WRONLY | os.O_APPEND)
    data = pattern(size, at.number)
    count = at.attempt(os.write, fd, data)
    now = read_file(there)
    if count is not None:
        expect(now == b"begin" + data[:count], True, "appended")
    else:
        expect(now in (b"begin", b"begin" + data), True, "all or nothing")
    os.write(fd, b"end")
    expect(read_file(here) == now + b"end", True, "appended to")
    at.attempt(os.close, fd)


def case_append_large(at):
    case_append(at, LARGE)


def case_read(at, size=SMALL):
    here, there = at.paths("file")
    data = pattern(size, 3)
    on_disk(there, data)
    fd = os.open(here, os.O_RDONLY)
    got = at.attempt(os.pread, fd, size, 0)
    if got is not None:
        expect(len(got) > 0 and data.startswith(got), True, f"read {len(got)}")
    expect(os.pread(fd, size, 0) == data, True, "read once more")
    os.close(fd)


def case_read_large(at):
    case_read(at, LARGE)


def case_sendfile(at):
    here, there = at.paths("file")
    data = pattern(LARGE, 5)
    on_disk(there, data)
    with open(here, "rb") as source, open("/tmp/copy", "wb") as copy:
        count = at.attempt(os.sendfile, copy.fileno(), source.fileno(), 0, LARGE)
    if count is not None:
        expect(read_file("/tmp/copy") == data[:count] and count > 0, True, "sent")


def case_map(at):
    here, there = at.paths("file")
    data = bytearray(pattern(LARGE, at.number))
    on_disk(there, data)
    with open(here, "r+b") as file:
        def look():
            with mmap.mmap(file.fileno(), LARGE) as memory:
                if bytes(memory[:]) != data:
                    raise ValueError

        def store():
            with mmap.mmap(file.fileno(), LARGE) as memory:
                memory[5:PAGE + 5] = bytes(PAGE)
                memory.flush()

        at.attempt_in_child(look)
        if at.attempt_in_child(store):
            data[5:PAGE + 5] = bytes(PAGE)
            expect(read_file(there) == data, True, "stored")


# ---- sessions, modules and what administrators see

def mounted(at):
    at.client, at.server = MOUNT, at.root
    at.healthy()


def case_mount(at):
    before = resources()
    if at.attempt(mount, may=MOUNT_MAY) is None and at.errors:
        mount()
    mounted(at)
    umount()
    all_freed(before)


def case_umount(at):
    before = resources()
    mount()
    fd = os.open(f"{MOUNT}/left{at.number}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, b"behind")
    os.close(fd)
    os.unlink(f"{MOUNT}/left{at.number}")
    at.attempt(umount)
    expect(at.errors, [], "umount has no excuse")
    all_freed(before)


def case_remount(at):
    mount()
    at.attempt(mount, "soft,timeo=50", MS_REMOUNT)
    mounted(at)
    umount()


# The connection could not be made. soft-RoCE returns ENFILE if it gets no socket.
MOUNT_MAY = {errno.ENFILE, errno.ENOTCONN, errno.ECONNREFUSED, errno.ECONNRESET,
             errno.ENOBUFS, errno.ETIMEDOUT}


def recovered(at, lose):
    """An open file and the data written to it survive a lost connection."""
    before = resources()
    mount()
    at.client = MOUNT
    here, there = at.paths(f"lost{at.number}")
    data = pattern(LARGE, at.number)
    with open(here, "w+b", buffering=0) as file:
        file.write(data)
        libc("sync_file_range", file.fileno(), ctypes.c_int64(0), ctypes.c_int64(0), 7)

        def go_on():
            lose()
            os.stat(here)
            os.fsync(file.fileno())

        at.attempt(go_on)
        if not at.errors:
            expect(read_file(there) == data, True, "what was written before")
        # a session without memory for its sysfs folder is not shown
        expect(opens(), len(os.listdir(SESSIONS)), "the file is open")
        os.pwrite(file.fileno(), data, 0)
        os.fsync(file.fileno())
        expect(read_file(there) == data, True, "written after")
    at.healthy()
    umount()
    os.unlink(there)
    all_freed(before)


def case_reconnect(at):
    """Both sides lose their device under a connection."""
    def lose():
        subprocess.run(["rdma", "link", "delete", "rx0"], check=True)
        subprocess.run(["rdma", "link", "add", "rx0", "type", "rxe", "netdev", "dum0"],
                       check=True)

    recovered(at, lose)


def case_restart(at):
    def lose():
        unload("dafsd")
        load("dafsd", EXPORTS)

    recovered(at, lose)


def case_export(at):
    """An export is added and removed while a file in it is open."""
    top = f"/sys/kernel/config/dafsd/exports/o{at.number}"
    here = f"{ROOT}/out/{at.number}"
    write_file(f"{at.server}/file", b"well")
    os.mkdir(top)
    inject.put(f"{top}/path", at.server)
    inject.put(f"{top}/name", f"out/{at.number}")
    mount(export="", where=ROOT)
    for _ in range(2):
        at.attempt(inject.put, f"{top}/enable", 1)
        at.attempt(os.listdir, os.path.dirname(here))
        at.attempt(os.stat, here)
        at.attempt(read_file, f"{here}/file")
        with open(f"{here}/file", "rb") as file:
            expect(file.read(), b"well", "of the export")
            at.attempt(inject.put, f"{top}/enable", 0)
            expect(opens(), 0, "files open in no export")
        with contextlib.suppress(FileNotFoundError):
            umount(here)
    umount(ROOT)
    os.rmdir(top)


def case_user(at):
    """A user whose credential is not registered yet."""
    here, there = at.paths("shared")
    os.mkdir(there)
    os.chmod(there, 0o777)

    def make():
        os.setresuid(1000 + at.number, 1000 + at.number, 0)
        try:
            os.mkdir(f"{here}/mine")
        finally:
            os.setresuid(0, 0, 0)

    at.attempt(make)
    if os.path.exists(f"{there}/mine"):
        expect(os.stat(f"{there}/mine").st_uid, 1000 + at.number, "owner")


def case_users(at):
    """Enough users to make the server's table of credentials grow."""
    def look():
        for user in range(70):
            os.setresuid(1000 + user, 1000 + user, 0)
            try:
                os.access(at.client, os.R_OK, effective_ids=True)
            finally:
                os.setresuid(0, 0, 0)

    at.attempt(look)
    at.agree()


def case_sysfs(at):
    for top in "/sys/fs/dafs", "/sys/fs/dafsd", "/sys/module/dafsd/parameters":
        for folder, _, files in os.walk(top):
            for name in files:
                at.attempt(inject.get, f"{folder}/{name}")
    at.attempt(inject.get, "/proc/self/mountstats")
    at.attempt(inject.get, "/proc/self/mountinfo")


def case_configfs(at):
    top = f"/sys/kernel/config/dafsd/exports/e{at.number}"
    at.attempt(os.mkdir, top)
    if not os.path.isdir(top):
        os.mkdir(top)
    for name, value in ("path", at.server), ("name", f"x/y{at.number}"), ("enable", 1):
        at.attempt(inject.put, f"{top}/{name}", value)
        inject.put(f"{top}/{name}", value)
        if name != "enable":
            expect(inject.get(f"{top}/{name}"), value, name)
    at.attempt(inject.put, f"{top}/enable", 0)
    inject.put(f"{top}/enable", 0)
    os.rmdir(top)


def of_sessions(name):
    """The sum of an attribute over all sessions of the server."""
    return sum(int(inject.get(f"{SESSIONS}/{session}/{name}"))
               for session in os.listdir(SESSIONS))


def rnr_naks():
    """Messages that found no receive."""
    return int(inject.get("/sys/class/infiniband/rx0/ports/1/hw_counters/rcvd_rnr_err"))


def rush(at, names):
    """Concurrent calls, one for each name."""
    top = os.open(at.root, os.O_RDONLY)
    failed = []

    def change(name):
        try:
            os.chmod(f"{MOUNT}/{name}", 0o640)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=change, args=(name,)) for name in names]
    fcntl.ioctl(top, FIFREEZE, 0)
    try:
        for thread in threads:
            thread.start()
        wait_for(lambda: of_sessions("outstanding") >= len(names) - 2, True, "calls")
    finally:
        fcntl.ioctl(top, FITHAW, 0)
        for thread in threads:
            thread.join()
        os.close(top)
    expect(failed, [], "calls")


def case_grow(at):
    """The server has memory only for some of the receives that it would grant."""
    if at.number > 1:
        return
    before = resources()
    mount("max_requests=32,actimeo=0,nosharecache")
    names = [f"grow{i}" for i in range(32)]
    for name in names:
        write_file(f"{at.root}/{name}", b"")
    naks, promised = rnr_naks(), of_sessions("credits")

    def rushes():
        """In the first rush the client raises its wish for slots, and the calls of the
        second send it."""
        rush(at, names[:promised])
        rush(at, names[:promised])

    # two allocations for each call, or four with those of kmemleak
    short = at.injection.many("dafs_common", "dafs_chan_post_recvs", 5, rushes)
    expect(short > 1, True, "no memory")
    expect(of_sessions("credits") > promised, True, "a part of the calls is promised")
    rush(at, names[:of_sessions("credits")])
    expect(rnr_naks(), naks, "messages for which there was no receive")
    for name in names:
        os.unlink(f"{at.root}/{name}")
    mounted(at)
    umount()
    all_freed(before)


@functools.lru_cache
def module_path(name):
    for path, _, files in os.walk(f"/lib/modules/{os.uname().release}"):
        if f"{name}.ko" in files:
            return f"{path}/{name}.ko"
    raise FileNotFoundError(name)


def load(name, params=""):
    with open(module_path(name), "rb") as file:
        libc("syscall", FINIT_MODULE, file.fileno(), params.encode(), 0)


def unload(name):
    libc("syscall", DELETE_MODULE, name.encode(), 0)


def case_modules(at):
    """The modules are not loaded."""
    loaded = []
    for name, params in ("dafs_common", ""), ("dafsd", EXPORTS), ("dafs", ""):
        at.attempt(load, name, params)
        if at.errors:
            break
        loaded.append(name)
    for name in reversed(loaded):
        unload(name)


# Cases without allocations of the modules: kernfs allocates the buffers of attributes,
# and few calls need a page.
NONE = {("client", "sysfs"), ("page", "users"), ("page", "export"), ("page", "umount")}
BARE = {"reconnect", "restart", "modules", "grow"}      # no other mount is allowed
# Only one in so many allocations fails, unless FAULT_ALL is set: cases that set
# up sessions or look at many files repeat the same allocations.
STEP = {
    "mount": 5, "modules": 17, "readdir": 7, "crossing": 3, "lookup": 3,
    "symlink": 2, "write_large": 5, "commit": 5, "append_large": 5, "read_large": 5,
    "sendfile": 5, "map": 5, "umount": 3}
# For both sides, where failures often lead to a timeout.
STEP_OF_THREADS = STEP | {
    "mkdir": 2, "symlink": 3, "link": 2, "rename": 2, "create": 2, "create_excl": 2,
    "setattr": 2, "tmpfile": 3, "user": 2, "users": 71, "write": 2, "write_sync": 2,
    "write_close": 2, "write_large": 7, "commit": 7, "map": 11, "export": 13,
    "mount": 53, "reconnect": 113, "restart": 113}


def step(side, name):
    if os.environ.get("FAULT_ALL"):
        return 1
    if side == "client":
        return STEP.get(name, 1)
    most = STEP_OF_THREADS.get(name, 1)
    return most if side == "slab" else max(1, most // 8)      # fewer allocations of pages


def repeat(side, name, injection, client, server):
    """Returns how many allocations failed, how many calls, and what was wrong."""
    case = globals()[f"case_{name}"]
    failed = calls = wrong = 0
    for number in range(1, 5000, step(side, name)):
        at = Round(injection, client, server, number)
        there = ""
        if name not in BARE:
            at.client, at.server = at.paths(f"{side}-{name}-{number}")
            there = at.server
            os.mkdir(at.client)
        injection.arm(number)
        try:
            case(at)
            if not injection.fired():
                break
            failed += 1
            calls += bool(at.errors)
            if name not in BARE and (at.errors or number % 4 == 0):
                at.client, at.server = client, server
                at.healthy()
            shutil.rmtree(there, ignore_errors=True)
        except Exception:
            print(f"{name}, allocation {number}: {at.errors}", file=sys.stderr)
            traceback.print_exc()
            wrong += 1
            if wrong > 3:
                break
            if os.path.ismount(MOUNT):
                libc("umount2", MOUNT.encode(), MNT_DETACH)
    return failed, calls, wrong


def main():
    side, client, server, *names = sys.argv[1:]
    for where in MOUNT, ROOT:
        os.makedirs(where, exist_ok=True)
    injection = inject.injection(side, names[0])
    for name in names:
        begin = time.monotonic()
        if os.path.ismount(client):
            if name in BARE:
                umount(client)
        elif name not in BARE:
            mount(where=client)
        failed, calls, wrong = repeat(side, name, injection, client, server)
        if not failed and (side, name) not in NONE:
            print(f"{side}, {name}: no allocation failed", file=sys.stderr)
            wrong += 1
        print(f"{wrong} {side}, {name}: {failed} allocations fail, {calls} calls", flush=True)
        print(f"{side}, {name}: {time.monotonic() - begin:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
