// Package semantictest makes random cases for the semantic layer: the files of a model,
// tables with rows, a request, and the answer.
//
// The answer comes from an evaluator that knows the rules R1 to R20 of
// docs/semantic-layer.md and no SQL: it looks at each row of a base, finds the partners
// of the row in nested loops, and aggregates in Go with exact numbers. It shares no code
// with the packages it is held against, so that a mistake in one is not a mistake in
// both.
//
//	c := semantictest.New(seed)
//	for _, sql := range c.DDL(semantictest.SQLite) { … }
//	// c.Files is the folder of the connection, c.Request what is asked,
//	// c.Want the rows in their order, or the classes of the refusal.
//
// A seed always gives the same case. Values are such that engines agree on them: texts
// of small letters, numbers that are multiples of a quarter and so are exact in binary,
// and times without zones.
package semantictest
