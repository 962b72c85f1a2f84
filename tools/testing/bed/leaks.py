# SPDX-License-Identifier: GPL-2.0
"""leaks.py KALLSYMS: prints the part of kmemleak's report on stdin that is due to a test.

Resolves addresses in unloaded modules by KALLSYMS, a copy made while they were
loaded.
"""

import bisect
import re
import sys

# The kernel's initialization, before the first process.
BOOT = re.compile(r'^  comm "swapper', re.MULTILINE)


def load(path):
    symbols = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            address, _, name, *module = line.split()
            symbols.append((int(address, 16), " ".join([name, *module])))
    return sorted(symbols)


def main():
    symbols = load(sys.argv[1])

    def name(match):
        address = int(match[0], 16)
        place = bisect.bisect(symbols, (address + 1,)) - 1
        if place < 0 or address - symbols[place][0] > 0x10000:
            return match[0]
        return f"{symbols[place][1]}+{address - symbols[place][0]:#x}"

    for leak in re.split(r"^(?=unreferenced)", sys.stdin.read(), flags=re.M):
        if not BOOT.search(leak):
            leak = re.sub(r"(?<= )0x[0-9a-f]{6,}$", name, leak, flags=re.M)
            print(leak, end="")


if __name__ == "__main__":
    main()
