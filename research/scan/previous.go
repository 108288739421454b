package scan

import (
	"cmp"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ktxhq/ktx/research/catalog"
)

// previous returns the tables of the latest scan of a connection, and its id. A scan
// without a readable report does not count, and a table file that cannot be read is as
// good as missing.
func previous(root *os.Root, connection string) (tables map[catalog.Ref]*catalog.Table, sync string, err error) {
	folders, err := entries(root, path.Join(rawFolder, connection, liveFolder))
	if err != nil {
		return nil, "", err
	}
	var latest time.Time
	for _, f := range folders {
		var report catalog.Report
		if !f.IsDir() || readJSON(root, path.Join(syncFolder(connection, f.Name()), reportFile), &report) != nil {
			continue
		}
		created, _ := time.Parse(time.RFC3339, report.CreatedAt) // a report without a time is the oldest
		if sync == "" || created.After(latest) || created.Equal(latest) && naturalLess(sync, f.Name()) {
			sync, latest = f.Name(), created
		}
	}
	tables = map[catalog.Ref]*catalog.Table{}
	if sync == "" {
		return tables, "", nil
	}
	folder := path.Join(syncFolder(connection, sync), "tables")
	files, err := entries(root, folder)
	if err != nil {
		return nil, "", err
	}
	for _, f := range files {
		var t catalog.Table
		if strings.HasSuffix(f.Name(), ".json") && readJSON(root, path.Join(folder, f.Name()), &t) == nil {
			tables[t.Ref()] = &t
		}
	}
	return tables, sync, nil
}

// naturalLess compares names with their numbers as numbers.
func naturalLess(a, b string) bool {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x != "" && y != "" {
			m, n := strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if len(m) != len(n) {
				return len(m) < len(n)
			}
			if m != n {
				return m < n
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return a[0] < b[0]
		}
		a, b = a[1:], b[1:]
	}
	return len(a) < len(b)
}

func digits(s string) string {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n]
}

// A Change is a table that is new, gone, or not as it was in the scan before.
type Change struct {
	Table  string `json:"table"`
	Change string `json:"change"` // added, modified or deleted
	// The columns that are new, changed or gone. A table that is new or gone has none, and
	// neither has one whose comment or keys changed alone.
	Added    []string `json:"columnsAdded,omitempty"`
	Modified []string `json:"columnsModified,omitempty"`
	Deleted  []string `json:"columnsDeleted,omitempty"`
}

// changes are what changed since a scan, as far as the rules of now let it be named.
func changes(before map[catalog.Ref]*catalog.Table, after []*table, readable Readable) []Change {
	var out []Change
	seen := map[catalog.Ref]bool{}
	for _, t := range after {
		ref := t.Ref()
		seen[ref] = true
		switch old := before[ref]; {
		case old == nil:
			out = append(out, Change{Table: display(ref), Change: "added"})
		case tableText(old) != tableText(&t.Table):
			c := Change{Table: display(ref), Change: "modified"}
			was := map[string]string{}
			for i := range old.Columns {
				was[old.Columns[i].Name] = columnText(&old.Columns[i])
			}
			for i := range t.Columns {
				name := t.Columns[i].Name
				text, known := was[name]
				delete(was, name)
				switch {
				case !readable.Column(ref.DB, ref.Name, name):
				case !known:
					c.Added = append(c.Added, name)
				case text != columnText(&t.Columns[i]):
					c.Modified = append(c.Modified, name)
				}
			}
			for name := range was {
				if readable.Column(ref.DB, ref.Name, name) {
					c.Deleted = append(c.Deleted, name)
				}
			}
			slices.Sort(c.Deleted)
			out = append(out, c)
		}
	}
	for ref := range before {
		if !seen[ref] && readable.Relation(ref.DB, ref.Name) {
			out = append(out, Change{Table: display(ref), Change: "deleted"})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Change, b.Change))
	})
	return out
}

// diff counts what changed between two scans. Estimates of rows do not count as a
// change.
func diff(before map[catalog.Ref]*catalog.Table, after []*table) catalog.DiffSummary {
	var d catalog.DiffSummary
	seen := map[catalog.Ref]bool{}
	for _, t := range after {
		seen[t.Ref()] = true
		old := before[t.Ref()]
		if old == nil {
			d.TablesAdded++
			d.ColumnsAdded += len(t.Columns)
			continue
		}
		if tableText(old) == tableText(&t.Table) {
			d.TablesUnchanged++
			continue
		}
		d.TablesModified++
		diffColumns(&d, old.Columns, t.Columns)
	}
	for ref, old := range before {
		if !seen[ref] {
			d.TablesDeleted++
			d.ColumnsDeleted += len(old.Columns)
		}
	}
	return d
}

func diffColumns(d *catalog.DiffSummary, before, after []catalog.Column) {
	old := map[string]string{}
	for i := range before {
		old[before[i].Name] = columnText(&before[i])
	}
	for i := range after {
		text, ok := old[after[i].Name]
		switch {
		case !ok:
			d.ColumnsAdded++
		case text != columnText(&after[i]):
			d.ColumnsModified++
		}
		delete(old, after[i].Name)
	}
	d.ColumnsDeleted += len(old)
}

// tableText is a text that is equal for tables without a difference that counts.
func tableText(t *catalog.Table) string {
	plain := *t
	plain.EstimatedRows = nil
	plain.Columns = make([]catalog.Column, len(t.Columns))
	for i := range t.Columns {
		plain.Columns[i] = t.Columns[i]
		plain.Columns[i].SampleValues = nil
	}
	return jsonText(plain)
}

func columnText(c *catalog.Column) string {
	plain := *c
	plain.SampleValues = nil
	return jsonText(plain)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // strings, numbers and lists only
		return ""
	}
	return string(text)
}
