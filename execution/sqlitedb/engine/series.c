//go:build csqlite && cgo && (linux || darwin)

// The table-valued function generate_series(start, stop, step), which the other engine
// has too (https://sqlite.org/series.html).

#include "engine.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// Facts of SQLite's interface to virtual tables (https://sqlite.org/vtab.html).
enum { OK = 0, ERROR = 1, NOMEM = 7, CONSTRAINT = 19, TYPE_NULL = 5, EQUALS = 2, INNOCUOUS = 2 };

typedef struct module module;

typedef struct {
	const module *module;
	int references;
	char *error;
} table;

typedef struct {
	table *table;
} cursor;

typedef struct {
	int constraints;
	struct {
		int column;
		unsigned char op;
		unsigned char usable;
		int offset;
	} *constraint;
	int orders;
	struct {
		int column;
		unsigned char descending;
	} *order;
	struct {
		int argument;
		unsigned char omit;
	} *usage;
	int number;
	char *text;
	int free_text;
	int ordered;
	double cost;
	int64_t rows;
	int flags;
	uint64_t used;
} plan;

struct module {
	int version;
	int (*create)(sqlite3 *, void *, int, const char *const *, table **, char **);
	int (*connect)(sqlite3 *, void *, int, const char *const *, table **, char **);
	int (*best_index)(table *, plan *);
	int (*disconnect)(table *);
	int (*destroy)(table *);
	int (*open)(table *, cursor **);
	int (*close)(cursor *);
	int (*filter)(cursor *, int, const char *, int, sqlite3_value **);
	int (*next)(cursor *);
	int (*eof)(cursor *);
	int (*column)(cursor *, sqlite3_context *, int);
	int (*rowid)(cursor *, int64_t *);
	void *others[12]; // of writing and of later versions, none of which is there
};

SQLITE int sqlite3_create_module_v2(sqlite3 *, const char *, const module *, void *, void (*)(void *));
SQLITE int sqlite3_declare_vtab(sqlite3 *, const char *);
SQLITE char *sqlite3_mprintf(const char *, ...);
SQLITE void sqlite3_result_int64(sqlite3_context *, int64_t);
SQLITE int64_t sqlite3_value_int64(sqlite3_value *);
SQLITE int sqlite3_value_type(sqlite3_value *);
SQLITE int sqlite3_vtab_config(sqlite3 *, int, ...);

typedef struct {
	cursor head;
	int64_t start, stop, step, value, row;
	int done;
} series;

static int series_connect(sqlite3 *db, void *data, int n, const char *const *arguments, table **out, char **error) {
	int rc = sqlite3_declare_vtab(db, "CREATE TABLE x(value, start HIDDEN, stop HIDDEN, step HIDDEN)");
	if (rc != OK)
		return rc;
	if ((*out = calloc(1, sizeof(table))) == NULL)
		return NOMEM;
	return sqlite3_vtab_config(db, INNOCUOUS);
}

static int series_disconnect(table *t) {
	free(t);
	return OK;
}

// Gives start, stop and step to series_filter, in this order. Bit n of the plan's number
// says that the n-th of them is there.
static int series_best_index(table *t, plan *p) {
	int at[3] = {-1, -1, -1}, missing = 0, argument = 0;
	for (int i = 0; i < p->constraints; i++) {
		int which = p->constraint[i].column - 1;
		if (which < 0 || which > 2 || p->constraint[i].op != EQUALS)
			continue;
		if (p->constraint[i].usable)
			at[which] = i;
		else
			missing |= 1 << which;
	}
	p->number = 0;
	for (int which = 0; which < 3; which++) {
		if (at[which] < 0)
			continue;
		p->number |= 1 << which;
		p->usage[at[which]].argument = ++argument;
		p->usage[at[which]].omit = 1;
	}
	if (missing & ~p->number)
		return CONSTRAINT; // another order of the joined tables can give the value
	if (at[0] < 0) {
		t->error = sqlite3_mprintf("first argument to \"generate_series()\" missing or unusable");
		return ERROR;
	}
	p->cost = at[1] < 0 ? 2147483647.0 : 2.0;
	p->rows = at[1] < 0 ? 2147483647 : 1000;
	return OK;
}

static int series_open(table *t, cursor **out) {
	*out = calloc(1, sizeof(series));
	return *out == NULL ? NOMEM : OK;
}

static int series_close(cursor *c) {
	free(c);
	return OK;
}

static int series_filter(cursor *c, int number, const char *text, int n, sqlite3_value **arguments) {
	series *s = (series *)c;
	int64_t given[3] = {0, 0xffffffff, 1};
	s->done = 0;
	for (int which = 0, i = 0; which < 3; which++) {
		if (!(number & 1 << which))
			continue;
		if (sqlite3_value_type(arguments[i]) == TYPE_NULL)
			s->done = 1;
		given[which] = sqlite3_value_int64(arguments[i++]);
	}
	s->start = s->value = given[0];
	s->stop = given[1];
	s->step = given[2] == 0 ? 1 : given[2];
	s->row = 1;
	if (s->step > 0 ? s->value > s->stop : s->value < s->stop)
		s->done = 1;
	return OK;
}

static int series_next(cursor *c) {
	series *s = (series *)c;
	s->row++;
	int64_t value;
	if (__builtin_add_overflow(s->value, s->step, &value) || (s->step > 0 ? value > s->stop : value < s->stop))
		s->done = 1;
	else
		s->value = value;
	return OK;
}

static int series_eof(cursor *c) { return ((series *)c)->done; }

static int series_column(cursor *c, sqlite3_context *context, int column) {
	series *s = (series *)c;
	int64_t values[] = {s->value, s->start, s->stop, s->step};
	sqlite3_result_int64(context, values[column]);
	return OK;
}

static int series_rowid(cursor *c, int64_t *row) {
	*row = ((series *)c)->row;
	return OK;
}

static const module series_module = {
	.connect = series_connect,
	.best_index = series_best_index,
	.disconnect = series_disconnect,
	.open = series_open,
	.close = series_close,
	.filter = series_filter,
	.next = series_next,
	.eof = series_eof,
	.column = series_column,
	.rowid = series_rowid,
};

int ktx_add_series(sqlite3 *db) { return sqlite3_create_module_v2(db, "generate_series", &series_module, NULL, NULL); }
