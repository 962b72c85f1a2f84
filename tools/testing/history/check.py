#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Judges a history: is there an order of its operations that a local file system could show?

  check.py LOG...        prints what is wrong, and what the history has; fails if anything is

- Two programs never have conflicting locks of a slot at a time. A lock is had from the end
  of LOCK to the begin of UNLOCK, CLOSE or the death of the program. A client that is cut
  off for longer than its lease (the fault "lose") may lose its locks from then on; what it
  can write and sync nevertheless shows that it has not.
- A read under a lock returns what was last written under a lock. What was not acknowledged,
  or not flushed when its client was lost, is there or not. All else is there, also after a
  crash of the server.
- A file has one name at a time, and each rename that succeeded has happened, once. The
  server may execute a rename twice if it was interrupted by a fault: then the second one
  says ENOENT.
- Nothing else fails.

Faults: "crash" and "restart" of the server, "cut" (from the server), "lose" (likewise, for
longer than the lease), "kill" of a program, "power" of a client's machine. kill has the name
of the program instead of a client.
"""

import collections
import dataclasses
import functools
import json
import math
import sys

import history

ALWAYS = {("lock", "EAGAIN"), ("open", "ENOENT"), ("rename", "ENOENT")}
LOST = ("EIO", "ESTALE")
INTERRUPTING = ("crash", "restart", "cut", "lose", "power")


# pylint: disable=too-many-instance-attributes # they are records

@dataclasses.dataclass
class Operation:
    """One line that has begun, with what the second one said if there is one."""
    who: str
    client: str
    operation: str
    args: dict
    begin: float
    end: float = math.inf
    result: str = None
    value: object = None

    def __str__(self):
        args = " ".join(f"{key}={value}" for key, value in self.args.items())
        end = "never" if self.end == math.inf else f"{self.end:.4f}"
        return (f"{self.begin:.4f}-{end} {self.who} {self.operation} {args}: "
                f"{self.result} {self.value if self.operation != 'list' else ''}".rstrip())


@dataclasses.dataclass
class Session:
    """A lock of one slot, while a program has it."""
    who: str
    client: str
    file: str
    slot: int
    kind: str
    begin: float
    end: float = math.inf
    # Until the program knows that it is over. The end is earlier if it was perhaps lost.
    told: float = math.inf
    # "lose" or "power" of its client may have taken it, or what was written and not flushed.
    fault: str = None
    operations: list = dataclasses.field(default_factory=list)

    def __str__(self):
        return (f"{self.who} had {self.file} slot {self.slot} ({self.kind}) "
                f"{self.begin:.4f}-{self.end:.4f}")


COMMON = {"who", "client", "n", "op", "t"}


def parse(lines):
    """The operations of a history, by their begin."""
    operations = {}
    for line in map(json.loads, lines):
        key = line["who"], line["client"], line["n"]
        if "op" in line:
            args = {name: value for name, value in line.items() if name not in COMMON}
            operations[key] = Operation(line["who"], line["client"], line["op"], args, line["t"])
        else:
            operation = operations[key]
            operation.end, operation.result = line["t"], line["result"]
            operation.value = line["value"]
    return sorted(operations.values(), key=lambda act: act.begin)


def overlaps(one, other):
    return one.begin < other.end and other.begin < one.end


class History:
    """All operations, sorted by their kind, and what was found wrong."""

    def __init__(self, operations):
        self.wrong = []
        self.counts = collections.Counter()
        self.faults = [act for act in operations if act.operation == "fault"]
        self.operations = [act for act in operations if act.operation != "fault"]
        self.by_owner = collections.defaultdict(list)
        for act in self.operations:
            self.by_owner[act.who].append(act)
            self.counts[f"{act.operation} {act.result or 'unfinished'}"] += 1
        self.sessions = []
        self.loose = []         # reads and writes under no lock

    def complain(self, what, *evidence):
        self.wrong.append("\n  ".join([what, *map(str, evidence)]))

    @functools.lru_cache(maxsize=None) # pylint: disable=method-cache-max-size-none
    def faults_of(self, client, name):
        return [fault for fault in self.faults if fault.args["name"] == name and
                fault.client in (client, None)]

    def death(self, who):
        """When a program died that did not close its files; it has its locks until then."""
        last = self.by_owner[who][-1]
        known = last.begin if last.end == math.inf else last.end
        return min((max(known, fault.begin) for fault in self.faults
                    if fault.args["name"] == "kill" and fault.client == who or
                    fault.args["name"] == "power" and fault.client == last.client and
                    fault.end > known), default=math.inf)

    # --- what fails ---

    def check_results(self):
        for owner in self.by_owner.values():
            opened = {}
            for act in owner:
                self.check_result(act, opened)
                if act.operation == "open" and act.result == "ok":
                    opened[act.value] = act.begin

    def check_result(self, act, opened):
        if act.result in ("ok", None) or (act.operation, act.result) in ALWAYS:
            if act.operation == "write" and act.result and act.value != history.SLOT:
                self.complain("a write was short", act)
            if act.operation == "open" and act.result == "ok" and \
                    act.value != history.file_of(act.args["name"]):
                self.complain("an open found another file", act)
            return
        if act.result in LOST and self.was_lost(act, opened.get(act.args.get("file"), act.begin)):
            self.counts["errors of lost clients"] += 1
            return
        self.complain("a call failed", act)

    def was_lost(self, act, opened):
        """Had the client of this operation lost the file, which it opened at that time?"""
        return any(opened < fault.end and fault.begin < act.end
                   for fault in self.faults_of(act.client, "lose")) or \
            any(session.fault == "lose" and session.client == act.client and
                session.file == act.args.get("file") and
                session.begin < act.end and act.begin < session.told
                for session in self.sessions)

    # --- locks ---

    def find_sessions(self):
        for who, owner in self.by_owner.items():
            had = {}
            for act in owner:
                self.step_session(act, had)
            if had:
                self.end_sessions(had, list(had), self.death(who), math.inf)

    @staticmethod
    def end_sessions(had, places, time, told):
        for place in places:
            session = had.pop(place, None)
            if session:
                session.end, session.told = max(session.begin, time), told

    def step_session(self, act, had):
        """One operation of a program that has these sessions."""
        file = act.args.get("file")
        first, last = act.args.get("first", 0), act.args.get("last", history.SLOTS - 1)
        places = [(file, slot) for slot in range(first, last + 1)]
        if act.operation in ("unlock", "close"):
            for place in places:
                if place in had:
                    had[place].operations.append(act)
            self.end_sessions(had, places, act.begin, act.end)
        elif act.operation == "lock" and act.result != "EAGAIN":
            # unfinished, it may have changed what was had
            self.end_sessions(had, places, act.begin, act.end)
            if act.result == "ok":
                for place in places:
                    had[place] = Session(act.who, act.client, *place, act.args["kind"], act.end)
                    self.sessions.append(had[place])
        elif act.operation in ("read", "write"):
            session = had.get((file, act.args["slot"]))
            (session.operations if session else self.loose).append(act)
        elif act.operation == "fsync":
            for place in places:
                if place in had:
                    had[place].operations.append(act)

    def unseen(self, session):
        """True if no other client has used the file between the session and the loss of power: the
        client may have had it delegated, and has sent only what was synced."""
        return any(session.begin < fault.end and not any(
            act.client != session.client and act.args.get("file") == session.file and
            session.end < act.end < fault.begin for act in self.operations)
                   for fault in self.faults_of(session.client, "power"))

    def find_doubts(self):
        """A lost client, or one without power, has had its locks at least until then."""
        for session in self.sessions:
            faults = [fault for fault in self.faults_of(session.client, "lose")
                      if overlaps(session, fault)]
            if faults:
                session.fault = "lose"
                time = min(fault.begin for fault in faults)
                session.end = max(session.begin, time, proof(session))
                self.counts["locks that were perhaps lost"] += 1
            elif self.unseen(session):
                session.fault = "power"

    def check_locks(self):
        places = collections.defaultdict(list)
        for session in self.sessions:
            places[session.file, session.slot].append(session)
        for sessions in places.values():
            # none at all if it was perhaps lost from the beginning
            sessions = sorted((session for session in sessions if session.begin < session.end),
                              key=lambda session: session.begin)
            active = []
            for session in sessions:
                active = [other for other in active if other.end > session.begin]
                for other in active:
                    if other.who != session.who and "w" in (other.kind, session.kind) and \
                            overlaps(other, session):
                        self.complain("a lock was granted twice", other, session)
                active.append(session)

    # --- data ---

    def check_data(self):
        """Each slot for itself: exclusive locks give its operations an order."""
        slots = collections.defaultdict(list)
        for session in self.sessions:
            for act in session.operations:
                if act.operation in ("read", "write"):
                    slots[session.file, session.slot].append((act, session))
        for act in self.loose:
            if act.client == "end":
                slots[act.args["file"], act.args["slot"]].append((act, None))
            elif act.result == "ok":
                self.complain("a worker uses what it has not locked", act)
        for (file, slot), operations in slots.items():
            operations.sort(key=lambda pair: pair[0].begin)
            Register(self, file, slot).check(operations)

    def crashes(self):
        return [fault for fault in self.faults if fault.args["name"] == "crash"]

    # --- names ---

    def check_names(self):
        renames = [act for act in self.operations if act.operation == "rename"]
        interrupted = [fault for fault in self.faults if fault.args["name"] in INTERRUPTING]
        for file in history.FILES:
            Names(self, file, [act for act in renames
                               if history.file_of(act.args["old"]) == file], interrupted).check()

    def check(self):
        self.find_sessions()
        self.find_doubts()
        self.check_results()
        self.check_locks()
        self.check_data()
        self.check_names()
        return self.wrong


def proof(session):
    """When a program could last write what it could sync then: it had the lock."""
    written, shown = [], -math.inf
    for act in session.operations:
        if act.operation == "write" and act.result == "ok":
            written.append(act.begin)
        elif act.operation == "fsync" and act.result == "ok" and written:
            shown = written[-1]
    return shown


def flushed(session, act):
    """Has a later fsync succeeded? The end of the lock of a delegated file flushes nothing."""
    following = session.operations[session.operations.index(act) + 1:]
    return any(later.operation == "fsync" and later.result == "ok" for later in following)


class Register:
    """What a slot may contain."""

    def __init__(self, whole, file, slot):
        self.whole = whole
        self.name = f"{file} slot {slot}"
        self.now = {history.initial(file, slot)}
        self.kept = set(self.now)       # over a crash of the server
        self.wild = set()               # of clients that were lost: at any time later
        self.crashes = list(whole.crashes())
        self.last = None                # the last write

    def check(self, operations):
        for act, session in operations:
            while self.crashes and self.crashes[0].begin < act.begin:
                self.crashes.pop(0)
                self.now |= self.kept
            if act.operation == "write":
                self.write(act, session)
            elif act.result == "ok":
                self.read(act, session)

    def write(self, act, session):
        if act.result == "ok" and (not session.fault or flushed(session, act)):
            self.now, self.kept = {act.args["stamp"]}, {act.args["stamp"]}
            self.whole.counts["writes that must last"] += 1
        else:
            self.now.add(act.args["stamp"])
            self.kept.add(act.args["stamp"])
            if session.fault == "lose":
                self.wild.add(act.args["stamp"])
            self.whole.counts["writes that may be lost"] += 1
        self.last = act

    def read(self, act, session):
        fault = session and session.fault
        if fault == "lose" and act.end > session.end:
            return
        allowed = self.now | self.wild
        if self.crashes and self.crashes[0].begin < act.end:
            allowed |= self.kept
        if act.value not in allowed:
            self.whole.complain(f"{self.name} has what was not written last, or lost it", act,
                                f"instead of {' or '.join(sorted(self.now))}",
                                f"the last write: {self.last}", "all of the file since:",
                                *self.evidence(act))
            self.now.add(act.value)
            return
        if self.last and act.client != "end" and act.client != self.last.client:
            self.whole.counts["reads of what others wrote"] += 1
        if not fault:
            self.now = {act.value}


    def evidence(self, act):
        """What was done with the file from the last write on, or a little longer."""
        since = min(self.last.begin if self.last else 0, act.begin - 0.5)
        return [other for other in self.whole.operations
                if other.args.get("file") == act.args["file"] and
                other.end > since and other.begin < act.end][-100:]


class Names:
    """The names of one file: a chain, because each new name is used once."""

    def __init__(self, whole, file, renames, interrupted):
        self.whole = whole
        self.file = file
        self.by_old = collections.defaultdict(list)
        self.missed = []
        for act in renames:
            unsure = act.result is None or any(overlaps(act, fault) for fault in interrupted)
            if act.result == "ok" or unsure:
                self.by_old[act.args["old"]].append(act)
            else:
                self.missed.append(act)
        self.lists = [act for act in whole.operations
                      if act.operation == "list" and act.result == "ok"]

    def chain(self, start, end):
        """The renames that lead from one name to the other; None if there are none."""
        gave, names = {start: None}, [start]
        while names:
            for act in self.by_old[names.pop()]:
                gave[act.args["new"]] = act
                names.append(act.args["new"])
        if end not in gave:
            return None
        chain = []
        while gave[end]:
            chain.append(gave[end])
            end = gave[end].args["old"]
        return chain[::-1]

    def check(self):
        final = [act for act in self.lists if act.client == "end"]
        if not final:
            self.whole.complain("the history has no end")
            return
        names = [name for name in final[-1].value if history.file_of(name) == self.file]
        if len(names) != 1:
            self.whole.complain(f"{self.file} has {len(names)} names in the end", *names)
            return
        chain = self.chain(f"{self.file}.start", names[0])
        if chain is None:
            self.whole.complain(f"no renames lead to {names[0]}",
                                *(act for ops in self.by_old.values() for act in ops))
            return
        self.check_chain(chain)
        self.check_missed(chain)
        self.check_lists(chain)

    def check_chain(self, chain):
        happened = {act.args["new"] for act in chain}
        for acts in self.by_old.values():
            for act in acts:
                if act.result == "ok" and act.args["new"] not in happened:
                    self.whole.complain("a rename has succeeded, but has not happened", act)
        time = -math.inf
        for act in chain:
            time = max(time, act.begin)
            if time > act.end:
                self.whole.complain("a rename has ended before the file had its old name", act)
        self.whole.counts["renames"] += len(chain)

    def existed(self, chain):
        """When each name was there for sure, and when it was there at most."""
        gave = None
        for name, took in zip([f"{self.file}.start", *(act.args["new"] for act in chain)],
                              [*chain, None]):
            yield name, (gave.end if gave else -math.inf, took.begin if took else math.inf), \
                (gave.begin if gave else -math.inf, took.end if took else math.inf)
            gave = took

    def check_missed(self, chain):
        sure = {name: times for name, times, _ in self.existed(chain)}
        for act in self.missed:
            begin, end = sure.get(act.args["old"], (math.inf, -math.inf))
            if act.result == "ENOENT" and begin <= act.begin and act.end <= end:
                self.whole.complain("a rename did not find a name that was there", act)

    def check_lists(self, chain):
        """The server lists a small folder as it is at one moment."""
        known = {name: most for name, _, most in self.existed(chain)}
        for act in self.lists:
            names = [name for name in act.value if history.file_of(name) == self.file]
            if act.client not in ("server", "end"):
                continue
            if len(names) != 1:
                self.whole.complain(f"the server lists {len(names)} names of {self.file}",
                                    act, *names)
                continue
            begin, end = known.get(names[0], (math.inf, -math.inf))
            if begin > act.end or end < act.begin:
                self.whole.complain(f"the server lists {names[0]} when it was not there", act)


def main():
    lines = []
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            lines += file
    whole = History(parse(lines))
    for what in whole.check()[:20]:
        print(what)
    print(", ".join(f"{count} {name}" for name, count in sorted(whole.counts.items())))
    print(f"{len(whole.wrong)} violations")
    return 1 if whole.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
