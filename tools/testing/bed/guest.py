#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs one script on a bed as root, and brings back its results.

Beds:
  um    User Mode Linux with KASAN, lockdep, kmemleak and fault injection
  bench User Mode Linux without these, and with what DAFS is measured against
  qemu  the stock Debian kernel in QEMU, emulated, two processors
  icount likewise, with one processor and a clock that counts instructions
  smp   a kernel of our own with lockdep, KCSAN and KFENCE in QEMU, likewise
  host  this machine

As a command it prints the console and exits with the script's status:

  guest.py BED [--timeout SECONDS] SCRIPT [ARGUMENT...]
"""

import argparse
import collections
import contextlib
import functools
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

import report

BED = pathlib.Path(__file__).resolve().parent
TESTING = BED.parent
REPO = TESTING.parent.parent
MEMORY = {"bench": "6G"}         # for several RAM disks, and caches above them
USUAL_MEMORY = "2G"
ROOM = 3 << 30          # for the file that a guest's memory is
KERNELS = ("um", "bench", "smp", "qemu")
# Checkers that must be active in a bed's kernel: kernel-checks.sh reports each.
CHECKERS = {"um": ("kmemleak", "lockdep", "KASAN"),
            "smp": ("lockdep", "KCSAN", "KFENCE")}
# This machine may be slower than those that the limits were made on by this factor, or
# get less processor time without knowing: not every host reports stolen time to its
# guests, and no container the time that its quota takes.
SPARE = 3
# Seconds for which a task may wait without being killable.  The longest is modprobe of a
# KUnit module during one test: 34 seconds at present.
HUNG = 120
# The last line of a machine that has powered off, and the seconds that its process gets to end.
# User Mode Linux may hang there, which has nothing to do with what was tested.
POWERED_OFF = b"reboot: Power down"
POWER_OFF = 30
# CMPXCHG16B, which the slab allocator uses, leaves wrong flags in QEMU before
# 8.0 if an interrupt follows directly, and the guest crashes.
PROCESSOR = "max,-cx16"
# A busy host must not look like a lockup of the guest.
PATIENCE = ["watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=120"]

# KCSAN watches one in skip_watch accesses, for udelay_task microseconds: longer
# than its default, because emulated processors are slow.
KCSAN = ["kcsan.early_enable=1", "kcsan.skip_watch=1000", "kcsan.udelay_task=400"]


def slowness():
    """Factor for all time limits."""
    return float(os.environ.get("DAFS_SLOW", "1"))


class Clock:
    """Seconds without the processor time that the host has stolen.

    A guest that waits for a busy host has not hung: reported stolen time does not
    count, up to nine tenths of real time.
    """

    def __init__(self):
        self.seconds = 0.0
        self.slow = slowness()
        self.last = self._read()

    @staticmethod
    def _read():
        with open("/proc/stat", encoding="ascii") as stat:
            fields = [int(n) for n in stat.readline().split()[1:9]]
        return time.monotonic(), sum(fields), fields[7]

    def tick(self):
        now, total, stolen = self._read()
        then, total_before, stolen_before = self.last
        jiffies = max(1, total - total_before)
        given = max(0.1, 1 - (stolen - stolen_before) / jiffies)
        self.seconds += (now - then) * given / self.slow
        self.last = now, total, stolen
        return self.seconds


class Outcome:
    """The results of a script."""

    def __init__(self):
        self.results = []       # lines of the results channel
        self.status = None      # of the script; None if it has not ended
        self.timed_out = False
        self.seconds = 0.0
        self.processor = 0.0    # seconds of processor time
        self.soft_roce = 0      # number of its allowed warnings


class BedError(Exception):
    """A bed cannot be set up; the text is the output of the failed command."""


def end_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


# Reads the number of a process group, and then a line when it has ended.
KEEPER = 'read -r group && { read -r over || kill -s KILL -- "-$group"; }'


@contextlib.contextmanager
def group(command, **options):
    """A process in a new process group, which is killed at the end.

    Also if this program is killed: then the keeper reads EOF.
    """
    with subprocess.Popen(
            ["sh", "-c", KEEPER], stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True) as keeper, \
            subprocess.Popen(command, start_new_session=True,
                             **options) as process:
        keeper.stdin.write(f"{process.pid}\n".encode())
        keeper.stdin.flush()
        try:
            yield process
        finally:
            end_group(process)
            keeper.communicate(b"over\n")


def tool(name, *args):
    """Runs one of the commands in this folder and returns its output."""
    with group([BED / name, *args], stdout=subprocess.PIPE,
               stderr=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stderr:
            sys.stderr.write(line)
            said.append(line)
        answer = process.stdout.read().strip()
        process.wait()
    if process.returncode:
        raise BedError("".join(said[-40:]))
    return answer


def once(function):
    """Calls the function once for each argument, also if it fails: concurrent
    callers wait for the first result."""
    answers = {}
    locks = collections.defaultdict(threading.Lock)

    @functools.wraps(function)
    def call(argument):
        with locks[argument]:
            if argument not in answers:
                try:
                    answers[argument] = function(argument), None
                except BedError as error:
                    answers[argument] = None, error
        answer, error = answers[argument]
        if error:
            raise error
        return answer
    return call


@once
def kernel(bed):
    """The build tree of a bed's kernel."""
    return tool("kernel", bed)


@once
def prepare(bed):
    """Builds what the bed needs: its kernel's build tree and our modules."""
    kdir = kernel(bed)
    arch = ["ARCH=um"] if bed in ("um", "bench") else []
    return kdir, tool("modules", bed, kdir, *arch)


def init_environment(modules, script, args, results):
    return ["dafsd.state_dir=/tmp/dafs", f"DAFS_TESTING={TESTING}", f"DAFS_MODULES={modules}",
            f"DAFS_SCRIPT={script}", f"DAFS_RESULTS={results}",
            f"DAFS_HUNG={int(HUNG * max(1, slowness()))}",
            f"DAFS_ARGS=\"{' '.join(args)}\""]


def um_command(bed, script, args, results, memory):
    """A process of the host, whose root is the host's, by hostfs."""
    kdir, modules = prepare(bed)
    return [f"{kdir}/linux", f"mem={memory}", "root=/dev/root",
            "rootfstype=hostfs", "rootflags=/", "ro", f"init={BED}/init",
            "con=null", "con0=null,fd:1", "ssl=null", f"ssl0=null,fd:{results}",
            "kasan_multi_shot", "panic=-1", "log_buf_len=1M", "uml_dir=/dev/shm/dafs-uml",
            *init_environment(modules, script, args, "/dev/ttyS0")]


def qemu_machine(bed, script, args, results, *, memory, processors=2,
                 clock=("-accel", "tcg,thread=multi")):
    """An emulated machine, whose root is the host's, by 9p.

    results is QEMU's option for the second serial line.
    """
    kdir, modules = prepare(bed)
    initrd = tool("initramfs", modules, f"{modules}.initrd")
    image = pathlib.Path(kdir, "arch/x86/boot/bzImage")
    if not image.exists():
        release = pathlib.Path(kdir, "include/config/kernel.release")
        image = f"/boot/vmlinuz-{release.read_text(encoding='ascii').strip()}"
    words = ["console=ttyS0", "panic=-1", "oops=panic", "loglevel=7",
             *PATIENCE, *(KCSAN if bed == "smp" else ()), f"DAFS_INIT={BED}/init",
             *init_environment(modules, script, args, "/dev/ttyS1")]
    return ["qemu-system-x86_64", "-M", "q35", *clock,
            "-cpu", PROCESSOR, "-smp", str(processors), "-m", memory, "-nographic",
            "-nodefaults", "-no-reboot", "-serial", "stdio",
            "-chardev", f"{results},id=results", "-serial", "chardev:results",
            "-virtfs", "local,path=/,mount_tag=host,readonly=on,"
            "security_model=none,multidevs=remap",
            "-kernel", str(image), "-initrd", initrd,
            "-append", " ".join(words)]


def qemu_command(bed, script, args, results, memory):
    return qemu_machine(bed, script, args, f"file,path=/proc/self/fd/{results}",
                        memory=memory)


def icount_command(script, args, results, memory):
    """An instruction takes a nanosecond, idling no time."""
    return qemu_machine("qemu", script, args,
                        f"file,path=/proc/self/fd/{results}", memory=memory,
                        processors=1, clock=("-accel", "tcg,thread=single",
                               "-icount", "shift=0,sleep=off"))


def host_command(script, args, results, _memory):
    return ["env", f"BED={BED}", f"REPO={REPO}",
            f"RESULTS=/proc/{os.getpid()}/fd/{results}", "sh", script, *args]


BEDS = {
    "host": host_command,
    "um": functools.partial(um_command, "um"),
    "bench": functools.partial(um_command, "bench"),
    "qemu": functools.partial(qemu_command, "qemu"),
    "icount": icount_command,
    "smp": functools.partial(qemu_command, "smp"),
}


def follow(process, timeout, sink):
    """Feeds the console to sink until EOF, or until the machine is off; false on timeout."""
    clock = Clock()
    pipe = process.stdout.fileno()
    said, off = b"", False
    while clock.tick() < timeout:
        if not select.select([pipe], [], [], 1)[0]:
            continue
        data = os.read(pipe, 65536)
        if not data:
            return True
        sink(data.replace(b"\r", b""))
        said += data
        if not off and POWERED_OFF in said:
            off = True
            timeout = min(timeout, clock.tick() + POWER_OFF)
        said = said[-len(POWERED_OFF):]
    return off


def wait_for_exit(process, seconds):
    """Waits without reaping, so that the process group remains."""
    clock = Clock()
    while clock.tick() < seconds and not os.waitid(
            os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        time.sleep(0.05)


def reap(process):
    """Reaps a process and returns its processor time in seconds."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def memory_folder():
    """Folder for the memory files of User Mode Linux: tmpfs if it has room."""
    for folder in "/dev/shm", "/tmp", "/var/tmp":
        with contextlib.suppress(OSError):
            room = os.statvfs(folder)
            if room.f_bavail * room.f_frsize >= ROOM:
                return folder
    return "/dev/shm"


def run_command(command, channel, timeout, sink, outcome):
    begin = time.monotonic()
    with group(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
               stderr=subprocess.STDOUT, pass_fds=[channel],
               env={**os.environ, "TMPDIR": memory_folder()}) as process:
        outcome.timed_out = not follow(process, timeout, sink)
        if not outcome.timed_out:
            wait_for_exit(process, 10)
        end_group(process)
        outcome.processor = reap(process)
    outcome.seconds = time.monotonic() - begin
    return process.returncode


def exit_status(results):
    """The status that init has reported for a guest's script."""
    for line in reversed(results):
        match = re.fullmatch(r"# exit (\d+)", line.strip())
        if match:
            return int(match[1])
    return None


def run(bed, script, args=(), *, timeout=300, memory=None, sink=None):
    """Runs script on that bed; sink is fed the console (bytes).

    memory is the guest's, as in mem=, such as 1G; None for the bed's default.
    """
    outcome = Outcome()
    with tempfile.TemporaryFile("w+b") as channel:
        fd = channel.fileno()
        command = BEDS[bed](os.path.abspath(script), args, fd,
                            memory or MEMORY.get(bed, USUAL_MEMORY))
        status = run_command(command, fd, timeout, sink, outcome)
        channel.seek(0)
        text = channel.read().decode("utf-8", "replace").replace("\r", "")
    outcome.results = text.splitlines()
    outcome.status = status if bed == "host" else exit_status(outcome.results)
    return outcome


class Console:
    """Shows a console's lines, or those that begin with prefix."""

    def __init__(self, log, prefix):
        self.log = log
        self.prefix = prefix
        self.partial = b""
        self.lines = []

    def feed(self, data):
        self.log.write(data)
        *whole, self.partial = (self.partial + data).split(b"\n")
        for line in (raw.decode("utf-8", "replace") for raw in whole):
            self.lines.append(line)
            if line.startswith(self.prefix):
                print(line[len(self.prefix):], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bed", choices=sorted(BEDS))
    parser.add_argument("--timeout", type=float, default=600,
                        help="seconds, not counting stolen ones")
    parser.add_argument("--memory", help="the guest's: 512M, 1G")
    parser.add_argument("--log", default=os.devnull,
                        help="also write the console to this file")
    parser.add_argument("--show", default="", metavar="PREFIX",
                        help="print only console lines that start so")
    parser.add_argument("script")
    parser.add_argument("args", nargs="*")
    options = parser.parse_args()

    with open(options.log, "wb") as log:
        console = Console(log, options.show)
        try:
            outcome = run(options.bed, options.script, options.args,
                          timeout=options.timeout, memory=options.memory,
                          sink=console.feed)
        except BedError:
            sys.exit(1)
    wrong = report.complaints(outcome.results)
    if outcome.status is not None:
        wrong += report.unchecked(outcome.results, CHECKERS.get(options.bed, ()))
    if options.bed != "host":
        wrong += report.splats(report.since_boot(console.lines))
    if outcome.timed_out:
        wrong.append(f"stopped after {options.timeout:.0f} s")
    for line in wrong:
        print(f"!! {line}")
    sys.exit(outcome.status or (1 if wrong or outcome.status is None else 0))


if __name__ == "__main__":
    main()
