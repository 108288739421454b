//go:build cgo && duckdb && (linux || darwin) && (amd64 || arm64)

package engine

import (
	duckdb "github.com/duckdb/duckdb-go-bindings"
)

// column is a column of a result.
type column struct {
	name, typ string
	text      bool // its values are text as they are
	bytes     bool // its values are bytes
	logical   duckdb.Type
}

func columnOf(r *duckdb.Result, i duckdb.IdxT) column {
	logical := duckdb.ColumnLogicalType(r, i)
	defer duckdb.DestroyLogicalType(&logical)
	id := duckdb.GetTypeId(logical)
	return column{
		name: duckdb.ColumnName(r, i), typ: typeName(logical), logical: id,
		text: id == duckdb.TypeVarchar, bytes: id == duckdb.TypeBlob,
	}
}

// caster turns the values of chunks into text, as the engine itself does.
type caster struct {
	e        *engine
	columns  []column
	plain    bool // nothing has to be cast
	appender duckdb.Appender
}

// caster returns a caster for columns.
func (e *engine) caster(columns []column) (*caster, error) {
	c := &caster{e: e, columns: columns, plain: true}
	for _, column := range columns {
		c.plain = c.plain && (column.text || column.bytes)
	}
	if c.plain {
		return c, nil
	}
	if err := e.create(columns); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *caster) close() {
	if c.appender.Ptr != nil {
		duckdb.AppenderDestroy(&c.appender)
	}
}

// texts calls f with the texts of the values of a chunk, until f returns false.
func (c *caster) texts(chunk duckdb.DataChunk, f func(*values) (bool, error)) error {
	if c.plain {
		_, err := f(valuesOf(chunk, c.columns))
		return err
	}
	if wide := int(duckdb.DataChunkGetColumnCount(chunk)); wide > len(c.columns) { //nolint:gosec // within the memory of the process
		chunk = c.narrow(chunk)
		defer duckdb.DestroyDataChunk(&chunk)
	}
	if c.appender.Ptr == nil {
		if err := c.e.append(chunk, c); err != nil {
			return err
		}
	}
	if duckdb.AppendDataChunk(c.appender, chunk) != duckdb.StateSuccess || duckdb.AppenderFlush(c.appender) != duckdb.StateSuccess {
		return fail(duckdb.AppenderError(c.appender))
	}
	return c.e.readCast(c.columns, f)
}

// narrow returns a chunk of the first columns of another, whose values they share.
func (c *caster) narrow(wide duckdb.DataChunk) duckdb.DataChunk {
	types := typesOf(wide, len(c.columns))
	chunk := duckdb.CreateDataChunk(types)
	for i := range types {
		at := duckdb.IdxT(i)
		duckdb.VectorReferenceVector(duckdb.DataChunkGetVector(chunk, at), duckdb.DataChunkGetVector(wide, at))
		duckdb.DestroyLogicalType(&types[i])
	}
	duckdb.DataChunkSetSize(chunk, duckdb.DataChunkGetSize(wide))
	return chunk
}

// typesOf returns the types of the first columns of a chunk. The caller destroys them.
func typesOf(chunk duckdb.DataChunk, n int) []duckdb.LogicalType {
	types := make([]duckdb.LogicalType, n)
	for i := range types {
		types[i] = duckdb.VectorGetColumnType(duckdb.DataChunkGetVector(chunk, duckdb.IdxT(i)))
	}
	return types
}

// vectorSize is the most rows that a chunk has.
const vectorSize = 2048

// values are the texts of a chunk. They live as long as the chunk.
type values struct {
	rows    int
	vectors []vector
}

type vector struct {
	texts *[vectorSize]duckdb.StringT
	null  func(row duckdb.IdxT) bool
}

func valuesOf(chunk duckdb.DataChunk, columns []column) *values {
	v := &values{rows: int(duckdb.DataChunkGetSize(chunk)), vectors: make([]vector, len(columns))} //nolint:gosec // at most vectorSize
	for i := range v.vectors {
		from := duckdb.DataChunkGetVector(chunk, duckdb.IdxT(i))
		valid := duckdb.VectorGetValidity(from)
		v.vectors[i] = vector{
			texts: (*[vectorSize]duckdb.StringT)(duckdb.VectorGetData(from)),
			null: func(row duckdb.IdxT) bool {
				return valid != nil && !duckdb.ValidityRowIsValid(valid, row)
			},
		}
	}
	return v
}

// length returns the bytes of a value.
func (v *values) length(column, row int) (n int64, null bool) {
	if v.vectors[column].null(duckdb.IdxT(row)) { //nolint:gosec // a row of the chunk
		return 0, true
	}
	return int64(duckdb.StringTLength(v.vectors[column].texts[row])), false
}

// at returns a value.
func (v *values) at(column, row int) (text string, null bool) {
	if v.vectors[column].null(duckdb.IdxT(row)) { //nolint:gosec // a row of the chunk
		return "", true
	}
	return duckdb.StringTData(&v.vectors[column].texts[row]), false
}
