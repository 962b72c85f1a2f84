# SPDX-License-Identifier: GPL-2.0
"""Reads test results (TAP, KUnit's KTAP) and the kernel's complaints."""

import re

RESULT = re.compile(r"^(\s*)(not )?ok \d+(?: -)? ?(.*)$")
DIRECTIVE = re.compile(r"^(.*?)\s*# SKIP\b", re.IGNORECASE)
STRUCTURE = re.compile(r"^\s*(KTAP version|\d+\.\.\d+|# Subtest:|# module:"
                       r"|# Totals:|# \S+: pass:)")

# From here on a guest's log is about the tests: what a kernel says before is
# its own affair.
LOG_BEGIN = re.compile(r"Run /\S+ as init process")
LOG_END = re.compile(r"^# the tests are over")
LEAK = re.compile(r"^unreferenced object")
# In a stack of User Mode Linux, all but the return addresses.
NOISE = re.compile(r"\] \? \S+\+0x0/|__asan_|hex dump|^    ([0-9a-f]{2} ){16}")
SPLAT = re.compile(
    r"^\[ *\d+\.\d+\].*("
    r"\bBUG:|\bWARNING:|\bOops\b|Kernel panic|general protection fault|"
    r"KASAN:|UBSAN:|kernel BUG at|possible circular locking|"
    r"possible recursive locking|inconsistent lock state|"
    r"suspicious RCU usage|invalid wait context|held lock freed|"
    r"sleeping function called|scheduling while atomic|"
    r"blocked for more than|detected stalls|self-detected stall|"
    r"soft lockup|hard LOCKUP|refcount_t:|list_(add|del) corruption|"
    r"unregister_netdevice: waiting|kmem_cache_destroy|"
    r"Unable to handle kernel|stack-protector:|lockdep is turned off)")
SPLAT_LINES = 60


class Test:
    """One test's result; why: the lines that explain a failure."""

    def __init__(self, name, ok, skipped=False, why=()):
        self.name = name
        self.ok = ok
        self.skipped = skipped
        self.why = list(why)


def _fold(tests, parent, indent):
    """A result less indented than those before it sums them up.

    They take its name in front of theirs. It counts itself only if it failed
    and none of them did.
    """
    children = []
    while tests and tests[-1][0] > indent:
        children.insert(0, tests.pop()[1])
    for child in children:
        child.name = f"{parent.name}: {child.name}"
        tests.append((indent, child))
    if not children or (not parent.ok and all(c.ok for c in children)):
        tests.append((indent, parent))


def parse(lines):
    """Returns the tests of TAP or KTAP lines; only the leaves count.

    KUnit explains a failure before its result line, TAP after it.
    """
    tests = []
    before = []
    last = None
    ktap = False
    for line in lines:
        match = RESULT.match(line)
        if not match:
            ktap = ktap or line.startswith("KTAP version")
            if line.startswith(("# exit ", "# kernel: ")):
                last = None
            elif line.startswith("Bail out!"):
                tests.append((0, Test(line, False)))
            elif STRUCTURE.match(line):
                pass
            elif ktap:
                before.append(line.strip())
            elif last and not last.ok and line.startswith("# "):
                last.why.append(line[2:])
            continue
        indent = len(match[1].expandtabs())
        directive = DIRECTIVE.match(match[3])
        last = Test(directive[1] if directive else match[3],
                    not match[2] or bool(directive), bool(directive))
        if not last.ok:
            last.why = before
        before = []
        _fold(tests, last, indent)
        ktap = ktap and indent > 0
    return [test for _, test in tests]


def complaints(results):
    """What the guest's own checks found wrong with its kernel."""
    return [line[len("# kernel: "):] for line in results
            if line.startswith("# kernel: ")]


def since_boot(log):
    """The part of a guest's log that is about the tests."""
    for number, line in enumerate(log):
        if LOG_BEGIN.search(line):
            return log[number + 1:]
    return log


def splats(log):
    """The kernel's complaints in a guest's log, some lines of each."""
    found = []
    more = 0
    for line in log:
        if LOG_END.match(line):
            break
        if not more and (SPLAT.match(line) or LEAK.match(line)):
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
