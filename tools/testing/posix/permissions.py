#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Compares the permission checks of two file systems.

  permissions.py [--squashed VIEW] [--third N] LOCAL DIRECTORY CASE...

Both directories belong to root and are empty. Each case does the same to both
of them as several users, and prints differences: errors, results of stat(2)
afterwards, data read. CASE is the name of a function case_*.

With --squashed, root uses VIEW, another mount of DIRECTORY, and is compared
with the local user "nobody". EPERM and EACCES count as equal then: the client's
VFS, which does not know that root is squashed, fails for other reasons than the
server.

With --third 0, 1 or 2, files and directories have only every third of the modes.
"""

import argparse
import contextlib
import errno
import mmap
import os
import shutil
import stat
import struct
import subprocess
import sys

OWNER, OTHER, GROUP, NOBODY = 1000, 1001, 2000, 65534
# uid, gid, supplementary groups; the last has 32, of which the last one matters.
USERS = {
    "root": (0, 0, []),
    "owner": (OWNER, OWNER, []),
    "group": (OTHER, GROUP, []),
    "extra": (OTHER, OTHER, [*range(2101, 2132), GROUP]),
    "other": (OTHER, OTHER, [3000, 3001]),
}
# A mount and its exported directory
EXPORTED = ("/mnt/dafs", "/srv/data")
# "other" with one more group, in order to run many tasks
MEMBER = (OTHER, OTHER, [3000, GROUP])
PLAIN_MODES = [0o000, 0o400, 0o200, 0o100, 0o060, 0o010, 0o006, 0o001, 0o077,
               0o604, 0o711]
SPECIAL_MODES = [0o644, 0o4755, 0o6777, 0o2664, 0o6010]
DIR_MODES = [0o000, 0o111, 0o222, 0o333, 0o444, 0o700, 0o070, 0o755, 0o777, 0o3777]


def attempt(function, *args, **kwargs):
    """The result of a system call: a value, or the name of its error."""
    try:
        return function(*args, **kwargs)
    except OSError as error:
        return errno.errorcode[error.errno]


def look(path):
    """The attributes of an object that must be equal."""
    try:
        st = os.lstat(path)
    except OSError as error:
        return errno.errorcode[error.errno]
    size = st.st_size if stat.S_ISREG(st.st_mode) else None
    return f"{st.st_mode:o} {st.st_uid}:{st.st_gid} {st.st_nlink} {size}"


@contextlib.contextmanager
def acting_as(user):
    """Makes this process that user; the saved id allows the way back."""
    uid, gid, groups = {"member": MEMBER, **USERS}[user]
    os.setgroups(groups)
    os.setresgid(gid, gid, 0)
    os.setresuid(uid, uid, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups([])
        os.umask(0)


def as_user(user, function):
    """The results of function as this user."""
    with acting_as(user):
        return list(function())


def make_file(path, mode, owner=OWNER, group=GROUP):
    if look(path) == f"{stat.S_IFREG | mode:o} {owner}:{group} 1 12":
        return
    with contextlib.suppress(OSError):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(b"#!/bin/true\n")
    os.chown(path, owner, group)
    os.chmod(path, mode)


def make_dir(path, mode, owner=OWNER, group=GROUP):
    os.mkdir(path)
    os.chown(path, owner, group)
    os.chmod(path, mode)


def open_read_write(path, flags):
    """Reads or writes one byte, and returns the effect on the file."""
    fd = os.open(path, flags)
    try:
        if flags & os.O_ACCMODE == os.O_RDONLY:
            return os.read(fd, 1)
        return os.write(fd, b"x")
    finally:
        os.close(fd)


def open_truncate(path):
    os.close(os.open(path, os.O_WRONLY | os.O_TRUNC))


def execute(path):
    child = os.fork()
    if not child:
        with contextlib.suppress(OSError):
            os.execv(path, [path])
        os._exit(100)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def execute_twice(path):
    """Executes a program twice at the same time."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    first = os.fork()
    if not first:
        os.dup2(reader, 0)
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        with contextlib.suppress(OSError):
            os.execv(path, [path, "-"])
        os._exit(100)
    os.write(writer, b"x")
    second = subprocess.run([path, "/dev/null"], check=False).returncode
    os.close(reader)
    os.close(writer)
    return second, os.waitpid(first, 0)[1]


USE_FILE = {
    "read": lambda p: open_read_write(p, os.O_RDONLY),
    "write": lambda p: open_read_write(p, os.O_WRONLY),
    "read and write": lambda p: open_read_write(p, os.O_RDWR),
    "execute": execute,
    "access": lambda p: [os.access(p, mode) for mode in range(8)],
    "touch": lambda p: os.utime(p),
}
CHANGE_FILE = {
    "write": lambda p: open_read_write(p, os.O_WRONLY),
    "append": lambda p: open_read_write(p, os.O_WRONLY | os.O_APPEND),
    "truncating open": open_truncate,
    "truncate": lambda p: os.truncate(p, 3),
    "truncate to the same size": lambda p: os.truncate(p, os.stat(p).st_size),
    "utime": lambda p: os.utime(p, ns=(10 ** 9 + 1, 10 ** 9 + 2)),
    "chmod 600": lambda p: os.chmod(p, 0o600),
    "chmod 6777": lambda p: os.chmod(p, 0o6777),
    "chown to another": lambda p: os.chown(p, OTHER, -1),
    "chown to the same": lambda p: os.chown(p, OWNER, -1),
    "chgrp to one's own": lambda p: os.chown(p, -1, os.getgid()),
    "chgrp to a further one": lambda p: os.chown(p, -1, 2131),
    "chgrp to the same": lambda p: os.chown(p, -1, GROUP),
    "chown to nothing": lambda p: os.chown(p, -1, -1),
    "chown to both": lambda p: os.chown(p, OTHER, OTHER),
}


def case_files(top, view):
    """Every mode, every user, every operation on a file."""
    cases = [(mode, user, name, operation)
             for modes, operations in ((PLAIN_MODES, USE_FILE),
                                       (SPECIAL_MODES, CHANGE_FILE))
             for mode in modes for user in USERS
             for name, operation in operations.items()]
    for mode, user, name, operation in cases:
        # The client's VFS handles this without the server.
        if name == "chown to nothing" and len(USERS) == 1:
            continue
        make_file(f"{top}/f", mode)
        [result] = as_user(user, lambda: [attempt(operation, f"{view}/f")])
        yield f"{mode:04o} {user} {name}: {result}, {look(f'{top}/f')}"


def sorted_names(path):
    """Sorted, because the file systems' orders differ."""
    return sorted(os.listdir(path))


DIR_OPS = {
    "list": sorted_names,
    "stat inside": lambda d: look(f"{d}/owner"),
    "open inside": lambda d: open_read_write(f"{d}/owner", os.O_RDONLY),
    "create": lambda d: os.close(os.open(f"{d}/new", os.O_CREAT | os.O_WRONLY,
                                         0o640)),
    "mkdir": lambda d: os.mkdir(f"{d}/new"),
    "symlink": lambda d: os.symlink("anywhere", f"{d}/new"),
    "mkfifo": lambda d: os.mkfifo(f"{d}/new"),
    "mknod": lambda d: os.mknod(f"{d}/new", stat.S_IFCHR | 0o600,
                                os.makedev(1, 3)),
    "unlink the owner's": lambda d: os.unlink(f"{d}/owner"),
    "unlink another's": lambda d: os.unlink(f"{d}/other"),
    "unlink root's": lambda d: os.unlink(f"{d}/root"),
    "rename another's": lambda d: os.rename(f"{d}/other", f"{d}/moved"),
    "replace root's": lambda d: os.rename(f"{d}/other", f"{d}/root"),
    "rmdir": lambda d: os.rmdir(f"{d}/sub"),
    "move a directory": lambda d: os.rename(f"{d}/sub", f"{d}/../moved"),
    "access": lambda d: [os.access(d, mode) for mode in range(8)],
    "touch": lambda d: os.utime(d),
    "move it": lambda d: os.rename(d, f"{os.path.dirname(d)}/to/d"),
    "chmod 2777": lambda d: os.chmod(d, 0o2777),
    "chmod 1777": lambda d: os.chmod(d, 0o1777),
    "chown": lambda d: os.chown(d, OTHER, OTHER),
}


def make_tree(path, mode):
    make_dir(path, 0o755)
    make_file(f"{path}/owner", 0o644)
    make_file(f"{path}/other", 0o644, OTHER, OTHER)
    make_file(f"{path}/root", 0o644, 0, 0)
    make_dir(f"{path}/sub", 0o755)
    os.chmod(path, mode)


def look_around(top):
    """Everything in the directory, as seen by root."""
    for path, dirs, files in os.walk(top):
        dirs.sort()
        for name in ["", *sorted(files)]:
            yield f"{path[len(top):]}/{name}={look(f'{path}/{name}')}"


def remove_all(top):
    for path, dirs, files in os.walk(top, topdown=False):
        for name in files:
            os.unlink(f"{path}/{name}")
        for name in dirs:
            if os.path.islink(f"{path}/{name}"):
                os.unlink(f"{path}/{name}")
            else:
                os.rmdir(f"{path}/{name}")


def case_directories(top, view):
    """Every mode, every user, every operation on a directory."""
    os.chmod(top, 0o777)
    for mode in DIR_MODES:
        before = None
        for user in USERS:
            for name, operation in DIR_OPS.items():
                if not before:
                    remove_all(top)
                    make_tree(f"{top}/d", mode)
                    make_dir(f"{top}/to", 0o777)
                    before = list(look_around(top))
                [result] = as_user(user, lambda: [attempt(operation, f"{view}/d")])
                after = list(look_around(top))
                yield f"{mode:04o} {user} {name}: {result}, {' '.join(after)}"
                if after != before:
                    before = None


def write_new(path, mode):
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    try:
        return os.write(fd, b"x")
    finally:
        os.close(fd)


def new_objects(top, umask):
    os.umask(umask)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    made = {
        "file": lambda p: os.close(os.open(p, flags, 0o666)),
        "program": lambda p: os.close(os.open(p, flags, 0o777)),
        "set-id program": lambda p: os.close(os.open(p, flags, 0o6777)),
        "unreadable": lambda p: write_new(p, 0),
        "read-only": lambda p: write_new(p, 0o444),
        "dir": lambda p: os.mkdir(p, 0o777),
        "sticky dir": lambda p: os.mkdir(p, 0o1777),
        "set-gid dir": lambda p: os.mkdir(p, 0o2777),
        "fifo": lambda p: os.mkfifo(p, 0o666),
        "link": lambda p: os.symlink("x", p),
        "regular node": lambda p: os.mknod(p, stat.S_IFREG | 0o6777),
        "socket": lambda p: os.mknod(p, stat.S_IFSOCK | 0o777),
        "device": lambda p: os.mknod(p, stat.S_IFBLK | 0o660,
                                     os.makedev(259, 70000)),
    }
    for name, make in made.items():
        result = attempt(make, f"{top}/{name}")
        with contextlib.suppress(OSError):
            result = f"{result} {os.lstat(f'{top}/{name}').st_rdev:#x}"
        yield f"{umask:03o} {name}: {result}, {look(f'{top}/{name}')}"


def case_creation(top, view):
    """Effect of umask and directory on mode, owner and group."""
    os.chmod(top, 0o777)
    # The client's VFS decides about set-gid before it applies the umask, and
    # does not know that root is squashed; the server gets the mode with the
    # umask applied.
    umasks = [0o022, 0o077] if len(USERS) > 1 else [0o022]
    for mode in 0o777, 0o3777:
        for group in 0, GROUP:
            for user in USERS:
                for umask in umasks:
                    make_dir(f"{top}/d", mode, OWNER, group)
                    for line in as_user(user,
                                        lambda: new_objects(f"{view}/d", umask)):
                        yield f"{mode:o} {group} {user} {line}"
                    remove_all(top)


def replace_rights(path, change):
    """The rights of an open file do not change with the file's mode."""
    fds = [os.open(path, os.O_RDONLY), os.open(path, os.O_WRONLY)]
    attempt(change)
    yield attempt(os.read, fds[0], 1)
    yield attempt(os.write, fds[1], b"y")
    yield attempt(os.fsync, fds[1])
    yield attempt(os.ftruncate, fds[1], 5)
    yield attempt(os.fchmod, fds[1], 0o644)
    for fd in fds:
        yield attempt(os.close, fd)
    yield look(path)


def truncate_by_reading(path):
    """While another descriptor is open for writing."""
    writer = os.open(path, os.O_WRONLY)
    os.chmod(path, 0o444)
    yield attempt(os.open, path, os.O_RDONLY | os.O_TRUNC)
    yield os.fstat(writer).st_size
    os.chmod(path, 0o644)
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))
    yield os.fstat(writer).st_size
    os.close(writer)


def case_truncating_reader(top, view):
    """O_TRUNC needs write permission, even if others have the file open."""
    os.chmod(top, 0o777)
    make_file(f"{top}/f", 0o644)
    yield f"owner: {as_user('owner', lambda: truncate_by_reading(f'{view}/f'))}"


FORBIDDEN = {
    "mkdir": lambda d: os.mkdir(f"{d}/there"),
    "symlink": lambda d: os.symlink("x", f"{d}/there"),
    "mknod": lambda d: os.mknod(f"{d}/there", stat.S_IFIFO | 0o600),
    "exclusive": lambda d: os.open(f"{d}/there", os.O_CREAT | os.O_EXCL),
    "mkdir new": lambda d: os.mkdir(f"{d}/new"),
    "link": lambda d: os.link(f"{d}/mine", f"{d}/there"),
    "noatime": lambda d: os.open(f"{d}/there", os.O_RDONLY | os.O_NOATIME),
    "noatime, readable": lambda d: os.open(f"{d}/readable", os.O_RDONLY | os.O_NOATIME),
}


def case_errors(top, view):
    """If a call may fail for several reasons, the same error as other file systems."""
    make_dir(f"{top}/d", 0o755, 0, 0)
    make_file(f"{top}/d/there", 0o600, 0, 0)
    make_file(f"{top}/d/readable", 0o644, 0, 0)
    make_file(f"{top}/d/mine", 0o644, OTHER, OTHER)
    for name, operation in FORBIDDEN.items():
        # uncached names
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
            file.write("2")
        [result] = as_user("other", lambda: [attempt(operation, f"{view}/d")])
        yield f"{name}: {result}"


def case_open_files(top, view):
    """An open file can be used when its mode no longer allows it."""
    os.chmod(top, 0o777)
    for mode in 0o000, 0o444, 0o222, 0o755:
        for user in "root", "owner":
            make_file(f"{top}/f", 0o600)
            lines = as_user(user, lambda: replace_rights(
                f"{view}/f", lambda: os.chmod(f"{view}/f", mode)))
            yield f"{mode:04o} {user}: {lines}"
            os.unlink(f"{top}/f")


def store(fd):
    with mmap.mmap(fd, 12) as memory:
        memory[3:4] = b"m"


WRITERS = {
    "nothing": lambda fd: None,
    "write": lambda fd: os.pwrite(fd, b"w", 2),
    "store": store,
}


def case_writers(top, view):
    """
    Set-id bits are cleared if the owner writes and kept if root does, independent
    of who opened the file first, still has it open or closes it and so writes
    back, whose descriptor the owner uses, and who writes next. Stores of the
    owner through a mapping are not tested: ext4 keeps the bits then.
    """
    path, other_path = f"{top}/file", f"{view}/file"
    for mode in (0o4777, 0o2775, 0o6777, 0o2767):
        for how, by, again in (("nothing", "owner", False), ("write", "owner", False),
                               ("write", "root", False), ("write", "owner", True)):
            for first, second in ("owner", "root"), ("root", "owner"):
                for others in WRITERS:
                    make_file(path, mode)
                    fds = {}
                    for user in first, second:
                        with acting_as(user):
                            fds[user] = os.open(other_path, os.O_RDWR)
                    with acting_as("root"):
                        WRITERS[others](fds["root"])
                    before = look(other_path)
                    with acting_as("owner"):
                        WRITERS[how](fds[by])
                    with acting_as("root"):
                        if again:
                            os.pwrite(fds["root"], b"r", 4)
                        os.close(fds["root"])
                    with acting_as("owner"):
                        os.fsync(fds["owner"])
                        os.close(fds["owner"])
                    yield (f"{mode:o} {how} by {by}'s descriptor, {first} first, "
                           f"root: {others}{', again' * again}: {before}, {look(path)}")
                    os.unlink(path)


def write_direct(path):
    fd = os.open(path, os.O_WRONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, 4096) as memory:
            return os.pwrite(fd, memory, 0)
    finally:
        os.close(fd)


SHARED_USES = {
    "direct": write_direct,
    "append": lambda p: open_read_write(p, os.O_WRONLY | os.O_APPEND),
    "truncate": lambda p: os.truncate(p, 3),
    "truncating open": open_truncate,
}


def forbid_writing(path, uid):
    """Denies writing by an ACL that leaves the mode rw-rw-rw-; DAFS mounts have no ACLs."""
    remote, server = EXPORTED
    path = path.replace(remote, server)
    entries = ((1, 6, 2**32 - 1), (2, 4, uid), (4, 6, 2**32 - 1), (0x10, 6, 2**32 - 1),
               (0x20, 6, 2**32 - 1))
    os.setxattr(path, "system.posix_acl_access", struct.pack("<I", 2) +
                b"".join(struct.pack("<HHI", *entry) for entry in entries))


def case_shared(top, view):
    """
    A user's operations on a file use the user's own credentials, even if other
    users, or the same user, have the file open.
    """
    os.chmod(top, 0o777)
    path, other_path = f"{top}/f", f"{view}/f"
    for holder, user in ("root", "owner"), ("owner", "root"):
        for name, use in SHARED_USES.items():
            make_file(path, 0o6777)
            with acting_as(holder):
                fd = os.open(other_path, os.O_RDWR)
            with acting_as(user):
                answer = attempt(use, other_path)
            yield f"{name} by {user}, {holder} has it open: {answer} {look(path)}"
            os.close(fd)
            os.unlink(path)
    make_file(path, 0o666)
    with acting_as("other"):
        fd = os.open(other_path, os.O_RDWR)
    forbid_writing(path, OTHER)
    for flags in os.O_RDWR, os.O_WRONLY, os.O_RDONLY | os.O_TRUNC, os.O_RDONLY:
        with acting_as("other"):
            answer = attempt(open_read_write, other_path, flags)
        yield f"ACL, {flags:o}: {answer} {look(path)}"
    os.close(fd)
    os.unlink(path)
    make_file(path, 0o640)
    for user in "other", "member", "other":
        with acting_as(user):
            answer = attempt(open_read_write, other_path, os.O_RDONLY)
        yield f"{user}: {answer}"


def case_revoked(top, view):
    """
    A file that was open when a right was revoked stays open: data written to it
    can be synced, and it does not make appends of others fail.
    """
    path, other_path = f"{top}/file", f"{view}/file"
    for mode, uid in (0o600, 0), (0o000, OWNER), (0o666, 0), (0o444, OTHER):
        for sync in os.fsync, os.fdatasync, os.close:
            make_file(path, 0o666)
            with acting_as("other"):
                fd = os.open(other_path, os.O_RDWR)
                os.pwrite(fd, b"one", 0)
            log = os.open(other_path, os.O_WRONLY | os.O_APPEND)
            os.chown(path, uid, GROUP)
            os.chmod(path, mode)
            with acting_as("other"):
                # far apart, so that one COMMIT follows two writes
                answers = [attempt(os.pwrite, fd, b"two", at) for at in (3, 500000)]
                answers.append(attempt(sync, fd))
                if sync != os.close:
                    answers += [attempt(os.pwrite, fd, b"six", at) for at in (6, 600000)]
                    answers.append(attempt(os.close, fd))
            answers += [attempt(os.write, log, b"end"), attempt(os.fsync, log)]
            os.close(log)
            with open(path, "rb") as file:
                answers.append(file.read().replace(b"\0", b""))
            yield f"{mode:o} {uid} {sync.__name__}: {answers} {look(path)}"
            os.unlink(path)


def case_search(top, view):
    """Every component of a path must be searchable."""
    for mode in DIR_MODES:
        for user in USERS:
            make_dir(f"{top}/a", 0o755)
            make_dir(f"{top}/a/b", 0o777)
            make_file(f"{top}/a/b/f", 0o666)
            os.symlink("f", f"{top}/a/b/link")
            os.chmod(f"{top}/a", mode)
            lines = as_user(user, lambda: [
                look(f"{view}/a/b/f"), attempt(os.readlink, f"{view}/a/b/link"),
                attempt(open_truncate, f"{view}/a/b/link"),
                attempt(sorted_names, f"{view}/a/b"),
                attempt(os.unlink, f"{view}/a/b/f")])
            yield f"{mode:04o} {user}: {lines}"
            remove_all(top)


def case_programs(top, view):
    """Execute permission is enough to run a program twice, without read permission."""
    os.chmod(top, 0o777)
    for mode in 0o711, 0o111, 0o755, 0o700, 0o744:
        for user in USERS:
            shutil.copy("/bin/cat", f"{top}/cat")
            os.chown(f"{top}/cat", OWNER, GROUP)
            os.chmod(f"{top}/cat", mode)
            [result] = as_user(user, lambda: [attempt(execute_twice, f"{view}/cat")])
            yield f"{mode:04o} {user}: {result}"
            os.unlink(f"{top}/cat")


def compare(name, local, remote, view):
    """Prints differences; true if there are none."""
    case = globals()[f"case_{name}"]
    compared = differ = 0
    mine = case(local, local)
    theirs = case(remote, view)
    while True:
        if view != remote:
            USERS["root"] = (NOBODY, NOBODY, [])
        want = next(mine, None)
        USERS["root"] = (0, 0, [])
        got = next(theirs, None)
        if want is None and got is None:
            break
        compared += 1
        if view != remote:
            want, got = (text.replace("EACCES", "EPERM") for text in (want, got))
        if want == got:
            continue
        differ += 1
        if differ <= 20:
            print(f"{name}: ext4 {want}\n{name}: dafs {got}")
    print(f"{name}: {compared} answers, {differ} differ")
    return not differ


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--squashed", metavar="VIEW")
    parser.add_argument("local")
    parser.add_argument("remote")
    parser.add_argument("case", nargs="+")
    parser.add_argument("--third", type=int, choices=range(3))
    options = parser.parse_args()
    if options.third is not None:
        for modes in PLAIN_MODES, SPECIAL_MODES, DIR_MODES:
            modes[:] = modes[options.third::3]
    same = True
    os.umask(0)
    if options.squashed:
        for user in "owner", "group", "extra", "other":
            del USERS[user]
    for name in options.case:
        view = f"{options.squashed or options.remote}/{name}"
        for top in options.local, options.remote:
            os.mkdir(f"{top}/{name}")
        same &= compare(name, f"{options.local}/{name}", f"{options.remote}/{name}",
                        view)
        for top in options.local, options.remote:
            remove_all(f"{top}/{name}")
            os.rmdir(f"{top}/{name}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
