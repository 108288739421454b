package bigquerydb

import (
	"bytes"
	"errors"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/bigquerydb/wire"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// ReadPage reads the rows of one page.
func ReadPage(raw []byte, fields []wire.Field, lim execution.Limits) (*execution.Result, error) {
	set := &rowset.Set{Limits: lim, Syntax: &syntax}
	set.Describe(len(fields))
	for i := range set.Columns {
		set.Column(i, execution.Column{Name: fields[i].Name, Type: nameOf(&fields[i])}, kindOf(&fields[i]))
	}
	p := page{rows: set, fields: fields, text: []byte{}, r: readerOf(bytes.NewReader(raw))}
	if err := p.read(); err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return set.Result(), nil
}
