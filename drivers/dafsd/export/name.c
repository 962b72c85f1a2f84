// SPDX-License-Identifier: GPL-2.0
/*
 * Valid names of objects and exports (E-97).
 */
#include <linux/limits.h>
#include <linux/string.h>
#include "export.h"

/*
 * Check the second byte of a UTF-8 sequence: it excludes overlong forms, surrogates, and
 * code points above U+10FFFF (E-97).
 */
static bool dafsd_utf8_second_ok(u8 first, u8 second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	default:
		return true;
	}
}

static unsigned int dafsd_utf8_len(u8 first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* Return: bytes of the character at @s, where @left bytes follow; 0 if it is not valid. */
static unsigned int dafsd_utf8_char(const u8 *s, u32 left)
{
	unsigned int len = dafsd_utf8_len(s[0]);
	unsigned int i;

	if (!len || len > left)
		return 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len == 1 || dafsd_utf8_second_ok(s[0], s[1]) ? len : 0;
}

static bool dafsd_name_is_utf8(const struct dafs_str *name)
{
	unsigned int len;
	u32 at;

	for (at = 0; at < name->len; at += len) {
		len = dafsd_utf8_char(name->data + at, name->len - at);
		if (!len)
			return false;
	}
	return true;
}

/**
 * dafsd_name_is_dots() - is this "." or ".."?
 * @name: a name
 *
 * Both have no meaning in DAFS (6.5.21), and must not be passed to the VFS.
 *
 * Context: any.
 * Return: true if so.
 */
bool dafsd_name_is_dots(const struct dafs_str *name)
{
	return name->len && name->len <= 2 && name->data[0] == '.' &&
	       name->data[name->len - 1] == '.';
}

/**
 * dafsd_name_check() - may this be the name of an object? (E-97)
 * @exp: the export of its directory, or NULL
 * @name: a name from a request
 *
 * Context: any.
 * Return: OK; INVAL if it is empty, or holds a slash or a zero byte, or is not UTF-8
 * and the export does not take such names; NAMETOOLONG.
 */
dafs_status_t dafsd_name_check(const struct dafsd_export *exp, const struct dafs_str *name)
{
	if (!name->len)
		return DAFSERR_INVAL;
	if (memchr(name->data, '/', name->len) || memchr(name->data, 0, name->len))
		return DAFSERR_INVAL;
	if (!(exp && exp->raw_names) && !dafsd_name_is_utf8(name))
		return DAFSERR_INVAL;
	if (name->len > NAME_MAX)
		return DAFSERR_NAMETOOLONG;
	return DAFS_STATUS_OK;
}

/**
 * dafsd_name_check_change() - may an entry of this name be made or removed?
 * @exp: as in dafsd_name_check()
 * @name: a name from a request
 *
 * Context: any.
 * Return: as dafsd_name_check(), and INVAL for "." and "..".
 */
dafs_status_t dafsd_name_check_change(const struct dafsd_export *exp, const struct dafs_str *name)
{
	return dafsd_name_is_dots(name) ? DAFSERR_INVAL : dafsd_name_check(exp, name);
}
