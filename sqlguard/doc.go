// Package sqlguard decides whether one SQL text may run, and says why not.
//
// A [Guard] is made from a [Dialect] (which reads the text and states facts),
// a [Policy] (which says what is permitted) and, where a connection exists, a
// [Catalog]. [Guard.Check] returns a [Verdict]; [Guard.Approve] returns an
// [Approved] text, the only value that an execution backend accepts:
//
//	g, err := sqlguard.New(postgres.Dialect{}, sqlguard.DefaultPolicy(), nil)
//	v := g.Check("SELECT 1")        // a verdict, never an error
//	a, err := g.Approve("SELECT 1") // err is a *RejectedError when refused
//
// The order of judgement is fixed: a raw screen over bytes and tokens that
// runs before any parser, the parser's own answer, the statement kind, the
// effects that the dialect found, functions, types, settings, relations.
// Whatever cannot be read, is not listed or fails inside is refused.
//
// The package imports the standard library only. It never opens a file or a
// connection, never rewrites SQL, and never names a product or a transport.
package sqlguard
