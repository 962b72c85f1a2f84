# SPDX-License-Identifier: GPL-2.0
"""Tests that calls between the rooms of the modules are found."""

import subprocess
import sys
import unittest

import guest

TESTING = guest.REPO / "tools/testing"
sys.path.insert(1, str(TESTING))

import rooms                    # noqa: E402


class Rooms(unittest.TestCase):
    """tools/testing/rooms.py"""

    def test_self(self):
        subprocess.run([sys.executable, "-B", TESTING / "rooms.py", "--self-test"], check=True)

    def test_table_names_what_is_there(self):
        for line in (TESTING / "rooms.table").read_text("utf-8").splitlines():
            if line.startswith("room "):
                self.assertTrue((guest.REPO / line.split()[1]).is_dir(), line)

    def test_headers(self):
        table = rooms.Table((TESTING / "rooms.table").read_text("utf-8"))
        crossing = rooms.includes(guest.REPO, table)
        self.assertIn(("drivers/dafsd/export", "drivers/dafsd/session",
                       "drivers/dafsd/session/server.h"), crossing)
        self.assertEqual([arrow for arrow in crossing if table.is_upwards(*arrow[:2])], [])


if __name__ == "__main__":
    unittest.main()
