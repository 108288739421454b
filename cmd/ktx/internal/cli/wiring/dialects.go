package wiring

import (
	"cmp"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

const DialectAuto = "auto"

// DialectNames are the names that dialects.Lookup knows.
func DialectNames() []string {
	names := []string{"mariadb"}
	for _, d := range dialects.All() {
		names = append(names, d.Name())
	}
	return names
}

func LookupDialect(name string) (sqlguard.Dialect, error) {
	if d, ok := dialects.Lookup(name); ok {
		return d, nil
	}
	return nil, console.Usage("no reader for the dialect %q%s", name, console.DidYouMean(name, DialectNames()))
}

// DialectGuard makes the guard of a dialect by the policy of a connection, or
// of the project where there is none. Database is the one that statements run in,
// "" where that is not known. It knows no server.
func DialectGuard(p *project.Project, connection, database string, d sqlguard.Dialect) (*sqlguard.Guard, error) {
	e, _ := engineOf(d.Name())
	policy := sqlguard.DefaultPolicy()
	if p != nil {
		policy = e.policy(p.Config.Connections[connection], p.Config.GuardOf(connection))
	}
	if len(policy.SearchPath) == 0 {
		policy.SearchPath = e.searchPath
	}
	policy.Database = cmp.Or(policy.Database, database)
	return sqlguard.New(d, policy, nil)
}
