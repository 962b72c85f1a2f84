// SPDX-License-Identifier: GPL-2.0
/*
 * Where else a file system is, if this server fails (5.3).
 *
 * The administrator gives it as text, "ADDRESS:/EXPORT[,ADDRESS:/EXPORT]...", with an address of
 * IPv6 in brackets, and without an interface, which means nothing elsewhere.  It is taken apart for
 * each client that asks, which is seldom.
 */
#include <linux/inet.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <net/net_namespace.h>
#include "../session/server.h"
#include "../session/told.h"
#include "location.h"

/* Of one export */
#define DAFSD_MAX_LOCATIONS	8

/* Bytes of the path of an export in a message */
#define DAFSD_ROOT_LEN		128

/**
 * struct dafsd_place - where else an export is; outlives the time that it is served
 * @ref: one of its item in configfs, one of the export while it is served
 * @number: of the export for dafsd_client_tell()
 * @served: the export is; changed by its item under the lock of that, with @setting held
 * @setting: held while @text or @served changes, and clients learn of it
 * @lock: guards @text
 * @text: as the administrator has given it, or NULL
 */
struct dafsd_place {
	struct kref ref;
	unsigned long number;
	bool served;
	struct mutex setting;	/* see above */
	spinlock_t lock;	/* see above */
	char *text;
};

static atomic_long_t dafsd_place_numbers;

/**
 * dafsd_place_new() - an export is configured
 *
 * Context: may sleep.
 * Return: a place without alternates, for dafsd_place_put(); or NULL.
 */
struct dafsd_place *dafsd_place_new(void)
{
	struct dafsd_place *place = kzalloc(sizeof(*place), GFP_KERNEL);

	if (!place)
		return NULL;
	kref_init(&place->ref);
	mutex_init(&place->setting);
	spin_lock_init(&place->lock);
	place->number = atomic_long_inc_return(&dafsd_place_numbers);
	return place;
}

/**
 * dafsd_place_get() - take a reference
 * @place: the place; NULL for an export that is nowhere else, and never will be (tests)
 *
 * Return: @place.
 */
struct dafsd_place *dafsd_place_get(struct dafsd_place *place)
{
	if (place)
		kref_get(&place->ref);
	return place;
}

static void dafsd_place_free(struct kref *ref)
{
	struct dafsd_place *place = container_of(ref, struct dafsd_place, ref);

	mutex_destroy(&place->setting);
	kfree(place->text);
	kfree(place);
}

/**
 * dafsd_place_put() - drop a reference
 * @place: the place, or NULL
 *
 * Context: any.
 */
void dafsd_place_put(struct dafsd_place *place)
{
	if (place)
		kref_put(&place->ref, dafsd_place_free);
}

/* Splits the first location of @text.  Return: AF_INET, AF_INET6, or 0 if it is malformed. */
static int dafsd_location_split(char **text, char **server, char **path)
{
	char *one = strsep(text, ","), *end;
	bool brackets = *one == '[';

	end = strstr(one, brackets ? "]:/" : ":/");
	if (!end)
		return 0;
	*path = strchr(end, '/');
	*end = '\0';
	*server = one + brackets;
	return brackets ? AF_INET6 : AF_INET;
}

/* Bytes of a string in a message, with what refers to it, and of a path with these components */
static size_t dafsd_wire_size(size_t len)
{
	return ALIGN(sizeof(u32) + len, 8);
}

static size_t dafsd_path_size(const char *path)
{
	size_t size = 2 * sizeof(u32), len;

	for (; *path; path += len) {
		path += *path == '/';
		len = strcspn(path, "/");
		size += dafsd_wire_size(len);
	}
	return size;
}

/* Return: bytes of a location in a message, or 0 if it is malformed.  @text is changed. */
static size_t dafsd_location_check(char **text)
{
	struct sockaddr_storage addr;
	char *server, *path;
	int family = dafsd_location_split(text, &server, &path);

	if (!family || strchr(server, '%') ||
	    inet_pton_with_scope(&init_net, family, server, NULL, &addr))
		return 0;
	if (!path[1] || strstr(path, "//") || path[strlen(path) - 1] == '/')
		return 0;
	return 2 * sizeof(u32) + dafsd_wire_size(strlen(server)) + dafsd_path_size(path);
}

/* @text is changed. */
static bool dafsd_locations_ok(char *text)
{
	size_t size = 0, one;
	unsigned int nr = 0;

	while (text) {
		one = dafsd_location_check(&text);
		size += one;
		if (!one || nr++ == DAFSD_MAX_LOCATIONS || size > DAFSD_LOCATIONS_LEN)
			return false;
	}
	return true;
}

/* Return: a copy, NULL for none, or an ERR_PTR of -EINVAL or -ENOMEM. */
static char *dafsd_locations_take(const char *text, size_t len)
{
	char *copy, *try;
	bool ok;

	if (!len)
		return NULL;
	if (len > DAFSD_LOCATIONS_LEN)
		return ERR_PTR(-EINVAL);
	copy = kmemdup_nul(text, len, GFP_KERNEL);
	try = kmemdup_nul(text, len, GFP_KERNEL);
	ok = try && copy && dafsd_locations_ok(try);
	if (!ok) {
		len = try && copy;
		kfree(copy);
		copy = ERR_PTR(len ? -EINVAL : -ENOMEM);
	}
	kfree(try);
	return copy;
}

/**
 * dafsd_place_set() - change where else an export is
 * @place: its place
 * @text: as above; not terminated
 * @len: bytes of it; 0 for nowhere
 *
 * Context: may sleep.
 * Return: 0, -EINVAL or -ENOMEM.
 */
int dafsd_place_set(struct dafsd_place *place, const char *text, size_t len)
{
	char *new = dafsd_locations_take(text, len), *old;

	if (IS_ERR(new))
		return PTR_ERR(new);
	guard(mutex)(&place->setting);
	spin_lock(&place->lock);
	old = place->text;
	place->text = new;
	spin_unlock(&place->lock);
	kfree(old);
	/* last: a client that asks now gets the new text; none can ask if it is not served */
	if (place->served)
		dafsd_clients_retell(&dafsd_server, place->number);
	return 0;
}

/* Return: bytes copied, without the end of the string. */
static size_t dafsd_place_copy(struct dafsd_place *place, char *to, size_t size)
{
	ssize_t len;

	spin_lock(&place->lock);
	len = strscpy(to, place->text ?: "", size);
	spin_unlock(&place->lock);
	return len < 0 ? 0 : len;
}

/**
 * dafsd_place_show() - where else an export is, for the administrator
 * @place: its place
 * @page: where to
 *
 * Return: bytes written.
 */
ssize_t dafsd_place_show(struct dafsd_place *place, char *page)
{
	size_t len = dafsd_place_copy(place, page, PAGE_SIZE - 1);

	return len + sysfs_emit_at(page, len, "\n");
}

/**
 * dafsd_place_served() - the export begins to be served: it may have changed meanwhile
 * @place: its place
 *
 * Context: may sleep.
 */
void dafsd_place_served(struct dafsd_place *place)
{
	guard(mutex)(&place->setting);
	place->served = true;
	dafsd_clients_retell(&dafsd_server, place->number);
}

/**
 * dafsd_place_withdrawn() - the export is not served any more
 * @place: its place
 *
 * Context: may sleep.
 */
void dafsd_place_withdrawn(struct dafsd_place *place)
{
	guard(mutex)(&place->setting);
	place->served = false;
	dafsd_clients_untell(&dafsd_server, place->number, false);
}

/**
 * dafsd_place_gone() - the export will not be served any more
 * @place: its place
 *
 * Context: may sleep.
 */
void dafsd_place_gone(const struct dafsd_place *place)
{
	dafsd_clients_untell(&dafsd_server, place->number, true);
}

/**
 * struct dafsd_located - the attribute FAILOVER_LOCATIONS (E-26) and all that it refers to
 * @fs: its element: this export
 * @list: of @fs
 * @text: what the names are in
 * @parts: components of the paths
 */
struct dafsd_located {
	struct dafs_fs_locations fs;
	struct dafs_fs_location list[DAFSD_MAX_LOCATIONS];
	char text[DAFSD_LOCATIONS_LEN + 1];
	struct dafs_str parts[];
};

/* Return: the components of @path, which begin at @parts. */
static struct dafs_seq dafsd_split_path(char *path, struct dafs_str *parts)
{
	struct dafs_seq seq = { .elems = parts };
	char *part;

	while ((part = strsep(&path, "/")))
		if (*part)
			parts[seq.count++] = (struct dafs_str){
				.len = strlen(part),
				.data = (const u8 *)part,
			};
	return seq;
}

static u32 dafsd_locate(struct dafsd_located *to, struct dafs_str *parts)
{
	char *text = to->text, *server, *path;
	u32 nr = 0;

	if (!*text)
		return 0;
	/* they were found correct when they were set */
	while (text && nr < DAFSD_MAX_LOCATIONS && dafsd_location_split(&text, &server, &path)) {
		struct dafs_fs_location *loc = &to->list[nr++];

		loc->server = (struct dafs_str){ strlen(server), (const u8 *)server };
		loc->root_path = dafsd_split_path(path, parts);
		parts += loc->root_path.count;
	}
	return nr;
}

/**
 * dafsd_place_locations() - the attribute FAILOVER_LOCATIONS of an export
 * @place: its place
 * @name: its name
 * @client: who asks; told again when it has changed
 * @seq: filled
 *
 * Context: may sleep.
 * Return: what @seq refers to, for kvfree(); or NULL if out of memory.
 */
void *dafsd_place_locations(struct dafsd_place *place, const char *name,
			    struct dafsd_client *client, struct dafs_seq *seq)
{
	size_t len = strlen(name) + 1, parts = (len + DAFSD_LOCATIONS_LEN) / 2 + 1;
	struct dafsd_located *to = kvzalloc(struct_size(to, parts, parts) + len, GFP_KERNEL);
	char *root;

	if (!to || dafsd_client_tell(client, place->number)) {
		kvfree(to);
		return NULL;
	}
	root = memcpy(&to->parts[parts], name, len);
	/* a response of the smallest size has no room for a long one, which no client needs */
	if (dafsd_path_size(name) <= DAFSD_ROOT_LEN)
		to->fs.fs_root = dafsd_split_path(root, to->parts);
	dafsd_place_copy(place, to->text, sizeof(to->text));
	to->fs.locations.elems = to->list;
	to->fs.locations.count = dafsd_locate(to, to->parts + to->fs.fs_root.count);
	*seq = (struct dafs_seq){
		.count = to->fs.locations.count ? 1 : 0,
		.elems = &to->fs,
	};
	return to;
}
