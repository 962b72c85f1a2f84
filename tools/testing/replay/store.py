# SPDX-License-Identifier: GPL-2.0
"""Reads the store of a server, in its state directory: drivers/dafsd/store/log.h has the format,
drivers/dafsd/session/respcache_record.c that of the records of requests.
"""

import collections
import struct

HEADER = struct.Struct("<8sIIQ16sQII")
BATCH = struct.Struct("<II16sQQII")
RECORD = struct.Struct("<HHI")
RESPONSE = struct.Struct("<BBBBHHIIIII")
BLOCK = 4096
DELETED = 0xFFFFFFFF
RESPONSES = 3
INTENT = 0
SESSION = b"\xff\xff"      # in the place of a stream: the record is of the session

Request = collections.namedtuple("Request", "session stream seq procedure")


def crc_table():
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        yield value


CRC = list(crc_table())


def crc32c(data):
    """As the kernel's, from ~0 on, and not inverted at the end"""
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC[(value ^ byte) & 255] ^ value >> 8
    return value


class Log:
    """One of the two files"""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        head = self.data[:HEADER.size].ljust(HEADER.size, b"\0")
        (magic, crc, _, self.generation, self.store, self.stamp, self.snapshot,
         self.retired) = HEADER.unpack(head)
        self.valid = magic == b"DAFSDLOG" and crc == crc32c(head[12:])

    def batches(self):
        """Their records, up to one that is not complete"""
        at, number = BLOCK, 1
        while at + BATCH.size <= len(self.data):
            _, crc, store, stamp, seq, length, _ = BATCH.unpack_from(self.data, at)
            body = self.data[at + 8:at + BATCH.size + length]
            if (store, stamp, seq) != (self.store, self.stamp, number) or crc != crc32c(body):
                return
            yield self.data[at + BATCH.size:at + BATCH.size + length]
            at += -(-(BATCH.size + length) // BLOCK) * BLOCK
            number += 1


def records(state):
    """By kind and key"""
    logs = [log for log in (Log(f"{state}/log.0"), Log(f"{state}/log.1"))
            if log.valid and not log.retired]
    logs.sort(key=lambda log: log.generation)
    found = {}
    # the snapshot of the newer one may not be complete
    for log in reversed(logs):
        batches = list(log.batches())
        if len(batches) < log.snapshot:
            continue
        for batch in batches:
            at = 0
            while at < len(batch):
                kind, key_len, length = RECORD.unpack_from(batch, at)
                at += RECORD.size
                key = batch[at:at + key_len]
                at += key_len
                if length == DELETED:
                    found.pop((kind, key), None)
                else:
                    found[kind, key] = batch[at:at + length]
                    at += length
        break
    return found


def executed(state, client):
    """The requests of a client of which it is recorded that they were executed"""
    found = set()
    for (kind, key), value in records(state).items():
        if kind != RESPONSES or key[-2:] == SESSION:
            continue
        _, mark, _, _, seq, id_len, procedure, status, _, _, _ = RESPONSE.unpack_from(value)
        name = value[RESPONSE.size:RESPONSE.size + id_len]
        if mark != INTENT and not status and name.endswith(client.encode()):
            found.add(Request(key[:-2].hex(), int.from_bytes(key[-2:], "little"), seq,
                              procedure))
    return found
