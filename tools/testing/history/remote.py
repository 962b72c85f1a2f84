#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Logs of workers that another machine keeps, with the time of its own clock.

  remote.py PORT FOLDER         collects them, with one file for each client
"""

import contextlib
import json
import socket
import socketserver
import sys

import history


def log_there(address):
    """Adds to a log that another machine keeps, also when this one has lost its power."""
    host, port = address.split(":")
    # pylint: disable-next=consider-using-with # used as long as the program runs
    file = socket.create_connection((host, int(port))).makefile("rwb")

    def add(line):
        file.write(json.dumps(line).encode() + b"\n")
        file.flush()
        if not file.readline():
            raise ConnectionError("the collector is gone")
    return add


class Collector(socketserver.StreamRequestHandler):
    """Adds the time to lines of a worker, and acknowledges them."""

    def handle(self):
        # a machine that has lost its power resets the connection when it is back
        with contextlib.suppress(ConnectionError):
            self.collect()

    def collect(self):
        log = None
        for raw in self.rfile:
            line = json.loads(raw)
            log = log or history.local_log(f"{self.server.folder}/{line['client']}")
            log(line)
            self.wfile.write(b"\n")


class Server(socketserver.ThreadingTCPServer):
    """One thread for each worker."""
    allow_reuse_address = True
    daemon_threads = True
    folder = None


def collect(port, folder):
    with Server(("", int(port)), Collector) as server:
        server.folder = folder
        server.serve_forever()


if __name__ == "__main__":
    collect(sys.argv[1], sys.argv[2])
