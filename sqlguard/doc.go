// Package sqlguard decides whether one SQL statement may run, and says why not.
//
// [New] makes a [Guard] from a [Dialect] (which reads the statement and states
// facts), a [Policy] (which says what is permitted) and, when there is a
// connection, a [Catalog]. [Guard.Check] returns a [Verdict]. [Guard.Approve]
// returns an [Approved] statement, the only value that an execution backend
// accepts:
//
//	g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), nil)
//	v := g.Check("SELECT 1")        // a verdict, never an error
//	a, err := g.Approve("SELECT 1") // err is a *RejectedError when refused
//
// The order of the checks is fixed: a screen of bytes and tokens before any parser
// runs, the parser's result, the kind of the statement, the effects that the dialect
// found, functions, types, settings, relations, columns. The guard refuses a statement
// that it cannot read, that uses a name on no list, or on which its own code fails.
//
// The package imports the standard library only. It never opens a file or a
// connection, never rewrites SQL, and never names a product or a transport.
package sqlguard
