#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Runs one script on a bed as root, and brings back its results.

Beds:
  um    User Mode Linux with KASAN, lockdep, kmemleak and fault injection
  bench User Mode Linux without these, and with what DAFS is measured against
  qemu  the stock Debian kernel in QEMU, emulated, two processors
  icount likewise, with one processor and a clock that counts instructions
  smp   a kernel of our own with lockdep in QEMU, likewise
  host  this machine

As a command it prints the console and exits with the script's status:

  guest.py BED [--timeout SECONDS] SCRIPT [ARGUMENT...]
"""

import argparse
import functools
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import tempfile
import time

import report

BED = pathlib.Path(__file__).resolve().parent
TESTING = BED.parent
REPO = TESTING.parent.parent
MEMORY = {"bench": "6G"}         # RAM disks for several, and caches above them
USUAL_MEMORY = "2G"
# CMPXCHG16B, which the slab allocator likes, leaves wrong flags in QEMU before
# 8.0: with an interrupt right behind it the guest gets them back and dies.
PROCESSOR = "max,-cx16"
# A starved host is no lockup of the guest.
PATIENCE = ["watchdog_thresh=60", "rcupdate.rcu_cpu_stall_timeout=120"]


class Clock:
    """Seconds that the host really gave us.

    A busy host steals processor time, and a guest that waits for it has not
    hung: stolen time does not count, down to a tenth of real time.
    """

    def __init__(self):
        self.seconds = 0.0
        self.slow = float(os.environ.get("DAFS_SLOW", "1"))
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
    """What a script left behind."""

    def __init__(self):
        self.results = []       # lines of the results channel
        self.status = None      # of the script; None: it never ended
        self.timed_out = False
        self.seconds = 0.0


class BedError(Exception):
    """A bed cannot be made; its text is what the failed command said."""


def tool(name, *args):
    """Runs one of the helper commands here; its output is the answer."""
    with subprocess.Popen([BED / name, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        said = []
        for line in process.stderr:
            sys.stderr.write(line)
            said.append(line)
        answer = process.stdout.read().strip()
    if process.returncode:
        raise BedError("".join(said[-40:]))
    return answer


@functools.lru_cache
def try_to_prepare(bed):
    try:
        kdir = tool("kernel", bed)
        arch = ["ARCH=um"] if bed in ("um", "bench") else []
        return (kdir, tool("modules", bed, kdir, *arch)), None
    except BedError as error:
        return None, error


def prepare(bed):
    """Builds what the bed needs: its kernel's build tree and our modules.

    Once, also if that fails: the next suite would only wait for the same.
    """
    built, error = try_to_prepare(bed)
    if error:
        raise error
    return built


def init_environment(modules, script, args, results):
    return [f"DAFS_TESTING={TESTING}", f"DAFS_MODULES={modules}",
            f"DAFS_SCRIPT={script}", f"DAFS_RESULTS={results}",
            f"DAFS_ARGS=\"{' '.join(args)}\""]


def um_command(bed, script, args, results, memory):
    """A process of the host; its root is the host's, by hostfs."""
    kdir, modules = prepare(bed)
    return [f"{kdir}/linux", f"mem={memory}", "root=/dev/root",
            "rootfstype=hostfs", "rootflags=/", "ro", f"init={BED}/init",
            "con=null", "con0=null,fd:1", "ssl=null", f"ssl0=null,fd:{results}",
            "kasan_multi_shot", "panic=-1", "uml_dir=/dev/shm/dafs-uml",
            *init_environment(modules, script, args, "/dev/ttyS0")]


def qemu_machine(bed, script, args, results, *, memory, processors=2,
                 clock=("-accel", "tcg,thread=multi")):
    """An emulated machine; its root is the host's, by 9p.

    results says in QEMU's words what the second serial line leads to.
    """
    kdir, modules = prepare(bed)
    initrd = tool("initramfs", modules, f"{modules}.initrd")
    image = pathlib.Path(kdir, "arch/x86/boot/bzImage")
    if not image.exists():
        release = pathlib.Path(kdir, "include/config/kernel.release")
        image = f"/boot/vmlinuz-{release.read_text(encoding='ascii').strip()}"
    words = ["console=ttyS0", "panic=-1", "oops=panic", "loglevel=7",
             *PATIENCE, f"DAFS_INIT={BED}/init",
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
    """An instruction takes a nanosecond, and idling no time at all."""
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
    """Feeds the console to sink until the end; false if time ran out."""
    clock = Clock()
    pipe = process.stdout.fileno()
    while clock.tick() < timeout:
        if not select.select([pipe], [], [], 1)[0]:
            continue
        data = os.read(pipe, 65536)
        if not data:
            return True
        sink(data.replace(b"\r", b""))
    return False


def run_command(command, channel, timeout, sink):
    """True if it timed out; and its exit status."""
    with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
            pass_fds=[channel],
            env={**os.environ, "TMPDIR": "/dev/shm"}) as process:
        try:
            ended = follow(process, timeout, sink)
            if ended:
                process.wait(10)
        finally:
            # Whatever is left in the background goes too.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    return not ended, process.returncode


def exit_status(results):
    """What init reported of a guest's script."""
    for line in reversed(results):
        match = re.fullmatch(r"# exit (\d+)", line.strip())
        if match:
            return int(match[1])
    return None


def run(bed, script, args=(), *, timeout=300, memory=None, sink=None):
    """Runs script on that bed; sink is fed the console (bytes).

    memory is the guest's, in the kernel's words: 1G; None for what the bed has.
    """
    outcome = Outcome()
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+b") as channel:
        fd = channel.fileno()
        command = BEDS[bed](os.path.abspath(script), args, fd,
                            memory or MEMORY.get(bed, USUAL_MEMORY))
        outcome.timed_out, status = run_command(command, fd, timeout, sink)
        channel.seek(0)
        text = channel.read().decode("utf-8", "replace").replace("\r", "")
    outcome.results = text.splitlines()
    outcome.status = status if bed == "host" else exit_status(outcome.results)
    outcome.seconds = time.monotonic() - begin
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
    if options.bed != "host":
        wrong += report.splats(report.since_boot(console.lines))
    if outcome.timed_out:
        wrong.append(f"stopped after {options.timeout:.0f} s")
    for line in wrong:
        print(f"!! {line}")
    sys.exit(outcome.status or (1 if wrong or outcome.status is None else 0))


if __name__ == "__main__":
    main()
