package mssqldb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/mssqldb/internal/tds"
)

// everyRole is the role that every user is a member of.
const everyRole = "public"

// Rights on a server and on a database that permit no more than to read or to
// connect. Every other right is a finding, including the new rights of later
// versions.
var (
	harmlessServerRights = []string{
		"CONNECT SQL", "VIEW ANY DATABASE", "VIEW ANY DEFINITION", "VIEW ANY PERFORMANCE DEFINITION", "CONNECT ANY DATABASE", "SELECT ALL USER SECURABLES",
	}
	harmlessDatabaseRights = []string{
		"CONNECT", "SELECT", "REFERENCES", "SHOWPLAN", "UNMASK", "VIEW ANY COLUMN ENCRYPTION KEY DEFINITION", "VIEW ANY COLUMN MASTER KEY DEFINITION",
		"VIEW DATABASE PERFORMANCE STATE", "VIEW DATABASE SECURITY AUDIT", "VIEW DEFINITION", "VIEW LEDGER CONTENT", "VIEW PERFORMANCE DEFINITION",
		"VIEW SECURITY DEFINITION", "ENABLE PARALLEL QUERY",
	}
	// telling are rights to see what other sessions do.
	telling = []string{
		"VIEW SERVER STATE", "VIEW SERVER PERFORMANCE STATE", "VIEW SERVER SECURITY STATE", "VIEW SERVER SECURITY AUDIT", "VIEW ANY ERROR LOG",
		"VIEW ANY SECURITY DEFINITION", "VIEW ANY CRYPTOGRAPHICALLY SECURED DEFINITION", "VIEW DATABASE STATE", "VIEW DATABASE SECURITY STATE",
		"VIEW CRYPTOGRAPHICALLY SECURED DEFINITION",
	}
)

// rights reports what the role may do beyond reading.
func (p *prober) rights(ctx context.Context) error {
	if p.sysadmin {
		p.report.Warn(execution.TopicRole, "use a role with SELECT only, "+scriptHint,
			"the role is a sysadmin: no right of the server stands behind the guard, and it reaches files and programs")
		return nil
	}
	for _, step := range []func(context.Context) error{p.roles, p.serverRights, p.serverGrants, p.databaseRights, p.grants, p.owned, p.elsewhere} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// checkRole fails when the role of a new connection can do more than read.
func (c *conn) checkRole(ctx context.Context) error {
	if err := c.wire.Deadline(time.Now().Add(ownLimits.Timeout)); err != nil {
		return connectError(ctx, err)
	}
	stop := context.AfterFunc(ctx, c.wire.Sever)
	rows, err := c.own(checkRoleSQL, func() {})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return connectError(ctx, err)
	}
	for _, row := range rows {
		switch {
		case len(row) != 2:
			return connectError(ctx, fmt.Errorf("%w: a role of %d values", tds.ErrMalformed, len(row)))
		case row[0] != "right":
			return execution.CheckedRole("it is a member of the " + row[0] + " role " + row[1])
		case !slices.Contains(harmlessDatabaseRights, row[1]) && !slices.Contains(telling, row[1]):
			return execution.CheckedRole("it has the right " + row[1])
		}
	}
	return c.wire.Deadline(time.Time{})
}

func (p *prober) roles(ctx context.Context) error {
	rows, err := p.ask(ctx, execution.TopicRole, "which fixed roles the role is a member of", rolesSQL, 2)
	for _, row := range rows {
		kind, name := row[0], row[1]
		fix := "ALTER ROLE " + name + " DROP MEMBER " + quoteName(p.user)
		if kind == "server" {
			fix = "ALTER SERVER ROLE " + name + " DROP MEMBER " + quoteName(p.report.Role)
		}
		p.report.Warn(execution.TopicRole, fix, "the role is a member of the %s role %s", kind, name)
	}
	return err
}

func (p *prober) serverRights(ctx context.Context) error {
	if p.service { // a database of a service has no rights on its server
		return nil
	}
	rows, err := p.ask(ctx, execution.TopicRole, "what the role may do on the server", serverRightsSQL, 1)
	p.list(rows, harmlessServerRights, "on the server", quoteName(p.report.Role))
	return err
}

func (p *prober) serverGrants(ctx context.Context) error {
	if p.service {
		return nil
	}
	rows, err := p.ask(ctx, execution.TopicRole, "what the role was granted on other logins", serverGrantsSQL, 4)
	for _, row := range rows {
		class, right, grantee, count := strings.ToLower(strings.ReplaceAll(row[0], "_", " ")), row[1], row[2], row[3]
		p.report.Warn(execution.TopicRole, "REVOKE "+right+" ON each of them FROM "+quoteName(grantee),
			"the role may %s on %s of the kind %s%s", right, count, class, through(grantee, p.report.Role))
	}
	return err
}

func (p *prober) databaseRights(ctx context.Context) error {
	rows, err := p.ask(ctx, execution.TopicRole, "what the role may do in the database", databaseRightsSQL, 1)
	p.list(rows, harmlessDatabaseRights, "in the database", quoteName(p.user))
	return err
}

// list reports rights that are not harmless: one finding for the rights to
// change something, and one for the rights to see other sessions.
func (p *prober) list(rows [][]string, harmless []string, where, whose string) {
	var change, tell []string
	for _, row := range rows {
		switch right := row[0]; {
		case slices.Contains(harmless, right):
		case slices.Contains(telling, right):
			tell = append(tell, right)
		default:
			change = append(change, right)
		}
	}
	slices.Sort(change)
	slices.Sort(tell)
	if len(change) > 0 {
		names := strings.Join(change, ", ")
		p.report.Warn(execution.TopicRole, "REVOKE "+names+" FROM "+whose+", or take it out of the role that has them", "the role may do more than read %s: %s", where, names)
	}
	if len(tell) > 0 {
		names := strings.Join(tell, ", ")
		p.report.Note(execution.TopicRole, "REVOKE "+names+" FROM "+whose, "the role may see what other sessions do or who may do what %s: %s", where, names)
	}
}

// through names the grantee of a right that was not granted to the role itself.
func through(grantee, own string) string {
	switch {
	case strings.EqualFold(grantee, everyRole):
		return " (as every role)"
	case grantee != own:
		return " (through the role " + quoteName(grantee) + ")"
	default:
		return ""
	}
}

func (p *prober) grants(ctx context.Context) error {
	rows, err := p.ask(ctx, execution.TopicRole, "what was granted to the role", grantsSQL, 5)
	for _, row := range rows {
		class, right, grantee, count, example := row[0], row[1], row[2], row[3], row[4]
		class = strings.ToLower(strings.ReplaceAll(class, "_", " "))
		what := example
		if n, err := strconv.Atoi(count); err == nil && n > 1 {
			what = count + " of them, such as " + example
		}
		p.report.Warn(execution.TopicRole, "REVOKE "+right+" ON "+example+" FROM "+quoteName(grantee), "the role may %s on %s%s: %s", right, class, through(grantee, p.user), what)
	}
	return err
}

func (p *prober) owned(ctx context.Context) error {
	rows, err := p.ask(ctx, execution.TopicRole, "what the role owns", ownedSQL, 2)
	count := map[string]int{}
	first := map[string]string{}
	for _, row := range rows {
		if count[row[0]]++; count[row[0]] == 1 {
			first[row[0]] = row[1]
		}
	}
	for _, kind := range []string{"schema", "object"} {
		if count[kind] == 0 {
			continue
		}
		p.report.Warn(execution.TopicRole, "ALTER AUTHORIZATION ON "+strings.ToUpper(kind)+"::"+first[kind]+" TO dbo",
			"the role owns, and so may change, %d of the kind %s, such as %s", count[kind], kind, first[kind])
	}
	return err
}

func (p *prober) elsewhere(ctx context.Context) error {
	if p.service { // its connections reach one database only
		return nil
	}
	rows, err := p.ask(ctx, execution.TopicRole, "what the role may do in other databases", elsewhereSQL, 2)
	rights := map[string][]string{}
	for _, row := range rows {
		rights[row[0]] = append(rights[row[0]], row[1])
	}
	names := make([]string, 0, len(rights))
	for name := range rights {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		listed := ""
		if slices.ContainsFunc(p.db.databases, func(d string) bool { return strings.EqualFold(d, name) }) {
			listed = ", which the connection's schemas list"
		}
		p.report.Warn(execution.TopicRole, "in "+quoteName(name)+": REVOKE "+strings.Join(rights[name], ", ")+" FROM the user of the login, and take it out of the roles that have them",
			"the role may do more than read in the database %s%s: %s", quoteName(name), listed, strings.Join(rights[name], ", "))
	}
	return err
}

// surroundings reports settings whose effect reaches beyond the database.
func (p *prober) surroundings(ctx context.Context) error {
	if p.service {
		return nil
	}
	rows, err := p.ask(ctx, execution.TopicServer, "what is switched on at the server", surfaceSQL, 1)
	if err != nil {
		return err
	}
	for _, row := range rows {
		p.report.Note(execution.TopicServer, "", "%s is switched on at the server: a role that may use it reaches beyond the database", row[0])
	}
	if rows, err = p.ask(ctx, execution.TopicServer, "whether the database is trusted", trustSQL, 2); err != nil {
		return err
	}
	for _, row := range rows {
		if row[0] == "1" {
			p.report.Warn(execution.TopicServer, "ALTER DATABASE "+quoteName(p.database)+" SET TRUSTWORTHY OFF", "the database is TRUSTWORTHY: its procedures may act beyond it with their owner's rights")
		}
		if row[1] == "1" {
			p.report.Note(execution.TopicServer, "ALTER DATABASE "+quoteName(p.database)+" SET DB_CHAINING OFF", "ownership chains cross databases here: a view may read tables of another one that the role was not granted")
		}
	}
	if rows, err = p.ask(ctx, execution.TopicServer, "which servers are linked", linkedSQL, 1); err != nil {
		return err
	}
	if len(rows) == 1 && rows[0][0] != "0" {
		p.report.Note(execution.TopicServer, "", "%s other servers are linked: names of four parts and OPENQUERY reach them, which the guard refuses", rows[0][0])
	}
	return nil
}
