# SPDX-License-Identifier: GPL-2.0
"""Reads test results (TAP, KUnit's KTAP) and the kernel's complaints."""

import itertools
import re

RESULT = re.compile(r"^(\s*)(not )?ok \d+(?: -)? ?(.*)$")
PLAN = re.compile(r"^(\s*)1\.\.(\d+)\b")
HEADER = re.compile(r"^(\s*)KTAP version")
DIRECTIVE = re.compile(r"^(.*?)\s*# SKIP\b\s*(.*)$", re.IGNORECASE)
STRUCTURE = re.compile(r"^\s*(# Subtest:|# module:|# Totals:|# \S+: pass:)")

# From here on a guest's log is about the tests: what a kernel says before is
# its own affair.
LOG_BEGIN = re.compile(r"Run /\S+ as init process")
LOG_END = re.compile(r"^# the tests are over")
LEAK = re.compile(r"^unreferenced object")
# In a stack of User Mode Linux, all but the return addresses.
NOISE = re.compile(r"\] \? \S+\+0x0/|__asan_|hex dump|^    ([0-9a-f]{2} ){16}")
# Not only where a line begins: a program may have printed without ending its own.
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
# What soft-RoCE says when memory is short, or a busy host keeps its packets waiting, and
# that no suite can keep it from.  Then it ends the connection, which tests are to survive.
# rxe_mr_copy: of an answer to an RDMA READ, for which it had no memory at first, it has
# let the memory region go.  rxe_completer: an answer that does not go on where the last
# one ended, as when a READ was sent again in the middle or was answered in two attempts.
SOFT_ROCE = re.compile(r"WARNING: .* at \S*/sw/rxe/\S+ rxe_(mr_copy|completer)\+")
# In one guest.  That of rxe_completer comes once for each of two places in it, whatever
# happens.  That of rxe_mr_copy costs a connection each time: once in a while is chance,
# but what happens again and again is what the suite, or DAFS, does.
SOFT_ROCE_MOST = 5


class Test:
    """One test's result; why: the lines that explain a failure or a skip."""

    def __init__(self, name, ok, skipped=False, why=()):
        self.name = name
        self.ok = ok
        self.skipped = skipped
        self.why = list(why)


class Plan:
    """How many results are to come, and how many came."""

    def __init__(self, required):
        self.required = required
        self.planned = None
        self.seen = 0

    def announce(self, number):
        # A second plan is as wrong as none: it may not hide what the first said.
        self.planned = number if self.planned is None else -1

    @property
    def fulfilled(self):
        return self.planned == self.seen

    def broken(self):
        """What is wrong with it, if anything."""
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
    """Reads TAP; documents of KTAP, which KUnit writes, may be among its lines.

    Every document says how many results it has, and so does every list in one,
    but that of a test with parameters.
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
        """The tests; only the leaves count."""
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
        """What is still open of a document has lost its end."""
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
        """Ends the lists that are further in."""
        for deeper in sorted((i for i in self.lists if i > indent), reverse=True):
            self._check(deeper, self.lists.pop(deeper))

    def _count(self, indent):
        if not self.lists:
            self.outer.seen += 1
            return
        self._close_above(indent)
        self.lists.setdefault(indent, Plan(False)).seen += 1

    def _close(self):
        """A document ends with the last result of its outermost list."""
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
        """A result less indented than those before it sums them up.

        They take its name in front of theirs. It counts itself only if it
        failed and none of them did.
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
    """What the guest's own checks found wrong with its kernel."""
    return [line[len("# kernel: "):] for line in results
            if line.startswith("# kernel: ")]


def unchecked(results, checkers):
    """Which of a kernel's checkers did not prove that they watched."""
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
    """The part of a guest's log before what provokes a report."""
    return itertools.takewhile(lambda line: not LOG_END.match(line), log)


def soft_roce(log):
    """How many warnings of soft-RoCE there are that no suite can keep it from."""
    return sum(bool(SOFT_ROCE.search(line)) for line in of_tests(log))


def splats(log, may_log=()):
    """The kernel's complaints in a guest's log, some lines of each.

    may_log: what is no complaint, as words of the line."""
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
    """The part of the log that led to a failed test."""
    part = []
    for line in log:
        if line.startswith("not ok ") and line.endswith(f"- {name}"):
            return part[-most:]
        if RESULT.match(line):
            part = []
        elif not line.startswith("# "):
            part.append(line)
    return []
