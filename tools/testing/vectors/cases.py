# SPDX-License-Identifier: GPL-2.0
"""The messages of the test vectors, as dicts in terms of layout.py.

A case gives the arms of a message's unions, its strings and arrays. gen.py
fills the other fields with numbers that all differ.
"""

NAMES = [b'export', b'home', b'a.txt']
UTF8 = [b'\xc3\xa4\xc3\xb6\xc3\xbc', b'\xe6\x97\xa5\xe6\x9c\xac', b'', b'x' * 255]
NO_ATTRS = {}
SOME_ATTRS = dict(dict.fromkeys((
    'object_type', 'mode', 'change', 'object_size', 'file_id', 'time_modify')),
    owner=b'alice@example.org')
ACL = [dict(who=b'OWNER@'), dict(who=b''), dict(who=b'bob@example.org')]
ALL_ATTRS = dict(dict.fromkeys((
    'named_attr', 'archive', 'hidden', 'system', 'object_type', 'mode', 'num_links', 'change',
    'object_size', 'file_id', 'space_used', 'time_access', 'time_access_set', 'time_backup',
    'time_create', 'time_delta', 'time_metadata', 'time_modify', 'time_modify_set', 'raw_dev',
    'filehandle')), acl=ACL, mime_type=b'text/plain', owner=b'alice', owner_group=b'')
ABSENT = dict(absent=('archive', 'time_access_set', 'acl', 'owner', 'filehandle'), mode=None,
              num_links=None, time_modify=None, owner_group=b'staff')
SET_ATTRS = dict(mode=None, object_size=None, time_access_set=None, owner=b'0')
FS_SCALARS = dict.fromkeys((
    'link_support', 'symlink_support', 'can_set_time', 'case_insensitive', 'case_preserving',
    'chown_restricted', 'homogeneous', 'no_trunc', 'unique_handle', 'lease_time', 'rd_attr_error',
    'acl_support', 'max_link', 'max_name', 'supported_fattr', 'supported_fsattr', 'files_available',
    'files_free', 'files_total', 'max_file_size', 'max_read', 'max_write', 'quota_hard',
    'quota_soft', 'quota_used', 'space_available', 'space_free', 'space_total', 'fshandle',
    'max_append', 'pref_io_size', 'fh_expire_type'))
LOCATIONS = [
    dict(fs_root=[b'export'], locations=[
        dict(server=b'a.example.org', root_path=[b'vol', b'one']),
        dict(server=b'192.0.2.7', root_path=[]),
    ]),
    dict(fs_root=[], locations=[]),
    dict(fs_root=NAMES, locations=[dict(server=b'b', root_path=NAMES)]),
]
BUFS = [{}, {}, {}]
ENTRY = [dict(attrs=dict(object_type=None, owner=b'0'), name=b'f')]
ENTRIES = [
    dict(attrs=SOME_ATTRS, name=b'first'),
    dict(attrs=NO_ATTRS, name=b'second entry'),
    dict(attrs=ALL_ATTRS, name=UTF8[0]),
    dict(attrs=ABSENT, name=b'4'),
]
BATCH = [
    dict(rw_flag=1, chunks=[{}, {}, {}], request_buffers=[{}, {}]),
    dict(rw_flag=2, chunks=[{}], request_buffers=[{}]),
]
OID = bytes.fromhex('2a864886f712010202')
DATA = bytes(range(256)) * 2
NONE = dict(auth_type=0, u=('NONE', {}))
TEXT = dict(auth_type=1, u=('TEXT', dict(auth_id=b'alice', auth_password=b'secret')))
GSS = dict(auth_type=2, u=('GSS', dict(token=b'\x60\x82\x00\x01token')))
DEFAULT = dict(auth_type=3, u=('NONE', {}))
GSS_RES = dict(auth_type=2, u=('GSS', dict(gss_token=b'answer')))
IDS = dict(fence_id_string=b'rack1-node7', client_id_string=b'client-a.example')
NO_FENCE = dict(fence_id_string=b'', client_id_string=b'c')

ARGS, RES, FATTR, DIRENTRIES, LINK = 'ARGS', 'RES', 'FATTR', 'DIRENTRIES', 'LINK'


def simple(proc):
    """a message without unions and items"""
    yield proc, ARGS, '', {}
    yield proc, RES, '', {}


def session():
    yield 'CLIENT_AUTH', ARGS, 'none', dict(auth_req=NONE)
    yield 'CLIENT_AUTH', ARGS, 'text', dict(auth_req=TEXT)
    yield 'CLIENT_AUTH', ARGS, 'gss', dict(auth_req=GSS)
    yield 'CLIENT_AUTH', ARGS, 'default', dict(auth_req=DEFAULT)
    yield 'CLIENT_AUTH', RES, 'text', dict(auth_res=dict(auth_type=1, u=('NONE', {})))
    yield 'CLIENT_AUTH', RES, 'gss', dict(auth_res=GSS_RES)
    yield 'CLIENT_CONNECT', ARGS, '', dict(connect=IDS)
    yield 'CLIENT_CONNECT', ARGS, 'no fence id', dict(connect=NO_FENCE)
    yield 'CLIENT_CONNECT', RES, '', {}
    yield 'CLIENT_CONNECT_AUTH', ARGS, 'none', dict(connect=IDS, auth_req=NONE)
    yield 'CLIENT_CONNECT_AUTH', ARGS, 'text', dict(connect=NO_FENCE, auth_req=TEXT)
    yield 'CLIENT_CONNECT_AUTH', ARGS, 'gss', dict(connect=IDS, auth_req=GSS)
    yield 'CLIENT_CONNECT_AUTH', RES, 'none', dict(auth_res=NONE)
    yield 'CLIENT_CONNECT_AUTH', RES, 'gss', dict(auth_res=GSS_RES)
    yield 'CONNECT_BIND', ARGS, 'default', dict(auth_req=DEFAULT)
    yield 'CONNECT_BIND', ARGS, 'text', dict(auth_req=TEXT)
    yield 'CONNECT_BIND', ARGS, 'gss', dict(auth_req=GSS)
    yield 'CONNECT_BIND', RES, 'none', dict(auth_res=NONE)
    yield 'CONNECT_BIND', RES, 'gss', dict(auth_res=GSS_RES)
    yield from simple('DISCONNECT')
    yield 'REGISTER_CRED', ARGS, 'id', dict(
        cred_type=1, u=('ID', dict(gid=100, groups=[-2, 0, 70000])))
    yield 'REGISTER_CRED', ARGS, 'id, no groups', dict(cred_type=1, u=('ID', dict(groups=[])))
    yield 'REGISTER_CRED', ARGS, 'name', dict(cred_type=0, u=('NAME', dict(name=b'bob')))
    yield 'REGISTER_CRED', ARGS, 'gss', dict(cred_type=2, u=('GSS', dict(name=OID)))
    yield 'REGISTER_CRED', ARGS, 'default', dict(cred_type=3, u=('DEFAULT', {}))
    yield 'REGISTER_CRED', RES, '', {}
    yield from simple('RELEASE_CRED')
    yield 'SECINFO', ARGS, '', {}
    yield 'SECINFO', RES, 'four', dict(secinfo=[
        dict(auth_type=0, u=('NONE', {})), dict(auth_type=2, u=('GSS', dict(oid=OID))),
        dict(auth_type=1, u=('NONE', {})), dict(auth_type=2, u=('GSS', dict(oid=b'')))])
    yield 'SECINFO', RES, 'empty', dict(secinfo=[])
    yield 'SERVER_AUTH', ARGS, '', dict(auth_type=1)
    yield 'SERVER_AUTH', RES, 'text', dict(host=dict(auth_type=1), u=TEXT['u'])
    yield 'SERVER_AUTH', RES, 'none', dict(host=dict(auth_type=0), u=('NONE', {}))
    yield from simple('CHECK_RESPONSE')
    yield from simple('FETCH_RESPONSE')
    yield from simple('DISCARD_RESPONSES')
    yield 'GET_FENCING_LIST', ARGS, '', {}
    yield 'GET_FENCING_LIST', RES, 'null', dict(host=dict(null_list=1), fence_list=None)
    yield 'GET_FENCING_LIST', RES, 'empty', dict(fence_list=[])
    yield 'GET_FENCING_LIST', RES, 'two', dict(fence_list=[b'rack1-node7', b'n'])
    yield 'SET_FENCING_LIST', ARGS, 'empty', dict(fence_list=[])
    yield 'SET_FENCING_LIST', ARGS, 'two', dict(fence_list=[b'rack1-node7', b'n'])
    yield 'SET_FENCING_LIST', RES, '', {}
    yield from simple('BC_NULL')
    yield from simple('BC_RECALL')


def open_args():
    keep = dict(open_type=0, flag=('NOCREATE', {}), owner=b'owner 1')

    def claim(number, arm, **fields):
        return dict(keep, claim_type=number, claim=(arm, fields))

    def create(mode, how):
        return dict(claim(0, 'NULL', pathname=[b'new']), open_type=1,
                    flag=('CREATE', dict(createmode=mode, how=how)))

    yield 'OPEN', ARGS, 'null', claim(0, 'NULL', pathname=NAMES)
    yield 'OPEN', ARGS, 'previous', claim(1, 'PREVIOUS', delegate_type=2)
    yield 'OPEN', ARGS, 'delegate cur', claim(2, 'DELEGATE_CUR', pathname=[b'f'])
    yield 'OPEN', ARGS, 'delegate prev', claim(3, 'DELEGATE_PREV', pathname=[])
    unlinked = create(0, ('ATTRS', dict(createattrs=NO_ATTRS)))
    yield 'OPEN', ARGS, 'create unlinked', dict(unlinked, claim_type=4,
                                                claim=('CREATE_UNLINKED', {}))
    yield 'OPEN', ARGS, 'unchecked', create(0, ('ATTRS', dict(createattrs=SET_ATTRS)))
    yield 'OPEN', ARGS, 'guarded', create(1, ('ATTRS', dict(createattrs=dict(acl=ACL))))
    yield 'OPEN', ARGS, 'exclusive', create(2, ('EXCLUSIVE', {}))


def open_res():
    def deleg(number, arm, **fields):
        return dict(delegation_type=number, u=(arm, fields))

    yield 'OPEN', RES, 'none', deleg(0, 'NONE')
    yield 'OPEN', RES, 'read', deleg(1, 'READ', who=b'EVERYONE@')
    yield 'OPEN', RES, 'write, size', deleg(2, 'WRITE', who=b'', limitby=1,
                                            space_limit=('SIZE', {}))
    yield 'OPEN', RES, 'write, blocks', deleg(2, 'WRITE', who=b'w', limitby=2,
                                              space_limit=('BLOCKS', {}))


def create():
    for number, arm, fields in ((5, 'LNK', dict(linkdata=b'../target')), (3, 'DEV', {}),
                                (4, 'DEV', {}), (6, 'OTHER', {}), (7, 'OTHER', {})):
        yield 'CREATE', ARGS, 'type %d' % number, dict(
            component=b'name', obj_type=number, u=(arm, fields), attr=NO_ATTRS)
    yield 'CREATE', ARGS, 'type 2', dict(component=b'dir', obj_type=2, u=('OTHER', {}),
                                         attr=SET_ATTRS)
    yield 'CREATE', RES, '', {}


def names():
    for proc in ('ACCESS', 'CLOSE', 'DELEGPURGE', 'DELEGRETURN', 'GET_ROOT_HANDLE', 'LOOKUPP',
                 'NULL', 'OPEN_DOWNGRADE', 'OPENATTR', 'LOCKU', 'GETATTR_DIRECT',
                 'READLINK_DIRECT', 'SETATTR_DIRECT'):
        yield from simple(proc)
    yield from create()
    yield 'LINK', ARGS, '', dict(newname=b'other')
    yield 'LINK', RES, '', {}
    yield 'LOCK', ARGS, '', {}
    yield 'LOCKT', ARGS, '', dict(owner=b'owner 2')
    for proc in ('LOCK', 'LOCKT'):
        yield proc, RES, 'ok', dict(u=('OK', {}))
        yield proc, RES, 'denied', dict(u=('DENIED', dict(owner=b'owner 3')))
    yield 'LOOKUP', ARGS, 'three', dict(path=NAMES)
    yield 'LOOKUP', ARGS, 'empty', dict(path=[])
    yield 'LOOKUP', ARGS, 'utf-8', dict(path=UTF8)
    yield 'LOOKUP', RES, '', {}
    yield from open_args()
    yield from open_res()
    yield 'READLINK_INLINE', ARGS, '', {}
    yield 'READLINK_INLINE', RES, '', dict(link=b'/some/where')
    yield 'READLINK_INLINE', RES, 'empty', dict(link=b'')
    yield 'REMOVE', ARGS, '', dict(target=b'gone')
    yield 'REMOVE', RES, '', {}
    yield 'RENAME', ARGS, '', dict(oldname=b'old', newname=b'new name')
    yield 'RENAME', RES, '', {}


def attributes():
    for proc in ('GETATTR_INLINE', 'BC_GETATTR'):
        yield proc, ARGS, '', {}
        yield proc, RES, 'all', dict(obj_attributes=ALL_ATTRS)
        yield proc, RES, 'some', dict(obj_attributes=SOME_ATTRS)
    yield 'GETATTR_INLINE', RES, 'none', dict(obj_attributes=NO_ATTRS)
    yield 'GETATTR_INLINE', RES, 'absent', dict(obj_attributes=ABSENT)
    yield 'GETATTR_INLINE', RES, 'one', dict(obj_attributes=dict(mode=None))
    yield 'GET_FSATTR', ARGS, '', {}
    yield 'GET_FSATTR', RES, 'all', dict(
        obj_attributes=dict(FS_SCALARS, failover_locations=LOCATIONS))
    yield 'GET_FSATTR', RES, 'some', dict(obj_attributes=dict(
        absent=('link_support', 'quota_hard', 'failover_locations'), lease_time=None,
        fshandle=None, max_append=None, fh_expire_type=None))
    yield 'GET_FSATTR', RES, 'none', dict(obj_attributes={})
    for proc in ('VERIFY', 'NVERIFY'):
        yield proc, ARGS, 'some', dict(obj_attributes=SOME_ATTRS)
        yield proc, ARGS, 'acl', dict(obj_attributes=dict(acl=ACL, change=None))
        yield proc, RES, '', {}
    yield 'SETATTR_INLINE', ARGS, 'some', dict(obj_attributes=SET_ATTRS)
    yield 'SETATTR_INLINE', ARGS, 'no ace', dict(obj_attributes=dict(acl=[]))
    yield 'SETATTR_INLINE', RES, '', {}
    yield 'READDIR_INLINE', ARGS, '', {}
    yield 'READDIR_INLINE', RES, 'none', dict(entries=[])
    yield 'READDIR_INLINE', RES, 'one', dict(entries=ENTRY)
    yield 'READDIR_INLINE', RES, 'four', dict(entries=ENTRIES)
    yield 'READDIR_DIRECT', ARGS, 'three', dict(readdir_data_buffers=BUFS)
    yield 'READDIR_DIRECT', RES, '', {}
    yield 'GETATTR_DIRECT', FATTR, 'all', ALL_ATTRS
    yield 'SETATTR_DIRECT', FATTR, 'some', SET_ATTRS
    yield 'GETATTR_DIRECT', FATTR, 'none', NO_ATTRS
    yield 'READDIR_DIRECT', DIRENTRIES, 'none', dict(entries=[])
    yield 'READDIR_DIRECT', DIRENTRIES, 'four', dict(entries=ENTRIES)
    yield 'READLINK_DIRECT', LINK, '', dict(link=b'a/b/c')


def data():
    for proc in ('CACHE_HINT', 'COMMIT', 'APPEND_DIRECT', 'HURRY_UP'):
        yield from simple(proc)
    yield 'READ_INLINE', ARGS, '', {}
    yield 'READ_INLINE', RES, 'data', dict(bytes_read=333,
                                           inline=('read_data', DATA[:333], 0))
    yield 'READ_INLINE', RES, 'no data', dict(bytes_read=0)
    yield 'READ_DIRECT', ARGS, 'three', dict(read_data_buffers=BUFS)
    yield 'READ_DIRECT', ARGS, 'none', dict(read_data_buffers=[])
    yield 'READ_DIRECT', RES, '', {}
    yield 'WRITE_DIRECT', ARGS, 'three', dict(write_data_buffers=BUFS)
    yield 'WRITE_DIRECT', RES, '', {}
    for proc in ('WRITE_INLINE', 'APPEND_INLINE'):
        yield proc, ARGS, 'data', dict(byte_count=13, write_padded=0,
                                       inline=('data', DATA[:13], 0))
        yield proc, ARGS, 'padded', dict(byte_count=17, write_padded=1,
                                         inline=('data', DATA[:17], 256),
                                         host=dict(inline_header=256))
        yield proc, ARGS, 'no data', dict(byte_count=0, write_padded=0)
        yield proc, RES, '', {}
    yield 'APPEND_DIRECT', ARGS, '', {}
    yield 'BATCH_SUBMIT', ARGS, 'two', dict(requests=BATCH)
    yield 'BATCH_SUBMIT', ARGS, 'none', dict(requests=[])
    yield 'BATCH_SUBMIT', RES, 'two', dict(completions=[{}, {}])
    yield 'BATCH_SUBMIT', RES, 'none', dict(completions=[])
    yield 'BC_BATCH_COMPLETION', ARGS, 'three', dict(completions=[{}, {}, {}])
    yield 'BC_BATCH_COMPLETION', RES, '', {}


def cases():
    for group in (session, names, attributes, data):
        yield from group()
