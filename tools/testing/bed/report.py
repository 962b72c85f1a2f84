# SPDX-License-Identifier: GPL-2.0
"""Reads test results (TAP, KUnit's KTAP) and the kernel's complaints."""

import itertools
import re

RESULT = re.compile(r"^(\s*)(not )?ok \d+(?: -)? ?(.*)$")
PLAN = re.compile(r"^(\s*)1\.\.(\d+)\b")
HEADER = re.compile(r"^(\s*)KTAP version")
DIRECTIVE = re.compile(r"^(.*?)\s*# SKIP\b\s*(.*)$", re.IGNORECASE)
STRUCTURE = re.compile(r"^\s*(# Subtest:|# module:|# Totals:|# \S+: pass:)")

# The part of a guest's log about tests begins here; messages before are
# ignored.
LOG_BEGIN = re.compile(r"Run /\S+ as init process")
LOG_END = re.compile(r"^# the tests are over")
LEAK = re.compile(r"^unreferenced object")
# In a stack of User Mode Linux, all but the return addresses.
NOISE = re.compile(r"\] \? \S+\+0x0/|__asan_|hex dump|^    ([0-9a-f]{2} ){16}")
# Not anchored to the beginning of a line: a program may have printed a part of a
# line before.
SPLAT = re.compile(
    r"\[ *\d+\.\d+\].*("
    r"\bBUG:|\bWARNING:|\bOops\b|Kernel panic|general protection fault|"
    r"KASAN:|UBSAN:|kernel BUG at|possible circular locking|"
    r"possible recursive locking|inconsistent lock state|"
    r"suspicious RCU usage|invalid wait context|held lock freed|"
    r"sleeping function called|scheduling while atomic|"
    r"blocked for more than|detected stalls|self-detected stall|"
    r"soft lockup|hard LOCKUP|refcount_t:|list_(add|del) corruption|"
    r"unregister_netdevice: waiting|kmem_cache_destroy|"
    r"Unable to handle kernel|stack-protector:|lockdep is turned off|"
    r"EXT4-fs error)")
SPLAT_LINES = 60
# Warnings of soft-RoCE that suites cannot avoid when memory is short or a busy host delays
# packets.  Then it ends the connection, which tests must survive.  rxe_mr_copy: it had no
# memory for the response to an RDMA READ, and has put the memory region before the retry.
# rxe_completer: a response does not continue where the last one ended, because a READ was
# retried in the middle or answered in two attempts.
SOFT_ROCE = re.compile(r"WARNING: .* at \S*/sw/rxe/\S+ rxe_(mr_copy|completer)\+")
# Maximum in one guest.  That of rxe_completer comes at most once for each of two places.
# That of rxe_mr_copy ends a connection each time: a few are chance, but more are a fault
# of the suite or of DAFS.
SOFT_ROCE_MOST = 5


class Test:
    """One test's result; why: the lines that explain a failure or a skip."""

    def __init__(self, name, ok, skipped=False, why=()):
        self.name = name
        self.ok = ok
        self.skipped = skipped
        self.why = list(why)


class Plan:
    """The number of planned and of received results."""

    def __init__(self, required):
        self.required = required
        self.planned = None
        self.seen = 0

    def announce(self, number):
        # A second plan is an error: it must not replace the first one.
        self.planned = number if self.planned is None else -1

    @property
    def fulfilled(self):
        return self.planned == self.seen

    def broken(self):
        """What is wrong with the plan, if anything."""
        if self.planned is None:
            return "no plan: results may be missing" if self.required else None
        if self.planned < 0:
            return "more than one plan"
        if self.planned == 0:
            return "a plan of no tests"
        if not self.fulfilled:
            return f"{self.seen} results of {self.planned} that were planned"
        return None


class Reader:
    """Reads TAP with embedded KTAP documents of KUnit.

    Each document has a plan, and so has each list in it, except that of a
    parameterized test.
    """

    def __init__(self):
        self.tests = []         # indentation, Test
        self.outer = Plan(True)
        self.bailed = False
        self.lists = {}         # of the open KTAP document, by indentation
        self.before = []
        self.last = None

    def read(self, line):
        if match := RESULT.match(line):
            self._result(match)
        elif match := PLAN.match(line):
            self._plan(len(match[1].expandtabs()), int(match[2]))
        elif match := HEADER.match(line):
            self._header(len(match[1].expandtabs()))
        else:
            self._remark(line)

    def end(self):
        """Returns the tests; only the leaves count."""
        self._cut()
        if not self.bailed:
            self._check(0, self.outer)
        return [test for _, test in self.tests]

    def _header(self, indent):
        if indent:
            self._close_above(indent - 1)
        else:
            self._cut()
        self.lists[indent] = Plan(indent <= 4)

    def _cut(self):
        """Reports open lists of a document as truncated."""
        if self.lists:
            self.tests.append((0, Test("the results end in the middle", False,
                                       why=self.before)))
        self.lists = {}
        self.before = []

    def _plan(self, indent, number):
        if self.lists:
            self.lists.setdefault(indent, Plan(True)).announce(number)
        else:
            self.outer.announce(number)

    def _check(self, indent, plan):
        if wrong := plan.broken():
            self.tests.append((indent, Test(wrong, False)))

    def _close_above(self, indent):
        """Ends the lists with more indentation."""
        for deeper in sorted((i for i in self.lists if i > indent), reverse=True):
            self._check(deeper, self.lists.pop(deeper))

    def _count(self, indent):
        if not self.lists:
            self.outer.seen += 1
            return
        self._close_above(indent)
        self.lists.setdefault(indent, Plan(False)).seen += 1

    def _close(self):
        """Ends a document after the last result of its outermost list."""
        if 0 in self.lists and self.lists[0].fulfilled:
            self.lists = {}

    def _result(self, match):
        indent = len(match[1].expandtabs())
        self._count(indent)
        directive = DIRECTIVE.match(match[3])
        test = Test(directive[1] if directive else match[3],
                    not match[2] or bool(directive), bool(directive),
                    [directive[2]] if directive else ())
        if not test.ok:
            test.why = self.before
        self.before = []
        self.last = test
        self._fold(test, indent)
        self._close()

    def _fold(self, parent, indent):
        """Handles a result that sums up the more indented ones before it.

        Its name becomes a prefix of theirs. It counts only if it failed and
        none of them did.
        """
        children = []
        while self.tests and self.tests[-1][0] > indent:
            children.insert(0, self.tests.pop()[1])
        for child in children:
            child.name = f"{parent.name}: {child.name}"
            self.tests.append((indent, child))
        if not children or (not parent.ok and all(c.ok for c in children)):
            self.tests.append((indent, parent))

    def _remark(self, line):
        """KUnit explains a failure before its result line, TAP after it."""
        if line.startswith(("# exit ", "# kernel: ", "# checked ")):
            self.last = None
        elif line.startswith("Bail out!"):
            self.bailed = True
            self.tests.append((0, Test(line, False)))
        elif STRUCTURE.match(line):
            pass
        elif self.lists:
            self.before.append(line.strip())
        elif self.last and not self.last.ok and line.startswith("# "):
            self.last.why.append(line[2:])


def parse(lines):
    """The tests of TAP or KTAP lines, missing ones as failures."""
    reader = Reader()
    for line in lines:
        reader.read(line)
    return reader.end()


def complaints(results):
    """The complaints of the guest's kernel checks."""
    return [line[len("# kernel: "):] for line in results
            if line.startswith("# kernel: ")]


def unchecked(results, checkers):
    """The checkers that were not reported as active."""
    checked = {line.split()[-1] for line in results
               if line.startswith("# checked ")}
    return [f"{name} did not watch" for name in checkers if name not in checked]


def since_boot(log):
    """The part of a guest's log that is about the tests."""
    for number, line in enumerate(log):
        if LOG_BEGIN.search(line):
            return log[number + 1:]
    return log


def of_tests(log):
    """The part of a guest's log before the checks that provoke a report."""
    return itertools.takewhile(lambda line: not LOG_END.match(line), log)


def soft_roce(log):
    """The number of warnings of soft-RoCE that suites cannot avoid."""
    return sum(bool(SOFT_ROCE.search(line)) for line in of_tests(log))


def splats(log, may_log=()):
    """The kernel's complaints in a guest's log, some lines of each.

    may_log: words of lines that are no complaint."""
    found = []
    warned = soft_roce(log)
    if warned > SOFT_ROCE_MOST:
        found.append(f"soft-RoCE warned {warned} times, and may {SOFT_ROCE_MOST} times")
    more = 0
    for line in of_tests(log):
        if any(words in line for words in may_log) or SOFT_ROCE.search(line):
            continue
        if not more and (SPLAT.search(line) or LEAK.match(line)):
            more = SPLAT_LINES
        if more:
            more -= 1
            if not NOISE.search(line):
                found.append(line)
    return found


def before(log, name, most=15):
    """The last part of the log before a failed test."""
    part = []
    for line in log:
        if line.startswith("not ok ") and line.endswith(f"- {name}"):
            return part[-most:]
        if RESULT.match(line):
            part = []
        elif not line.startswith("# "):
            part.append(line)
    return []
