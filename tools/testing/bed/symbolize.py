# SPDX-License-Identifier: GPL-2.0
"""symbolize.py KALLSYMS: names the bare addresses of a backtrace on stdin.

What a module that is gone by now had loaded where, KALLSYMS still tells.
"""

import bisect
import re
import sys


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

    for line in sys.stdin:
        print(re.sub(r"(?<= )0x[0-9a-f]{6,}$", name, line.rstrip()))


if __name__ == "__main__":
    main()
