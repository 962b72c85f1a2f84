#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Mail that several machines deliver into the same mailboxes, and others read and remove.

  mail.py deliver DIR NAME COUNT    delivers COUNT messages to DIR/mbox, and as many to
                                    DIR/Maildir, with procmail(1); their subjects begin
                                    with NAME
  mail.py read DIR COUNT            reads and removes COUNT messages of each; prints what
                                    is wrong with them, and their subjects, sorted
"""

import hashlib
import mailbox
import os
import random
import subprocess
import sys
import time

BOXES = ("mbox", "Maildir")
# a dot-lock is tried again after a second
RULES = """LOCKSLEEP=1
:0:
* ^X-Box: mbox
mbox

:0
* ^X-Box: Maildir
Maildir/
"""
LIMIT = 300     # seconds without a message


def digest(body):
    return hashlib.sha1(body.encode("ascii")).hexdigest()


def compose(box, subject):
    body = "".join(f"line {random.getrandbits(200):x}\n"
                   for _ in range(random.randrange(1, 300)))
    return f"From: me\nX-Box: {box}\nX-Digest: {digest(body)}\nSubject: {subject}\n\n{body}"


def deliver(folder, name, count):
    rules = f"/tmp/procmailrc.{name}"
    with open(rules, "w", encoding="ascii") as file:
        file.write(RULES)
    for number in range(int(count)):
        for box in BOXES:
            subprocess.run(["procmail", "-t", "-f", "me", f"MAILDIR={folder}",
                            f"DEFAULT={folder}/lost", rules], check=True, encoding="ascii",
                           input=compose(box, f"{name} {number}"))


def taken(box):
    """Removes all messages of a mailbox, which is locked, and returns them."""
    messages = []
    for key in box.keys():
        messages.append(box.get_message(key))
        box.remove(key)
    box.flush()
    return messages


def take_mbox(folder):
    if not os.path.exists(f"{folder}/mbox"):
        return []
    box = mailbox.mbox(f"{folder}/mbox", create=False)
    try:
        # by fcntl(2), and by a dot-lock
        box.lock()
    except mailbox.ExternalClashError:
        box.close()
        return []
    messages = taken(box)
    box.close()
    return messages


def take_maildir(folder):
    if not os.path.isdir(f"{folder}/Maildir/new"):
        return []
    return taken(mailbox.Maildir(f"{folder}/Maildir", create=False))


def check(message):
    body = message.get_payload()
    if digest(body) != message["X-Digest"]:
        print(f"{message['Subject']} of {message['X-Box']} is damaged: {len(body)} bytes")


def read(folder, count):
    subjects = {box: [] for box in BOXES}
    since = time.monotonic()
    while any(len(some) < int(count) for some in subjects.values()):
        messages = take_mbox(folder) + take_maildir(folder)
        for message in messages:
            check(message)
            subjects[message["X-Box"]].append(message["Subject"])
        if messages:
            since = time.monotonic()
        elif time.monotonic() - since > LIMIT:
            print("no more messages come")
            break
        time.sleep(0.2)
    for box in BOXES:
        for subject in sorted(subjects[box]):
            print(box, subject)


if sys.argv[1] == "deliver":
    deliver(*sys.argv[2:])
else:
    read(*sys.argv[2:])
