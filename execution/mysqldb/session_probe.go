package mysqldb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The texts of the probe: constants, as those of session.go, that run in the
// same read-only transaction, except those of grantsOf.
const (
	// In the order of serverFacts.
	serverSQL = "SELECT VERSION(), @@GLOBAL.version_comment, CURRENT_USER(), DATABASE(), COALESCE(CURRENT_ROLE(), 'NONE'), @@GLOBAL.read_only, " +
		"@@GLOBAL.local_infile, @@GLOBAL.init_connect <> ''"

	clockSQL = "SELECT UNIX_TIMESTAMP(NOW(6))"

	// The server refuses these before it looks at whether the table is there.
	// Where it does not, there is no such table.
	tryWriteSQL = "DELETE FROM ktx_there_is_no_such_table"
	tryDDLSQL   = "DROP TABLE IF EXISTS ktx_there_is_no_such_table"

	// A read that takes far longer than its time limit.
	tryTimeoutSQL = "SELECT COUNT(*) FROM " + tenRows + " a, " + tenRows + " b, " + tenRows + " c, " + tenRows + " d, " + tenRows + " e, " +
		tenRows + " f, " + tenRows + " g, " + tenRows + " h WHERE a.n + b.n + c.n + d.n + e.n + f.n + g.n + h.n = 81"
	tenRows = "(SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9 UNION ALL SELECT 10)"

	// The roles that the account may take, each with who has it. MySQL has them
	// with their hosts. What those roles have in turn comes with them.
	rolesMariaDBSQL = "SELECT role_name, '', grantee FROM information_schema.applicable_roles"
	rolesMySQL      = "SELECT role_name, role_host, CONCAT(grantee, '@', grantee_host) FROM information_schema.applicable_roles"

	showGrantsSQL = "SHOW GRANTS"
)

// The order of serverSQL.
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

// grantsOf returns what SHOW GRANTS says of the account and of every role that
// it may take. It asks on a connection that is not used again: MariaDB shows a
// role's grants to who has taken it.
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
	if c.flavour == mariadb {
		sql = rolesMariaDBSQL
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
	case mysqld:
		if len(roles) == 0 {
			return lines, nil
		}
		names := make([]string, len(roles))
		for i, r := range roles {
			names[i] = quoteText(r[0]) + "@" + quoteText(r[1])
		}
		return c.question("SHOW GRANTS FOR CURRENT_USER() USING " + strings.Join(names, ", "))
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
// log-in, whose sql_mode may or may not have backslashes escape, so a text with
// one is written as bytes.
func quoteText(text string) string {
	if strings.Contains(text, `\`) {
		return fmt.Sprintf("_utf8mb4 x'%x'", text)
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
