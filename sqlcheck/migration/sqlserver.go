package migration

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The rules for SQL Server. Sources: "CREATE INDEX", "ALTER TABLE", "ALTER
// INDEX" and "Perform index operations online" of its documentation. They were
// not tried on the engine.

const msLimit = "SET LOCK_TIMEOUT 5000; and run the migration again when it is reached"

func (r *Reader) sqlserver(c *cursor) {
	start := c.here()
	switch {
	case c.take("set"):
		if c.is("lock_timeout") {
			r.limited = c.peek(1) != "-"
		}
	case c.is("update", "statistics"):
	case c.is("update"), c.is("delete"):
		look := *c
		if look.take(strings.ToLower(c.peek(0))); look.is("top") {
			return
		}
		r.changesRows(c, start)
	case c.take("create"):
		r.msCreate(c, start)
	case c.take("drop"):
		r.msDrop(c, start)
	case c.take("alter"):
		r.msAlter(c, start)
	case c.take("truncate", "table"):
		if name := c.name(); !r.fresh(name) {
			r.add(CodeDataLoss, start, name, "TRUNCATE removes every row of "+name, "")
			r.lock(name, start, msLimit)
		}
	case c.is("exec"), c.is("execute"), c.is("sp_rename"):
		c.takeAny("exec", "execute")
		if text := c.bracket(); text != nil { // EXEC ('…')
			r.executed(text)
			return
		}
		switch _, procedure := c.qualified(); strings.ToLower(procedure) {
		case "sp_executesql":
			if strings.HasPrefix(c.peek(0), "@") && c.peek(1) == "=" {
				c.at += 2
			}
			r.executed(c)
		case "sp_rename":
			for !c.end() && c.tokens[c.at].Kind != sqlguard.TokenString {
				c.at++
			}
			old := strings.Trim(strings.TrimPrefix(c.peek(0), "N"), "'")
			r.gone(start, old, "programs that still use the old name "+old+" fail from now on", "keep the old name as a view or a synonym")
		}
	}
}

// msObjects are what CREATE, ALTER and DROP are of. A column and a constraint are
// none: those belong to ALTER TABLE.
var msObjects = []string{
	"table", "index", "unique", "clustered", "nonclustered", "columnstore", "view", "procedure", "proc", "function", "trigger", "sequence", "schema", "type", "synonym",
	"user", "role", "statistics", "fulltext", "spatial", "primary", "xml",
}

// msStatements divides DDL where another statement begins: SQL Server needs no
// semicolon between two. What has a body is one.
func msStatements(c *cursor) (list []*cursor) {
	if !c.is("alter", "table") && !c.is("alter", "index") && !c.is("create") && !c.is("drop") && !c.is("truncate") {
		return []*cursor{c}
	}
	from := 0
	for look := *c; !look.end(); look.skip() {
		if look.at > from && look.starts() {
			list = append(list, &cursor{sql: c.sql, tokens: c.tokens[from:look.at]})
			from = look.at
		}
		if body := look; body.takeAny("create", "alter") != "" && body.at == from+1 {
			body.take("or", "alter")
			if body.takeAny("view", "procedure", "proc", "function", "trigger") != "" {
				break
			}
		}
	}
	return append(list, &cursor{sql: c.sql, tokens: c.tokens[from:]})
}

// starts reports whether a statement begins here that is no part of the DDL before.
func (c *cursor) starts() bool {
	if before := (&cursor{sql: c.sql, tokens: c.tokens[:c.at], at: c.at - 1}); before.is("on") || before.is("or") || before.is("for") {
		return false
	}
	look := *c
	switch look.takeAny("create", "alter", "drop", "truncate", "exec", "execute", "update", "insert", "delete") {
	case "create", "alter", "drop":
		switch look.takeAny(msObjects...) {
		case "":
			return false
		case "index": // not that of ALTER TABLE … DROP INDEX
			ifExists(&look)
			look.name()
			return look.is("on") || c.is("create")
		}
		return true
	case "truncate":
		return look.is("table")
	case "exec", "execute":
		return true
	case "update":
		look.name()
		return look.is("set") || c.is("update", "statistics")
	case "insert":
		return look.is("into")
	case "delete":
		return look.is("from")
	}
	return false
}

// msOnline reports whether the options of a statement say ONLINE = ON.
func (r *Reader) msOnline(c *cursor) bool {
	look := *c
	for !look.end() {
		if look.take("online") {
			if look.peek(0) == "=" {
				look.at++
			}
			return look.is("on")
		}
		look.at++
	}
	return false
}

func (r *Reader) msCreate(c *cursor, start sqlguard.Span) {
	c.take("or", "alter")
	c.take("unique")
	clustered := c.take("clustered")
	if !clustered {
		c.take("nonclustered")
	}
	columnstore := c.take("columnstore")
	kind := c.takeAny("fulltext", "spatial", "xml", "primary")
	c.take("xml")
	switch {
	case c.take("index"):
		if !c.is("on") {
			c.name()
		}
		c.skipTo("on")
		c.take("on")
		name := c.name()
		if r.fresh(name) || kind == "fulltext" {
			return
		}
		switch {
		case r.msOnline(c):
		case clustered || columnstore && clustered:
			r.add(CodeRewritesTable, start, name, "a clustered index writes the whole table again, and nobody reads or writes it meanwhile", "WITH (ONLINE = ON), which needs Enterprise Edition or Azure SQL")
		default:
			r.add(CodeIndexBlocksWrites, start, name, name+" takes no writes while the index is built", "WITH (ONLINE = ON), which needs Enterprise Edition or Azure SQL, with WAIT_AT_LOW_PRIORITY and RESUMABLE = ON for a large table")
		}
		r.lock(name, start, msLimit)
	case c.take("table"):
		r.create(c.name())
	case c.is("trigger"):
		if c.skipTo("on") && c.take("on") {
			r.lock(c.name(), start, msLimit)
		}
	}
}

func (r *Reader) msDrop(c *cursor, start sqlguard.Span) {
	switch {
	case c.take("table"):
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
			r.lock(name, start, msLimit)
		}
	case c.take("index"):
		ifExists(c)
		name, index := c.qualified() // the old form is DROP INDEX table.index
		if c.take("on") {
			name = c.name()
		}
		if !r.fresh(name) && name != "" {
			if !r.msOnline(c) {
				r.add(CodeIndexDropBlocks, start, name, "nobody reads or writes "+name+" while the index "+index+" is dropped; a clustered one writes the whole table again", "for a clustered index WITH (ONLINE = ON)")
			}
			r.lock(name, start, msLimit)
		}
	case c.take("view"), c.take("procedure"), c.take("proc"), c.take("function"), c.take("synonym"), c.take("type"), c.take("sequence"):
		ifExists(c)
		r.goneAll(c, start)
	case c.take("database"), c.take("schema"):
		ifExists(c)
		r.add(CodeDataLoss, start, c.name(), "it drops what it holds", "")
	}
}

func (r *Reader) msAlter(c *cursor, start sqlguard.Span) {
	switch {
	case c.take("index"):
		if !c.take("all") {
			c.name()
		}
		c.take("on")
		name := c.name()
		if c.take("rebuild") && !r.msOnline(c) && !r.fresh(name) {
			r.add(CodeIndexBlocksWrites, start, name, "nobody writes to "+name+" while its index is built again", "REBUILD WITH (ONLINE = ON), or REORGANIZE")
			r.lock(name, start, msLimit)
		}
	case c.take("table"):
		name := c.name()
		if r.fresh(name) {
			return
		}
		r.msTable(c, name, start)
		r.lock(name, start, msLimit)
	case c.take("database"):
		if !c.is("scoped") && !c.is("current") {
			c.name()
		}
	case c.is("schema"):
		if c.skipTo("transfer") {
			c.at++
			r.gone(start, c.name(), "programs that still look for it in the old schema fail from now on", "keep a synonym in the old schema")
		}
	}
}

func (r *Reader) msTable(c *cursor, table string, start sqlguard.Span) {
	checks := true
	if c.take("with", "nocheck") {
		checks = false
	} else {
		c.take("with", "check")
	}
	switch {
	case c.take("add"):
		for _, p := range c.parts() {
			r.msAdd(p, table, checks)
		}
	case c.take("alter", "column"):
		column := c.name()
		if c.is("add") || c.is("drop") {
			return
		}
		switch {
		case r.msOnline(c):
		case c.has("not", "null"):
			r.add(CodeNotNullScans, start, table, "the server reads every row of "+table+" for NOT NULL, or writes it again for the new type of "+column+", and nobody reads or writes the table meanwhile", "add a CHECK ("+column+" IS NOT NULL), and WITH (ONLINE = ON)")
		default:
			r.add(CodeRewritesTable, start, table, "the new type of "+column+" can make the server write every row again, and nobody reads or writes the table meanwhile", "WITH (ONLINE = ON), or a new column that is filled in batches")
		}
	case c.take("drop"):
		kind := ""
		for _, p := range c.parts() {
			if k := p.takeAny("column", "constraint"); k != "" {
				kind = k
			}
			ifExists(p)
			name := p.name()
			if kind == "column" {
				r.gone(start, name, "programs that still name the column "+name+" of "+table+" fail from now on", "first release programs that do not name the column; drop it in a later migration")
			}
		}
	case c.take("check", "constraint"):
		if !checks {
			return
		}
		r.add(CodeConstraintScans, start, table, "the server reads every row of "+table+" for the constraint, and nobody changes its schema meanwhile", "do it while the table is quiet: the server then trusts the constraint again")
	case c.take("rebuild"):
		if !r.msOnline(c) {
			r.add(CodeRewritesTable, start, table, "the whole table is written again, and nobody reads or writes it meanwhile", "REBUILD WITH (ONLINE = ON)")
		}
	case c.is("switch"), c.is("nocheck"), c.is("enable"), c.is("disable"), c.is("set"):
	default:
		r.notJudged(start, "ALTER TABLE … "+words(c, 2))
	}
}

func (r *Reader) msAdd(c *cursor, table string, checks bool) {
	at := c.span()
	if c.take("constraint") && !c.is("check") && !c.is("foreign", "key") && !c.is("primary", "key") && !c.is("unique") && !c.is("default") {
		c.name()
	}
	switch {
	case c.is("check"), c.is("foreign", "key"):
		if checks {
			r.add(CodeConstraintScans, at, table, "the server reads every row of "+table+" for the constraint, and nobody reads or writes the table meanwhile", "WITH NOCHECK ADD CONSTRAINT …, and WITH CHECK CHECK CONSTRAINT while the table is quiet")
		}
	case c.is("primary", "key"), c.is("unique"):
		if !r.msOnline(c) {
			r.add(CodeIndexBlocksWrites, at, table, "the constraint builds an index, and nobody writes to "+table+" meanwhile", "WITH (ONLINE = ON)")
		}
	case c.is("default"), c.is("period"), c.is("index"):
		if c.is("index") {
			r.add(CodeIndexBlocksWrites, at, table, table+" takes no writes while the index is built", "CREATE INDEX … WITH (ONLINE = ON)")
		}
	default:
		column := c.name()
		text := strings.ToLower(r.sql[at.Start:at.End])
		if c.has("not", "null") && !c.has("default") && !c.has("identity") && !c.has("as") {
			r.add(CodeColumnRequired, at, column, "the statement fails when "+table+" has rows, because the column "+column+" has no value for them", "")
		}
		if c.has("identity") || c.has("persisted") || c.has("default") && (strings.Contains(text, "newid(") || strings.Contains(text, "newsequentialid(") || strings.Contains(text, "next value for")) {
			r.add(CodeRewritesTable, at, table, "the column "+column+" gets a value of its own in each row, so the server writes every row again and nobody reads or writes the table meanwhile", "add the column with NULL, fill it in batches, and then require it")
		}
	}
}
