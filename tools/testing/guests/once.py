#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Makes, renames and removes names in a folder, and appends to a file in it, over and over: each
fails if it is executed twice, or not at all.

  once.py FOLDER END

Ends when there is a file END, and says how many records it has appended.
"""

import os
import sys

folder, end = sys.argv[1:]
log = os.open(f"{folder}/log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
number = 0
while not os.path.exists(end):
    os.mkdir(f"{folder}/new")
    os.rename(f"{folder}/new", f"{folder}/old")
    os.rmdir(f"{folder}/old")
    os.link(f"{folder}/log", f"{folder}/name")
    os.unlink(f"{folder}/name")
    os.write(log, f"{number:08}\n".encode())
    number += 1
print(number)
