package migration

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// The rules for MySQL and MariaDB. Sources: the MySQL manual, "Online DDL
// Operations" (17.12.1), and MariaDB's "InnoDB Online DDL Operations".

const myLimit = "SET SESSION lock_wait_timeout = 5; and run the migration again when it is reached"

func (r *Reader) mysql(c *cursor) {
	start := c.here()
	switch {
	case c.take("set"):
		c.takeAny("session", "local")
		if c.is("lock_wait_timeout") || strings.EqualFold(strings.TrimPrefix(strings.ToLower(c.peek(0)), "@@"), "lock_wait_timeout") || strings.Contains(strings.ToLower(r.sql), "lock_wait_timeout") {
			r.limited = true
		}
	case c.is("update"), c.is("delete"):
		r.changesRows(c, start)
	case c.take("create"):
		r.implicitCommit(start, c)
		r.myCreate(c, start)
	case c.take("drop"):
		r.implicitCommit(start, c)
		r.myDrop(c, start)
	case c.take("alter"):
		r.implicitCommit(start, c)
		c.takeAny("online")
		c.takeAny("ignore")
		if c.take("table") {
			r.myAlter(c, start)
		}
	case c.take("rename"):
		r.implicitCommit(start, c)
		if !c.take("table") && !c.take("tables") {
			return
		}
		for _, p := range c.parts() {
			ifExists(p)
			name := p.name()
			if !r.fresh(name) {
				r.gone(start, name, "programs that still use the old name of "+name+" fail from now on", "keep the old name as a view")
				r.lock(name, start, myLimit)
			}
		}
	case c.take("truncate"):
		r.implicitCommit(start, c)
		c.take("table")
		if name := c.name(); !r.fresh(name) {
			r.add(CodeDataLoss, start, name, "TRUNCATE removes every row of "+name+", and nothing rolls it back", "")
			r.lock(name, start, myLimit)
		}
	case c.take("optimize"):
		c.takeAny("local", "no_write_to_binlog")
		c.take("table")
		r.add(CodeRewritesTable, start, c.name(), "OPTIMIZE writes the whole table again", "do it while the table is quiet")
	case c.take("lock"):
		c.takeAny("tables", "table")
		r.lock(c.name(), start, myLimit)
	case c.take("prepare"):
		if c.name(); c.take("from") {
			r.executed(c)
		}
	case c.take("execute", "immediate"): // MariaDB
		r.executed(c)
	case c.take("begin", "not", "atomic"): // MariaDB
		r.add(CodeNotJudged, start, "", "the profile does not read blocks of MariaDB", "write the statements without the block")
	}
}

// implicitCommit reports DDL inside of a transaction: MySQL ends it.
func (r *Reader) implicitCommit(at sqlguard.Span, c *cursor) {
	if r.open && !r.options.Transaction && !c.is("temporary") {
		r.add(CodeInTransaction, at, "", "the server commits the open transaction before this statement, so it cannot be rolled back", "run DDL outside of transactions, one change in a migration")
		r.open = false
	}
}

func (r *Reader) myCreate(c *cursor, start sqlguard.Span) {
	c.take("or", "replace")
	kind := c.takeAny("unique", "fulltext", "spatial")
	c.take("temporary")
	switch {
	case c.take("index"):
		ifExists(c)
		if !c.is("on") {
			c.name()
		}
		c.skipTo("on")
		c.take("on")
		name := c.name()
		if r.fresh(name) {
			return
		}
		if kind == "fulltext" || kind == "spatial" {
			r.add(CodeIndexBlocksWrites, start, name, name+" takes no writes while a "+strings.ToUpper(kind)+" index is built", "build it on a copy of the table, and switch over")
		}
		r.online(c, start, name, "the index", "ALGORITHM=INPLACE LOCK=NONE")
		r.lock(name, start, myLimit)
	case c.take("table"):
		ifExists(c)
		r.create(c.name())
	case c.is("trigger"):
		if c.skipTo("on") && c.take("on") {
			r.lock(c.name(), start, myLimit)
		}
	}
}

func (r *Reader) myDrop(c *cursor, start sqlguard.Span) {
	switch {
	case c.take("temporary", "table"):
	case c.take("table"), c.take("tables"):
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
			r.lock(name, start, myLimit)
		}
	case c.take("index"):
		ifExists(c)
		c.name()
		c.take("on")
		name := c.name()
		if !r.fresh(name) {
			r.online(c, start, name, "the drop of the index", "ALGORITHM=INPLACE LOCK=NONE")
			r.lock(name, start, myLimit)
		}
	case c.take("view"), c.take("procedure"), c.take("function"), c.take("sequence"), c.take("user"), c.take("role"):
		ifExists(c)
		r.goneAll(c, start)
	case c.take("database"), c.take("schema"):
		ifExists(c)
		r.add(CodeDataLoss, start, c.name(), "it drops every table with its rows", "")
	}
}

// online reports a change without a demand for how it is done, or with a demand
// that blocks writes.
func (r *Reader) online(c *cursor, at sqlguard.Span, table, what, wanted string) {
	switch d := myDemand(c); {
	case d.blocks:
		r.add(CodeBlocksWrites, at, table, "the statement asks for a lock that keeps "+table+" closed for writes while "+what+" is made", wanted+", so that the server refuses what it cannot do meanwhile")
	case !d.online:
		r.add(CodeNotOnline, at, table, "nothing says how "+what+" is to be made, so the server blocks writes when it cannot do it online", wanted)
	}
}

// demand is what ALGORITHM and LOCK of a statement ask for. DEFAULT asks for
// nothing.
type demand struct {
	blocks bool // the server is to keep writers away
	online bool // the server refuses what would keep them away
}

// myDemand reads the options of the statement of c.
func myDemand(c *cursor) (d demand) {
	look := &cursor{sql: c.sql, tokens: c.tokens}
	for ; !look.end(); look.skip() {
		value := *look
		option := value.takeAny("algorithm", "lock")
		if option == "" {
			continue
		}
		if value.peek(0) == "=" {
			value.at++
		}
		switch value.takeAny("copy", "shared", "exclusive", "instant", "nocopy", "inplace", "none") {
		case "copy", "shared", "exclusive":
			d.blocks = true
		case "instant", "nocopy", "inplace", "none":
			d.online = true
		}
	}
	return d
}

// The ways in which InnoDB makes a change, from the fastest on.
const (
	instant = iota // metadata only
	inplace        // meanwhile reads and writes go on
	shared         // meanwhile nobody writes
	copying        // a new table is filled, and nobody writes
)

func (r *Reader) myAlter(c *cursor, start sqlguard.Span) {
	ifExists(c)
	name := c.name()
	if c.take("wait") || c.take("nowait") { // MariaDB
		r.limited = true
		if c.tokens[c.at-1].Kind == sqlguard.TokenWord && !c.end() && c.tokens[c.at].Kind == sqlguard.TokenNumber {
			c.at++
		}
	}
	if r.fresh(name) {
		return
	}
	r.asked = myDemand(c)
	worst := instant
	for _, action := range c.parts() {
		if len(action.tokens) == 0 || action.is("algorithm") || action.is("lock") {
			continue
		}
		worst = max(worst, r.myAction(action, name))
	}
	switch {
	case r.asked.blocks:
		if worst < shared {
			r.add(CodeBlocksWrites, start, name, "the statement asks for a lock that keeps "+name+" closed for writes", "ALGORITHM=INPLACE, LOCK=NONE")
		}
	case worst < shared && !r.asked.online:
		wanted := "ALGORITHM=INSTANT"
		if worst == inplace {
			wanted = "ALGORITHM=INPLACE, LOCK=NONE"
		}
		r.add(CodeNotOnline, start, name, "nothing says how the change is to be made, so the server copies the table and blocks writes when it cannot do it online", "add "+wanted+", so that the server refuses instead")
	}
	r.lock(name, start, myLimit)
}

// myAction judges one action of ALTER TABLE, and returns how InnoDB makes it.
func (r *Reader) myAction(c *cursor, table string) int {
	at := c.span()
	switch {
	case c.take("add"):
		return r.myAdd(c, table, at)
	case c.take("drop"):
		switch {
		case c.take("primary", "key"):
			if !strings.Contains(strings.ToLower(r.sql), "add primary key") {
				r.add(CodeRewritesTable, at, table, "without a primary key the server copies the whole table, and nobody writes to it meanwhile", "add the new primary key in the same statement")
				return copying
			}
			return inplace
		case c.take("foreign", "key"), c.take("index"), c.take("key"), c.take("constraint"), c.take("check"), c.take("partition"):
			if strings.EqualFold(c.tokens[1].Text(c.sql), "partition") {
				r.add(CodeDataLoss, at, table, "the rows of the partition are gone", "")
			}
			return inplace
		}
		c.take("column")
		ifExists(c)
		column := c.name()
		r.gone(at, column, "programs that still name the column "+column+" of "+table+" fail from now on", "first release programs that do not name the column; drop it in a later migration")
		return inplace
	case c.take("modify"), c.take("change"):
		changed := strings.EqualFold(c.tokens[0].Text(c.sql), "change")
		c.take("column")
		ifExists(c)
		old := c.name()
		if changed {
			if name := c.name(); !strings.EqualFold(name, old) {
				r.gone(at, old, "programs that still use the old name of the column "+old+" of "+table+" fail from now on", "add a column with the new name, fill both, and drop the old one when nothing uses it")
			}
		}
		if r.asked.online {
			return inplace
		}
		r.add(CodeRewritesTable, at, table, "when the type of "+old+" changes, the server copies the whole table and nobody writes to it meanwhile",
			"add ALGORITHM=INPLACE, LOCK=NONE (or INSTANT): the server then refuses when the type does change")
		return copying
	case c.take("rename"):
		if c.take("column") {
			old := c.name()
			r.gone(at, old, "programs that still use the old name of the column "+old+" of "+table+" fail from now on", "add a column with the new name, fill both, and drop the old one when nothing uses it")
		} else if !c.is("index") && !c.is("key") {
			r.gone(at, table, "programs that still use the old name of "+table+" fail from now on", "keep the old name as a view")
		}
		return instant
	case c.take("convert", "to"):
		r.add(CodeRewritesTable, at, table, "another character set makes the server copy the whole table, and nobody writes to it meanwhile", "copy in the background with a tool such as gh-ost or pt-online-schema-change")
		return copying
	case c.is("engine"), c.is("force"), c.is("row_format"), c.is("key_block_size"):
		if !r.asked.online {
			r.add(CodeRewritesTable, at, table, "the whole table is written again", "add ALGORITHM=INPLACE, LOCK=NONE: the server then refuses when it would have to block writes")
		}
		return inplace
	case c.is("partition"), c.is("remove", "partitioning"), c.is("coalesce", "partition"), c.is("reorganize", "partition"), c.is("rebuild", "partition"), c.is("exchange", "partition"):
		r.add(CodeRewritesTable, at, table, "rows are copied between partitions, and nobody writes to them meanwhile", "copy in the background with a tool such as gh-ost or pt-online-schema-change")
		return copying
	case c.is("truncate", "partition"), c.is("discard", "tablespace"):
		r.add(CodeDataLoss, at, table, "the rows are gone, and nothing rolls it back", "")
		return inplace
	case c.is("order", "by"):
		r.add(CodeRewritesTable, at, table, "the whole table is copied, and nobody writes to it meanwhile", "order the rows when you read them")
		return copying
	case c.take("alter"):
		if (c.is("check") || c.is("constraint")) && c.has("enforced") && !c.has("not", "enforced") {
			r.add(CodeConstraintScans, at, table, "the server copies "+table+" to check every row, and nobody writes to it meanwhile", "enforce the constraint while nobody writes")
			return copying
		}
		return instant // defaults, visibility of indexes
	case c.is("comment"), c.is("auto_increment"), c.is("default"), c.is("character"), c.is("collate"), c.is("stats_persistent"), c.is("stats_auto_recalc"),
		c.is("disable"), c.is("enable"), c.is("with"), c.is("without"), c.is("charset"), c.is("import"), c.is("analyze"), c.is("check"), c.is("max_rows"):
		return instant
	}
	r.notJudged(at, "ALTER TABLE … "+words(c, 2))
	return inplace
}

func (r *Reader) myAdd(c *cursor, table string, at sqlguard.Span) int {
	symbol := c.take("constraint")
	if symbol && !c.is("foreign", "key") && !c.is("check") && !c.is("unique") && !c.is("primary", "key") {
		c.name()
	}
	switch {
	case c.take("fulltext"), c.take("spatial"):
		r.add(CodeIndexBlocksWrites, at, table, table+" takes no writes while a full-text or spatial index is built", "build it on a copy of the table, and switch over")
		return shared
	case c.take("foreign", "key"):
		look := *c
		other := ""
		if look.skipTo("references") && look.take("references") {
			other = look.name()
		}
		r.lock(table, at, myLimit)
		r.lock(other, at, myLimit)
		if r.asked.online {
			return inplace // which the server refuses as long as it checks foreign keys
		}
		r.add(CodeConstraintScans, at, table, "the server copies "+table+" to check the foreign key, and nobody writes to it meanwhile", "SET SESSION foreign_key_checks = 0 for this statement, which then checks no old rows, with ALGORITHM=INPLACE, LOCK=NONE; look for rows without a partner yourself")
		return copying
	case c.take("check"):
		if c.has("not", "enforced") {
			return inplace
		}
		r.add(CodeConstraintScans, at, table, "the server copies "+table+" to check every row, and nobody writes to it meanwhile", "ADD CONSTRAINT … CHECK (…) NOT ENFORCED (MySQL), and enforce it while nobody writes")
		return copying
	case c.take("primary", "key"):
		r.add(CodeRewritesTable, at, table, "a new primary key writes the whole table again", "make a new table with the key, and copy the rows in batches")
		return inplace
	case c.take("unique"), c.take("index"), c.take("key"):
		return inplace
	case c.take("partition"):
		return inplace
	case c.is("period"), c.is("system"):
		r.notJudged(at, "ADD "+words(c, 2))
		return inplace
	}
	c.take("column")
	ifExists(c)
	if inner := c.bracket(); inner != nil {
		c = inner
	}
	column := c.name()
	if c.has("auto_increment") {
		r.add(CodeBlocksWrites, at, table, "nobody writes to "+table+" while a column with AUTO_INCREMENT is added", "make a new table with the column, and copy the rows in batches")
		return shared
	}
	if c.has("stored") || c.has("persistent") {
		r.add(CodeRewritesTable, at, table, "the value of "+column+" is computed for each row, so the server copies the table and nobody writes to it meanwhile", "a VIRTUAL column, or a plain one that is filled in batches")
		return copying
	}
	if look := *c; look.skipTo("default") && look.take("default") {
		if inner := look.bracket(); inner != nil {
			look = *inner
		}
		if call := volatileCall(&look); call != "" {
			r.add(CodeRewritesTable, at, table, "the default "+call+" differs for each row, so the server copies the table and nobody writes to it meanwhile", "add the column without the default, set the default with ALTER COLUMN, and fill the old rows in batches")
			return copying
		}
	}
	if c.has("not", "null") && !c.has("default") && !c.has("as") {
		r.add(CodeColumnRequired, at, column, "programs that do not know the column "+column+" can no longer insert into "+table+" in strict mode, and the old rows get a value that nobody chose (0, '' or a zero date)", "")
	}
	if c.has("references") {
		r.add(CodeNotJudged, at, column, "the server ignores REFERENCES behind a column, or (MariaDB) checks it at once", "write ADD FOREIGN KEY")
	}
	return instant
}
