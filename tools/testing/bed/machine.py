# SPDX-License-Identifier: GPL-2.0
"""Machines beside each other: emulated, on one link, each with a shell.

For suites on the host that need more than one machine. The link is an Ethernet
without a switch; packets to a machine that is not running are lost.
"""

import os
import pathlib
import re
import socket
import subprocess
import threading
import time

import guest
import report

DISK = 2048             # MiB; written parts take memory of the host
ANSWER = re.compile(rb"\x01(\d+)\n")


class MachineError(Exception):
    """A machine does not answer, or has ended."""


class Machine:
    """A machine at an end of the link in that folder, 1 or 2.

    Its number makes its addresses, and is that of its end if none is given. Its disk, a file
    there, is kept when it is killed and started again. Two may have the same end and disk, if
    one of them at a time is on the link and writes to it.
    """

    def __init__(self, bed, name, folder, number, memory, end=None, disk=None):
        self.bed = bed
        self.folder = folder
        self.name = name
        self.number = number
        self.memory = memory
        self.disk = disk or pathlib.Path(folder, f"{name}.disk")
        self.disk.touch()
        os.truncate(self.disk, DISK << 20)
        end = end or number
        self.near = f"{folder}/{name}.link"
        self.end, far = (f"{folder}/link{n}" for n in (end, 3 - end))
        self.devices = [
            "-netdev", "dgram,id=link,local.type=unix,remote.type=unix,"
            f"local.path={self.near},remote.path={far}",
            "-device", "virtio-net-pci,netdev=link,romfile=,"
            f"mac=52:54:00:00:09:{number:02x}",
            "-drive", f"file={self.disk},format=raw,if=virtio,file.locking=off"]
        self.process = None
        self.wrong = []         # complaints of its kernels

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process and self.process.poll() is None:
            self.kill()

    def start(self, link=True):
        """Boots it; ready() waits for that. Without link, it is not on that yet.

        With one processor: with two, QEMU sometimes executes code that the other
        processor is patching, and the guest crashes.
        """
        pathlib.Path(self.near).unlink(missing_ok=True)
        self.shell, shell = socket.socketpair()
        self.monitor, monitor = socket.socketpair()
        self.received = b""
        self.console = []
        with shell, monitor:
            self.process = subprocess.Popen(
                guest.qemu_machine(
                    self.bed, guest.BED / "machine-shell.sh", [str(self.number)],
                    f"socket,fd={shell.fileno()}", processors=1,
                    memory=self.memory) +
                self.devices +
                ["-chardev", f"socket,id=monitor,fd={monitor.fileno()}",
                 "-mon", "chardev=monitor"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=[shell.fileno(), monitor.fileno()])
        self.reader = threading.Thread(target=self._read_console, daemon=True)
        self.reader.start()
        if link:
            self.take_link()

    def _read_console(self):
        for raw in self.process.stdout:
            line = raw.decode("utf-8", "replace").replace("\r", "").rstrip("\n")
            self.console.append(line)
            print(f"{self.name}: {line}", flush=True)

    def ready(self):
        status, said = self._answer(300)
        if status:
            raise MachineError(f"{self.name} has no network: {said}")

    def _receive(self, timeout):
        """Reads from the serial line; false at EOF."""
        timeout *= guest.SPARE
        clock = guest.Clock()
        self.shell.settimeout(1)
        while clock.tick() < timeout:
            try:
                data = self.shell.recv(65536)
            except TimeoutError:
                continue
            self.received += data
            return bool(data)
        raise MachineError(f"{self.name} has not answered after {timeout} s")

    def _answer(self, timeout):
        while not (match := ANSWER.search(self.received)):
            if not self._receive(timeout):
                raise MachineError(f"{self.name} is gone")
        said = self.received[:match.start()].decode("utf-8", "replace")
        self.received = self.received[match.end():]
        return int(match[1]), said.strip()

    def sh(self, command, timeout=120):
        """Runs a command in the machine's shell; returns its status and output.

        The shell stays the same: background jobs can be waited for later.
        """
        print(f"{self.name}$ {command}", flush=True)
        self.shell.sendall(f"{{ {command}\n}} </dev/null >&3 2>&1; "
                           "printf '\\001%d\\n' $? >&3\n".encode())
        status, said = self._answer(timeout)
        print(f"{said}\n[{status}]", flush=True)
        return status, said

    def link(self, up):
        self.monitor.sendall(f"set_link link {'on' if up else 'off'}\n".encode())

    def take_link(self):
        """From now on it is this machine that gets what is sent to its end."""
        while not os.path.exists(self.near):
            if self.process.poll() is not None:
                raise MachineError(f"{self.name} has not started")
            time.sleep(0.05)
        os.rename(self.near, self.end)

    def hear(self, yes):
        """Whether what is sent to its end arrives; what it sends does."""
        lost = f"{self.end}.lost"
        os.rename(*(lost, self.end) if yes else (self.end, lost))

    def _gone(self):
        self.process.wait(300)
        self.reader.join()
        self.shell.close()
        self.monitor.close()
        self.wrong += report.splats(report.since_boot(self.console))

    def kill(self):
        """As if the power failed."""
        self.process.kill()
        self._gone()

    def stop(self):
        """Ends the shell; the bed's last checks follow, and the power goes off."""
        self.shell.sendall(b"exit\n")
        while self._receive(120):
            pass
        results = self.received.decode("utf-8", "replace").splitlines()
        self.wrong += report.complaints(results)
        if guest.exit_status(results) is None:
            self.wrong.append(f"{self.name} ended before its last checks")
        self._gone()
