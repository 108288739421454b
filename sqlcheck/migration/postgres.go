package migration

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The rules for PostgreSQL. Locks: "Explicit Locking" (13.3); rewrites and scans:
// ALTER TABLE, "Notes"; indexes: CREATE INDEX, "Building Indexes Concurrently".

const pgLimit = "SET lock_timeout = '5s'; and run the migration again when it is reached"

func (r *Reader) postgres(c *cursor) {
	start := c.here()
	switch {
	case c.take("set"):
		c.takeAny("local", "session")
		if c.is("lock_timeout") || c.is("statement_timeout") {
			r.limited = c.peek(2) != "0" && c.peek(2) != "'0'" && !strings.EqualFold(c.peek(2), "default")
		}
	case c.take("do"):
		r.do(c)
	case c.is("select", "set_config"), c.is("perform", "set_config"), c.is("select", "pg_catalog") && c.has("set_config"):
		if strings.Contains(strings.ToLower(r.sql), "lock_timeout") {
			r.limited = true
		}
	case c.take("create"):
		r.pgCreate(c, start)
	case c.take("alter"):
		r.pgAlter(c, start)
	case c.take("drop"):
		r.pgDrop(c, start)
	case c.take("reindex"):
		r.pgReindex(c, start)
	case c.take("cluster"):
		r.outsideOnly(start, "")
		c.take("verbose")
		c.bracket()
		if name := c.name(); name == "" {
			r.add(CodeRewritesTable, start, "", "CLUSTER writes every table again that has an index to order it by, and nobody reads or writes the table meanwhile", "order the rows with a program that copies in the background, or leave them")
		} else {
			r.add(CodeRewritesTable, start, name, "CLUSTER writes the whole table again, and nobody reads or writes it meanwhile", "order the rows with a program that copies in the background, or leave them")
			r.lock(name, start, pgLimit)
		}
	case c.take("vacuum"):
		r.pgVacuum(c, start)
	case c.take("refresh", "materialized", "view"):
		if !c.take("concurrently") {
			name := c.name()
			if !r.fresh(name) {
				r.add(CodeBlocksWrites, start, name, "nobody reads "+name+" while it is refreshed", "REFRESH MATERIALIZED VIEW CONCURRENTLY, which needs a unique index on the view")
			}
		}
	case c.take("truncate"):
		c.take("table")
		for _, p := range c.parts() {
			p.take("only")
			if name := p.name(); !r.fresh(name) {
				r.add(CodeDataLoss, start, name, "TRUNCATE removes every row of "+name, "")
				r.lock(name, start, pgLimit)
			}
		}
	case c.take("lock"):
		c.take("table")
		c.take("only")
		r.lock(c.name(), start, pgLimit)
	case c.take("with"):
		if c.skipTo("select", "insert", "update", "delete", "merge") {
			r.changesRows(c, c.here())
		}
	case c.is("update"), c.is("delete"), c.is("insert"):
		r.changesRows(c, start)
	}
	r.enumUsed(c)
}

// changesRows reports an UPDATE or a DELETE of every row of an existing table.
func (r *Reader) changesRows(c *cursor, start sqlguard.Span) {
	look := *c
	verb := look.takeAny("update", "delete")
	if verb == "" {
		return
	}
	look.take("from")
	look.take("only")
	look.take("low_priority")
	look.take("ignore")
	table := look.name()
	if table == "" || r.fresh(table) || look.has("where") || look.has("limit") || look.has("join") || look.has("using") || look.has("from") {
		return
	}
	r.add(CodeChangesAllRows, start, table, strings.ToUpper(verb)+" without WHERE changes every row of "+table+" in one statement", "")
}

// enumUsed reports a value that the open transaction added to an enum.
func (r *Reader) enumUsed(c *cursor) {
	if len(r.enumAdded) == 0 || c.at == 0 && c.is("alter", "type") {
		return
	}
	for _, t := range c.tokens {
		if t.Kind == sqlguard.TokenString && slices.Contains(r.enumAdded, t.Text(c.sql)) && !strings.EqualFold(c.tokens[0].Text(c.sql), "alter") {
			r.add(CodeEnumValueUsed, sqlguard.Span{Start: t.Start, End: t.End}, t.Text(c.sql), "the transaction has added "+t.Text(c.sql)+" to an enum and cannot use it before it commits", "")
			return
		}
	}
}

// outsideOnly reports a statement that the server refuses in a transaction.
func (r *Reader) outsideOnly(at sqlguard.Span, what string) {
	if r.open && what != "" {
		r.add(CodeInTransaction, at, "", what+" cannot run in a transaction", "")
	}
}

func (r *Reader) pgCreate(c *cursor, start sqlguard.Span) {
	c.take("or", "replace")
	unique := c.take("unique")
	if c.take("index") {
		r.pgIndex(c, start, unique)
		return
	}
	c.takeAny("global", "local")
	c.takeAny("temp", "temporary", "unlogged", "foreign")
	switch {
	case c.take("table"):
		r.pgTable(c, start)
	case c.take("materialized", "view"):
		ifExists(c)
		r.create(c.name())
	case c.is("trigger"), c.is("constraint", "trigger"):
		if c.skipTo("on") && c.take("on") {
			name := c.name()
			r.lock(name, start, pgLimit)
		}
	case c.is("database"), c.is("tablespace"):
		r.outsideOnly(start, "CREATE "+words(c, 1))
	}
	c.at = len(c.tokens)
}

func (r *Reader) pgTable(c *cursor, start sqlguard.Span) {
	ifExists(c)
	name := c.name()
	r.create(name)
	if c.take("partition", "of") {
		r.lock(c.name(), start, pgLimit)
		return
	}
	if body := c.bracket(); body != nil {
		for body.skipTo("references") && body.take("references") {
			r.lock(body.name(), start, pgLimit) // SHARE ROW EXCLUSIVE on the other table
		}
	}
}

func (r *Reader) pgIndex(c *cursor, start sqlguard.Span, unique bool) {
	concurrently := c.take("concurrently")
	ifExists(c)
	index := ""
	if !c.is("on") {
		index = c.name()
	}
	c.take("on")
	c.take("only")
	name := c.name()
	if r.fresh(name) {
		r.indexes[schemaOf(name)+index] = true
		if concurrently {
			r.outsideOnly(start, "CREATE INDEX CONCURRENTLY")
		}
		return
	}
	if concurrently {
		r.outsideOnly(start, "CREATE INDEX CONCURRENTLY")
		return
	}
	advice := "CREATE INDEX CONCURRENTLY, outside of a transaction; drop the index and try again when it fails"
	if unique {
		advice = "CREATE UNIQUE INDEX CONCURRENTLY, outside of a transaction; drop the index and try again when it fails"
	}
	r.add(CodeIndexBlocksWrites, start, name, name+" takes no writes while the index is built", advice)
	r.lock(name, start, pgLimit)
}

func (r *Reader) pgReindex(c *cursor, start sqlguard.Span) {
	concurrently := false
	if options := c.bracket(); options != nil {
		concurrently = options.on("concurrently")
	}
	kind := c.takeAny("index", "table", "schema", "database", "system")
	concurrently = c.take("concurrently") || concurrently
	name := c.name()
	if concurrently {
		r.outsideOnly(start, "REINDEX CONCURRENTLY")
		return
	}
	if r.fresh(name) || r.indexes[name] {
		return
	}
	r.add(CodeIndexBlocksWrites, start, name, "REINDEX blocks writes while it builds the indexes, and reads that would use them", "REINDEX "+strings.ToUpper(kind)+" CONCURRENTLY, outside of a transaction")
	if kind == "table" {
		r.lock(name, start, pgLimit)
	}
}

func (r *Reader) pgVacuum(c *cursor, start sqlguard.Span) {
	r.outsideOnly(start, "VACUUM")
	full := false
	if options := c.bracket(); options != nil {
		full = options.on("full")
	}
	full = c.take("full") || full
	for c.takeAny("freeze", "verbose", "analyze") != "" {
	}
	if full {
		name := c.name()
		r.add(CodeRewritesTable, start, name, "VACUUM FULL writes the whole table again, and nobody reads or writes it meanwhile", "VACUUM without FULL, or a program that copies in the background, such as pg_repack")
		r.lock(name, start, pgLimit)
	}
}

func (r *Reader) pgDrop(c *cursor, start sqlguard.Span) {
	switch {
	case c.take("index"):
		concurrently := c.take("concurrently")
		if concurrently {
			r.outsideOnly(start, "DROP INDEX CONCURRENTLY")
			return
		}
		ifExists(c)
		for _, p := range c.parts() {
			if name := p.name(); !r.indexes[name] {
				r.add(CodeIndexDropBlocks, start, name, "nobody reads or writes the table of "+name+" while the index is dropped", "DROP INDEX CONCURRENTLY, outside of a transaction")
			}
		}
		if !r.limited && len(r.found) > 0 {
			r.limited = true
			r.add(CodeNoLockTimeout, start, "", "the statement waits for its lock on the table of the index for as long as it takes, and every later query on the table waits behind it", pgLimit)
		}
	case c.take("table"), c.take("materialized", "view"), c.take("foreign", "table"):
		ifExists(c)
		for _, p := range c.parts() {
			name := p.name()
			if r.fresh(name) {
				if !r.back { // a later statement that applies the migration still has it
					delete(r.created, name)
				}
				continue
			}
			r.gone(start, name, "programs that still read "+name+" fail from now on, and its rows are gone", "drop it when nothing has used it for a release")
			r.lock(name, start, pgLimit)
		}
	case c.take("view"), c.take("type"), c.take("function"), c.take("procedure"), c.take("sequence"), c.take("domain"):
		ifExists(c)
		r.goneAll(c, start)
	case c.take("extension"), c.take("role"), c.take("user"), c.take("aggregate"), c.take("operator"), c.take("cast"), c.take("routine"), c.take("server"):
		ifExists(c)
		r.goneAll(c, start)
	case c.take("database"), c.take("schema"), c.take("owned"):
		ifExists(c)
		r.outsideOnlyDatabase(c, start)
		r.add(CodeDataLoss, start, c.name(), "it drops every table with its rows", "")
	case c.take("trigger"), c.take("policy"), c.take("rule"):
		ifExists(c)
		c.name()
		if c.take("on") {
			r.lock(c.name(), start, pgLimit)
		}
	}
	c.at = len(c.tokens)
}

// goneAll reports every name of a DROP.
func (r *Reader) goneAll(c *cursor, start sqlguard.Span) {
	for _, p := range c.parts() {
		if name := p.name(); name != "" && r.coming[lastPart(name)] <= 0 {
			r.gone(start, name, "programs that still use "+name+" fail from now on", "")
		}
	}
}

func (r *Reader) outsideOnlyDatabase(c *cursor, start sqlguard.Span) {
	if c.at > 0 && strings.EqualFold(c.tokens[1].Text(c.sql), "database") {
		r.outsideOnly(start, "DROP DATABASE")
	}
}

func (r *Reader) pgAlter(c *cursor, start sqlguard.Span) {
	switch {
	case c.take("table"), c.take("foreign", "table"):
		if c.take("all") {
			r.add(CodeRewritesTable, start, "", "every table of the tablespace is copied, and nobody reads or writes it meanwhile", "move one table at a time, while nobody uses it")
			return
		}
		ifExists(c)
		c.take("only")
		name := c.name()
		if c.is("*") {
			c.at++
		}
		strong := false
		for _, action := range c.parts() {
			strong = r.pgAction(action, name) || strong
		}
		if strong {
			r.lock(name, start, pgLimit)
		}
	case c.take("materialized", "view"), c.take("view"):
		ifExists(c)
		name := c.name()
		if c.is("rename") {
			r.gone(start, name, "programs that still use the old name of "+name+" fail from now on", "keep the old name as a view")
		}
	case c.take("type"):
		name := c.name()
		switch {
		case c.take("add", "value"):
			ifExists(c)
			if r.open && !c.end() {
				r.enumAdded = append(r.enumAdded, c.peek(0))
			}
		case c.is("rename"), c.is("drop"):
			r.gone(start, name, "programs that still use the old form of the type "+name+" fail from now on", "")
		case c.is("alter", "attribute"), c.is("add", "attribute"):
			r.add(CodeRewritesTable, start, name, "a change of an attribute needs every value of the type to be read", "")
		}
	case c.take("domain"):
		name := c.name()
		if c.is("add") && !c.has("not", "valid") || c.is("set", "not", "null") {
			r.add(CodeConstraintScans, start, name, "the server reads every table that has a column of the domain "+name+" and blocks writes meanwhile", "ADD CONSTRAINT … NOT VALID, and VALIDATE CONSTRAINT later")
		}
	case c.takeAny("schema", "sequence", "function", "procedure", "routine", "aggregate", "role", "user", "foreign") != "":
		c.take("data")
		ifExists(c)
		name := c.name()
		if c.bracket(); c.is("rename") || c.is("set", "schema") {
			r.gone(start, name, "programs that still use the old name of "+name+" fail from now on", "first release programs that know both names, or make the new one beside the old one")
		}
	case c.take("index"):
		ifExists(c)
		name := c.name()
		if c.is("set", "tablespace") {
			r.add(CodeBlocksWrites, start, name, "the index is copied, and nobody reads or writes its table meanwhile", "build a new index CONCURRENTLY in the tablespace")
		}
	case c.is("system"), c.is("database") && c.has("tablespace"):
		r.outsideOnly(start, "ALTER "+words(c, 1))
	}
	c.at = len(c.tokens)
}

// pgAction judges one action of ALTER TABLE, and reports whether it takes a lock
// that stops programs.
func (r *Reader) pgAction(c *cursor, table string) bool {
	at := c.span()
	if len(c.tokens) == 0 {
		return false
	}
	fresh := r.fresh(table)
	switch {
	case c.take("add"):
		if c.is("constraint") || c.is("check") || c.is("unique") || c.is("primary", "key") || c.is("foreign", "key") || c.is("exclude") || c.is("not", "null") {
			r.pgConstraint(c, table, at)
			return true
		}
		c.take("column")
		ifExists(c)
		r.pgColumn(c, table, at)
	case c.take("drop"):
		if c.take("constraint") {
			ifExists(c)
			r.pgDropConstraint(c.name(), table, at)
			return true
		}
		c.take("column")
		ifExists(c)
		column := c.name()
		if !fresh {
			r.gone(at, column, "programs that still name the column "+column+" of "+table+" fail from now on", "first release programs that do not name the column; drop it in a later migration")
		}
	case c.take("alter"):
		if c.take("constraint") {
			return true
		}
		c.take("column")
		return r.pgAlterColumn(c, table, at)
	case c.take("rename"):
		if fresh || c.take("constraint") {
			return true
		}
		what, advice := "table "+table, "keep the old name as a view: ALTER TABLE … RENAME and CREATE VIEW in one transaction"
		old := table
		if !c.is("to") {
			c.take("column")
			old = c.name()
			what, advice = "column "+old+" of "+table, "add a column with the new name, fill both, and drop the old one when nothing uses it"
		}
		r.gone(at, old, "programs that still use the old name of the "+what+" fail from now on", advice)
		if c.take("to") && old == table && r.created[table] {
			r.create(c.name())
		}
	case c.take("set", "logged"), c.take("set", "unlogged"):
		r.rewrites(at, table, "the whole table is copied, and nobody reads or writes it meanwhile", "")
	case c.take("set", "tablespace"), c.take("set", "access", "method"):
		r.rewrites(at, table, "the whole table is copied, and nobody reads or writes it meanwhile", "copy in the background, or while nobody uses the table")
	case c.take("set", "schema"):
		if !fresh {
			r.gone(at, table, "programs that still look for "+table+" in the old schema fail from now on", "keep a view in the old schema")
		}
	case c.take("detach", "partition"):
		name := c.name()
		if c.take("concurrently") {
			r.outsideOnly(at, "DETACH PARTITION CONCURRENTLY")
			return false
		}
		if !c.is("finalize") && !r.fresh(name) {
			r.add(CodeBlocksWrites, at, table, "nobody reads or writes "+table+" while the partition is detached", "DETACH PARTITION … CONCURRENTLY, outside of a transaction")
		}
	case c.take("attach", "partition"):
		if name := c.name(); !r.fresh(name) {
			r.add(CodeConstraintScans, at, name, "the server reads every row of "+name+" for the bounds of the partition", "first add to it a CHECK constraint with the same bounds as NOT VALID, and validate it")
		}
		return false // SHARE UPDATE EXCLUSIVE on the parent
	case c.take("validate", "constraint"):
		constraint := table + "." + c.name()
		for _, column := range r.pending[constraint] {
			r.checked[table+"."+column] = true
		}
		if slices.Contains(r.unchecked, constraint) {
			r.add(CodeConstraintScans, at, table, "the server reads every row of "+table+" while the transaction still has the lock of ADD CONSTRAINT, which blocks writes", "end the transaction between ADD CONSTRAINT … NOT VALID and VALIDATE CONSTRAINT")
		}
		return false
	case c.take("cluster", "on"), c.take("set", "without"), c.take("replica", "identity"), c.take("owner", "to"), c.take("no", "force"), c.take("force"),
		c.take("enable"), c.take("disable"), c.take("inherit"), c.take("no", "inherit"), c.take("of"), c.take("not", "of"):
	case c.take("set"), c.take("reset"):
		return false // storage parameters: SHARE UPDATE EXCLUSIVE
	default:
		r.notJudged(at, "ALTER TABLE … "+words(c, 2))
	}
	return true
}

func (r *Reader) rewrites(at sqlguard.Span, table, message, advice string) {
	if !r.fresh(table) {
		r.add(CodeRewritesTable, at, table, message, advice)
	}
}

// pgConstraint judges ADD of a table constraint.
func (r *Reader) pgConstraint(c *cursor, table string, at sqlguard.Span) {
	name := ""
	if c.take("constraint") {
		name = c.name()
	}
	later := c.has("not", "valid")
	fresh := r.fresh(table)
	if later && !fresh {
		r.unchecked = append(r.unchecked, table+"."+name)
	}
	switch {
	case c.take("check"):
		if inner := c.bracket(); inner != nil {
			if column := inner.name(); column != "" && inner.is("is", "not", "null") && len(inner.tokens)-inner.at == 3 {
				if later {
					r.pending[table+"."+name] = append(r.pending[table+"."+name], column)
				} else {
					r.checked[table+"."+column] = true
				}
			}
		}
		if !later && !fresh {
			r.add(CodeConstraintScans, at, table, "the server reads every row of "+table+" for the CHECK, and nobody reads or writes the table meanwhile", "ADD CONSTRAINT … CHECK (…) NOT VALID, and VALIDATE CONSTRAINT in a later transaction")
		}
	case c.take("not", "null"):
		if !later && !fresh {
			r.add(CodeNotNullScans, at, table, "the server reads every row of "+table+", and nobody reads or writes the table meanwhile", "ADD CONSTRAINT … NOT NULL … NOT VALID (PostgreSQL 18), and VALIDATE CONSTRAINT later")
		}
	case c.is("foreign", "key"):
		other := ""
		if c.skipTo("references") && c.take("references") {
			other = c.name()
		}
		if !later && !fresh {
			r.add(CodeConstraintScans, at, table, "the server reads every row of "+table+" for the foreign key, and blocks writes to "+table+" and "+other+" meanwhile", "ADD CONSTRAINT … FOREIGN KEY … NOT VALID, and VALIDATE CONSTRAINT in a later transaction")
		}
		if !fresh || !r.fresh(other) {
			r.lock(table, at, pgLimit)
			r.lock(other, at, pgLimit)
		}
	case c.is("unique"), c.is("primary", "key"):
		if !c.has("using", "index") && !fresh {
			r.add(CodeIndexBlocksWrites, at, table, "the constraint builds an index, and nobody reads or writes "+table+" meanwhile", "CREATE UNIQUE INDEX CONCURRENTLY, and then ADD CONSTRAINT … USING INDEX")
		}
	case c.is("exclude"):
		if !fresh {
			r.add(CodeIndexBlocksWrites, at, table, "the constraint builds an index, and nobody reads or writes "+table+" meanwhile", "make a new table with the constraint, and copy the rows in batches")
		}
	}
}

// pgDropConstraint judges DROP CONSTRAINT. That of a foreign key also takes the strongest
// lock on the table that it references, to drop the triggers there.
func (r *Reader) pgDropConstraint(name, table string, at sqlguard.Span) {
	other, key := r.references(name)
	if !key || r.fresh(table) {
		return
	}
	if other == table || other != "" && r.fresh(other) {
		return
	}
	if other == "" {
		other = "the table that " + name + " references"
	}
	if !r.limited {
		r.limited = true // one finding for a file
		r.add(CodeNoLockTimeout, at, table, "the statement waits for its locks on "+table+" and on "+other+", which nobody reads meanwhile, for as long as it takes, and every later query on them waits behind it", pgLimit)
	}
	r.lock(table, at, pgLimit)
	r.lock(other, at, pgLimit)
}

// references returns the table that a foreign key references, as the file says, or ""
// when only the name of the constraint says that it is one.
func (r *Reader) references(name string) (table string, key bool) {
	if r.keys == nil {
		r.keys = map[string]string{}
		for _, m := range foreignKey.FindAllStringSubmatch(r.options.Text, -1) {
			r.keys[lastPart(m[1])] = normalName(m[2])
		}
	}
	if table := r.keys[lastPart(name)]; table != "" {
		return table, true
	}
	return "", keyName.MatchString(name)
}

var (
	foreignKey = regexp.MustCompile(`(?is)\bconstraint\s+("[^"]+"|\w+)\s+(?:foreign\s+key\s*\([^()]*\)\s*)?references\s+((?:"[^"]+"|\w+)(?:\s*\.\s*(?:"[^"]+"|\w+))?)`)
	// keyName is how PostgreSQL, and tools, name a foreign key: t_a_fkey, fk_t_a, t_a_fk,
	// t_a_id_1a2b3c4d_fk_u_id, FK_1a2b3c4d, t_a_foreign.
	keyName = regexp.MustCompile(`(?i)(?:^|_)(?:fk(?:ey)?|foreign)(?:_|\d*$)|^fk[0-9a-z]{20,}$`)
)

// pgColumn judges ADD COLUMN.
func (r *Reader) pgColumn(c *cursor, table string, at sqlguard.Span) {
	column := c.name()
	if r.fresh(table) {
		return
	}
	kind := strings.ToLower(c.peek(0))
	serial := slices.Contains([]string{"serial", "bigserial", "smallserial", "serial2", "serial4", "serial8"}, kind)
	identity := c.has("as", "identity")
	stored := c.has("generated", "always", "as") && c.has("stored")
	withDefault := false
	look := *c
	if look.skipTo("default") {
		look.take("default")
		withDefault = true
		if call := volatileCall(&look); call != "" {
			r.add(CodeRewritesTable, at, table, "the default "+call+" differs for each row, so the server writes the whole table again and nobody reads or writes it meanwhile", "ADD COLUMN without the default, ALTER COLUMN … SET DEFAULT, and fill the old rows in batches")
		}
	}
	if serial || identity || stored {
		r.add(CodeRewritesTable, at, table, "the column "+column+" gets a value of its own in each row, so the server writes the whole table again and nobody reads or writes it meanwhile", "ADD COLUMN as a plain column, fill it in batches, and attach the sequence or the trigger")
	}
	if !withDefault && !serial && !identity && !stored && c.has("not", "null") || c.has("primary", "key") && !withDefault && !serial && !identity {
		r.add(CodeColumnRequired, at, column, "the statement fails when "+table+" has rows, because the column "+column+" has no value for them", "")
	}
	if c.has("references") {
		look := *c
		look.skipTo("references")
		look.take("references")
		other := look.name()
		r.add(CodeConstraintScans, at, table, "the foreign key is checked at once, and blocks writes to "+table+" and "+other+" meanwhile", "ADD COLUMN alone, then ADD CONSTRAINT … FOREIGN KEY … NOT VALID, and VALIDATE CONSTRAINT later")
		r.lock(table, at, pgLimit)
		r.lock(other, at, pgLimit)
	}
	if c.has("unique") || c.has("primary", "key") {
		r.add(CodeIndexBlocksWrites, at, table, "the column's constraint builds an index, and nobody reads or writes "+table+" meanwhile", "ADD COLUMN alone, CREATE UNIQUE INDEX CONCURRENTLY, and then ADD CONSTRAINT … USING INDEX")
	}
	if c.has("check") && !c.has("not", "valid") {
		r.add(CodeConstraintScans, at, table, "the server reads every row of "+table+" for the CHECK, and nobody reads or writes the table meanwhile", "ADD COLUMN alone, then ADD CONSTRAINT … CHECK (…) NOT VALID, and VALIDATE CONSTRAINT later")
	}
}

// steady are functions without side effects whose value is the same for all rows
// of a statement, so that a default of them is stored once. Every other call is
// taken for one that differs.
var steady = []string{
	"now", "current_timestamp", "current_date", "current_time", "localtime", "localtimestamp", "transaction_timestamp", "statement_timestamp",
	"current_user", "session_user", "user", "current_role", "current_setting", "current_schema", "to_timestamp", "to_date", "to_char", "make_interval", "make_date", "make_timestamp",
	"timezone", "date_trunc", "coalesce", "nullif", "greatest", "least", "lower", "upper", "concat", "array", "row", "md5", "jsonb_build_object",
	"json_build_object", "jsonb_build_array", "json_build_array", "to_jsonb", "to_json", "interval", "cast", "extract", "round", "floor", "ceil", "abs", "length",
	"json_object", "json_array", "curdate", "utc_timestamp", "unix_timestamp", "date_add", "concat_ws", "if",
	"decode", "encode", "numeric", "decimal", "varchar", "character", "char", "bit", "timestamp", "timestamptz", "time", "float",
}

// volatileCall returns the first call in a default that may give each row another
// value, or "".
func volatileCall(c *cursor) string {
	for c.at < len(c.tokens) {
		t := c.tokens[c.at]
		if c.is("not", "null") || c.is("constraint") || c.is("references") || c.is("check") || c.is("unique") || c.is("primary", "key") || c.is("collate") || c.is("generated") {
			return ""
		}
		if (t.Kind == sqlguard.TokenWord || t.Kind == sqlguard.TokenQuotedName) && c.peek(1) == "(" {
			if name := strings.ToLower(unquoteName(t.Text(c.sql))); !slices.Contains(steady, name) {
				return name + "()"
			}
		}
		c.at++
	}
	return ""
}

func unquoteName(text string) string {
	if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "`") || strings.HasPrefix(text, "[") {
		return unquote(text)
	}
	return text
}

// pgAlterColumn judges ALTER COLUMN.
func (r *Reader) pgAlterColumn(c *cursor, table string, at sqlguard.Span) bool {
	column := c.name()
	fresh := r.fresh(table)
	switch {
	case c.take("type"), c.take("set", "data", "type"):
		if fresh {
			return true
		}
		to := words(c, 1)
		r.add(CodeRewritesTable, at, table, "the new type of "+column+" can make the server write the whole table and its indexes again, and nobody reads or writes it meanwhile; it does not when every old value is stored in the same way, as from varchar(10) to varchar(20) or to text ("+to+")",
			"add a column of the new type, fill it in batches, and switch over; or permit this one when the old type is stored in the same way")
	case c.take("set", "not", "null"):
		if !fresh && !r.checked[table+"."+column] {
			r.add(CodeNotNullScans, at, table, "the server reads every row of "+table+" before it accepts NOT NULL on "+column+", and nobody reads or writes the table meanwhile", "ADD CONSTRAINT … CHECK ("+column+" IS NOT NULL) NOT VALID, VALIDATE CONSTRAINT, and then SET NOT NULL, which then reads nothing")
		}
	case c.take("add", "generated"):
	case c.take("set", "expression"):
		r.rewrites(at, table, "the value of "+column+" is computed anew for each row, so the server writes the whole table again", "")
	case c.take("set", "default"), c.take("drop"), c.take("set", "generated"), c.take("restart"):
	case c.take("set", "statistics"), c.take("set"), c.take("reset"):
		return false
	default:
		r.notJudged(at, "ALTER COLUMN … "+words(c, 2))
	}
	return true
}
