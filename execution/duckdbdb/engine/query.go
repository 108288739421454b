//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	"encoding/binary"

	duckdb "github.com/duckdb/duckdb-go-bindings"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/duckdbdb/wire"
)

// read runs a statement and writes its rows. The engine must say that the text is exactly
// one statement, and one that reads.
func (e *engine) read(s wire.Statement) error {
	var extracted duckdb.ExtractedStatements
	defer duckdb.DestroyExtracted(&extracted)
	switch n := duckdb.ExtractStatements(e.db, s.SQL, &extracted); {
	case n == 0:
		if message := duckdb.ExtractStatementsError(extracted); message != "" {
			return fail(message)
		}
		return refuse("the text holds no statement")
	case n > 1:
		return refuse("the text holds more than one statement; a call runs one")
	}
	var prepared duckdb.PreparedStatement
	defer duckdb.DestroyPrepare(&prepared)
	if duckdb.PrepareExtractedStatement(e.db, extracted, 0, &prepared) != duckdb.StateSuccess {
		return fail(duckdb.PrepareError(prepared))
	}
	switch kind := duckdb.PreparedStatementType(prepared); {
	case s.Any, kind == duckdb.StatementTypeSelect, kind == duckdb.StatementTypeExplain:
	default:
		return refuse("the engine does not call this statement a SELECT or an EXPLAIN")
	}
	if duckdb.NParams(prepared) > 0 {
		return refuse("the statement has parameters")
	}
	var pending duckdb.PendingResult
	defer duckdb.DestroyPending(&pending)
	if duckdb.PendingPreparedStreaming(prepared, &pending) != duckdb.StateSuccess {
		return fail(duckdb.PendingError(pending))
	}
	var result duckdb.Result
	defer duckdb.DestroyResult(&result)
	if duckdb.ExecutePending(pending, &result) != duckdb.StateSuccess {
		return fail(duckdb.ResultError(&result))
	}
	return e.stream(&result, s.Limits)
}

// answer is the rows of a statement on their way to ktx.
type answer struct {
	e       *engine
	lim     execution.Limits
	columns []column
	rows    int
	bytes   int64  // of the values sent
	json    int64  // what the rows take as JSON, at least
	b       []byte // rows that are not written yet
}

// flushAt is the size from which rows are written.
const flushAt = 64 << 10

// stream writes the rows of a result until it ends or a limit is reached.
func (e *engine) stream(result *duckdb.Result, lim execution.Limits) error {
	wide := int(duckdb.ColumnCount(result)) //nolint:gosec // within the memory of the process
	a := answer{e: e, lim: lim, columns: make([]column, min(wide, lim.Columns))}
	header := wire.Header{Wide: wide, Columns: make([]wire.Column, len(a.columns))}
	for i := range a.columns {
		a.columns[i] = columnOf(result, duckdb.IdxT(i))
		header.Columns[i] = wire.Column{Name: a.columns[i].name, Type: a.columns[i].typ}
	}
	if err := e.conn.Write(wire.Columns, header); err != nil {
		return err
	}
	caster, err := e.caster(a.columns)
	if err != nil {
		return err
	}
	defer caster.close()
	for more := true; more; {
		chunk := duckdb.FetchChunk(*result)
		if chunk.Ptr == nil {
			if message := duckdb.ResultError(result); message != "" {
				return fail(message)
			}
			break
		}
		err := caster.texts(chunk, func(v *values) (bool, error) {
			more, err = a.add(v)
			return more, err
		})
		duckdb.DestroyDataChunk(&chunk)
		if err != nil {
			return err
		}
	}
	return a.flush()
}

// add writes rows. It returns false when a limit is reached.
func (a *answer) add(v *values) (more bool, err error) {
	for row := range v.rows {
		if a.rows == a.lim.Rows {
			return false, a.cut(wire.Excess{By: execution.TruncatedByRows})
		}
		var size int64
		nulls := 0
		for k, c := range a.columns {
			n, null := v.length(k, row)
			switch {
			case null:
				nulls++
				continue
			case c.bytes:
				n = 2 + 2*n // ktx writes them as hexadecimal digits
			}
			if n > a.lim.CellBytes {
				return false, a.cut(wire.Excess{By: execution.TruncatedByCell, Column: k, Size: n})
			}
			size += n
		}
		json := execution.RowSize(size, len(a.columns), nulls)
		if a.bytes+size > a.lim.Bytes || a.json+json > a.lim.Bytes+execution.FreeStructure {
			return false, a.cut(wire.Excess{By: execution.TruncatedByBytes})
		}
		a.rows, a.bytes, a.json = a.rows+1, a.bytes+size, a.json+json
		for k := range a.columns {
			text, null := v.at(k, row)
			if null {
				a.b = append(a.b, 0)
				continue
			}
			a.b = binary.AppendUvarint(a.b, uint64(len(text))+1)
			a.b = append(a.b, text...)
		}
		if len(a.b) >= flushAt {
			if err := a.flush(); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func (a *answer) flush() error {
	if len(a.b) == 0 {
		return nil
	}
	err := a.e.conn.WriteRaw(wire.Rows, a.b)
	a.b = a.b[:0]
	return err
}

// cut says which limit ends the rows.
func (a *answer) cut(x wire.Excess) error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.e.conn.Write(wire.Cut, x)
}
