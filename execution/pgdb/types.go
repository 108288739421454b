package pgdb

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/internal/rowset"
)

// kindOf returns the kind of a type's values. A domain arrives as its base type.
func kindOf(oid uint32) rowset.Kind {
	switch oid {
	case 16: // bool
		return rowset.Bool
	case 20, 21, 23, 26: // int8, int2, int4, oid
		return rowset.Integer
	case 700, 701: // float4, float8
		return rowset.Float
	default:
		return rowset.String // also NUMERIC, which a float64 may round
	}
}

// syntax is how to write a part of a column's value.
var syntax = rowset.Syntax{
	Plain: regexp.MustCompile(`^[a-z_][a-z0-9_]*$`),
	Quote: quoteName,
	Part:  "substring(%s for %d)",
}

// rowSet collects rows within limits.
type rowSet struct {
	rowset.Set
	oids []uint32
}

func newRowSet(lim execution.Limits) rowSet {
	return rowSet{Set: rowset.Set{Limits: lim, Syntax: &syntax}}
}

// describe takes the columns of the result.
func (s *rowSet) describe(d *pgproto3.RowDescription) {
	s.Describe(len(d.Fields))
	s.oids = make([]uint32, len(s.Columns))
	for i, f := range d.Fields[:len(s.oids)] {
		s.Column(i, execution.Column{Name: execution.NameText(string(f.Name)), Type: builtinTypes[f.DataTypeOID]}, kindOf(f.DataTypeOID))
		s.oids[i] = f.DataTypeOID
	}
}

// add adds one row. When the result has columns, a row without columns replaces
// a row that was cut.
func (s *rowSet) add(values [][]byte, cut *rowCut) error {
	replaced := len(s.Columns) > 0 && len(values) == 0 && cut != nil
	if !replaced && len(values) != s.Wide && len(values) != len(s.Columns) {
		return fmt.Errorf("%w: a row of %d columns where %d were described", errFrame, len(values), s.Wide)
	}
	switch {
	case !s.Room():
	case replaced:
		s.Cut(cut.column, cut.size)
	default:
		s.Add(values[:len(s.Columns)])
	}
	return nil
}

// typeNames remembers the names of types that are not built in, for a short time.
type typeNames struct {
	mu    sync.Mutex
	names map[uint32]string
	since time.Time // of the oldest name
}

// namesFor is how long a name is remembered, because a type can be renamed.
const namesFor = 2 * time.Second

// forget forgets the names. A new connection may be to another server, where the
// same numbers belong to other types.
func (t *typeNames) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = nil
}

// maxTypeNames bounds the number of remembered names.
const maxTypeNames = 10_000

// known fills in the remembered names and returns the types whose names are not
// remembered.
func (t *typeNames) known(res *execution.Result, oids []uint32) []uint32 {
	var missing []uint32
	t.mu.Lock()
	defer t.mu.Unlock()
	if time.Since(t.since) > namesFor {
		t.names = nil
	}
	for i := range res.Columns {
		if res.Columns[i].Type != "" {
			continue
		}
		res.Columns[i].Type = t.names[oids[i]]
		if res.Columns[i].Type == "" && !slices.Contains(missing, oids[i]) {
			missing = append(missing, oids[i])
		}
	}
	return missing
}

func (t *typeNames) remember(oid uint32, name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.names == nil || len(t.names) >= maxTypeNames {
		t.names, t.since = map[uint32]string{}, time.Now()
	}
	t.names[oid] = name
}

// nameTypes fills in the names of types that are not built in. When it cannot
// find out a name, it uses "oid" and the number, because the rows matter more.
func (d *DB) nameTypes(ctx context.Context, res *execution.Result, oids []uint32) {
	missing := d.types.known(res, oids)
	if len(missing) > 0 {
		list := make([]string, len(missing))
		for i, oid := range missing {
			list[i] = strconv.FormatUint(uint64(oid), 10)
		}
		s := statement{sql: typeNamesSQL, values: [][]byte{[]byte("{" + strings.Join(list, ",") + "}")}}
		names, _, err := d.run(ctx, s, execution.Limits{Timeout: 2 * time.Second}.WithDefaults())
		if err == nil {
			for _, row := range names.Rows {
				oid, err := strconv.ParseUint(row[0].Text, 10, 32)
				if err != nil {
					continue
				}
				d.types.remember(uint32(oid), row[1].Text)
				for i := range res.Columns {
					if oids[i] == uint32(oid) {
						res.Columns[i].Type = row[1].Text
					}
				}
			}
		}
	}
	for i := range res.Columns {
		if res.Columns[i].Type == "" {
			res.Columns[i].Type = "oid " + strconv.FormatUint(uint64(oids[i]), 10)
		}
	}
}
