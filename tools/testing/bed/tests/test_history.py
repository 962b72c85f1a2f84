# SPDX-License-Identifier: GPL-2.0
"""Tests of what history/check.py finds wrong: histories made by hand."""

import json
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[2] / "history"))

# pylint: disable=wrong-import-position,import-error
import check
import history

SLOT = history.SLOT


class Lines:
    """The log of some programs; each call of run() is an operation that ends soon."""

    def __init__(self):
        self.time = 0
        self.lines = []
        self.numbers = {}
        self.client = None      # of the fault that has begun
        self.names = [f"{file}.start" for file in history.FILES]

    def begin(self, who, operation, **args):
        self.time += 1
        number = self.numbers[who] = self.numbers.get(who, 0) + 1
        client = who.partition(".")[0]
        self.lines.append({"who": who, "client": client, "n": number, "op": operation,
                           "t": self.time, **args})

    def end(self, who, result="ok", value=None):
        self.time += 1
        self.lines.append({"who": who, "client": who.partition(".")[0],
                           "n": self.numbers[who], "result": result, "value": value,
                           "t": self.time})

    def run(self, who, operation, result="ok", value=None, **args):
        self.begin(who, operation, **args)
        self.end(who, result, value)

    def lock(self, who, kind="w", slots=(0, 0), result="ok"):
        self.run(who, "lock", result, file="f0", first=slots[0], last=slots[1], kind=kind)

    def unlock(self, who, first=0, last=history.SLOTS - 1):
        self.run(who, "unlock", file="f0", first=first, last=last)

    def write(self, who, stamp, result="ok", slot=0):
        self.run(who, "write", result, SLOT if result == "ok" else None,
                file="f0", slot=slot, stamp=stamp)

    def read(self, who, value, slot=0):
        self.run(who, "read", value=value, file="f0", slot=slot)

    def fsync(self, who, result="ok"):
        self.run(who, "fsync", result, file="f0")

    def written(self, who, stamp):
        """A write as it should be."""
        self.lock(who)
        self.write(who, stamp)
        self.unlock(who)

    def locked_read(self, who, value):
        self.lock(who, "r")
        self.read(who, value)
        self.unlock(who)

    def fault(self, name, client=None):
        self.fault_begins(name, client)
        self.fault_ends()

    def fault_begins(self, name, client=None):
        self.begin("fault", "fault", name=name)
        self.lines[-1]["client"] = client
        self.client = client

    def fault_ends(self):
        self.end("fault")
        self.lines[-1]["client"] = self.client

    def rename(self, who, old, new, result="ok"):
        self.run(who, "rename", result, old=old, new=new)
        if result == "ok":
            self.names = [new if name == old else name for name in self.names]

    def wrong(self, names=None):
        """What the checker says, in one string."""
        self.run("end", "list", value=names or self.names)
        return " | ".join(check.History(check.parse(map(json.dumps, self.lines))).check())


class Base(unittest.TestCase):
    """A history, and what is wrong with it."""

    def setUp(self):
        self.lines = Lines()

    def good(self, **args):
        self.assertEqual(self.lines.wrong(**args), "")

    def bad(self, what, **args):
        self.assertIn(what, self.lines.wrong(**args))


class Locks(Base):
    """Who has a lock when."""

    TWICE = "a lock was granted twice"

    def test_handed_over(self):
        self.lines.written("one.1", "a")
        self.lines.locked_read("two.1", "a")
        self.good()

    def test_two_writers(self):
        self.lines.lock("one.1")
        self.lines.lock("two.1")
        self.bad(self.TWICE)

    def test_reader_and_writer(self):
        self.lines.lock("one.1", "r")
        self.lines.lock("two.1", "w")
        self.bad(self.TWICE)

    def test_two_programs_of_a_client(self):
        self.lines.lock("one.1")
        self.lines.lock("one.2")
        self.bad(self.TWICE)

    def test_two_readers(self):
        self.lines.lock("one.1", "r")
        self.lines.lock("two.1", "r")
        self.good()

    def test_refused(self):
        self.lines.lock("one.1")
        self.lines.lock("two.1", result="EAGAIN")
        self.good()

    def test_ranges(self):
        self.lines.lock("one.1", slots=(0, 1))
        self.lines.lock("two.1", slots=(2, 3))
        self.good()

    def test_ranges_overlap(self):
        self.lines.lock("one.1", slots=(0, 2))
        self.lines.lock("two.1", slots=(2, 3))
        self.bad(self.TWICE)

    def test_unlocked_in_part(self):
        self.lines.lock("one.1", slots=(0, 2))
        self.lines.unlock("one.1", 0, 1)
        self.lines.lock("two.1", slots=(2, 2))
        self.bad(self.TWICE)

    def test_granted_while_it_is_unlocked(self):
        self.lines.lock("one.1")
        self.lines.begin("one.1", "unlock", file="f0", first=0, last=5)
        self.lines.lock("two.1")
        self.lines.end("one.1")
        self.good()

    def test_made_weaker(self):
        self.lines.lock("one.1")
        self.lines.lock("one.1", "r")
        self.lines.lock("two.1", "r")
        self.good()

    def test_closed(self):
        self.lines.lock("one.1")
        self.lines.run("one.1", "close", file="f0")
        self.lines.lock("two.1")
        self.good()

    def test_dies_with_its_program(self):
        self.lines.lock("one.1")
        self.lines.fault("kill", "one.1")
        self.lines.lock("two.1")
        self.good()

    def test_not_before(self):
        self.lines.lock("one.1")
        self.lines.lock("two.1")
        self.lines.fault("kill", "one.1")
        self.bad(self.TWICE)

    def test_lost_with_its_client(self):
        self.lines.lock("one.1")
        self.lines.fault("lose", "one")
        self.lines.lock("two.1")
        self.good()

    def test_lost_and_shared(self):
        """A client that does not know yet lets its programs share what it had locked."""
        self.lines.lock("one.1", "r")
        self.lines.fault_begins("lose", "one")
        self.lines.begin("two.1", "lock", file="f0", first=0, last=0, kind="w")
        self.lines.end("two.1")
        self.lines.lock("one.2", "r")
        self.lines.unlock("two.1")
        self.lines.fault_ends()
        self.good()

    def test_restart(self):
        for fault in "restart", "crash", "cut":
            with self.subTest(fault):
                self.lines = Lines()
                self.lines.lock("one.1")
                self.lines.fault(fault)
                self.lines.lock("two.1")
                self.bad(self.TWICE)

    def test_was_not_lost(self):
        """What it has written and synced shows that it has the lock."""
        self.lines.lock("one.1")
        self.lines.fault_begins("lose", "one")
        self.lines.lock("two.1")
        self.lines.write("one.1", "a")
        self.lines.fsync("one.1")
        self.lines.fault_ends()
        self.bad(self.TWICE)


class Data(Base):
    """What a slot contains."""

    WRONG = "f0 slot 0 has what was not written last"

    def test_initial(self):
        self.lines.locked_read("one.1", history.initial("f0", 0))
        self.good()

    def test_stale(self):
        self.lines.written("one.1", "a")
        self.lines.written("two.1", "b")
        self.lines.locked_read("one.1", "a")
        self.bad(self.WRONG)

    def test_never_written(self):
        self.lines.locked_read("one.1", "x")
        self.bad(self.WRONG)

    def test_own(self):
        self.lines.lock("one.1")
        self.lines.write("one.1", "a")
        self.lines.read("one.1", history.initial("f0", 0))
        self.bad(self.WRONG)

    def test_end(self):
        self.lines.written("one.1", "a")
        self.lines.read("end", history.initial("f0", 0))
        self.bad(self.WRONG)

    def test_crash_keeps_what_was_unlocked(self):
        self.lines.written("one.1", "a")
        self.lines.fault("crash")
        self.lines.locked_read("two.1", history.initial("f0", 0))
        self.bad(self.WRONG)

    def test_crash_keeps_what_was_synced(self):
        self.lines.lock("one.1")
        self.lines.write("one.1", "a")
        self.lines.fsync("one.1")
        self.lines.fault("crash")
        self.lines.read("one.1", history.initial("f0", 0))
        self.bad(self.WRONG)

    def test_killed_during_write(self):
        for value, good in ("a", True), (history.initial("f0", 0), True), ("b", False):
            with self.subTest(value):
                self.lines = Lines()
                self.lines.lock("one.1")
                self.lines.begin("one.1", "write", file="f0", slot=0, stamp="a")
                self.lines.fault("kill", "one.1")
                self.lines.locked_read("two.1", value)
                self.assertEqual(self.lines.wrong() == "", good)

    def test_once_seen_it_stays(self):
        self.lines.lock("one.1")
        self.lines.begin("one.1", "write", file="f0", slot=0, stamp="a")
        self.lines.fault("kill", "one.1")
        self.lines.locked_read("two.1", "a")
        self.lines.locked_read("two.1", history.initial("f0", 0))
        self.bad(self.WRONG)

    def power(self, value, synced):
        self.lines.lock("one.1")
        self.lines.write("one.1", "a")
        if synced:
            self.lines.fsync("one.1")
        self.lines.fault("power", "one")
        self.lines.locked_read("two.1", value)

    def test_client_without_power(self):
        self.power(history.initial("f0", 0), False)
        self.good()

    def test_client_without_power_has_synced(self):
        self.power(history.initial("f0", 0), True)
        self.bad(self.WRONG)

    def test_client_without_power_had_unlocked(self):
        self.lines.written("one.1", "a")
        self.lines.fault("power", "one")
        self.lines.locked_read("two.1", history.initial("f0", 0))
        self.good()

    def test_client_without_power_was_seen(self):
        self.lines.written("one.1", "a")
        self.lines.locked_read("two.1", "a")
        self.lines.fault("power", "one")
        self.lines.locked_read("two.1", history.initial("f0", 0))
        self.bad(self.WRONG)

    def lose(self, value):
        self.lines.lock("one.1")
        self.lines.write("one.1", "a")
        self.lines.fsync("one.1")
        self.lines.fault("lose", "one")
        self.lines.write("one.1", "b", "EIO")
        self.lines.unlock("one.1")
        self.lines.locked_read("two.1", value)

    def test_lost_client(self):
        self.lose("a")
        self.good()

    def test_lost_client_had_synced(self):
        self.lose(history.initial("f0", 0))
        self.bad(self.WRONG)

    def test_without_a_lock(self):
        self.lines.write("one.1", "a")
        self.bad("uses what it has not locked")


class Results(Base):
    """What fails."""

    def test_error(self):
        self.lines.lock("one.1")
        self.lines.fault("restart")
        self.lines.write("one.1", "a", "EIO")
        self.bad("a call failed")

    def test_error_of_another_client(self):
        self.lines.lock("one.1")
        self.lines.fault("lose", "two")
        self.lines.write("one.1", "a", "EIO")
        self.bad("a call failed")

    def test_short(self):
        self.lines.lock("one.1")
        self.lines.run("one.1", "write", value=3, file="f0", slot=0, stamp="a")
        self.bad("a write was short")

    def test_torn(self):
        self.assertEqual(history.decode(history.encode("a".ljust(history.STAMP))),
                         "a".ljust(history.STAMP))
        self.assertIn("torn", history.decode(b"a" * SLOT + b"b"))
        self.assertIn("torn", history.decode(b"a" * (SLOT - 1) + b"b"))

    def test_another_file(self):
        self.lines.run("one.1", "open", value="f1", name="f0.start")
        self.bad("found another file")


class Names(Base):
    """Which name a file has when."""

    def test_renamed(self):
        self.lines.rename("one.1", "f0.start", "f0.a")
        self.lines.rename("two.1", "f0.a", "f0.b")
        self.lines.rename("one.1", "f0.a", "f0.c", "ENOENT")
        self.good()

    def test_twice(self):
        self.lines.rename("one.1", "f0.start", "f0.a")
        self.lines.rename("two.1", "f0.start", "f0.b")
        self.bad("has succeeded, but has not happened")

    def test_lost(self):
        self.lines.rename("one.1", "f0.start", "f0.a")
        self.bad("has succeeded, but has not happened",
                 names=["f0.start", "f1.start", "f2.start"])

    def test_no_name(self):
        self.bad("f0 has 0 names", names=["f1.start", "f2.start"])

    def test_two_names(self):
        self.lines.rename("one.1", "f0.start", "f0.a")
        self.bad("f0 has 2 names", names=["f0.start", "f0.a", "f1.start", "f2.start"])

    def test_unknown_name(self):
        self.bad("no renames lead to f0.x", names=["f0.x", "f1.start", "f2.start"])

    def test_not_found(self):
        self.lines.rename("one.1", "f0.start", "f0.a")
        self.lines.rename("two.1", "f0.a", "f0.b", "ENOENT")
        self.bad("did not find a name that was there")

    def test_executed_twice(self):
        """The first answer was lost with the server."""
        self.lines.begin("one.1", "rename", old="f0.start", new="f0.a")
        self.lines.fault("restart")
        self.lines.end("one.1", "ENOENT")
        self.good(names=["f0.a", "f1.start", "f2.start"])

    def test_before_it_had_the_name(self):
        self.lines.rename("one.1", "f0.a", "f0.b")
        self.lines.rename("two.1", "f0.start", "f0.a")
        self.bad("before the file had its old name", names=["f0.b", "f1.start", "f2.start"])

    def test_server_lists_both(self):
        self.lines.begin("one.1", "rename", old="f0.start", new="f0.a")
        self.lines.run("server.1", "list", value=["f0.start", "f0.a", "f1.start", "f2.start"])
        self.lines.end("one.1")
        self.bad("lists 2 names", names=["f0.a", "f1.start", "f2.start"])

    def test_server_lists_an_old_name(self):
        self.lines.rename("one.1", "f0.start", "f0.a")
        self.lines.run("server.1", "list", value=["f0.start", "f1.start", "f2.start"])
        self.bad("lists f0.start when it was not there")


if __name__ == "__main__":
    unittest.main()
