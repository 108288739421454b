package mysqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The statements of the probe. They are constants, like those in session.go,
// and run in the same read-only transaction. Only those of grantsOf run outside
// of it.
const (
	// In the order of serverFacts.
	serverSQL = "SELECT VERSION(), @@GLOBAL.version_comment, CURRENT_USER(), DATABASE(), COALESCE(CURRENT_ROLE(), 'NONE'), @@GLOBAL.read_only, " +
		"@@GLOBAL.local_infile, @@GLOBAL.init_connect <> ''"

	// The variables by which a relative of MySQL or MariaDB is known. Other servers have no
	// row for them.
	relativesSQL = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('aurora_version', 'wsrep_on', 'wsrep_cluster_address')"

	clockSQL = "SELECT UNIX_TIMESTAMP(NOW(6))"

	// A server whose session is read-only refuses these before it checks
	// whether the table exists. Otherwise it reports that the table does not
	// exist.
	tryWriteSQL = "DELETE FROM ktx_there_is_no_such_table"
	tryDDLSQL   = "DROP TABLE IF EXISTS ktx_there_is_no_such_table"

	// A read that takes far longer than the time limit of the probe.
	tryTimeoutSQL = "SELECT COUNT(*) FROM " + tenRows + " a, " + tenRows + " b, " + tenRows + " c, " + tenRows + " d, " + tenRows + " e, " +
		tenRows + " f, " + tenRows + " g, " + tenRows + " h WHERE a.n + b.n + c.n + d.n + e.n + f.n + g.n + h.n = 81"
	tenRows = "(SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10)"

	// The roles that the account may set, each with the account or role to
	// which it was granted. MySQL returns role names with their hosts. Roles
	// that were granted to these roles are included.
	rolesMariaDBSQL = "SELECT role_name, '', grantee FROM information_schema.applicable_roles"
	rolesMySQL      = "SELECT role_name, role_host, CONCAT(grantee, '@', grantee_host) FROM information_schema.applicable_roles"

	showGrantsSQL      = "SHOW GRANTS"
	showGrantsUsingSQL = "SHOW GRANTS FOR CURRENT_USER() USING "
)

// The columns of serverSQL.
const (
	factVersion = iota
	factComment
	factAccount
	factDatabase
	factRole
	factReadOnly
	factLocalFiles
	factInitConnect
	serverFacts
)

// maxRoles bounds the roles whose grants are read.
const maxRoles = 100

// grantsOf returns the lines of SHOW GRANTS for the account and for every role
// that it may set. It asks on a connection that is not used again, because
// MariaDB shows a role's grants only to a session that has set the role.
func (c *conn) grantsOf(ctx context.Context) (lines []string, err error) {
	if err := c.wire.SetDeadline(time.Now().Add(questionLimits.Timeout)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.wire.Sever)
	defer stop()
	if lines, err = c.question(showGrantsSQL); err != nil {
		return nil, err
	}
	sql := rolesMySQL
	switch c.flavour {
	case mariadb:
		sql = rolesMariaDBSQL
	case tidb: // it has no such view
		var roles []string
		for _, line := range lines {
			if g, ok := parseGrant(line); ok && g.role != "" {
				roles = append(roles, g.role)
			}
		}
		if len(roles) == 0 {
			return lines, nil
		}
		return c.question(showGrantsUsingSQL + strings.Join(roles, ", "))
	case mysqld:
	}
	roles, err := c.questions(sql)
	if err != nil {
		return nil, err
	}
	roles = slices.DeleteFunc(roles, func(r []string) bool { return r[2] != c.self.user })
	if len(roles) > maxRoles {
		return nil, errTooManyRoles
	}
	switch c.flavour {
	case tidb: // answered above
	case mysqld:
		if len(roles) == 0 {
			return lines, nil
		}
		names := make([]string, len(roles))
		for i, r := range roles {
			names[i] = quoteText(r[0]) + "@" + quoteText(r[1])
		}
		return c.question(showGrantsUsingSQL + strings.Join(names, ", "))
	case mariadb:
		for _, r := range roles {
			if _, err := c.questions("SET ROLE " + quoteName(r[0])); err != nil {
				return nil, err
			}
			more, err := c.question(showGrantsSQL)
			if err != nil {
				return nil, err
			}
			lines = append(lines, more...)
		}
	}
	return lines, nil
}

var errTooManyRoles = errors.New("the account has too many roles")

// quoteText returns text as a literal. The session is as it was after the
// log-in. Its sql_mode decides whether a backslash escapes, so a text with a
// backslash is written as hexadecimal bytes.
func quoteText(text string) string {
	if strings.Contains(text, `\`) {
		return fmt.Sprintf("_utf8mb4 x'%x'", text)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
