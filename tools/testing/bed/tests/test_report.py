# SPDX-License-Identifier: GPL-2.0
"""Tests of what report.py treats as a failure."""

import unittest

import report

KTAP = """KTAP version 1
1..1
    KTAP version 1
    # Subtest: dafs_io
    # module: dafs_kunit
    1..3
    ok 1 reads
        KTAP version 1
        # Subtest: sizes
        ok 1 one
        ok 2 two
    # sizes: pass:2 fail:0 skip:0 total:2
    ok 2 sizes
    ok 3 direct # SKIP no memory
# dafs_io: pass:2 fail:0 skip:1 total:3
ok 1 dafs_io"""


def read(text):
    return report.parse(text.splitlines())


def failures(text):
    return [test.name for test in read(text) if not test.ok]


class Tap(unittest.TestCase):
    """Plain lists, as written by suites."""

    def test_complete(self):
        tests = read("ok 1 - a\nnot ok 2 - b\n# got: 1\n1..2\n# exit 0")
        self.assertEqual([(t.name, t.ok) for t in tests],
                         [("a", True), ("b", False)])
        self.assertEqual(tests[1].why, ["got: 1"])

    def test_plan_first(self):
        self.assertEqual(failures("1..1\nok 1 - a"), [])

    def test_cut_short(self):
        self.assertEqual(failures("1..3\nok 1 - a"),
                         ["1 results of 3 that were planned"])

    def test_more_than_planned(self):
        self.assertEqual(failures("ok 1 - a\n1..1\nok 2 - b"),
                         ["2 results of 1 that were planned"])

    def test_no_plan(self):
        self.assertEqual(failures("ok 1 - a\n# exit 0"),
                         ["no plan: results may be missing"])

    def test_two_plans(self):
        self.assertEqual(failures("ok 1 - a\n1..2\n1..1"), ["more than one plan"])

    def test_nothing(self):
        self.assertEqual(len(failures("")), 1)

    def test_none_run(self):
        self.assertEqual(failures("1..0"), ["a plan of no tests"])

    def test_given_up(self):
        self.assertEqual(failures("ok 1 - a\nBail out! no mount"),
                         ["Bail out! no mount"])

    def test_skip(self):
        test, = read("ok 1 - a # SKIP no such device\n1..1")
        self.assertTrue(test.skipped)
        self.assertEqual((test.name, test.why), ("a", ["no such device"]))


class Ktap(unittest.TestCase):
    """Nested lists, as written by KUnit, inside those of a suite."""

    def within(self, text):
        return f"ok 1 - loads\n{text}\n{KTAP}\nok 2 - unloads\n1..2"

    def test_complete(self):
        tests = read(self.within(KTAP))
        self.assertEqual([t.name for t in tests if not t.ok], [])
        self.assertEqual([t.name for t in tests][:5],
                         ["loads", "dafs_io: reads", "dafs_io: sizes: one",
                          "dafs_io: sizes: two", "dafs_io: direct"])
        self.assertEqual(len(tests), 10)

    def cut(self, *lines):
        return "\n".join(line for line in KTAP.splitlines()
                         if line.strip() not in lines)

    def test_result_lost(self):
        self.assertEqual(failures(self.within(self.cut("ok 1 reads"))),
                         ["dafs_io: 2 results of 3 that were planned"])

    def test_all_results_lost(self):
        text = "\n".join(line for line in KTAP.splitlines()
                         if not line.startswith("    ok")
                         and not line.startswith("        "))
        self.assertEqual(failures(self.within(text)),
                         ["dafs_io: 0 results of 3 that were planned"])

    def test_end_lost(self):
        text = KTAP[:KTAP.index("    # sizes")]
        self.assertEqual(failures(self.within(text)),
                         ["the results end in the middle"])
        self.assertEqual(failures(f"ok 1 - loads\n1..1\n{text}"),
                         ["the results end in the middle"])

    def test_plan_lost(self):
        self.assertEqual(failures(self.within(self.cut("1..3"))),
                         ["dafs_io: no plan: results may be missing"])

    def test_none_run(self):
        text = ("KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: x\n"
                "    1..0\nok 1 x")
        self.assertEqual(failures(self.within(text)), ["x: a plan of no tests"])

    def test_why(self):
        text = KTAP.replace("    ok 1 reads",
                            "    # reads: EXPECTATION FAILED\n    not ok 1 reads")
        test, = (t for t in read(self.within(text)) if not t.ok)
        self.assertEqual(test.why, ["# reads: EXPECTATION FAILED"])


class Kernel(unittest.TestCase):
    """Complaints of a guest's kernel."""

    def test_checkers(self):
        results = ["ok 1 - a", "# checked lockdep", "# exit 0"]
        self.assertEqual(report.unchecked(results, ["lockdep"]), [])
        self.assertEqual(report.unchecked(results, ["lockdep", "KASAN"]),
                         ["KASAN did not watch"])

    def test_splats(self):
        for line in ("BUG: KCSAN: data-race in a [dafs] / b [dafs]",
                     "BUG: KFENCE: use-after-free read in a [dafsd]",
                     "WARNING: possible circular locking dependency detected"):
            self.assertTrue(report.splats([f"[    1.000000] {line}"]), line)
            self.assertTrue(report.splats([f"50% done[    1.000000] {line}"]), line)

    def test_soft_roce(self):
        """Some of its warnings are not due to DAFS."""
        where = "[    1.000000] WARNING: CPU: 0 PID: 9 at drivers/infiniband/"
        for line in ("sw/rxe/rxe_comp.c:827 rxe_completer+0x1d6f/0x2300 [rdma_rxe]",
                     "sw/rxe/rxe_mr.c:395 rxe_mr_copy+0x2f/0x90"):
            self.assertEqual(report.splats([where + line]), [], line)
        for line in ("sw/rxe/rxe_pool.c:212 __rxe_cleanup+0x2f/0x90",
                     "core/cq.c:344 ib_free_cq+0x2f/0x90"):
            self.assertTrue(report.splats([where + line]), line)
        self.assertTrue(report.splats(
            ["[    1.000000] BUG: KASAN: slab-use-after-free in rxe_mr_copy+0x2f/0x90"]))

    def test_soft_roce_counts(self):
        """A few are allowed, many are not."""
        line = ("[    1.000000] WARNING: CPU: 0 PID: 9 at drivers/infiniband/"
                "sw/rxe/rxe_mr.c:395 rxe_mr_copy+0x2f/0x90")
        log = [line, "# the tests are over", line]
        self.assertEqual(report.soft_roce(log), 1)
        most = [line] * report.SOFT_ROCE_MOST
        self.assertEqual(report.splats(most), [])
        self.assertEqual(len(report.splats([*most, line])), 1)

    def test_file_system_damaged(self):
        log = ["[    1.000000] EXT4-fs error (device ram0): ext4_lookup:1: deleted inode"]
        self.assertTrue(report.splats(log))
        self.assertEqual(report.splats(log, ["EXT4-fs error"]), [])
        self.assertTrue(report.splats(log, ["EXT4-fs warning"]))


if __name__ == "__main__":
    unittest.main()
