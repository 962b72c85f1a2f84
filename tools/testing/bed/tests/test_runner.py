# SPDX-License-Identifier: GPL-2.0
"""Tests of what the runner treats as a failure, and that it leaves nothing running."""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import guest
import runner

PATIENCE = 60

# A runner whose only guest is a script on the host.
RUN = f"""
import signal, sys
sys.path.insert(0, {str(guest.BED)!r})
import guest, runner
for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    signal.signal(number, runner.die)
guest.run("host", sys.argv[1], timeout=600, sink=lambda data: None)
"""


class Folder(unittest.TestCase):
    """Tests that write scripts."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(setattr, runner, "LOGS", runner.LOGS)
        runner.LOGS = self.folder

    def suite(self, text, head="# bed: host\n# timeout: 60\n"):
        path = self.folder / "suite.sh"
        path.write_text(head + ". $BED/tap.sh\n" + text, encoding="utf-8")
        return runner.Suite(path)

    def failures(self, *args):
        tests, _ = runner.run_suite(self.suite(*args))
        return [test.name for test in tests if not test.ok]


class Judgement(Folder):
    """Suites on the host."""

    def test_passes(self):
        self.assertEqual(self.failures("tap_ok a; tap_done"), [])

    def test_ends_early(self):
        self.assertEqual(self.failures("tap_ok a; exit 0; tap_ok b; tap_done"),
                         ["no plan: results may be missing"])

    def test_status(self):
        self.assertEqual(self.failures("tap_ok a; echo 1..1 >>$RESULTS; exit 3"),
                         ["exit status 3"])

    def test_time_is_up(self):
        self.assertEqual(self.failures("tap_ok a; sleep 60; tap_done",
                                       "# bed: host\n# timeout: 1\n")[1:],
                         [f"ends within {guest.SPARE} s"])

    def test_log_is_not_shared(self):
        suite = self.suite("tap_ok a; tap_done")
        with open(suite.log, "ab") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.write(b"of another runner\n")
            log.flush()
            thread = threading.Thread(target=runner.run_suite, args=(suite,))
            thread.start()
            thread.join(0.5)
            self.assertEqual(suite.log.read_text("utf-8"), "of another runner\n")
        thread.join(PATIENCE)
        self.assertEqual(suite.log.read_text("utf-8"), "ok 1 - a\n1..1\n")

    def test_skip_fails(self):
        text = "tap_skip 'no disk: a' reason; tap_skip b reason; tap_done"
        self.assertEqual(self.failures(text), ["no disk: a", "b"])
        head = "# bed: host\n# timeout: 60\n# may-skip: no disk: *\n"
        self.assertEqual(self.failures(text, head), ["b"])


class Guests(Folder):
    """Results of guests, without running any."""

    def outcome(self, *results, status=0):
        outcome = guest.Outcome()
        outcome.results = ["ok 1 - a", "1..1", *results]
        outcome.status = status
        return outcome

    def judge(self, bed, outcome):
        suite = self.suite("", f"# bed: {bed}\n")
        suite.log.write_text("", encoding="utf-8")
        return [why for test in runner.judge(suite, outcome)
                for why in test.why if not test.ok]

    def test_all_checkers(self):
        for bed, names in guest.CHECKERS.items():
            lines = [f"# checked {name}" for name in names]
            self.assertEqual(self.judge(bed, self.outcome(*lines)), [])

    def test_checker_missing(self):
        lines = [f"# checked {name}" for name in guest.CHECKERS["um"][1:]]
        self.assertEqual(self.judge("um", self.outcome(*lines)),
                         [f"{guest.CHECKERS['um'][0]} did not watch"])
        self.assertEqual(len(self.judge("smp", self.outcome())),
                         len(guest.CHECKERS["smp"]))

    def test_complaint(self):
        lines = [f"# checked {name}" for name in guest.CHECKERS["um"]]
        self.assertEqual(
            self.judge("um", self.outcome("# kernel: 2 objects leaked", *lines)),
            ["2 objects leaked"])


class Ending(Folder):
    """A runner that is ended ends all processes that it has started."""

    def ended_by(self, number):
        pid = self.folder / "pid"
        script = self.folder / "script.sh"
        script.write_text(f"sleep 600 &\necho $! >{pid}.new\n"
                          f"mv {pid}.new {pid}\nsleep 600\n", encoding="utf-8")
        with subprocess.Popen([sys.executable, "-B", "-c", RUN, script],
                              stderr=subprocess.DEVNULL) as process:
            self.patiently(pid.exists)
            process.send_signal(number)
            process.wait(PATIENCE)
        stat = pathlib.Path("/proc", pid.read_text("ascii").strip(), "stat")
        self.patiently(lambda: not stat.exists() or
                       stat.read_text("ascii").rpartition(")")[2].split()[0] == "Z")

    def patiently(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_interrupted(self):
        self.ended_by(signal.SIGINT)

    def test_terminated(self):
        self.ended_by(signal.SIGTERM)

    def test_killed(self):
        self.ended_by(signal.SIGKILL)


class Clock(unittest.TestCase):
    """Which time counts for a suite's limit."""

    def test_building_does_not(self):
        calls = []
        suite = runner.Suite(runner.SUITES / "style.sh")
        self.addCleanup(setattr, guest, "kernel", guest.kernel)
        guest.kernel = calls.append
        suite.prepare()
        self.assertEqual(calls, ["um", "qemu"])


class PoweredOff(unittest.TestCase):
    """A machine that is off is not waited for, but one that hangs before has failed."""

    def ends(self, line):
        with mock.patch.object(guest, "POWER_OFF", 1), \
                guest.group(["sh", "-c", f"echo '{line}'; exec sleep 1000"],
                            stdout=subprocess.PIPE) as process:
            ended = guest.follow(process, 10, lambda data: None)
            guest.end_group(process)
            guest.reap(process)
        return ended

    def test_is_off(self):
        self.assertTrue(self.ends(guest.POWERED_OFF.decode()))

    def test_hangs(self):
        self.assertFalse(self.ends("reboot: Power"))


class Scripts(Folder):
    """The commands that are not Python."""

    def wanted(self, config, *fragments):
        paths = [self.folder / str(number) for number in range(1 + len(fragments))]
        for path, text in zip(paths, [config, *fragments]):
            path.write_text(text, encoding="utf-8")
        done = subprocess.run([guest.BED / "wanted", *paths], text=True,
                              stderr=subprocess.PIPE, check=False)
        return done.returncode, sorted(done.stderr.splitlines())

    def test_config(self):
        config = ("CONFIG_A=y\nCONFIG_B=m\n# CONFIG_C is not set\n"
                  'CONFIG_D="-dafs"\n')
        for fragment in ("CONFIG_A=y\n", "# CONFIG_C is not set\n",
                         "# CONFIG_E is not set\n", 'CONFIG_D="-dafs"\n',
                         "# a word about it\n"):
            self.assertEqual(self.wanted(config, fragment), (0, []), fragment)
        self.assertEqual(
            self.wanted(config, "CONFIG_A=y\nCONFIG_B=y\n",
                        "CONFIG_C=y\nCONFIG_E=y\n# CONFIG_A is not set\n"),
            (1, ["# CONFIG_A is not set (CONFIG_A=y)", "CONFIG_B=y (CONFIG_B=m)",
                 "CONFIG_C=y (# CONFIG_C is not set)", "CONFIG_E=y (absent)"]))
        self.assertEqual(self.wanted("", "CONFIG_A=y\n")[0], 1)

    def test_style_without_git(self):
        """The style suite fails if git fails."""
        suite = runner.Suite(runner.SUITES / "style.sh")
        (self.folder / "git").write_text("#!/bin/sh\nexit 128\n", encoding="utf-8")
        (self.folder / "git").chmod(0o755)
        self.addCleanup(os.environ.update, PATH=os.environ["PATH"])
        os.environ["PATH"] = f"{self.folder}:{os.environ['PATH']}"
        outcome = guest.run("host", suite.path, timeout=60, sink=lambda data: None)
        failed = [test.name for test in runner.judge(self.logged(suite), outcome)
                  if not test.ok]
        self.assertEqual(failed, ["Bail out! git does not list the sources"])

    def logged(self, suite):
        suite.log.write_text("", encoding="utf-8")
        return suite

    def test_progress(self):
        log = self.folder / "log"
        done = subprocess.run(
            [guest.BED / "progress", "it", log, "sh", "-c", "echo word; exit 3"],
            text=True, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (3, "word\n"))

    def test_every_kunit_file_is_built(self):
        for folder in "fs/dafs/tests", "fs/dafs_common/tests":
            tests = guest.REPO / folder
            objects = (tests / "Makefile").read_text("utf-8").split()
            for path in tests.rglob("*_kunit.c"):
                self.assertIn(str(path.relative_to(tests).with_suffix(".o")), objects)


if __name__ == "__main__":
    unittest.main()
