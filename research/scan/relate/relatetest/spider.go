package relatetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// Database is a schema with its true relationships.
type Database struct {
	Name   string
	Tables []*catalog.Table
	Truth  []catalog.Relationship
}

// spiderDatabase is an entry of the tables.json of Spider and BIRD.
type spiderDatabase struct {
	ID          string            `json:"db_id"`
	TableNames  []string          `json:"table_names_original"`
	ColumnNames []json.RawMessage `json:"column_names_original"` // [table number, name]
	Types       []string          `json:"column_types"`
	PrimaryKeys []json.RawMessage `json:"primary_keys"` // column number, or a list of them
	ForeignKeys [][2]int          `json:"foreign_keys"`
}

// ReadSpider reads a tables.json in the layout of the Spider and BIRD data sets. The
// tables declare no foreign keys: these are the truth.
func ReadSpider(text []byte) ([]Database, error) {
	var in []spiderDatabase
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("read tables.json: %w", err)
	}
	var out []Database
	for _, d := range in {
		db, err := d.database()
		if err != nil {
			return nil, fmt.Errorf("database %s: %w", d.ID, err)
		}
		out = append(out, db)
	}
	slices.SortStableFunc(out, func(a, b Database) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b Database) bool { return a.Name == b.Name }), nil
}

func (d *spiderDatabase) database() (Database, error) {
	db := Database{Name: d.ID}
	schema := "main"
	for _, name := range d.TableNames {
		db.Tables = append(db.Tables, &catalog.Table{DB: &schema, Name: name, Kind: catalog.KindTable})
	}
	type place struct{ table, column int }
	places := make([]place, len(d.ColumnNames))
	for i, raw := range d.ColumnNames {
		var (
			pair [2]json.RawMessage
			t    int
			name string
		)
		if err := json.Unmarshal(raw, &pair); err != nil {
			return db, err
		}
		if err := json.Unmarshal(pair[0], &t); err != nil {
			return db, err
		}
		if err := json.Unmarshal(pair[1], &name); err != nil {
			return db, err
		}
		if t < 0 {
			places[i].table = -1
			continue
		}
		if t >= len(db.Tables) || i >= len(d.Types) {
			return db, fmt.Errorf("column %d is in no table or has no type", i)
		}
		places[i] = place{t, len(db.Tables[t].Columns)}
		db.Tables[t].Columns = append(db.Tables[t].Columns, catalog.Column{Name: name, NativeType: d.Types[i], DimensionType: dimension(d.Types[i]), Nullable: true})
	}
	column := func(i int) (*catalog.Table, *catalog.Column, error) {
		if i < 0 || i >= len(places) || places[i].table < 0 {
			return nil, nil, fmt.Errorf("there is no column %d", i)
		}
		t := db.Tables[places[i].table]
		return t, &t.Columns[places[i].column], nil
	}
	for _, raw := range d.PrimaryKeys {
		var list []int
		if json.Unmarshal(raw, &list) != nil {
			var one int
			if err := json.Unmarshal(raw, &one); err != nil {
				return db, err
			}
			list = []int{one}
		}
		for _, i := range list {
			_, c, err := column(i)
			if err != nil {
				return db, err
			}
			c.PrimaryKey, c.Nullable = true, false
		}
	}
	for _, k := range d.ForeignKeys {
		from, a, err := column(k[0])
		if err != nil {
			return db, err
		}
		to, b, err := column(k[1])
		if err != nil {
			return db, err
		}
		db.Truth = append(db.Truth, catalog.Relationship{
			From: catalog.EndPoint{Table: from.Ref(), Columns: []string{a.Name}},
			To:   catalog.EndPoint{Table: to.Ref(), Columns: []string{b.Name}},
		})
	}
	return db, nil
}

func dimension(kind string) catalog.DimensionType {
	switch kind {
	case "number":
		return catalog.DimensionNumber
	case "time":
		return catalog.DimensionTime
	case "boolean":
		return catalog.DimensionBoolean
	}
	return catalog.DimensionString
}
