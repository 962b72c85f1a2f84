# SPDX-License-Identifier: GPL-2.0
"""Makes the n-th allocation of the modules fail.

An allocation counts if a function of the modules is in its call stack, so
allocations of the RDMA core, the VFS and the server's file system on their
behalf count, too.
"""

import os
import resource

DEBUG = "/sys/kernel/debug"
END = (1 << 64) - 1
FEW = 1000


def put(path, value):
    with open(path, "w", encoding="ascii") as file:
        file.write(str(value))


def get(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


class Symbols:
    """Symbols of the kernel; modules have higher addresses."""

    def __init__(self):
        with open("/proc/kallsyms", encoding="ascii") as lines:
            fields = [line.split() for line in lines if "[" not in line]
        self.list = sorted((int(f[0], 16), f[2]) for f in fields)
        self.address = {name: address for address, name in self.list}

    def extent(self, name):
        """The address range of a function."""
        begin = self.address[name]
        return begin, min(a for a, _ in self.list if a > begin)


def extent_in(module, function):
    """The address range of a function of a module."""
    with open("/proc/kallsyms", encoding="ascii") as lines:
        fields = [line.split() for line in lines if f"[{module}]" in line]
    begin, = (int(f[0], 16) for f in fields if f[2] == function)
    return begin, min(a for a in (int(f[0], 16) for f in fields) if a > begin)


class Knob:
    """A fault attribute: /sys/kernel/debug/failslab or fail_page_alloc."""

    def __init__(self, name, **settings):
        self.name = name
        self.set(probability=100, times=0, verbose=0, **settings)

    def set(self, **settings):
        for setting, value in settings.items():
            put(f"{DEBUG}/{self.name}/{setting.replace('_', '-')}", value)

    def times(self):
        return int(get(f"{DEBUG}/{self.name}/times"))

    def only_below(self, begin, end):
        self.set(require_start=hex(begin), require_end=hex(end))


# Allocations whose failure the kernel handles wrongly: without a folio queue for
# readahead the netfs library frees a subrequest that is still in its list, and a
# slab cache leaks its name if it cannot be added to sysfs.
SPARED = {"": "netfs_folioq_alloc", "modules": "sysfs_slab_add"}


def knobs(symbols, case):
    """Both attributes, for all allocations called from the modules.

    Not for those inside the allocator, which depend on its free lists.
    """
    slab = Knob("failslab", ignore_gfp_wait="N")
    page = Knob("fail_page_alloc", ignore_gfp_wait="N", ignore_gfp_highmem="N",
                min_order=0)
    spared = SPARED.get(case, SPARED[""])
    for knob, function in (slab, spared), (page, "___slab_alloc"):
        begin, end = symbols.extent(function)
        knob.set(reject_start=hex(begin), reject_end=hex(end))
        knob.only_below(symbols.address["_end"], END)
    return slab, page


class OfTask:
    """The n-th allocation of the calling task, of any kind."""

    of_task = True

    def __init__(self):
        self.left = 0
        self.here()

    def here(self):
        """Selects the calling process, which may be a child of the former one."""
        self.file = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def arm(self, n):
        self.left = n

    def begin(self):
        os.pwrite(self.file, b"%d" % self.left, 0)

    def end(self):
        self.left = int(os.pread(self.file, 20, 0))
        os.pwrite(self.file, b"0", 0)

    def fired(self):
        return not self.left


class OfThreads:
    """The n-th allocation of all kernel threads, from the slab or the page allocator.

    The fault attributes do not show their counter, so a system call that
    allocates is repeated until its failure shows it.
    """

    of_task = False

    def __init__(self, knob, spend, below, modules):
        self.knob = knob
        self.spend = spend
        self.below = below
        self.modules = modules
        self.armed = False
        mark_threads()
        knob.set(task_filter="Y")

    def arm(self, n):
        if n > 1:
            self._count_to(n)
        self.knob.set(interval=n)
        self.armed = True

    def _count_to(self, n):
        put("/proc/self/make-it-fail", 1)
        self.knob.only_below(*self.below)
        self.knob.set(interval=n, times=1)
        try:
            while self.knob.times():
                self.spend()
        finally:
            self.knob.only_below(*self.modules)
            put("/proc/self/make-it-fail", 0)

    def begin(self):
        if self.armed:
            self.knob.set(times=1)

    def end(self):
        if self.armed:
            self.armed = self.knob.times() == 1
            self.knob.set(times=0)

    def many(self, module, function, interval, call, *args):
        """One in interval allocations of a function fails while call runs."""
        self.knob.only_below(*extent_in(module, function))
        self.knob.set(interval=interval, times=FEW)
        try:
            call(*args)
        finally:
            left = self.knob.times()
            self.knob.set(times=0)
            self.knob.only_below(*self.modules)
        self.armed = False
        return FEW - left

    def fired(self):
        return not self.armed


def mark_threads():
    """Marks the existing threads; new ones inherit it from kthreadd."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pid == "2" or get(f"/proc/{pid}/stat").split(") ")[1].split()[1] == "2":
                put(f"/proc/{pid}/make-it-fail", 1)
        except OSError:
            pass


def spend_slab():
    try:
        os.close(os.eventfd(0))
    except OSError:
        pass


def spend_page():
    ends = os.pipe()
    try:
        os.write(ends[1], bytes(resource.getpagesize()))
    except OSError:
        pass
    finally:
        for end in ends:
            os.close(end)


def injection(side, case):
    """The injection for client, slab or page."""
    symbols = Symbols()
    slab, page = knobs(symbols, case)
    modules = symbols.address["_end"], END
    if side == "client":
        return OfTask()
    if side == "slab":
        return OfThreads(slab, spend_slab, symbols.extent("do_eventfd"), modules)
    return OfThreads(page, spend_page, symbols.extent("pipe_write"), modules)
