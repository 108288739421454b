package emit

import (
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// Folded returns the name that an identifier of a file has at the engine.
func Folded(part model.Ident, d Dialect) string {
	if !part.Quoted && d == Postgres {
		return lowerASCII(part.Name)
	}
	return part.Name
}

// Table writes the table of a source.
func Table(parts []model.Ident, d Dialect) (string, error) {
	return written(d, func(w *writer) { w.table(&model.Source{Table: parts}) })
}

// Identifier writes the name of a column.
func Identifier(name string, d Dialect) (string, error) {
	return written(d, func(w *writer) { w.databaseName(name) })
}

// From writes a source as it stands behind FROM, with an alias that needs no quotes.
func From(s *model.Source, alias string, d Dialect) (string, error) {
	return written(d, func(w *writer) {
		w.rowsOf(s)
		w.text(" AS ", alias)
	})
}

// written returns what write writes. The error says what the engine cannot take.
func written(d Dialect, write func(*writer)) (string, error) {
	w := &writer{dialect: d, plan: &plan.Plan{Model: &model.Model{}}}
	write(w)
	if w.err != nil {
		return "", w.err
	}
	return string(w.b), nil
}
