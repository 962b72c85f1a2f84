# SPDX-License-Identifier: GPL-2.0
"""Tests of functions of shell scripts, with mocked commands."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import guest


def function(path, name):
    text = (guest.TESTING / path).read_text("utf-8")
    return re.search(rf"^{name}\(\)\n\{{\n.*?^\}}\n", text, re.M | re.S)[0]


class Functions(unittest.TestCase):
    """Runs shell functions in a temporary folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def shell(self, script):
        return subprocess.run(["sh", "-c", script], cwd=self.folder, check=False, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()


class Leaks(Functions):
    """Which of kmemleak's reports, one for each scan, is a leak."""

    def settle(self, *reports):
        for number, report in enumerate(reports):
            (self.folder / str(number)).write_text(report, encoding="utf-8")
        return self.shell("""
            scan_leaks()
            {
                set -- [0-9]
                [ -e "$1" ] && cat "$1" && rm "$1"
            }
            complain()
            {
                echo "$*"
            }
        """ + function("bed/kernel-checks.sh", "settle_leaks") + "settle_leaks\necho $leaks")

    def test_none(self):
        self.assertEqual(self.settle("", ""), [""])

    def test_moved(self):
        """The pointer was being moved: later scans find it."""
        self.assertEqual(self.settle("a", "", ""), [""])
        self.assertEqual(self.settle("a", "b", "", ""), [""])

    def test_leak(self):
        self.assertEqual(self.settle(*"aaaaaa"), ["a"])

    def test_hidden(self):
        """A stale pointer hides the leak in some scans."""
        self.assertEqual(self.settle("", *"aaaaa"), ["a"])
        self.assertEqual(self.settle("a", "a", "", "a", "a", "a"), ["a"])
        self.assertEqual(self.settle("a", "a", "a", "a", "a", ""), ["a"])

    def test_turned_off(self):
        self.assertEqual(self.settle("a"), ["kmemleak turned itself off, or cannot be read",
                                            "a"])


class Complaints(Functions):
    """A checked build repeats the complaints of earlier ones, also of an interrupted one."""

    # Like make: prints nothing about files that are up to date.
    BUILD = """
        work=$PWD
        copy_sources()
        {
            true
        }
        compile()
        {
            [ ! -e src/object ] || return 0
            : >src/object
            [ ! -e bad ] || echo "$work/src/a.c: warning" >build.log
            [ ! -e interrupted ] || kill -KILL $$
        }
    """

    def build(self, *files, check="1"):
        for name in "interrupted", "bad":
            (self.folder / name).unlink(missing_ok=True)
        for name in files:
            (self.folder / name).touch()
        said = self.shell(f"exec 2>&1\nDAFS_CHECK={check}\n" + self.BUILD +
                          function("bed/modules", "complaints") +
                          function("bed/modules", "build") + "build")
        return "warning" in "".join(said)

    def test_silent(self):
        self.assertFalse(self.build())
        (self.folder / "src/kept").touch()
        self.assertFalse(self.build())
        self.assertTrue((self.folder / "src/kept").exists())

    def test_complaint(self):
        for _ in range(2):
            self.assertTrue(self.build("bad"))
        self.assertFalse(self.build())

    def test_unchecked(self):
        self.assertTrue(self.build("bad", check=""))
        self.assertFalse(self.build("bad", check=""))
        self.assertTrue(self.build("bad"))

    def test_interrupted(self):
        self.build("bad", "interrupted")
        self.assertTrue(self.build("bad"))


class Check(Functions):
    """The files that "check" examines."""

    def git(self, *args):
        return subprocess.run(["git", "-C", self.folder, "-c", "user.name=a",
                               "-c", "user.email=a", *args], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    def commit(self, name, text=""):
        (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", name)
        self.git("commit", "-qm", name)

    def changed(self, revision):
        """A function of a copy of the script in that repository."""
        place = self.folder / "tools/testing/check"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text((guest.TESTING / "check").read_text("utf-8")
                         .replace("\nmain()\n", "\nprint(*changed(sys.argv[1]))\n"), "utf-8")
        return subprocess.run(["python3", "-B", place, revision], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split()

    def test_branch(self):
        """Changes since the merge base, not those of the other branch."""
        self.git("init", "-q", "-b", "main")
        (self.folder / ".git/info/exclude").write_text("tools\n", encoding="utf-8")
        self.commit("first")
        self.git("checkout", "-qb", "own")
        self.commit("committed")
        self.git("checkout", "-q", "main")
        self.commit("first", "theirs")
        self.git("checkout", "-q", "own")
        (self.folder / "new").touch()
        self.assertEqual(self.changed("main"), ["committed", "new"])
        self.assertEqual(self.changed("HEAD"), ["new"])
        self.assertEqual(self.changed("HEAD~1"), ["committed", "new"])


if __name__ == "__main__":
    unittest.main()
