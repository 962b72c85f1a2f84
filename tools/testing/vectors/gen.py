#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Makes fs/dafs_common/tests/vectors.h from layout.py and cases.py.

  gen.py               write the header
  gen.py --check       fail if the header is not up to date
  gen.py --corpus DIR  write the messages as inputs of tools/testing/fuzz
"""
import os
import sys

import layout
from cases import cases

HEADER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      '../../../fs/dafs_common/tests/vectors.h')
BOOLEANS = set("""trusted synchronous use_checksums use_response_cache use_back_control_channel
use_rdma_read_channel eof recall truncate atomic write_padded named_attr archive hidden system
link_support symlink_support can_set_time case_insensitive case_preserving chown_restricted
homogeneous no_trunc unique_handle""".split())
ANALYZER = bytes.fromhex('a0a1a2a3a4a5a6a7')
CRED = bytes.fromhex('00000001')
HDR = dict(desired_nreq=16, target_nreq=16, stream_id=3, seq_number=17, analyzer=ANALYZER,
           cred_handle=CRED, version=layout.VERSION)

# members of union dafs_args and union dafs_res that are not named after the procedure
ARGS_MEMBER = dict(LOOKUPP='fh', OPENATTR='fh', READLINK_INLINE='fh', GETATTR_INLINE='getattr',
                   GET_FSATTR='getattr', BC_GETATTR='getattr', FETCH_RESPONSE='check_response',
                   NVERIFY='verify', READDIR_INLINE='readdir', READDIR_DIRECT='readdir')
RES_MEMBER = dict(GETATTR_INLINE='getattr', BC_GETATTR='getattr', GETATTR_DIRECT='direct',
                  READLINK_DIRECT='direct', LINK='change', REMOVE='change', LOCK='lock',
                  LOCKT='lock', LOOKUPP='fh', OPENATTR='fh', GET_ROOT_HANDLE='fh',
                  SETATTR_INLINE='setattr', SETATTR_DIRECT='setattr', WRITE_INLINE='write',
                  WRITE_DIRECT='write', APPEND_INLINE='append', APPEND_DIRECT='append')


class Filler:
    """Gives each field that a case leaves open a different value."""

    def __init__(self, seed):
        self.n = seed * 7

    def scalar(self, name, kind):
        self.n += 1
        if name in BOOLEANS:
            return 1
        octets = bytes((self.n * 37 + 101 * i + 0x81) & 0xff for i in range(kind.size))
        value = int.from_bytes(octets, 'big')
        if kind.code in 'iq' and value >> (8 * kind.size - 1):
            value -= 1 << (8 * kind.size)
        return value

    def opaque(self, kind):
        self.n += 1
        return bytes((self.n * 11 + i) & 0xff for i in range(kind.size))

    def items(self, kind, value):
        if value is None or kind in ('str', 'path', 's32<>'):
            return value
        if kind in ('fattr', 'fsattr'):
            return self.attrs(layout.FATTR if kind == 'fattr' else layout.FSATTR, value)
        return [self.fill(layout.TYPES[kind[:-2]], v) for v in value]

    def attrs(self, table, value):
        return {name: v if name == 'absent' else self.value(name, table[name][1], v)
                for name, v in sorted(value.items(), key=lambda row: table.get(row[0], (0,))[0])}

    def value(self, name, kind, given):
        if isinstance(kind, layout.Item):
            return self.items(kind.kind, given)
        if isinstance(kind, layout.Union):
            return given[0], self.fill(kind.arms[given[0]], given[1])
        if isinstance(kind, layout.Struct):
            return self.fill(kind, given or {})
        if given is not None:
            return given
        return self.opaque(kind) if isinstance(kind, layout.Opaque) else self.scalar(name, kind)

    def fill(self, struct, given):
        return {name: self.value(name, kind, given.get(name))
                for name, _, kind in struct.fields if name != 'pad'}


# ------------------------------------------------------------ wire
def message(order, case):
    proc, kind, _, value = case
    if kind == 'FATTR':
        return layout.item(order, 'fattr', value)
    if kind == 'DIRENTRIES':
        return layout.item(order, 'direntry<>', value['entries'])
    if kind == 'LINK':
        return layout.string(order, value['link'])
    number, args, res = layout.PROCS[proc]
    body = layout.body(order, args if kind == 'ARGS' else res, value)
    if 'inline' in value:
        _, data, at = value['inline']
        body += bytes(max(at - 40 - len(body), 0)) + data
    hdr = dict(HDR, len=40 + len(body))
    if kind == 'ARGS':
        return layout.header(order, layout.REQ_HDR, dict(hdr, magic=layout.REQUEST_MAGIC,
                                                         procedure=number)) + body
    return layout.header(order, layout.RES_HDR, dict(hdr, magic=layout.RESPONSE_MAGIC)) + body


def filled(n, case):
    proc, kind, title, value = case
    filler = Filler(n)
    if kind == 'FATTR':
        new = filler.attrs(layout.FATTR, value)
    elif kind == 'DIRENTRIES':
        new = dict(entries=filler.items('direntry<>', value['entries']))
    elif kind == 'LINK':
        new = value
    else:
        new = filler.fill(layout.PROCS[proc][1 if kind == 'ARGS' else 2], value)
    extra = {name: value[name] for name in ('inline', 'host') if name in value}
    return proc, kind, title, dict(new, **extra)


# ------------------------------------------------------------ C
def c_bytes(octets):
    return '{ %s }' % ', '.join('0x%02x' % b for b in octets)


def c_string(octets):
    return '"%s"' % ''.join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else '\\%03o' % b
                            for b in octets)


def c_scalar(kind, v):
    if kind is layout.TYPES['status']:
        return 'DAFS_STATUS(0x%x)' % v
    if kind.size == 8:
        if kind.code == 'q':
            return '(s64)0x%xULL' % (v & (1 << 64) - 1)
        return '0x%xULL' % v
    return '%d' % v if kind.code == 'i' or v < 10 else '0x%x' % v


def c_opaque(kind, v):
    if kind is layout.TYPES['fh']:
        return '{ %s, %s }' % (c_bytes(v[:16]), c_bytes(v[16:]))
    return '{ %s }' % c_bytes(v) if kind is layout.TYPES['o64'] else c_bytes(v)


def c_seq(ctype, elems):
    if not elems:
        return '{ .count = 0 }'
    return '{ .count = %d, .elems = (const %s[]) { %s } }' % (len(elems), ctype, ', '.join(elems))


def c_item(kind, v):
    if kind == 'str':
        return 'DAFS_VECTOR_STR(%d, %s)' % (len(v), c_string(v))
    if kind == 'path':
        return c_seq('struct dafs_str', [c_item('str', c) for c in v])
    if kind == 's32<>':
        return c_seq('s32', [str(n) for n in v])
    if kind in ('fattr', 'fsattr'):
        return c_attrs(layout.FATTR if kind == 'fattr' else layout.FSATTR, v)
    return c_seq('struct dafs_' + kind[:-2], [c_struct(layout.TYPES[kind[:-2]], e) for e in v])


def c_attrs(table, value):
    valid = [name for name in value if name != 'absent']
    bits = layout.bitmap(table, valid)
    included = bits | layout.bitmap(table, value.get('absent', ()))
    out = ['.included = 0x%xULL' % included, '.valid = 0x%xULL' % bits]
    out += ['.%s = %s' % (name, c_value(table[name][1], value[name])) for name in valid]
    return '{ %s }' % ', '.join(out)


def c_value(kind, v):
    if isinstance(kind, layout.Item):
        return c_item(kind.kind, v)
    if isinstance(kind, layout.Struct):
        return c_struct(kind, v)
    return c_opaque(kind, v) if isinstance(kind, layout.Opaque) else c_scalar(kind, v)


def c_members(struct, value):
    """unions are flattened in msg.h"""
    for name, _, kind in struct.fields:
        v = value.get(name)
        if v is None:
            continue
        if isinstance(kind, layout.Union):
            yield from c_members(kind.arms[v[0]], v[1])
        else:
            yield '.%s = %s' % (name, c_value(kind, v))


def c_struct(struct, value):
    return '{ %s }' % ', '.join(c_members(struct, value))


def c_host(case):
    proc, kind, _, value = case
    if kind == 'FATTR':
        return '.fattr', c_item('fattr', value)
    if kind == 'DIRENTRIES':
        return '.entries', c_item('direntry<>', value['entries'])
    if kind == 'LINK':
        return '.link', c_item('str', value['link'])
    members = ARGS_MEMBER if kind == 'ARGS' else RES_MEMBER
    member = '.%s.%s' % (kind.lower(), members.get(proc, proc.lower()))
    struct = layout.PROCS[proc][1 if kind == 'ARGS' else 2]
    out = ['.%s = %d' % row for row in value.get('host', {}).items()]
    if proc == 'CLIENT_CONNECT':
        struct, value = struct.fields[0][2], value['connect']
    out += c_members(struct, value)
    if 'inline' in value:
        out.append('.%s = (const u8 *)%s' % (value['inline'][0], c_string(value['inline'][1])))
    return member, '{ %s }' % ', '.join(out) if out else ''


def wrap(text, indent, width=96):
    """break into lines between words"""
    lines, line = [], indent
    for token in split_tokens(text):
        if len(line.expandtabs(8)) + 1 + len(token) > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += (' ' if line.strip() else '') + token
    return lines + [line]


def split_tokens(text):
    """words of text; long string literals come in pieces that C joins again"""
    word, quoted, i = '', False, 0
    while i < len(text):
        step = 4 if quoted and text[i] == '\\' else 1
        piece = text[i:i + step]
        i += step
        if piece == '"':
            quoted = not quoted
        if piece == ' ' and not quoted:
            yield word
            word = ''
            continue
        word += piece
        if quoted and len(word) > 56:
            yield word + '"'
            word = '"'
    if word:
        yield word


def c_hex(octets, indent):
    text = octets.hex()
    return ['%s"%s"' % (indent, text[i:i + 72]) for i in range(0, len(text), 72)] or [indent + '""']


def c_vector(case):
    proc, kind, title, _ = case
    what = dict(ARGS='request', RES='response').get(kind, 'buffer')
    member, init = c_host(case)
    out = ['\t{', '\t\t.name = "%s %s%s",' % (proc, what, ', ' + title if title else ''),
           '\t\t.proc = DAFS_PROC_%s,' % proc, '\t\t.kind = DAFS_VECTOR_%s,' % kind]
    for field, order in (('big', '>'), ('little', '<')):
        octets = message(order, case)
        out.append('\t\t.%s =' % field)
        out += c_hex(octets, '\t\t\t')
        out[-1] += ','
        out.append('\t\t.%s_cksum = %s,' % (field, c_bytes(layout.cksum_bytes(octets, order))))
    if init:
        out.append('\t\t.host%s =' % member)
        out += wrap(init, '\t\t\t')
        out[-1] += ','
    return out + ['\t},']


def c_header(all_cases):
    out = ['/* SPDX-License-Identifier: GPL-2.0 */',
           '/* Generated by tools/testing/vectors/gen.py from layout.py and cases.py. */', '',
           '#define DAFS_VECTOR_ANALYZER ' + c_bytes(ANALYZER),
           '#define DAFS_VECTOR_CRED ' + c_bytes(CRED),
           '#define DAFS_VECTOR_STREAM %d' % HDR['stream_id'],
           '#define DAFS_VECTOR_SEQ %d' % HDR['seq_number'],
           '#define DAFS_VECTOR_NREQ %d' % HDR['desired_nreq'], '',
           'static const struct dafs_vector dafs_vectors[] = {']
    for case in all_cases:
        out += c_vector(case)
    return '\n'.join(out + ['};', ''])


# ------------------------------------------------------------ fuzzing
def corpus(directory, all_cases):
    """selector bytes as in tools/testing/fuzz/fuzz_codec.c, then the message"""
    kinds = ('ARGS', 'RES', 'FATTR', 'DIRENTRIES', 'LINK')
    os.makedirs(directory, exist_ok=True)
    for n, case in enumerate(all_cases):
        proc, kind, _, value = case
        host = value.get('host', {})
        keep = host.get('inline_header', 0) // 8 or host.get('auth_type', 0)
        for little, order in ((0, '>'), (1, '<')):
            octets = message(order, case)
            if kind in ('ARGS', 'RES'):
                octets = octets[40:]
            select = bytes((kinds.index(kind) << 1 | little, layout.PROCS[proc][0] - 100, keep))
            with open(os.path.join(directory, '%03d-%d' % (n, little)), 'wb') as f:
                f.write(select + octets)


def main():
    all_cases = [filled(n, case) for n, case in enumerate(cases())]
    seen = {(proc, kind) for proc, kind, _, _ in all_cases}
    missing = [(p, k) for p in layout.PROCS for k in ('ARGS', 'RES') if (p, k) not in seen]
    assert not missing, missing
    if sys.argv[1:2] == ['--corpus']:
        corpus(sys.argv[2], all_cases)
        return 0
    text = c_header(all_cases)
    if sys.argv[1:] == ['--check']:
        with open(HEADER) as f:
            if f.read() == text:
                return 0
        print('vectors.h is stale: run tools/testing/vectors/gen.py')
        return 1
    with open(HEADER, 'w') as f:
        f.write(text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
