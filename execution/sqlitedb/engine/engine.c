//go:build csqlite && cgo && (linux || darwin)

#include "engine.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Facts of SQLite's interface (https://sqlite.org/c3ref/constlist.html).
enum {
	OK = 0,
	UTF8 = 1,
	NOMEM = 7,
	FULL = 13,
	ROW = 100,
	TYPE_INTEGER = 1,
	TYPE_FLOAT = 2,
	TYPE_TEXT = 3,
	TYPE_BLOB = 4,
	DETERMINISTIC = 0x00000800,
	INNOCUOUS = 0x00200000,
	OPEN_READONLY = 0x00000001,
	OPEN_URI = 0x00000040,
	OPEN_NOMUTEX = 0x00008000,
	OPEN_PRIVATECACHE = 0x00040000,
	OPEN_EXRESCODE = 0x02000000,
};

// The layout of files and file systems (https://sqlite.org/c3ref/io_methods.html,
// https://sqlite.org/c3ref/vfs.html).
typedef struct file file;

typedef struct {
	int version;
	int (*close)(file *);
	int (*read)(file *, void *, int, int64_t);
	int (*write)(file *, const void *, int, int64_t);
	int (*truncate)(file *, int64_t);
	int (*sync)(file *, int);
	int (*size)(file *, int64_t *);
	int (*lock)(file *, int);
	int (*unlock)(file *, int);
	int (*check_reserved_lock)(file *, int *);
	int (*control)(file *, int, void *);
	int (*sector_size)(file *);
	int (*characteristics)(file *);
} io_methods;

struct file {
	const io_methods *methods;
};

typedef struct vfs vfs;

struct vfs {
	int version;
	int file_size;
	int max_path;
	vfs *next;
	const char *name;
	void *data;
	int (*open)(vfs *, const char *, file *, int, int *);
	int (*delete)(vfs *, const char *, int);
	int (*access)(vfs *, const char *, int, int *);
	int (*full_path)(vfs *, const char *, int, char *);
	void *(*dl_open)(vfs *, const char *);
	void (*dl_error)(vfs *, int, char *);
	void (*(*dl_symbol)(vfs *, void *, const char *))(void);
	void (*dl_close)(vfs *, void *);
	int (*randomness)(vfs *, int, char *);
	int (*sleep)(vfs *, int);
	int (*current_time)(vfs *, double *);
	int (*last_error)(vfs *, int, char *);
	int (*current_time64)(vfs *, int64_t *);
	int (*set_system_call)(vfs *, const char *, void (*)(void));
	void (*(*get_system_call)(vfs *, const char *))(void);
	const char *(*next_system_call)(vfs *, const char *);
};

SQLITE int sqlite3_busy_handler(sqlite3 *, int (*)(void *, int), void *);
SQLITE const void *sqlite3_column_blob(sqlite3_stmt *, int);
SQLITE int sqlite3_column_bytes(sqlite3_stmt *, int);
SQLITE int64_t sqlite3_column_int64(sqlite3_stmt *, int);
SQLITE const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
SQLITE int sqlite3_column_type(sqlite3_stmt *, int);
SQLITE int sqlite3_create_function_v2(sqlite3 *, const char *, int, int, void *, void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(sqlite3_context *, int, sqlite3_value **),
				      void (*)(sqlite3_context *), void (*)(void *));
SQLITE int sqlite3_drop_modules(sqlite3 *, const char **);
SQLITE int sqlite3_errcode(sqlite3 *);
SQLITE void sqlite3_interrupt(sqlite3 *);
SQLITE int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
SQLITE void sqlite3_progress_handler(sqlite3 *, int, int (*)(void *), void *);
SQLITE void sqlite3_result_error(sqlite3_context *, const char *, int);
SQLITE void sqlite3_result_int(sqlite3_context *, int);
SQLITE int sqlite3_set_authorizer(sqlite3 *, int (*)(void *, int, const char *, const char *, const char *, const char *), void *);
SQLITE int sqlite3_sleep(int);
SQLITE int sqlite3_step(sqlite3_stmt *);
SQLITE void *sqlite3_user_data(sqlite3_context *);
SQLITE int sqlite3_value_bytes(sqlite3_value *);
SQLITE const unsigned char *sqlite3_value_text(sqlite3_value *);
SQLITE vfs *sqlite3_vfs_find(const char *);
SQLITE int sqlite3_vfs_register(vfs *, int);
SQLITE int sqlite3_vfs_unregister(vfs *);

struct ktx_conn {
	vfs files; // the first field: the engine hands its address to open_file
	vfs *system;
	sqlite3 *db;
	uintptr_t handle; // of the connection in Go, which the authorizer asks
	atomic_int stop;  // the statement shall end
	int64_t patience; // how long a statement waits for a lock, in milliseconds
	int64_t waiting;  // since when, in milliseconds
	int64_t limit;    // of all temporary files together, in bytes
	int64_t used;
	int full; // a file would have exceeded it
};

// A temporary file. The file of the system comes behind it.
typedef struct {
	file head;
	ktx_conn *conn;
	int64_t size;
	file real[];
} temp_file;

static file *real(file *f) { return ((temp_file *)f)->real; }

static int temp_close(file *f) {
	temp_file *t = (temp_file *)f;
	t->conn->used -= t->size;
	t->size = 0;
	return real(f)->methods->close(real(f));
}

static int temp_read(file *f, void *into, int n, int64_t at) { return real(f)->methods->read(real(f), into, n, at); }

static int temp_write(file *f, const void *from, int n, int64_t at) {
	temp_file *t = (temp_file *)f;
	int64_t grow = at + n - t->size;
	if (grow > 0) {
		if (t->conn->used + grow > t->conn->limit) {
			t->conn->full = 1;
			return FULL;
		}
		t->conn->used += grow;
		t->size += grow;
	}
	return real(f)->methods->write(real(f), from, n, at);
}

static int temp_truncate(file *f, int64_t size) {
	temp_file *t = (temp_file *)f;
	int rc = real(f)->methods->truncate(real(f), size);
	if (rc == OK && size < t->size) {
		t->conn->used += size - t->size;
		t->size = size;
	}
	return rc;
}

static int temp_sync(file *f, int flags) { return real(f)->methods->sync(real(f), flags); }
static int temp_size(file *f, int64_t *size) { return real(f)->methods->size(real(f), size); }
static int temp_lock(file *f, int kind) { return real(f)->methods->lock(real(f), kind); }
static int temp_unlock(file *f, int kind) { return real(f)->methods->unlock(real(f), kind); }
static int temp_check(file *f, int *is) { return real(f)->methods->check_reserved_lock(real(f), is); }
static int temp_control(file *f, int op, void *arg) { return real(f)->methods->control(real(f), op, arg); }
static int temp_sector(file *f) { return real(f)->methods->sector_size(real(f)); }
static int temp_characteristics(file *f) { return real(f)->methods->characteristics(real(f)); }

// Version 1: a temporary file is neither shared nor mapped into memory.
static const io_methods temp_methods = {
	1, temp_close, temp_read, temp_write, temp_truncate, temp_sync, temp_size,
	temp_lock, temp_unlock, temp_check, temp_control, temp_sector, temp_characteristics,
};

// A file without a name is a temporary one.
static int open_file(vfs *v, const char *name, file *f, int flags, int *out) {
	ktx_conn *c = (ktx_conn *)v;
	if (name != NULL)
		return c->system->open(c->system, name, f, flags, out);
	temp_file *t = (temp_file *)f;
	t->head.methods = NULL;
	t->conn = c;
	t->size = 0;
	t->real->methods = NULL;
	int rc = c->system->open(c->system, name, t->real, flags, out);
	if (rc == OK)
		t->head.methods = &temp_methods;
	else if (t->real->methods != NULL)
		t->real->methods->close(t->real);
	return rc;
}

// Ends a statement that shall end.
static int on_progress(void *arg) { return atomic_load(&((ktx_conn *)arg)->stop); }

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// Waits for a lock, for one or two milliseconds at a time.
static int on_busy(void *arg, int count) {
	ktx_conn *c = arg;
	if (atomic_load(&c->stop))
		return 0;
	if (count == 0)
		c->waiting = now();
	else if (now() - c->waiting >= c->patience)
		return 0;
	sqlite3_sleep(1 + count % 2);
	return 1;
}

extern int ktxSQLiteAuthorize(uintptr_t, int, char *, char *, char *, char *);

static int on_action(void *arg, int action, const char *third, const char *fourth, const char *schema, const char *inner) {
	return ktxSQLiteAuthorize(((ktx_conn *)arg)->handle, action, (char *)third, (char *)fourth, (char *)schema, (char *)inner);
}

// The modules that the other engine has too. A table of any other cannot be read.
static const char *modules[] = {"fts5", "fts5vocab", "json_each", "json_tree", "jsonb_each", "jsonb_tree", NULL};

// The functions of modules that go. Without its module, fts3_tokenizer reads memory that
// is free.
static const struct {
	const char *name;
	int arguments;
} unwanted[] = {
	{"fts3_tokenizer", 1}, {"fts3_tokenizer", 2}, {"matchinfo", 1}, {"matchinfo", 2}, {"offsets", 1},
	{"optimize", 1}, {"rtreecheck", -1}, {"rtreedepth", 1}, {"rtreenode", 2},
};

extern int ktxSQLiteMatch(uintptr_t, int, char *, int, char *, int);

// regexp(pattern, text) and regexpi(pattern, text): 1 if the pattern is in the text, NULL if
// either is NULL.
static void on_match(sqlite3_context *context, int fold, sqlite3_value **arguments) {
	const char *parts[2];
	int lengths[2];
	for (int i = 0; i < 2; i++) {
		parts[i] = (const char *)sqlite3_value_text(arguments[i]);
		if (parts[i] == NULL)
			return;
		lengths[i] = sqlite3_value_bytes(arguments[i]);
	}
	int is = ktxSQLiteMatch(((ktx_conn *)sqlite3_user_data(context))->handle, fold, (char *)parts[0], lengths[0], (char *)parts[1], lengths[1]);
	if (is < 0)
		sqlite3_result_error(context, "the regular expression is not valid", -1);
	else
		sqlite3_result_int(context, is);
}

static void on_regexp(sqlite3_context *context, int n, sqlite3_value **arguments) { on_match(context, 0, arguments); }
static void on_regexpi(sqlite3_context *context, int n, sqlite3_value **arguments) { on_match(context, 1, arguments); }

int ktx_open(const char *path, const char *name, uintptr_t handle, ktx_conn **out) {
	ktx_conn *c = calloc(1, sizeof *c);
	if (c == NULL)
		return NOMEM;
	*out = c;
	c->handle = handle;
	c->system = sqlite3_vfs_find(NULL);
	c->files = *c->system;
	c->files.next = NULL;
	c->files.file_size += sizeof(temp_file);
	c->files.open = open_file;
	c->files.name = strdup(name);
	if (c->files.name == NULL)
		return NOMEM;
	int rc = sqlite3_vfs_register(&c->files, 0);
	if (rc != OK)
		return rc;
	rc = sqlite3_open_v2(path, &c->db, OPEN_READONLY | OPEN_URI | OPEN_NOMUTEX | OPEN_PRIVATECACHE | OPEN_EXRESCODE, name);
	if (rc != OK)
		return rc;
	sqlite3_progress_handler(c->db, 1000, on_progress, c);
	if ((rc = sqlite3_busy_handler(c->db, on_busy, c)) != OK)
		return rc;
	for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
		if ((rc = sqlite3_create_function_v2(c->db, unwanted[i].name, unwanted[i].arguments, UTF8, NULL, NULL, NULL, NULL, NULL)) != OK)
			return rc;
	if ((rc = sqlite3_drop_modules(c->db, modules)) != OK)
		return rc;
	int flags = UTF8 | DETERMINISTIC | INNOCUOUS;
	if ((rc = sqlite3_create_function_v2(c->db, "regexp", 2, flags, c, on_regexp, NULL, NULL, NULL)) != OK ||
	    (rc = sqlite3_create_function_v2(c->db, "regexpi", 2, flags, c, on_regexpi, NULL, NULL, NULL)) != OK)
		return rc;
	return ktx_add_series(c->db);
}

// Closes a connection without open statements, also one that ktx_open could not open.
int ktx_close(ktx_conn *c) {
	int rc = sqlite3_close_v2(c->db);
	if (c->files.name != NULL) {
		sqlite3_vfs_unregister(&c->files);
		free((char *)c->files.name);
	}
	free(c);
	return rc;
}

sqlite3 *ktx_db(ktx_conn *c) { return c->db; }

int ktx_authorize(ktx_conn *c, int on) { return sqlite3_set_authorizer(c->db, on ? on_action : NULL, c); }

void ktx_busy_timeout(ktx_conn *c, int64_t milliseconds) { c->patience = milliseconds; }

void ktx_stop(ktx_conn *c, int on) {
	atomic_store(&c->stop, on);
	if (on)
		sqlite3_interrupt(c->db); // long opcodes look at this, and not at the progress
}

int ktx_config(ktx_conn *c, int op, int value, int *is) { return sqlite3_db_config(c->db, op, value, is); }

void ktx_temp_begin(ktx_conn *c, int64_t limit) {
	c->limit = limit;
	c->full = 0;
}

int ktx_temp_full(ktx_conn *c) { return c->full; }

// Takes one step, and reads the values of the row. Each value is as if it was asked for
// its type, and then for its text or bytes.
int ktx_step(ktx_conn *c, sqlite3_stmt *stmt, ktx_value *values, int columns) {
	int rc = sqlite3_step(stmt);
	if (rc != ROW)
		return rc;
	for (int i = 0; i < columns; i++) {
		ktx_value *v = &values[i];
		v->type = sqlite3_column_type(stmt, i);
		v->bytes = NULL;
		v->length = 0;
		switch (v->type) {
		case TYPE_INTEGER:
			v->number = sqlite3_column_int64(stmt, i);
			break;
		case TYPE_FLOAT:
		case TYPE_TEXT:
			v->bytes = sqlite3_column_text(stmt, i);
			if (v->bytes == NULL)
				return NOMEM;
			v->length = sqlite3_column_bytes(stmt, i);
			break;
		case TYPE_BLOB:
			v->bytes = sqlite3_column_blob(stmt, i);
			v->length = sqlite3_column_bytes(stmt, i);
			if (v->bytes == NULL && (sqlite3_errcode(c->db) & 0xff) == NOMEM)
				return NOMEM;
			break;
		}
	}
	return ROW;
}
