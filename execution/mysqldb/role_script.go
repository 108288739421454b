package mysqldb

import (
	"fmt"
	"strings"
)

// accountName is the account that the script creates.
const accountName = "'ktx_reader'@'%'"

// roleScript returns a script that creates an account which can read the
// connection's databases and nothing else. It is for the servers' own clients,
// and can be run more than once. It revokes no right of other accounts. Rights
// that every account has and should not have are listed in comments.
func (p *prober) roleScript() string {
	var b strings.Builder
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(&b, format+"\n", args...) }

	client := "mysql"
	if p.flavour == mariadb {
		client = "mariadb"
	}
	databases := append([]string{p.facts[factDatabase]}, p.db.others...)
	line("-- An account that reads the database %s and does nothing else.", comment(quoteName(databases[0])))
	line("-- Run it with the %s client as root. It may be run again. It takes no right away:", client)
	line("-- SHOW GRANTS FOR %s lists what the account had before.", accountName)
	line("-- The account is locked until it is given a password:")
	line("--   ALTER USER %s IDENTIFIED BY '...' ACCOUNT UNLOCK;", accountName)
	if p.report.Replica {
		line("-- This server has read_only set: run it on the server that it follows.")
	}
	secure := ""
	if p.report.TLS {
		secure = " REQUIRE SSL"
	}
	line("CREATE USER IF NOT EXISTS %s%s ACCOUNT LOCK;", accountName, secure)
	for _, name := range databases {
		if !p.access.Whole(name) {
			p.scriptGrants(name, line)
			continue
		}
		line("GRANT SELECT, SHOW VIEW ON %s.* TO %s;", grantPattern(name), accountName)
	}
	if len(p.public) > 0 {
		line("")
		line("-- What every account may do, this one included. These lines affect other")
		line("-- accounts, so they are comments: grant each right to the accounts that need it,")
		line("-- then run the line.")
		for _, g := range p.public {
			if g.role == "" {
				line("-- REVOKE %s ON %s FROM PUBLIC;", comment(strings.Join(g.privileges, ", ")), comment(g.object))
			}
		}
	}
	return b.String()
}

// grantPattern quotes a database for GRANT. There _ and % are wildcards unless
// a backslash precedes them.
func grantPattern(name string) string {
	return quoteName(strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`).Replace(name))
}

// comment returns text as one line of a comment. A name may contain a line end,
// and a client would run what follows it.
func comment(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
