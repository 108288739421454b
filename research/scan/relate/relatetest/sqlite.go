package relatetest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/ktxhq/ktx/research/catalog"
)

// WriteSQLite writes the tables and rows of a sample into a new file. The tables of
// another schema than main have it before their name. No foreign key is declared.
func WriteSQLite(path string, s *Sample) (err error) {
	conn, err := sqlite3.Open("file:" + path)
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.Exec("BEGIN"); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if err := writeTable(conn, t, s.Rows[t.Ref()]); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return conn.Exec("COMMIT")
}

func writeTable(conn *sqlite3.Conn, t *catalog.Table, rows [][]string) (err error) {
	name := InSQLite(t.Ref()).Name
	var columns, key, marks []string
	for i := range t.Columns {
		c := &t.Columns[i]
		columns = append(columns, quote(c.Name)+" "+c.NativeType)
		marks = append(marks, "?")
		if c.PrimaryKey {
			key = append(key, quote(c.Name))
		}
	}
	if len(key) > 0 {
		columns = append(columns, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	}
	if err := conn.Exec("CREATE TABLE " + quote(name) + " (" + strings.Join(columns, ", ") + ")"); err != nil {
		return err
	}
	stmt, _, err := conn.Prepare("INSERT INTO " + quote(name) + " VALUES (" + strings.Join(marks, ", ") + ")")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for _, row := range rows {
		for i, v := range row {
			if v == Null {
				err = stmt.BindNull(i + 1)
			} else {
				err = stmt.BindText(i+1, v)
			}
			if err != nil {
				return err
			}
		}
		if err := stmt.Exec(); err != nil {
			return err
		}
	}
	return nil
}

// InSQLite returns the name of a table in a file of [WriteSQLite].
func InSQLite(r catalog.Ref) catalog.Ref {
	if r.DB != "" && r.DB != "main" {
		r.Name = r.DB + "_" + r.Name
	}
	return catalog.Ref{DB: "main", Name: r.Name}
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// ReadSQLite reads a file. Its declared foreign keys are the truth, and are taken out
// of the tables. At most rows rows of each table are read.
func ReadSQLite(path string, rows int) (s *Sample, err error) {
	conn, err := sqlite3.OpenFlags("file:"+path, sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	s = &Sample{Database: Database{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}, Rows: map[catalog.Ref][][]string{}}
	names, err := query(conn, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
	if err != nil {
		return nil, err
	}
	schema := "main"
	for _, n := range names {
		t := &catalog.Table{DB: &schema, Name: n[0], Kind: catalog.KindTable}
		if err := s.readTable(conn, t, rows); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return s, s.readKeys(conn)
}

func (s *Sample) readTable(conn *sqlite3.Conn, t *catalog.Table, rows int) error {
	columns, err := query(conn, "SELECT name, type, pk FROM pragma_table_info("+text(t.Name)+")")
	if err != nil {
		return err
	}
	for _, c := range columns {
		t.Columns = append(t.Columns, catalog.Column{Name: c[0], NativeType: c[1], PrimaryKey: c[2] != "0"})
	}
	s.Tables = append(s.Tables, t)
	s.Rows[t.Ref()], err = query(conn, fmt.Sprintf("SELECT * FROM %s LIMIT %d", quote(t.Name), rows))
	return err
}

// readKeys reads the declared foreign keys as the truth.
func (s *Sample) readKeys(conn *sqlite3.Conn) error {
	for _, t := range s.Tables {
		list, err := query(conn, `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(`+text(t.Name)+") ORDER BY id, seq")
		if err != nil {
			return err
		}
		keys := map[string]*catalog.Relationship{}
		for _, k := range list {
			to := s.target(k[1])
			if to == nil {
				continue
			}
			r := keys[k[0]]
			if r == nil {
				r = &catalog.Relationship{From: catalog.EndPoint{Table: t.Ref()}, To: catalog.EndPoint{Table: to.Ref()}}
				keys[k[0]] = r
			}
			column := k[3]
			if column == Null { // the primary key is meant
				column = primary(to, len(r.To.Columns))
			}
			r.From.Columns = append(r.From.Columns, k[2])
			r.To.Columns = append(r.To.Columns, column)
		}
		for _, id := range slices.Sorted(maps.Keys(keys)) {
			s.Truth = append(s.Truth, *keys[id])
		}
	}
	return nil
}

func (s *Sample) target(name string) *catalog.Table {
	for _, t := range s.Tables {
		if strings.EqualFold(t.Name, name) {
			return t
		}
	}
	return nil
}

func primary(t *catalog.Table, n int) string {
	for i := range t.Columns {
		if t.Columns[i].PrimaryKey {
			if n == 0 {
				return t.Columns[i].Name
			}
			n--
		}
	}
	return ""
}

// HasRows reports whether a table has a row.
func (s *Sample) HasRows() bool {
	for _, rows := range s.Rows {
		if len(rows) > 0 {
			return true
		}
	}
	return false
}

// AddTruth adds relationships that another source declares for the same database. Its
// names may differ in case. A relationship of tables or columns that the database does
// not have is left out, and so is a part of a composite one that is there already.
func (s *Sample) AddTruth(list []catalog.Relationship) {
	known := map[string]bool{}
	for _, r := range s.Truth {
		known[Key(r.From, r.To)] = true
	}
	for _, r := range list {
		from, fromOK := s.end(r.From)
		to, toOK := s.end(r.To)
		if !fromOK || !toOK || s.isPart(from, to) {
			continue
		}
		if key := Key(from, to); !known[key] {
			known[key] = true
			s.Truth = append(s.Truth, catalog.Relationship{From: from, To: to})
		}
	}
}

// isPart reports whether a true relationship with more columns has this pair of columns.
func (s *Sample) isPart(from, to catalog.EndPoint) bool {
	return slices.ContainsFunc(s.Truth, func(r catalog.Relationship) bool {
		if r.From.Table != from.Table || r.To.Table != to.Table || len(r.From.Columns) < 2 || len(from.Columns) != 1 {
			return false
		}
		for i := range r.From.Columns {
			if strings.EqualFold(r.From.Columns[i], from.Columns[0]) && strings.EqualFold(r.To.Columns[i], to.Columns[0]) {
				return true
			}
		}
		return false
	})
}

// end returns an end point as the database writes it.
func (s *Sample) end(e catalog.EndPoint) (catalog.EndPoint, bool) {
	t := s.target(e.Table.Name)
	if t == nil {
		return catalog.EndPoint{}, false
	}
	out := catalog.EndPoint{Table: t.Ref()}
	for _, name := range e.Columns {
		i := slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return catalog.EndPoint{}, false
		}
		out.Columns = append(out.Columns, t.Columns[i].Name)
	}
	return out, true
}

func text(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// query returns the rows of a statement as text.
func query(conn *sqlite3.Conn, sql string) (rows [][]string, err error) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	for stmt.Step() {
		row := make([]string, stmt.ColumnCount())
		for i := range row {
			if row[i] = stmt.ColumnText(i); stmt.ColumnType(i) == sqlite3.NULL {
				row[i] = Null
			}
		}
		rows = append(rows, row)
	}
	return rows, stmt.Err()
}
