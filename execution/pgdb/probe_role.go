package pgdb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
)

// everyRole is the name for all roles in a right.
const everyRole = "PUBLIC"

// right is one row of grantsSQL: a right on objects of one kind. via is the
// role through which the session has the right, or "" when the role has it
// itself.
type right struct {
	kind, privilege, via string
	count                int
	names                string // names of the first three objects
}

// function is a function that runs with rights other than its caller's.
type function struct {
	reason string // definer, or a language
	name   string // with its arguments, quoted
	owner  string
	super  bool // the owner is a superuser
	public bool // everybody may call it
}

// rights reports what the role may do beyond reading. It reads access lists
// instead of asking for the privileges on each table, so that the cost depends
// on the number of grants, not on roles times tables.
func (p *prober) rights(ctx context.Context) error {
	if p.facts[factSuper] == "t" {
		p.report.Warn(execution.TopicRole, "use a role with SELECT only, see ktx doctor --role-script",
			"the role is a superuser: no privilege of the server stands behind the read-only session, and its functions reach files and programs")
		return nil
	}
	for _, step := range []func(context.Context) error{p.attributes, p.predefined, p.grants, p.owned, p.defaults, p.callable, p.systemFunctions} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkRole fails when the role of a new connection can do more than read.
func (c *conn) checkRole(ctx context.Context) error {
	if err := c.pg.Conn().SetDeadline(time.Now().Add(c.dialer.conf.ConnectTimeout)); err != nil {
		return connectError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.Sever)
	row, err := c.question(checkRoleSQL)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil && len(row) != 1 {
		err = fmt.Errorf("%w: %d values for 1", errFrame, len(row))
	}
	if err != nil {
		return connectError(ctx, err)
	}
	if err := execution.CheckedRole(row[0]); err != nil {
		return err
	}
	return c.pg.Conn().SetDeadline(time.Time{})
}

// me is the role that logged in, quoted.
func (p *prober) me() string { return quoteName(p.facts[factSession]) }

// through says through which role a right is held.
func through(via string) string {
	switch via {
	case "":
		return ""
	case everyRole:
		return " (as every role)"
	default:
		return " (through the role " + quoteName(via) + ")"
	}
}

// revoke returns the statement that takes a right from the role that gives it.
func (p *prober) revoke(what, via string) string {
	switch via {
	case "":
		return "REVOKE " + what + " FROM " + p.me()
	case everyRole:
		return "REVOKE " + what + " FROM PUBLIC, which takes it from every role that has no grant of its own"
	default:
		return "REVOKE " + what + " FROM " + quoteName(via) + ", or REVOKE " + quoteName(via) + " FROM " + p.me()
	}
}

func (p *prober) attributes(ctx context.Context) error {
	rows, err := p.ask(ctx, "the role's attributes", attributesSQL)
	if err != nil {
		return err
	}
	attributes := []struct{ what, undo string }{
		{"is a superuser", "NOSUPERUSER"},
		{"may create roles", "NOCREATEROLE"},
		{"may create databases", "NOCREATEDB"},
		{"may replicate the server", "NOREPLICATION"},
		{"bypasses row security", "NOBYPASSRLS"},
	}
	for _, row := range rows {
		for i, a := range attributes {
			switch via := row[0]; {
			case row[i+1] != "t":
			case via == "":
				p.report.Warn(execution.TopicRole, "ALTER ROLE "+p.me()+" "+a.undo, "the role %s", a.what)
			default:
				p.report.Warn(execution.TopicRole, "REVOKE "+quoteName(via)+" FROM "+p.me(), "the role may become %s, which %s", quoteName(via), a.what)
			}
		}
	}
	return nil
}

// powerfulRoles are the predefined roles (manual, section 22.5) and what each
// permits beyond reading the data of tables.
var powerfulRoles = map[string]string{
	"pg_read_server_files":        "reads files of the server",
	"pg_write_server_files":       "writes files of the server",
	"pg_execute_server_program":   "runs programs on the server",
	"pg_read_all_data":            "reads every table, the one with the hashes of passwords included",
	"pg_write_all_data":           "writes every table",
	"pg_signal_backend":           "ends other sessions",
	"pg_signal_autovacuum_worker": "ends maintenance of tables",
	"pg_monitor":                  "reads the statements of other sessions and the server's settings, and lists files of the server",
	"pg_read_all_settings":        "reads every setting of the server",
	"pg_read_all_stats":           "reads the statements of other sessions",
	"pg_stat_scan_tables":         "locks tables to scan them",
	"pg_checkpoint":               "makes the server write to disk",
	"pg_maintain":                 "rewrites and locks tables",
	"pg_create_subscription":      "makes the server connect to others",
	"pg_use_reserved_connections": "takes connections that are kept for administration",
	"pg_database_owner":           "has the rights of the database's owner",
}

func (p *prober) predefined(ctx context.Context) error {
	rows, err := p.ask(ctx, "the role's memberships", predefinedSQL)
	for _, row := range rows {
		what := cmp.Or(powerfulRoles[row[0]], "may do what this program does not know")
		p.report.Warn(execution.TopicRole, p.revoke(row[0], row[1]), "the role is a member of %s%s: it %s", row[0], through(row[1]), what)
	}
	return err
}

// deeds say what a right on objects of one kind permits.
var deeds = map[string]string{
	"TABLE INSERT":               "insert into tables",
	"TABLE UPDATE":               "update tables",
	"TABLE DELETE":               "delete from tables",
	"TABLE TRUNCATE":             "truncate tables",
	"TABLE REFERENCES":           "make foreign keys to tables",
	"TABLE TRIGGER":              "make triggers on tables",
	"TABLE MAINTAIN":             "rewrite and lock tables",
	"TABLE GRANT OPTION":         "pass on rights on tables",
	"COLUMN INSERT":              "insert into columns",
	"COLUMN UPDATE":              "update columns",
	"COLUMN REFERENCES":          "make foreign keys to columns",
	"COLUMN GRANT OPTION":        "pass on rights on columns",
	"SEQUENCE USAGE":             "advance sequences",
	"SEQUENCE UPDATE":            "set sequences",
	"SEQUENCE GRANT OPTION":      "pass on rights on sequences",
	"SCHEMA CREATE":              "create objects in schemas",
	"SCHEMA GRANT OPTION":        "pass on rights on schemas",
	"DATABASE CREATE":            "create schemas in the database",
	"DATABASE TEMPORARY":         "create temporary tables",
	"DATABASE GRANT OPTION":      "pass on rights on the database",
	"TABLESPACE CREATE":          "create tables in tablespaces",
	"FOREIGN SERVER USAGE":       "connect the database to foreign servers",
	"FOREIGN DATA WRAPPER USAGE": "make foreign servers",
	"LARGE OBJECT UPDATE":        "write large objects",
	"PARAMETER SET":              "change settings that are kept for superusers",
	"PARAMETER ALTER SYSTEM":     "change the server's configuration",
	"SYSTEM TABLE SELECT":        "read the server's own tables with secrets",
}

func (g right) deed() string {
	if text, ok := deeds[g.kind+" "+g.privilege]; ok {
		return text
	}
	return fmt.Sprintf("do %s on objects of the kind %s", g.privilege, strings.ToLower(g.kind))
}

// objects says on how many objects the role has the right, and on which.
func (g right) objects() string { return some(g.count, g.names) }

func some(count int, names string) string {
	if count > 3 {
		return fmt.Sprintf("%d, such as %s", count, names)
	}
	return fmt.Sprintf("%d (%s)", count, names)
}

// target returns what a REVOKE of the right names.
func (g right) target() string {
	kind := strings.TrimPrefix(g.kind, "SYSTEM ")
	text := g.privilege + " ON " + kind + " " + g.names
	switch {
	case g.privilege == "GRANT OPTION" && g.kind != "COLUMN":
		text = "GRANT OPTION FOR ALL PRIVILEGES ON " + kind + " " + g.names
	case g.kind == "COLUMN":
		text = g.privilege + " (column) ON the tables"
	}
	if g.count > 3 {
		text += ", …"
	}
	return text
}

func (p *prober) grants(ctx context.Context) error {
	rows, err := p.ask(ctx, "what was granted", grantsSQL)
	if err != nil {
		return err
	}
	if number, _ := strconv.Atoi(p.facts[factNumber]); number >= 150000 {
		parameters, err := p.ask(ctx, "which settings may be changed", parametersSQL)
		if err != nil {
			return err
		}
		rows = append(rows, parameters...)
	}
	for _, row := range rows {
		g := newRight(row)
		level := execution.ProbeWarning
		if g.kind == "DATABASE" && g.privilege == "TEMPORARY" && g.via == everyRole {
			// Every role has this right on every new database, and a read-only
			// transaction creates no temporary table.
			level = execution.ProbeNote
		}
		p.report.Add(level, execution.TopicRole, p.revoke(g.target(), g.via), "the role may %s%s: %s", g.deed(), through(g.via), g.objects())
	}
	return nil
}

func newRight(row []string) right {
	count, _ := strconv.Atoi(row[3]) // the server counted it, so it is a number
	return right{kind: row[0], privilege: row[1], via: row[2], count: count, names: row[4]}
}

func (p *prober) owned(ctx context.Context) error {
	rows, err := p.ask(ctx, "what the role owns", ownedSQL)
	for _, row := range rows {
		count, _ := strconv.Atoi(row[1])
		owner := cmp.Or(row[0], p.facts[factSession])
		p.report.Warn(execution.TopicRole, "as the database's owner: REASSIGN OWNED BY "+quoteName(owner)+" TO another role",
			"the role may alter or drop what it owns%s: %s", through(row[0]), some(count, row[2]))
	}
	return err
}

// classes are the kinds of objects in pg_default_acl.
var classes = map[string]string{"r": "TABLES", "S": "SEQUENCES", "f": "FUNCTIONS", "T": "TYPES", "n": "SCHEMAS", "L": "LARGE OBJECTS"}

func (p *prober) defaults(ctx context.Context) error {
	rows, err := p.ask(ctx, "default privileges", defaultsSQL)
	for _, row := range rows {
		class, privilege, via, maker, schema := cmp.Or(classes[row[0]], "OBJECTS"), row[1], row[2], row[3], row[4]
		in := ""
		if schema != "" {
			in = " IN SCHEMA " + schema
		}
		p.report.Warn(execution.TopicRole,
			fmt.Sprintf("ALTER DEFAULT PRIVILEGES FOR ROLE %s%s REVOKE %s ON %s FROM %s", maker, in, privilege, class, p.holder(via)),
			"the role will have %s on %s that the role %s makes%s%s", privilege, strings.ToLower(class), maker, strings.ToLower(strings.TrimSuffix(in, schema))+schema, through(via))
	}
	return err
}

func (p *prober) holder(via string) string {
	switch via {
	case "":
		return p.me()
	case everyRole:
		return everyRole
	default:
		return quoteName(via)
	}
}

// maxListed bounds how many functions one finding names.
const maxListed = 10

// callable reports functions that run with rights other than the role's.
func (p *prober) callable(ctx context.Context) error {
	rows, err := p.ask(ctx, "which functions run with the rights of others", functionsSQL)
	functions := make([]function, len(rows))
	for i, row := range rows {
		functions[i] = newFunction(row)
	}
	for _, group := range []struct {
		of   func(function) bool
		what string
	}{
		{func(f function) bool { return f.reason == "definer" && f.super }, "run with the rights of a superuser (SECURITY DEFINER)"},
		{func(f function) bool { return f.reason == "definer" && !f.super }, "run with the rights of their owners (SECURITY DEFINER)"},
		{func(f function) bool { return f.reason != "definer" }, "are in languages that reach files and programs of the server"},
	} {
		var names []string
		everybody := false
		for _, f := range functions {
			if group.of(f) {
				names, everybody = append(names, f.name), everybody || f.public
			}
		}
		if len(names) == 0 {
			continue
		}
		fix := "REVOKE EXECUTE ON FUNCTION " + names[0] + " FROM " + p.me()
		if everybody {
			fix = "REVOKE EXECUTE ON FUNCTION … FROM PUBLIC, which new functions grant it to, and GRANT it to who needs it; ktx doctor --role-script lists them"
		}
		list := strings.Join(names[:min(len(names), maxListed)], ", ")
		if len(names) > maxListed {
			list += fmt.Sprintf(" and %d more", len(names)-maxListed)
		}
		p.report.Warn(execution.TopicRole, fix, "the role may call functions that %s: %s", group.what, list)
	}
	return err
}

func newFunction(row []string) function {
	return function{reason: row[0], name: row[1], owner: row[2], super: row[3] == "t", public: row[4] == "t"}
}

func (p *prober) systemFunctions(ctx context.Context) error {
	rows, err := p.ask(ctx, "which functions of the server were granted", systemFunctionsSQL)
	for _, row := range rows {
		count, _ := strconv.Atoi(row[1])
		p.report.Warn(execution.TopicRole, p.revoke("EXECUTE ON FUNCTION "+row[2], row[0]),
			"the role may call functions of the server that not every role may%s: %s", through(row[0]), some(count, row[2]))
	}
	return err
}

// reaching are extensions whose functions have effects outside of the
// transaction.
var reaching = map[string]string{
	"dblink":                "runs SQL in sessions of its own, which are not read-only",
	"http":                  "sends requests to other machines",
	"pgsql_http":            "sends requests to other machines",
	"pg_curl":               "sends requests to other machines",
	"pg_net":                "sends requests to other machines",
	"pg_background":         "runs SQL in sessions of its own, which are not read-only",
	"pg_cron":               "runs SQL later, in sessions of its own",
	"pgagent":               "runs SQL later, in sessions of its own",
	"pg_task":               "runs SQL later, in sessions of its own",
	"adminpack":             "writes files of the server",
	"orafce":                "reads and writes files of the server, and sends messages",
	"plsh":                  "runs programs on the server",
	"aws_s3":                "copies tables from and to S3",
	"aws_lambda":            "calls functions at AWS",
	"aws_commons":           "holds the settings of aws_s3 and aws_lambda",
	"azure_storage":         "copies tables from and to Azure",
	"aws_ml":                "sends requests to other machines",
	"alloydb_ai_nl":         "sends requests to other machines",
	"citus":                 "runs SQL on the nodes of the cluster, in sessions of its own",
	"google_ml_integration": "sends requests to other machines",
}

// surroundings reports what is installed in addition to the tables, and which
// schemas the role can read.
func (p *prober) surroundings(ctx context.Context) error {
	rows, err := p.ask(ctx, "which extensions are installed", extensionsSQL)
	if err != nil {
		return err
	}
	for _, row := range rows {
		what, known := reaching[row[0]]
		switch {
		case !known:
		case row[1] != "0" && p.facts[factSuper] != "t":
			p.report.Warn(execution.TopicRole, "REVOKE EXECUTE ON its functions FROM PUBLIC and from the role, or DROP EXTENSION "+row[0],
				"the role may call %s functions of the extension %s, which %s", row[1], row[0], what)
		default:
			p.report.Note(execution.TopicServer, "", "the extension %s is installed, which %s", row[0], what)
		}
	}
	if rows, err = p.ask(ctx, "what lies outside of the database", outsideSQL); err != nil {
		return err
	}
	for _, row := range rows {
		count, _ := strconv.Atoi(row[1])
		switch {
		case count == 0:
		case row[0] == "languages":
			p.report.Note(execution.TopicServer, "", "languages are installed in which a superuser may write functions that reach files and programs: %s", some(count, row[2]))
		default:
			p.report.Note(execution.TopicServer, "", "reading foreign tables runs statements on other servers: %s", some(count, row[2]))
		}
	}
	return p.readable(ctx)
}

// schema is a schema that the connection reads.
type schema struct {
	name   string
	makers []string // roles that own tables in it, quoted
	tables int
	read   int // tables that the role can read
	usable bool
}

func (p *prober) readable(ctx context.Context) error {
	rows, err := p.ask(ctx, "which tables can be read", schemasSQL, arrayLiteral(p.db.path))
	if err != nil {
		return err
	}
	for _, row := range rows {
		if n := len(p.schemas); n == 0 || p.schemas[n-1].name != row[0] {
			p.schemas = append(p.schemas, schema{name: row[0], usable: row[4] == "t"})
		}
		s := &p.schemas[len(p.schemas)-1]
		if row[1] != "" {
			s.makers = append(s.makers, row[1])
		}
		tables, _ := strconv.Atoi(row[2])
		read, _ := strconv.Atoi(row[3])
		s.tables, s.read = s.tables+tables, s.read+read
	}
	for _, name := range p.db.path {
		if !slices.ContainsFunc(p.schemas, func(s schema) bool { return s.name == name }) {
			p.report.Warn(execution.TopicServer, "mend schemas in ktx.yaml", "the schema %s of the connection does not exist", quoteName(name))
		}
	}
	tables, read := 0, 0
	for _, s := range p.schemas {
		tables += s.tables
		if !s.usable {
			level := execution.ProbeNote
			if len(p.db.path) > 0 {
				level = execution.ProbeWarning
			}
			p.report.Add(level, execution.TopicServer, "GRANT USAGE ON SCHEMA "+quoteName(s.name)+" TO "+p.me(), "the role may not use the schema %s", quoteName(s.name))
			continue
		}
		read += s.read
	}
	p.report.Note(execution.TopicRole, "", "the role can read %d of %d tables and views", read, tables)
	return nil
}
