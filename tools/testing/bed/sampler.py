# SPDX-License-Identifier: GPL-2.0
"""Samples of a guest's program counter, by perf.

For a guest whose clock counts instructions: the samples are a fixed number of
them apart. An interrupt that is held off takes its sample where interrupts are
enabled again, so the release of a lock may be charged with the work done under it.
"""

import bisect
import collections
import contextlib
import os
import pathlib
import signal
import subprocess

EVERY = 9973            # instructions; a prime, to avoid sampling in step with loops
FOLDER = pathlib.Path("/tmp/perf")
KERNEL = 1 << 63

SIDES = {"client": {"dafs", "netfs", "nfs", "nfsv3", "nfsv4", "nvme_rdma"},
         "server": {"dafsd", "nfsd", "nvmet", "nvmet_rdma"},
         "transport": {"rdma_rxe", "ib_core", "rpcrdma", "rdma_cm"}}
TASKS = {"swapper": "idle", "perf": "perf", "jbd2": "server", "nfsd": "server"}


class Symbols:
    """The kernel's functions by address."""

    def __init__(self):
        table = []
        with open("/proc/kallsyms", encoding="ascii") as lines:
            for line in lines:
                address, _, name, *module = line.split()
                table.append((int(address, 16), name,
                              module[0].strip("[]") if module else "kernel"))
        table.sort()
        self.addresses = [row[0] for row in table]
        self.names = [row[1:] for row in table]

    def find(self, address):
        """Function and module."""
        if address < KERNEL:
            return "user", "user"
        return self.names[bisect.bisect_right(self.addresses, address) - 1]


def side_of(modules, task):
    """The side of the innermost module that has one."""
    for module in modules:
        for side in "client", "server":
            if module in SIDES[side]:
                return side
    for prefix, side in TASKS.items():
        if task.startswith(prefix):
            return side
    if SIDES["transport"] & set(modules):
        return "transport"
    return "client" if "user" in modules else "other"


def digest(task, frames):
    """Side, module, function, and the function of the module that called it."""
    function, module = frames[0]
    callers = (f"{m}:{f}" for f, m in frames if m not in ("kernel", "user"))
    return side_of([m for _, m in frames], task), module, function, \
        next(callers, "-")


def digests(samples):
    """Counts the digests in the output of perf script."""
    symbols = Symbols()
    counts = collections.Counter()
    for sample in samples.strip().split("\n\n"):
        task, *addresses = sample.strip("\n").split("\n")
        if addresses:
            counts[digest(task.strip(), [symbols.find(int(address, 16))
                                         for address in addresses])] += 1
    return counts


def shell_command(word):
    """A shell command that makes perf enable or disable, and waits for it."""
    return f"echo {word} >{FOLDER}/control && read -r _ <{FOLDER}/acknowledged"


@contextlib.contextmanager
def enabled():
    subprocess.run(["sh", "-c", shell_command("enable")], check=True)
    yield
    subprocess.run(["sh", "-c", shell_command("disable")], check=True)


def prepare():
    FOLDER.mkdir(exist_ok=True)
    for name in "control", "acknowledged":
        with contextlib.suppress(FileExistsError):
            os.mkfifo(FOLDER / name)
    for name, value in (("perf_cpu_time_max_percent", "0"),
                        ("perf_event_max_sample_rate", "100000")):
        with contextlib.suppress(OSError):
            pathlib.Path("/proc/sys/kernel", name).write_text(value, "ascii")


def sample(function):
    """Calls function, which uses enabled() or shell_command(); returns the digests."""
    prepare()
    data = FOLDER / "data"
    command = ["perf", "record", "-q", "-a", "-g", "-N", "-B", "-e", "cpu-clock",
               "-c", str(EVERY), "-m", "4096", "-D", "-1", "-o", data,
               f"--control=fifo:{FOLDER}/control,{FOLDER}/acknowledged"]
    with subprocess.Popen(command) as perf:
        function()
        perf.send_signal(signal.SIGINT)
    script = subprocess.run(["perf", "script", "-i", data, "-F", "comm,pid,ip"],
                            check=True, stdout=subprocess.PIPE)
    return digests(script.stdout.decode())
