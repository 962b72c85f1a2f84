#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A user over quota gets EDQUOT, and no data is lost without an error.

  quota.py DIRECTORY SERVER DEVICE CASE

DIRECTORY is a file system and SERVER the same one on the server, on DEVICE with
user quotas. CASE is the name of a function case_*; a user with a quota of SPACE
bytes and INODES files runs it in an empty directory.
"""

import contextlib
import ctypes
import errno
import mmap
import os
import shutil
import sys
import traceback

LIBC = ctypes.CDLL(None, use_errno=True)
USER, OTHER = 1000, 1001
SPACE = 1 << 20
INODES = 20
CHUNK = 64 << 10
Q_GETQUOTA, Q_SETQUOTA = 0x800007, 0x800008
QIF_LIMITS = 1 | 4


class Quota(ctypes.Structure):
    """struct if_dqblk"""
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "block_limit", "block_soft", "space", "inode_limit", "inode_soft", "inodes",
        "block_time", "inode_time")] + [("valid", ctypes.c_uint32)]


def quotactl(command, device, quota):
    if LIBC.quotactl(ctypes.c_int(command << 8), device.encode(), USER, ctypes.byref(quota)):
        raise OSError(ctypes.get_errno(), "quotactl")
    return quota


def expect(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what}: {got!r:.300} instead of {want!r:.300}")


def refused(function, *args):
    """True on EDQUOT, false on success; other errors are raised."""
    try:
        function(*args)
    except OSError as error:
        expect(errno.errorcode[error.errno], "EDQUOT", f"the error of {function.__name__}")
        return True
    return False


def record(i, size=CHUNK):
    return bytes([i % 251 + 1]) * size


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def fill(fd, size=CHUNK, most=4 * SPACE):
    """Writes until it is refused; returns the number of written records."""
    done = 0
    while done * size < most and not refused(os.write, fd, record(done, size)):
        done += 1
    return done


def whole(path, count, size):
    """Checks that the server has exactly these records."""
    expect(read_file(path) == b"".join(record(i, size) for i in range(count)), True,
           f"{count} records of {size} bytes")


def case_cached(here, there):
    """One of write, fsync and close returns the error; fsync, if data was lost."""
    fd = os.open(f"{here}/file", os.O_CREAT | os.O_WRONLY)
    told = fill(fd) * CHUNK < 4 * SPACE
    told |= refused(os.fsync, fd)
    told |= refused(os.close, fd)
    expect(told, True, "told")
    expect(os.stat(f"{there}/file").st_blocks * 512 <= SPACE, True, "within the quota")


def case_close(here, _):
    """The data is in the cache until it is closed."""
    fd = os.open(f"{here}/file", os.O_CREAT | os.O_WRONLY)
    os.write(fd, record(1, SPACE - CHUNK))
    told = refused(os.write, fd, record(2, 4 * CHUNK))
    told |= refused(os.close, fd)
    expect(told, True, "told")


def case_synchronous(here, there):
    """Each write returns its own error; the others are stored."""
    fd = os.open(f"{here}/file", os.O_CREAT | os.O_WRONLY | os.O_SYNC)
    done = fill(fd)
    expect(0 < done * CHUNK <= SPACE, True, "within the quota")
    with contextlib.suppress(OSError):
        os.close(fd)
    expect(read_file(f"{there}/file")[:done * CHUNK] ==
           b"".join(record(i) for i in range(done)), True, "what was acknowledged")


def case_direct(here, there):
    fd = os.open(f"{here}/file", os.O_CREAT | os.O_WRONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, CHUNK)
    done = 0
    while done < 4 * SPACE:
        memory[:] = record(done // CHUNK)
        try:
            count = os.write(fd, memory)
        except OSError as error:
            expect(errno.errorcode[error.errno], "EDQUOT", "write")
            break
        done += count
        if count < CHUNK:
            expect(refused(os.write, fd, memory[:4096]), True, "behind a short write")
            break
    refused(os.close, fd)
    expect(0 < done <= SPACE, True, "within the quota")
    data = read_file(f"{there}/file")[:done]
    expect(data == b"".join(record(i) for i in range(64))[:done], True, "what was acknowledged")


def case_append(here, there):
    """R-6.5.3-02: all or nothing, even if the quota ends within a record."""
    for size in 3000, CHUNK - 96, SPACE // 2 + 1:
        fd = os.open(f"{here}/log", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        done = fill(fd, size)
        expect(0 < done * size <= SPACE, True, "within the quota")
        expect(refused(os.write, fd, record(0, size)), True, "once more")
        os.close(fd)
        whole(f"{there}/log", done, size)
        os.unlink(f"{here}/log")


def case_mapped(here, _):
    fd = os.open(f"{here}/file", os.O_CREAT | os.O_RDWR)
    os.ftruncate(fd, 2 * SPACE)
    with mmap.mmap(fd, 2 * SPACE) as memory:
        memory[:] = record(1, 2 * SPACE)
        expect(refused(memory.flush), True, "msync told")
    with contextlib.suppress(OSError):
        os.close(fd)


def case_inodes(here, there):
    def make(kind, name):
        path = f"{here}/{kind}{name}"
        if kind == "file":
            os.close(os.open(path, os.O_CREAT | os.O_EXCL))
        elif kind == "tmpfile":
            os.close(os.open(here, os.O_TMPFILE | os.O_RDWR))
        elif kind == "symlink":
            os.symlink("target", path)
        else:
            getattr(os, kind)(path)

    done = 0
    while done < 2 * INODES and not refused(make, "file", done):
        done += 1
    # his directory is one of them
    expect(done, INODES - 1, "files")
    for kind in "file", "tmpfile", "mkdir", "mkfifo", "symlink":
        expect(refused(make, kind, done), True, kind)
    expect(len(os.listdir(there)), done, "names")
    os.unlink(f"{here}/file0")
    make("mkdir", done)


def case_room(here, there):
    """A refused write changes nothing, and removing files frees space."""
    case_cached(here, there)
    os.unlink(f"{here}/file")
    fd = os.open(f"{here}/file", os.O_CREAT | os.O_WRONLY)
    for i in range(4):
        os.write(fd, record(i))
    os.fsync(fd)
    # existing blocks can be overwritten
    os.lseek(fd, 0, os.SEEK_SET)
    for i in range(4):
        os.write(fd, record(i))
    os.fsync(fd)
    os.close(fd)
    whole(f"{there}/file", 4, CHUNK)


def case_others(here, there):
    """Users without a quota can write."""
    case_cached(here, there)
    os.setresuid(0, 0, 0)
    for user in OTHER, 0:
        path = f"{here}/of{user}"
        os.mkdir(path)
        os.chown(path, user, user)
        os.setresuid(user, user, 0)
        fd = os.open(f"{path}/file", os.O_CREAT | os.O_WRONLY)
        expect(fill(fd, CHUNK, 2 * SPACE), 2 * SPACE // CHUNK, f"user {user}")
        os.fsync(fd)
        os.close(fd)
        os.setresuid(0, 0, 0)


def case_statfs(here, there):
    """The file system is not full."""
    case_cached(here, there)
    mine, theirs = os.statvfs(here), os.statvfs(there)
    expect((mine.f_blocks, mine.f_files),
           (theirs.f_blocks * theirs.f_frsize // mine.f_frsize, theirs.f_files), "sizes")
    expect(mine.f_bavail * mine.f_frsize > 4 * SPACE, True, "room for others")


def run_as_user(case, here, there):
    child = os.fork()
    if not child:
        status = 1
        try:
            os.setresuid(USER, USER, 0)
            case(here, there)
            status = 0
        except Exception:
            traceback.print_exc()
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main():
    directory, server, device, name = sys.argv[1:]
    here, there = f"{directory}/{name}", f"{server}/{name}"
    quotactl(Q_SETQUOTA, device, Quota(block_limit=SPACE >> 10, inode_limit=INODES,
                                       valid=QIF_LIMITS))
    os.mkdir(here)
    os.chown(here, USER, USER)
    status = run_as_user(globals()[f"case_{name}"], here, there)
    os.sync()
    used = quotactl(Q_GETQUOTA, device, Quota())
    if used.space > SPACE or used.inodes > INODES:
        sys.exit(f"{used.space} bytes and {used.inodes} files are used")
    shutil.rmtree(here)
    os.sync()
    used = quotactl(Q_GETQUOTA, device, Quota())
    if used.space or used.inodes:
        sys.exit(f"{used.space} bytes and {used.inodes} files are left")
    sys.exit(status)


if __name__ == "__main__":
    main()
