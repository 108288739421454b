package duckdb

import (
	"github.com/sqlc-dev/darkwing/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// pragmas are the PRAGMAs that only read, with whether they name a table. Reference:
// Pragmas.
var pragmas = map[string]bool{
	"version": false, "platform": false, "database_size": false, "collations": false, "functions": false,
	"show_tables": false, "show_tables_expanded": false, "table_info": true, "show": true,
}

// pragma judges a PRAGMA by the list.
func (w *walker) pragma(n *ast.PragmaStatement) {
	name := lexical.Lower(n.Name)
	w.met.word(n.Name)
	named, listed := pragmas[name]
	args := make([]ast.FunctionArgument, len(n.Parameters))
	for i, p := range n.Parameters {
		args[i].Expr = p
	}
	switch {
	case !listed || len(n.NamedParameters) > 0 || !named && len(args) > 0:
		w.refused = true
		w.effect(sqlguard.Finding{
			Code: sqlguard.CodePragmaNotAllowed, Object: name, Span: w.stmt.Span,
			Message: "PRAGMA " + name + " is not on the list of PRAGMAs that may be read",
		})
	case named:
		w.namedByText(args, "PRAGMA "+name)
	}
	w.exprs(n.Parameters)
	for _, p := range n.NamedParameters {
		w.expr(p.Expr)
	}
}
