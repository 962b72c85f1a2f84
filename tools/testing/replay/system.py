# SPDX-License-Identifier: GPL-2.0
"""What the programs in this folder need of the kernel: marks in the log of a recorded disk,
the locks that the server knows, mounts, modules, and handles of files.
"""

import ctypes
import errno
import fcntl
import importlib.machinery
import importlib.util
import os
import shutil
import struct
import time

LIBC = ctypes.CDLL(None, use_errno=True)
FINIT_MODULE = 313
AT_FDCWD = -100
CELL = 100          # locks of PERSIST files are multiples of it
CELLS = 21          # the last one reaches up to the end of any file
PATIENCE = 60       # seconds


def fails(result, what):
    if result:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")


def mount(device, where, kind):
    fails(LIBC.mount(device.encode(), where.encode(), kind.encode(), 0, None),
          f"mount {where}")


def umount(where):
    fails(LIBC.umount2(where.encode(), 0), f"umount {where}")


def load(path, options):
    """As insmod(8), which takes longer"""
    file = os.open(path, os.O_RDONLY)
    try:
        fails(LIBC.syscall(FINIT_MODULE, file, options.encode(), 0), "load the module")
    finally:
        os.close(file)


def unload(name):
    """Something may keep it for a moment, as a lock that is in the way of another does."""
    end = time.monotonic() + PATIENCE
    while LIBC.delete_module(name.encode(), os.O_NONBLOCK):
        if ctypes.get_errno() != errno.EAGAIN or time.monotonic() > end:
            fails(True, f"unload {name}")
        time.sleep(0.01)


def handle_of(path):
    """The handle that a file system has for a file, in hexadecimal"""
    buffer = ctypes.create_string_buffer(struct.pack("=Ii", 128, 0), 8 + 128)
    mount_id = ctypes.c_int()
    fails(LIBC.name_to_handle_at(AT_FDCWD, path.encode(), buffer, ctypes.byref(mount_id), 0),
          f"handle of {path}")
    size, = struct.unpack_from("=I", buffer)
    return buffer.raw[8:8 + size].hex()


class Marks:
    """Writes marks into the log of the mapped device "record", a dm-log-writes."""

    MESSAGE = 3 << 30 | 312 << 16 | 0xFD << 8 | 14

    def __init__(self):
        self.control = os.open("/dev/mapper/control", os.O_RDWR)

    def __call__(self, text):
        message = struct.pack("=Q", 0) + f"mark {text}".encode() + b"\0"
        head = struct.pack("=10IQ128s129s7x", 4, 0, 0, 312 + len(message), 312, 0, 0, 0, 0, 0,
                           0, b"record", b"")
        fcntl.ioctl(self.control, self.MESSAGE, bytearray(head + message))


def administration():
    """tools/dafsdctl as a module"""
    loader = importlib.machinery.SourceFileLoader("dafsdctl", shutil.which("dafsdctl"))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("dafsdctl", loader))
    loader.exec_module(module)
    return module.Server()


def cells_of(entry):
    """The cells that an entry of the list covers, and what is in them

    A PERSIST lock is shown as it is when what was written under it has been undone.
    """
    first, last = entry["start"], entry["end"]
    kind = entry["kind"] if entry["state"] != "undoing" else \
        entry["kind"].removeprefix("persist,")
    broken = entry["state"] == "broken"
    if kind != entry["kind"]:
        kind, broken = "persist", True
    what = [entry["client"].rsplit("replay-", 1)[-1], bool(entry.get("write")), broken, kind]
    for cell in range(CELLS):
        if first <= cell * CELL and (last is None or last >= cell * CELL):
            yield cell, what


def locks(server):
    """By handle: what is locked, by cell"""
    found = {}
    for entry in server.list("persist", None):
        cells = found.setdefault(entry["handle"], {})
        for cell, what in cells_of(entry):
            cells.setdefault(str(cell), []).append(what)
    for cells in found.values():
        for entries in cells.values():
            entries.sort()
    return found
