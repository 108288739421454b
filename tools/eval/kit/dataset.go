package kit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ktxhq/ktx/research/catalog"
)

// A dataset is the schemas of many databases, and questions about them.
type dataset struct {
	name      string
	databases []*database
	questions []question
}

// A database is one entry of tables.json.
type database struct {
	id     string
	tables []*catalog.Table
	byName map[string]*catalog.Table // by folded name
}

// A question has a text, and what the SQL of its answer reads.
type question struct {
	database string
	text     string
	tables   []string // as they are written in the schema
	columns  [][2]string
}

// A schema is the form of tables.json.
type schema struct {
	DBID        string            `json:"db_id"`
	Tables      []string          `json:"table_names_original"`
	Columns     [][2]any          `json:"column_names_original"` // number of the table, name
	Types       []string          `json:"column_types"`
	Primary     []json.RawMessage `json:"primary_keys"` // numbers of columns, or lists of them
	ForeignKeys [][2]int          `json:"foreign_keys"` // numbers of columns
}

// An asked is the form of dev.json of both data sets.
type asked struct {
	DBID     string `json:"db_id"`
	Question string `json:"question"`
	Query    string `json:"query"` // Spider
	SQL      any    `json:"sql"`   // BIRD: the query; Spider: a tree
}

// A source says where the files of a data set are, below the folder of data.
type source struct{ name, tables, questions string }

var sources = []source{
	{"Spider", "spider/tables.json", "spider/dev.json"},
	{"BIRD", "bird/dev_tables.json", "bird/dev.json"},
}

// readDataset reads one data set.
func readDataset(dir string, from source) (*dataset, error) {
	var schemas []schema
	if err := readJSON(filepath.Join(dir, from.tables), &schemas); err != nil {
		return nil, err
	}
	d := &dataset{name: from.name}
	byID := map[string]*database{}
	for i := range schemas {
		db, err := schemas[i].database()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from.tables, err)
		}
		d.databases = append(d.databases, db)
		byID[db.id] = db
	}
	var err error
	d.questions, err = readQuestions(filepath.Join(dir, from.questions), byID)
	return d, err
}

// readQuestions reads questions, and what their SQL reads.
func readQuestions(path string, databases map[string]*database) ([]question, error) {
	var list []asked
	if err := readJSON(path, &list); err != nil {
		return nil, err
	}
	var out []question
	for i, a := range list {
		db := databases[a.DBID]
		if db == nil {
			return nil, fmt.Errorf("%s: question %d is about the database %q, which has no schema", path, i, a.DBID)
		}
		sql := a.Query
		if text, ok := a.SQL.(string); ok {
			sql = text
		}
		tables, columns := gold(db, sql)
		if len(tables) == 0 {
			return nil, fmt.Errorf("%s: question %d: no table of %s in %q", path, i, a.DBID, sql)
		}
		out = append(out, question{database: a.DBID, text: a.Question, tables: tables, columns: columns})
	}
	return out, nil
}

func readJSON(path string, into any) error {
	b, err := os.ReadFile(path) // #nosec G304 -- the path is an argument of the developer
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// database makes tables of an entry. They have the names of the database, its types
// and keys, and no text that explains them.
func (s *schema) database() (*database, error) {
	db := &database{id: s.DBID, byName: map[string]*catalog.Table{}}
	for _, name := range s.Tables {
		t := &catalog.Table{Name: name, Kind: catalog.KindTable, DB: new("main"), Columns: []catalog.Column{}, ForeignKeys: []catalog.ForeignKey{}}
		db.tables = append(db.tables, t)
		db.byName[lower(name)] = t
	}
	type place struct{ table, column int }
	places := make([]place, len(s.Columns))
	for i, c := range s.Columns {
		number, _ := c[0].(float64)
		name, ok := c[1].(string)
		if !ok || int(number) >= len(db.tables) || i >= len(s.Types) {
			return nil, fmt.Errorf("database %s: column %d is %v", s.DBID, i, c)
		}
		if number < 0 {
			places[i] = place{-1, -1}
			continue
		}
		t := db.tables[int(number)]
		places[i] = place{int(number), len(t.Columns)}
		t.Columns = append(t.Columns, catalog.Column{
			Name: name, NativeType: s.Types[i], NormalizedType: s.Types[i], DimensionType: dimension(s.Types[i]), Nullable: true,
		})
	}
	for _, raw := range s.Primary {
		var one int
		var many []int
		if json.Unmarshal(raw, &one) == nil {
			many = []int{one}
		} else if err := json.Unmarshal(raw, &many); err != nil {
			return nil, fmt.Errorf("database %s: primary key: %w", s.DBID, err)
		}
		for _, i := range many {
			if i > 0 && i < len(places) {
				db.tables[places[i].table].Columns[places[i].column].PrimaryKey = true
			}
		}
	}
	for _, pair := range s.ForeignKeys {
		if pair[0] <= 0 || pair[1] <= 0 || pair[0] >= len(places) || pair[1] >= len(places) {
			return nil, fmt.Errorf("database %s: foreign key %v", s.DBID, pair)
		}
		from, to := places[pair[0]], places[pair[1]]
		t, u := db.tables[from.table], db.tables[to.table]
		t.ForeignKeys = append(t.ForeignKeys, catalog.ForeignKey{
			FromColumn: t.Columns[from.column].Name, ToDB: new("main"), ToTable: u.Name, ToColumn: u.Columns[to.column].Name,
		})
	}
	return db, nil
}

// dimension returns the dimension type of a type of the data sets.
func dimension(kind string) catalog.DimensionType {
	switch kind {
	case "number", "integer", "real":
		return catalog.DimensionNumber
	case "time", "date", "datetime":
		return catalog.DimensionTime
	case "boolean":
		return catalog.DimensionBoolean
	}
	return catalog.DimensionString
}
