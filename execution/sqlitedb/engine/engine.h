// What this package asks of SQLite's C library (https://sqlite.org/c3ref/funclist.html),
// and of its own C code.

#ifndef KTX_SQLITE_ENGINE_H
#define KTX_SQLITE_ENGINE_H

#include <stdint.h>

// The library is linked into another package. A weak name lets this package be linked
// alone, as cgo does to look at it.
#define SQLITE __attribute__((weak))

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;

SQLITE int sqlite3_close_v2(sqlite3 *);
SQLITE int sqlite3_column_count(sqlite3_stmt *);
SQLITE const char *sqlite3_column_decltype(sqlite3_stmt *, int);
SQLITE const char *sqlite3_column_name(sqlite3_stmt *, int);
SQLITE int sqlite3_compileoption_used(const char *);
SQLITE int sqlite3_db_config(sqlite3 *, int, ...);
SQLITE int sqlite3_db_readonly(sqlite3 *, const char *);
SQLITE const char *sqlite3_errmsg(sqlite3 *);
SQLITE int sqlite3_error_offset(sqlite3 *);
SQLITE int sqlite3_exec(sqlite3 *, const char *, void *, void *, char **);
SQLITE int sqlite3_finalize(sqlite3_stmt *);
SQLITE int sqlite3_get_autocommit(sqlite3 *);
SQLITE int64_t sqlite3_hard_heap_limit64(int64_t);
SQLITE int sqlite3_limit(sqlite3 *, int, int);
SQLITE int sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **, const char **);
SQLITE int sqlite3_reset(sqlite3_stmt *);
SQLITE int sqlite3_stmt_readonly(sqlite3_stmt *);
SQLITE int sqlite3_system_errno(sqlite3 *);
SQLITE int64_t sqlite3_total_changes64(sqlite3 *);

// A value of the row at which a statement stands. Bytes belong to the engine until the
// statement moves on.
typedef struct {
	int64_t number;
	const void *bytes;
	int32_t length;
	int32_t type;
} ktx_value;

// A connection with the limit of its temporary files.
typedef struct ktx_conn ktx_conn;

int ktx_open(const char *path, const char *name, uintptr_t handle, ktx_conn **out);
int ktx_add_series(sqlite3 *);
int ktx_close(ktx_conn *);
sqlite3 *ktx_db(ktx_conn *);
int ktx_authorize(ktx_conn *, int on);
void ktx_busy_timeout(ktx_conn *, int64_t milliseconds);
void ktx_stop(ktx_conn *, int on);
int ktx_config(ktx_conn *, int op, int value, int *is);
void ktx_temp_begin(ktx_conn *, int64_t limit);
int ktx_temp_full(ktx_conn *);
int ktx_step(ktx_conn *, sqlite3_stmt *, ktx_value *values, int columns);

#endif
