#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""An SQLite database, with its rollback journal, that several programs write at once.

  bank.py make FILE
  bank.py work FILE WHO ACKS (--count N | --until STOP)   transfers money, and logs that
  bank.py check FILE ACKS...                              is all there that was acknowledged?

ACKS is WHO in some folder: a line for each transaction whose COMMIT has returned.
"""

import argparse
import contextlib
import itertools
import os
import random
import sqlite3
import sys

ACCOUNTS = 20
BALANCE = 1000
# Who waits for a lock while the server is away must not give up.
PATIENCE = 600


def connect(path):
    return contextlib.closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None))


def make(options):
    with connect(options.file) as base:
        base.execute("PRAGMA journal_mode=delete")
        base.execute("CREATE TABLE account (id INTEGER PRIMARY KEY, sum INTEGER)")
        # not UNIQUE: what is there twice must be found
        base.execute("CREATE TABLE log (who TEXT, number INTEGER, amount INTEGER)")
        base.executemany("INSERT INTO account VALUES (?, ?)",
                         ((number, BALANCE) for number in range(ACCOUNTS)))


def transfer(base, rnd, who, number):
    first, second = rnd.sample(range(ACCOUNTS), 2)
    amount = rnd.randrange(100)
    base.execute("BEGIN IMMEDIATE")
    base.execute("UPDATE account SET sum = sum - ? WHERE id = ?", (amount, first))
    base.execute("UPDATE account SET sum = sum + ? WHERE id = ?", (amount, second))
    base.execute("INSERT INTO log VALUES (?, ?, ?)", (who, number, amount))
    base.execute("COMMIT")


def work(options):
    rnd = random.Random(options.who)
    with connect(options.file) as base, \
            open(options.acks, "a", encoding="ascii", buffering=1) as acks:
        for number in itertools.count():
            if number == options.count or options.until and os.path.exists(options.until):
                break
            transfer(base, rnd, options.who, number)
            print(number, file=acks)


def check_log(rows, path):
    """A program that was killed may have committed one transaction more than it could tell."""
    with open(path, encoding="ascii") as file:
        acknowledged = [int(line) for line in file.read().split()]
    who = os.path.basename(path)
    there = sorted(number for name, number in rows if name == who)
    if there in (acknowledged, [*acknowledged, len(acknowledged)]):
        return []
    return [f"{who}: {len(acknowledged)} transactions were acknowledged, {len(there)} are there",
            f"lost: {sorted(set(acknowledged) - set(there))}",
            f"more than once: {sorted(n for n in set(there) if there.count(n) > 1)}"]


def check(options):
    with connect(options.file) as base:
        wrong = [line for line, in base.execute("PRAGMA integrity_check") if line != "ok"]
        (total,), = base.execute("SELECT sum(sum) FROM account")
        rows = list(base.execute("SELECT who, number FROM log"))
    if total != ACCOUNTS * BALANCE:
        wrong.append(f"the sum of all accounts is {total}")
    for path in options.acks:
        wrong += check_log(rows, path)
    print(f"{len(rows)} transactions", *wrong, sep="\n")
    sys.exit(1 if wrong else 0)


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    for function in make, work, check:
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        command.add_argument("file")
        if function is work:
            command.add_argument("who")
            command.add_argument("acks")
            command.add_argument("--count", type=int)
            command.add_argument("--until")
        elif function is check:
            command.add_argument("acks", nargs="+")
    options = parser.parse_args()
    try:
        options.function(options)
    except sqlite3.Error as error:
        # the message is the same for all that a system call can do wrong
        print(getattr(error, "sqlite_errorname", ""), file=sys.stderr)
        raise


if __name__ == "__main__":
    main()
