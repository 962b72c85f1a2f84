#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Position of every field of a DAFS message (draft-wittle-dafs-00, chapter 6).

An independent encoder, written from the draft and from the project's rulings
(Documentation/filesystems/dafs/protocol-rulings.rst, E-nn) and not from the
codec of the kernel modules, so that each can be checked against the other.

  - a member stands at the next multiple of its alignment; a structure or union
    is aligned like its most aligned member and its size is rounded up to that,
    as C compilers do on LP64 (E-03)
  - a variable-sized member is a 4-byte offset to an item on the heap, counted
    from the start of the innermost fixed section, array or attribute structure
  - a union takes the space of its largest arm; its discriminator is on the wire
    only where the draft declares it with a type (E-04)
  - items start at multiples of 8

Fields have the names of include/linux/dafs/msg.h.
"""
import struct


def round_up(x, a):
    return (x + a - 1) // a * a


class Scalar:
    def __init__(self, size, code):
        self.size, self.align, self.code = size, size, code


class Opaque:
    """Bytes that are never swapped."""

    def __init__(self, size, align):
        self.size, self.align = size, align


class Item:
    """The offset of an item on the heap."""

    def __init__(self, kind):
        self.kind, self.size, self.align = kind, 4, 4


class Struct:
    def __init__(self, name, fields):
        """fields: text "type name; type name; ..." or a list of pairs"""
        self.name, self.fields = name, []
        if isinstance(fields, str):
            fields = [(f.split()[1], TYPES[f.split()[0]]) for f in fields.split(';') if f.strip()]
        end, self.align = 0, 1
        for field, kind in fields:
            end = round_up(end, kind.align)
            self.fields.append((field, end, kind))
            end += kind.size
            self.align = max(self.align, kind.align)
        self.raw, self.size = end, round_up(end, self.align)


class Group(Struct):
    """Members that only msg.h, not the draft, puts into a structure."""

    def __init__(self, name, fields):
        super().__init__(name, fields)
        self.size = self.raw


class Union:
    def __init__(self, **arms):
        self.arms = {label: Struct(label, fields) for label, fields in arms.items()}
        self.align = max(arm.align for arm in self.arms.values())
        self.size = round_up(max(arm.raw for arm in self.arms.values()), self.align)


TYPES = {
    'u8': Scalar(1, 'B'), 'u16': Scalar(2, 'H'), 'u32': Scalar(4, 'I'), 'u64': Scalar(8, 'Q'),
    'status': Scalar(4, 'I'),
    's32': Scalar(4, 'i'), 's64': Scalar(8, 'q'), 'o32': Opaque(4, 4), 'o64': Opaque(8, 8),
    'fshandle': Opaque(16, 8), 'fh': Opaque(64, 8),
}
for kind in ('str', 'path', 'fattr', 'fsattr', 's32<>', 'direct_buf<>', 'file_chunk<>', 'rw_request<>',
             'completion<>', 'ace<>', 'authtype<>', 'direntry<>', 'fs_locations<>', 'fs_location<>'):
    TYPES[kind] = Item(kind)


def define(name, fields, cls=Struct):
    TYPES[name] = cls(name, fields)


# 6.1.4, 6.1.7: basic structures
define('cksum', 'u16 s2; u16 s1')
define('specdata', 'u64 specdata1; u64 specdata2')
define('change_info', 'u64 before; u64 after; u32 atomic; u32 pad')
define('time', 's64 seconds; u32 nseconds')
define('settime', 'time client_time; u32 how')
define('direct_buf', 'u64 buffer_address; u32 buffer_byte_count; u32 buffer_handle')
define('file_chunk', 'u64 offset; u32 byte_count; u32 cache_hint')
define('rw_request', 'fh filehandle; u64 request_id; o64 state_id; u32 rw_flag; file_chunk<> chunks; '
       'direct_buf<> request_buffers; cksum direct_checksum')
define('completion', 'u64 request_id; status status; u32 bytes_transferred; cksum direct_checksum; u32 pad')
define('ace', 'u32 type; u32 flag; u32 access_mask; str who')
define('fs_location', 'str server; path root_path')
define('fs_locations', 'path fs_root; fs_location<> locations')
define('direntry', 'u64 cookie; fattr attrs; str name')
TYPES['authinfo'] = Union(NONE='', GSS='str oid; u32 qop; u32 gss_service')
define('authtype', 'u32 auth_type; authinfo u')

# 6.1.9: authentication
TYPES['auth_req_u'] = Union(NONE='', TEXT='str auth_id; str auth_password',
                            GSS='u32 procedure; u32 service; str token')
TYPES['auth_res_u'] = Union(NONE='', GSS='u32 gss_major; u32 gss_minor; str gss_token')
define('auth_req', 'u32 auth_type; auth_req_u u')
define('auth_res', 'u32 auth_type; auth_res_u u')

# 6.2: connect
define('opts', 'u32 use_checksums; u32 use_response_cache; u32 max_credentials; u32 max_request_size; '
       'u32 max_response_size; u32 max_requests; u32 inline_write_header_size; '
       'u32 use_back_control_channel; u32 use_rdma_read_channel', Group)
define('connect_args', 'opts opts; str fence_id_string; str client_id_string; o64 client_verifier', Group)
define('connect_res', 'o64 session_id; o64 client_id; opts opts', Group)
TYPES['cred_data'] = Union(ID='s32 uid; s32 gid; s32<> groups', NAME='str name', GSS='str name', DEFAULT='')
TYPES['auth_data'] = Union(NONE='', TEXT='str auth_id; str auth_password')

# 6.5: unions of the file procedures
TYPES['create_type'] = Union(LNK='str linkdata', DEV='specdata specdata', OTHER='')
TYPES['lock_u'] = Union(OK='', DENIED='o64 owner_clientid; str owner; u64 offset; u64 length; u32 lock_type')
TYPES['open_claim'] = Union(
    NULL='fh dir_handle; path pathname', PREVIOUS='fh dir_handle; u32 delegate_type',
    DELEGATE_CUR='fh dir_handle; path pathname; o64 claimdelcur_stateid',
    DELEGATE_PREV='fh dir_handle; path pathname', CREATE_UNLINKED='fh dir_handle')
TYPES['createhow'] = Union(ATTRS='fattr createattrs', EXCLUSIVE='o64 create_verifier')
TYPES['openflag'] = Union(CREATE='u32 createmode; createhow how', NOCREATE='')
ACE3 = 'u32 permissions_acetype; u32 permissions_aceflag; u32 permissions_acemask; str who'
TYPES['space_limit'] = Union(SIZE='u64 filesize', BLOCKS='u32 num_blocks; u32 bytes_per_block')
TYPES['delegation'] = Union(
    NONE='', READ='o64 deleg_state_id; u32 recall; ' + ACE3,
    WRITE='o64 deleg_state_id; u32 recall; u32 limitby; space_limit space_limit; ' + ACE3)

REQ_HDR = Struct('request header', 'u32 magic; u32 version; u16 desired_nreq; u16 chain_flags; '
                 'u16 stream_id; u16 seq_number; o64 analyzer; cksum message_checksum; o32 cred_handle; '
                 'u32 procedure; u32 len')
RES_HDR = Struct('response header', 'u32 magic; u32 version; u16 target_nreq; u16 spec_cond; '
                 'u16 stream_id; u16 seq_number; o64 analyzer; cksum message_checksum; u32 status; '
                 'u32 len; u32 reserved')
REQUEST_MAGIC, RESPONSE_MAGIC, VERSION = 0x44414653, 0x44414652, 1

FH = 'fh filehandle'
FH_STATE = FH + '; o64 state_id'
READDIR = FH + '; u64 cookie; o64 cookieverf; u32 dircount; u32 maxcount; u64 attr_request_bitmap'
XID = 'o64 session_id; u16 xid_stream; u16 xid_seq; u32 procedure'
KEY = 'u32 share_access; u32 share_deny; u32 share_key_type; u32 pad; u64 share_key'

# 6.1.10: name: (number, arguments, results)
PROCS = {name: (number, Struct(name, args), Struct(name, res)) for name, number, args, res in (
    ('CLIENT_AUTH', 100, 'auth_req auth_req', 'auth_res auth_res; u8 trusted'),
    ('CLIENT_CONNECT', 101, 'connect_args connect', 'connect_res connect'),
    ('CLIENT_CONNECT_AUTH', 102, 'connect_args connect; auth_req auth_req',
     'connect_res connect; auth_res auth_res; u8 trusted'),
    ('CONNECT_BIND', 103, 'o64 session_id; u16 channel_use; u32 max_request_size; u32 max_response_size; '
     'u32 max_requests; auth_req auth_req',
     'u32 max_request_size; u32 max_response_size; u32 max_requests; auth_res auth_res; u8 trusted'),
    ('DISCONNECT', 104, '', ''),
    ('REGISTER_CRED', 105, 'u32 cred_type; cred_data u', 'o32 cred_handle'),
    ('RELEASE_CRED', 106, 'o32 cred_handle', ''),
    ('SECINFO', 108, '', 'authtype<> secinfo'),
    ('SERVER_AUTH', 109, 'u32 auth_type', 'auth_data u'),
    ('CHECK_RESPONSE', 110, XID, ''),
    ('FETCH_RESPONSE', 111, XID, ''),
    ('DISCARD_RESPONSES', 112, 'o64 session_id', ''),
    ('ACCESS', 113, FH + '; u32 access', 'u32 supported; u32 access'),
    ('CACHE_HINT', 114, FH + '; u64 offset; u32 count; u32 access_pattern; u32 cache_hint', ''),
    ('CLOSE', 115, FH_STATE, ''),
    ('COMMIT', 116, FH + '; u64 offset; u32 count', 'o64 writeverf'),
    ('CREATE', 117, FH + '; str component; u32 obj_type; create_type u; fattr attr',
     FH + '; change_info change_info'),
    ('DELEGPURGE', 118, '', ''),
    ('DELEGRETURN', 119, 'o64 state_id', ''),
    ('GET_FSATTR', 122, FH + '; u64 attr_request_bitmap', 'fsattr obj_attributes'),
    ('GET_ROOT_HANDLE', 123, '', FH),
    ('GETATTR_INLINE', 124, FH + '; u64 attr_request_bitmap', 'fattr obj_attributes'),
    ('GETATTR_DIRECT', 125, FH + '; u64 attr_request_bitmap; direct_buf data_buffer',
     'cksum direct_checksum'),
    ('LINK', 126, 'fh source_object; fh destination_object; str newname', 'change_info change_info'),
    ('LOCK', 127, FH + '; u32 lock_type; u32 options; o64 state_id; u64 offset; u64 length', 'lock_u u'),
    ('LOCKT', 128, FH + '; u32 lock_type; str owner; u64 offset; u64 length', 'lock_u u'),
    ('LOCKU', 129, FH + '; u32 lock_type; o64 state_id; u64 offset; u64 length', ''),
    ('LOOKUP', 130, 'fh directory; path path', FH + '; u32 component_count'),
    ('LOOKUPP', 131, FH, FH),
    ('NULL', 132, '', ''),
    ('NVERIFY', 133, FH + '; fattr obj_attributes', ''),
    ('OPEN', 134, 'u32 claim_type; open_claim claim; u32 open_type; openflag flag; u32 delete_disp; '
     'str owner; ' + KEY,
     FH_STATE + '; change_info change_info; u32 component_count; u32 result_flags; '
     'u32 delegation_type; delegation u'),
    ('OPEN_DOWNGRADE', 135, FH_STATE + '; ' + KEY, ''),
    ('OPENATTR', 136, FH, FH),
    ('READ_INLINE', 137, FH_STATE + '; u64 offset; u32 byte_count; u32 cache_hint', 'u32 eof; u32 bytes_read'),
    ('READ_DIRECT', 138, FH_STATE + '; u64 offset; u32 byte_count; u32 cache_hint; '
     'direct_buf<> read_data_buffers', 'u32 eof; u32 bytes_read; cksum direct_checksum'),
    ('READDIR_INLINE', 139, READDIR, 'o64 cookieverf; u32 eof; direntry<> entries'),
    ('READDIR_DIRECT', 140, READDIR + '; direct_buf<> readdir_data_buffers',
     'o64 cookieverf; u32 eof; cksum direct_checksum'),
    ('READLINK_INLINE', 141, FH, 'str link'),
    ('READLINK_DIRECT', 142, FH + '; direct_buf buffer', 'cksum direct_checksum'),
    ('REMOVE', 143, FH + '; str target; u32 remove_mode', 'change_info change_info'),
    ('RENAME', 144, 'fh sourcedir; fh targetdir; str oldname; str newname',
     'change_info source; change_info target'),
    ('SETATTR_INLINE', 145, FH_STATE + '; fattr obj_attributes', 'u64 attr_request_bitmap'),
    ('SETATTR_DIRECT', 146, FH_STATE + '; cksum direct_checksum; direct_buf obj_attributes',
     'u64 attr_request_bitmap'),
    ('VERIFY', 147, FH + '; fattr obj_attributes', ''),
    ('BATCH_SUBMIT', 148, 'rw_request<> requests; u32 usec_window; u32 num_completions; u8 synchronous',
     'completion<> completions'),
    ('WRITE_INLINE', 149, FH_STATE + '; u64 offset; u32 byte_count; u32 stable_how; u32 write_padded; '
     'u32 cache_hint', 'u32 count; u32 committed; o64 verifier'),
    ('WRITE_DIRECT', 150, FH_STATE + '; u64 offset; u32 byte_count; u32 stable_how; u32 cache_hint; '
     'cksum direct_checksum; direct_buf<> write_data_buffers', 'u32 count; u32 committed; o64 verifier'),
    ('BC_GETATTR', 151, FH + '; u64 attr_request_bitmap', 'fattr obj_attributes'),
    ('BC_NULL', 152, '', ''),
    ('BC_RECALL', 153, FH_STATE + '; u32 truncate', ''),
    ('BC_BATCH_COMPLETION', 155, 'completion<> completions', ''),
    ('APPEND_INLINE', 156, FH_STATE + '; u32 stable_how; u32 byte_count; u32 write_padded; u32 cache_hint',
     'u64 offset; o64 verifier; u32 committed'),
    ('APPEND_DIRECT', 157, FH_STATE + '; u32 stable_how; u32 byte_count; u32 cache_hint; '
     'cksum direct_checksum; direct_buf write_data_buffer', 'u64 offset; o64 verifier; u32 committed'),
    ('GET_FENCING_LIST', 158, FH, 'path fence_list'),
    ('SET_FENCING_LIST', 159, FH + '; u32 object; u32 access; u32 update; path fence_list', ''),
    ('HURRY_UP', 160, 'u64 request_id', ''),
)}


def attributes(text):
    """{name: (number, type)} from "number type name name ...; ..." """
    table = {}
    for part in text.split(';'):
        first, kind, *names = part.split()
        for i, name in enumerate(names):
            table[name] = (int(first) + i, TYPES[kind])
    return table


# 6.1.5
FATTR = attributes(
    '1 u8 named_attr archive hidden system; 5 u32 object_type mode num_links; '
    '8 u64 change object_size file_id space_used; 12 time time_access; 13 settime time_access_set; '
    '14 time time_backup time_create time_delta time_metadata time_modify; '
    '19 settime time_modify_set; 20 specdata raw_dev; 21 fh filehandle; 22 ace<> acl; '
    '23 str mime_type owner owner_group')
# 6.1.6
FSATTR = attributes(
    '1 u8 link_support symlink_support can_set_time case_insensitive case_preserving '
    'chown_restricted homogeneous no_trunc unique_handle; '
    '10 u32 lease_time rd_attr_error acl_support max_link max_name; '
    '15 u64 supported_fattr supported_fsattr files_available files_free files_total max_file_size '
    'max_read max_write quota_hard quota_soft quota_used space_available space_free space_total; '
    '29 fshandle fshandle; 30 fs_locations<> failover_locations; 32 u64 max_append pref_io_size; '
    '34 u32 fh_expire_type')


def attr_struct(table, included):
    fields = [('included', TYPES['u64']), ('valid', TYPES['u64'])]
    for name, (number, kind) in sorted(table.items(), key=lambda row: row[1][0]):
        if name in included:
            fields.append((name, kind))
    return Struct('attributes', fields)


def bitmap(table, names):
    return sum(1 << (table[name][0] - 1) for name in names)


class Scope:
    """The origin of offsets: a fixed part and the items behind it."""

    def __init__(self, order, fixed):
        self.order, self.buf, self.fixed = order, bytearray(fixed), fixed

    def add(self, blob):
        """place an item, return its offset"""
        self.buf += bytes(round_up(len(self.buf), 8) - len(self.buf))
        off = len(self.buf)
        self.buf += blob
        return off

    def put(self, base, layout, value):
        """encode the dict value; missing fields are zero"""
        for name, off, kind in layout.fields:
            v = value.get(name)
            if v is None:
                continue
            at = base + off
            if isinstance(kind, Struct):
                self.put(at, kind, v)
            elif isinstance(kind, Union):
                self.put(at, kind.arms[v[0]], v[1])
            elif isinstance(kind, Item):
                struct.pack_into(self.order + 'I', self.buf, at, self.add(item(self.order, kind.kind, v)))
            elif isinstance(kind, Opaque):
                assert len(v) == kind.size
                self.buf[at:at + kind.size] = v
            else:
                struct.pack_into(self.order + kind.code, self.buf, at, v)


def string(order, octets):
    return struct.pack(order + 'I', len(octets)) + octets


def path(order, components):
    buf = bytearray(struct.pack(order + 'II', len(components), 0))
    for component in components:
        buf += bytes(round_up(len(buf), 8) - len(buf)) + string(order, component)
    return bytes(buf)


def array(order, kind, values):
    head = 8 if kind.align == 8 else 4
    scope = Scope(order, head + len(values) * kind.size)
    struct.pack_into(order + 'I', scope.buf, 0, len(values))
    for i, value in enumerate(values):
        if isinstance(kind, Struct):
            scope.put(head + i * kind.size, kind, value)
        else:
            struct.pack_into(order + kind.code, scope.buf, head + i * kind.size, value)
    return bytes(scope.buf)


def attrs(order, table, value):
    """value: dict of attributes, with "absent" naming included ones that are not valid"""
    absent = value.get('absent', ())
    valid = [name for name in value if name != 'absent']
    layout = attr_struct(table, set(valid) | set(absent))
    scope = Scope(order, layout.size)
    scope.put(0, layout, dict(value, included=bitmap(table, set(valid) | set(absent)),
                              valid=bitmap(table, valid)))
    return bytes(scope.buf)


def item(order, kind, value):
    if kind == 'str':
        return string(order, value)
    if kind == 'path':
        return path(order, value)
    if kind in ('fattr', 'fsattr'):
        return attrs(order, FATTR if kind == 'fattr' else FSATTR, value)
    return array(order, TYPES[kind[:-2]], value)


def body(order, layout, value):
    """a fixed section and its heap"""
    has_items = any(item_fields(layout, value))
    scope = Scope(order, round_up(layout.size, 8) if has_items else layout.size)
    scope.put(0, layout, value)
    return bytes(scope.buf)


def item_fields(layout, value):
    for name, _, kind in layout.fields:
        v = value.get(name)
        if v is None:
            continue
        if isinstance(kind, Item):
            yield name
        elif isinstance(kind, Struct):
            yield from item_fields(kind, v)
        elif isinstance(kind, Union):
            yield from item_fields(kind.arms[v[0]], v[1])


def header(order, layout, value):
    scope = Scope(order, layout.size)
    scope.put(0, layout, value)
    return bytes(scope.buf)


def fletcher(data, order):
    """3.2.5: (S1, S2), reduced after each word as the draft says"""
    if len(data) & 1:
        data = data + b'\0'
    s1, s2 = 0x0101, 0
    for (word,) in struct.iter_unpack(order + 'H', data):
        s1 += word
        if s1 > 65535:
            s1 -= 65535
        s2 += s1
        if s2 > 65535:
            s2 -= 65535
    return s1, s2


def cksum_bytes(data, order):
    s1, s2 = fletcher(data, order)
    return struct.pack(order + 'HH', s2, s1)
