package clickhousedb

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/probe"
	"github.com/ktxhq/ktx/sqlguard"
)

// harmless are rights that permit no more than to read. CREATE TEMPORARY TABLE is what a
// server wants of who uses numbers() or values(); readonly=1 keeps tables from being made.
// Every other right is a finding, also the new rights of later versions.
var harmless = []string{
	"SELECT", "SHOW", "SHOW DATABASES", "SHOW TABLES", "SHOW COLUMNS", "SHOW DICTIONARIES", "CHECK", "dictGet", "CREATE TEMPORARY TABLE", "USAGE",
}

// reaching are rights whose use readonly=1 does not stop altogether: they reach files,
// other servers, secrets and the memory of the server.
var reaching = []string{
	"FILE", "URL", "REMOTE", "MONGO", "REDIS", "MYSQL", "POSTGRES", "SQLITE", "ODBC", "JDBC", "HDFS", "S3", "HIVE", "AZURE", "KAFKA", "NATS", "RABBITMQ",
	"YTSAURUS", "ARROW FLIGHT", "SOURCES", "READ", "INTROSPECTION", "addressToLine", "addressToLineWithInlines", "addressToSymbol", "demangle",
	"displaySecretsInShowAndSelect", "BACKUP", "NAMED COLLECTION", "SHOW NAMED COLLECTIONS SECRETS", "CLUSTER", "ALL",
}

// grantForm is a line of SHOW GRANTS that grants rights.
var grantForm = regexp.MustCompile(`(?s)^GRANT (.+) ON (.+?) TO `)

// rightsOf returns the rights beyond reading that lines of SHOW GRANTS have.
func rightsOf(lines []string) []string {
	var out []string
	for _, line := range lines {
		m := grantForm.FindStringSubmatch(line)
		if m == nil {
			continue // a role, whose own rights are other lines, or a part that was revoked
		}
		if strings.HasSuffix(line, " WITH GRANT OPTION") {
			out = append(out, "GRANT OPTION")
		}
		for _, right := range splitRights(m[1]) {
			if name := strings.TrimSpace(before(right, "(")); !slices.Contains(harmless, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// splitRights splits a list at its commas, except those between brackets.
func splitRights(list string) []string {
	var out []string
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out, from = append(out, strings.TrimSpace(list[from:i])), i+1
			}
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}

// grants asks for the rights of the user and its roles.
func (d *DB) grants(ctx context.Context) ([]string, error) {
	rows, err := d.ask(ctx, grantsSQL)
	if e, ok := errors.AsType[*execution.Error](err); ok && e.SQLState == codeSyntax {
		return d.olderGrants(ctx)
	}
	return firstColumn(rows), err
}

// olderGrants asks servers that list the rights of each role by itself.
func (d *DB) olderGrants(ctx context.Context) ([]string, error) {
	rows, err := d.ask(ctx, ownGrantsSQL)
	if err != nil {
		return nil, err
	}
	out := firstColumn(rows)
	roles, err := d.ask(ctx, rolesSQL)
	if err != nil {
		return nil, err
	}
	for _, role := range firstColumn(roles) {
		if rows, err = d.ask(ctx, roleGrantsSQL(role)); err != nil {
			return nil, err
		}
		out = append(out, firstColumn(rows)...)
	}
	return out, nil
}

func firstColumn(rows [][]string) []string {
	var out []string
	for _, row := range rows {
		out = append(out, row[0])
	}
	return out
}

// beyond returns the rights of the role beyond reading. With a profile that is read-only
// those count that readonly=1 does not stop; the others are idle.
func (d *DB) beyond(ctx context.Context, s *session) (rights, idle []string, err error) {
	lines, err := d.grants(ctx)
	if err != nil {
		return nil, nil, err
	}
	rights = rightsOf(lines)
	if !s.readOnly {
		return rights, nil, nil
	}
	for _, r := range rights {
		if !slices.Contains(reaching, r) {
			idle = append(idle, r)
		}
	}
	return slices.DeleteFunc(rights, func(r string) bool { return !slices.Contains(reaching, r) }), idle, nil
}

// rights reports what the role may do beyond reading.
func (p *prober) rights(ctx context.Context) error {
	rights, idle, err := p.db.beyond(ctx, p.session)
	if e, ok := errors.AsType[*execution.Error](err); ok && ctx.Err() == nil && e.Code == sqlguard.CodeDatabaseError && e.SQLState != "" {
		p.report.Warn(execution.TopicRole, "use a server with rights in SQL (20.4 or newer) and a role that can only read: "+scriptHint, "what the role may do could not be found out: %s", e.Message)
		return nil
	}
	if err != nil {
		return err
	}
	if len(rights) > 0 {
		p.report.Warn(execution.TopicRole, "use a role with SELECT only, "+scriptHint, "the role has rights beyond reading: %s", probe.Named(rights))
	}
	if len(idle) > 0 {
		p.report.Note(execution.TopicRole, "", "the role has rights that its profile, which is read-only, keeps it from using: %s", probe.Named(idle))
	}
	return nil
}

// checkRole fails when the role can do more than read.
func (d *DB) checkRole(ctx context.Context, s *session) error {
	rights, _, err := d.beyond(ctx, s)
	if err != nil || len(rights) == 0 {
		return err
	}
	return execution.CheckedRole("it has the right " + rights[0])
}
