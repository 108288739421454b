package catalog

// ReadTable is readTable.
var ReadTable = readTable

// MaxSamples is maxSamples.
const MaxSamples = maxSamples

// ReadProfile reads a profile into a table b with the column c.
func ReadProfile(text []byte) {
	s := &scan{tables: []*tableInfo{{table: &Table{Name: "b", Columns: []Column{{Name: "c"}}}}}}
	s.readProfile(text, []bool{true})
}

// Recode decodes the body of a cache and encodes the result.
func Recode(body string) (string, error) {
	in, err := decodeScan(body)
	if err != nil {
		return "", err
	}
	return string(encodeScan(in)), nil
}

// CacheBody returns the body of a cache with a table and a file that has none.
func CacheBody(t *Table) string {
	src := func() *source {
		s := &source{problem: absent}
		s.seen.Store(&seen{size: 1, modified: -2, settled: true})
		return s
	}
	in := &scan{head: ConnectionFile{Driver: "d"}, names: []string{"a.json", "b.json"}}
	for i := range in.extras {
		in.extras[i] = src()
	}
	in.tables = []*tableInfo{{source: src(), fault: "f"}, {source: src(), table: t}}
	return string(encodeScan(in))
}
