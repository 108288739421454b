package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ProfileInfo says how the values of a scan were sampled.
type ProfileInfo struct {
	ProfiledAt      string // RFC 3339
	SampleRows      int    // most rows that were read of a table
	ValuesPerColumn int    // most sample values of a column
}

// readHead reads connection.json. What it lacks is taken from the report.
func (s *scan) readHead(content []byte) {
	if content != nil {
		if err := json.Unmarshal(content, &s.head); err != nil {
			s.head = ConnectionFile{}
			s.faults[extraConnection] = "it is not valid JSON of a connection"
		}
	}
	if s.head.Driver == "" {
		s.head.Driver = s.report.report.Driver
	}
	if s.head.ExtractedAt == "" {
		s.head.ExtractedAt = s.report.report.CreatedAt
	}
	s.head.Scope, s.head.Metadata = nil, nil
	s.head.Driver, s.head.ExtractedAt = cut(s.head.Driver, maxName), cut(s.head.ExtractedAt, maxName)
}

// readRelations reads the accepted entries of relationships.json.
func (s *scan) readRelations(content []byte) {
	if content == nil {
		return
	}
	var in struct{ Accepted []Relationship }
	if err := json.Unmarshal(content, &in); err != nil {
		s.faults[extraRelations] = "it is not valid JSON of relationships"
		return
	}
	for _, r := range in.Accepted {
		n := len(r.From.Columns)
		if n == 0 || n != len(r.To.Columns) || n > maxRelationCols || r.From.Table.Name == "" || r.To.Table.Name == "" {
			continue
		}
		if len(s.relations) == maxRelations {
			s.faults[extraRelations] = fmt.Sprintf("only the first %d relationships are read", maxRelations)
			return
		}
		r.Evidence = nil
		s.relations = append(s.relations, r)
	}
}

// profileEntry is what the profile says of one column.
type profileEntry struct {
	table  Ref    // or text, when the file has the table as a text
	text   string //
	column string
	stats  Stats
	values []string
}

type profileEntryFile struct {
	Table         json.RawMessage `json:"table"`
	Column        string          `json:"column"`
	RowCount      float64         `json:"rowCount"`
	NullCount     float64         `json:"nullCount"`
	DistinctCount float64         `json:"distinctCount"`
	SampleValues  json.RawMessage `json:"sampleValues"`
	MinTextLength *float64        `json:"minTextLength"`
	MaxTextLength *float64        `json:"maxTextLength"`
}

// readProfile reads the profile, and adds it to the tables that fresh marks.
func (s *scan) readProfile(content []byte, fresh []bool) {
	info, entries, err := decodeProfile(content)
	if err != nil {
		s.profile = nil
		s.faults[extraProfile] = "it is not valid JSON of a profile"
		return
	}
	s.profile = info
	byRef, byText := map[Ref]int{}, map[string]int{}
	for i, t := range s.tables {
		if t.table == nil {
			continue
		}
		r := t.table.Ref()
		byRef[r] = i
		names := []string{r.Name, r.DB + "." + r.Name, r.Catalog + "." + r.DB + "." + r.Name}
		for n, name := range slices.Compact(names) {
			if _, twice := byText[name]; twice && n == 0 {
				byText[name] = -1 // a name without a schema that two schemas have
			} else {
				byText[name] = i
			}
		}
	}
	columns := map[string]int{} // of the table of the entry before
	at := -1
	for _, e := range entries {
		i, found := byRef[e.table]
		if !found {
			if i, found = byText[e.text]; !found || i < 0 {
				continue
			}
		}
		if !fresh[i] {
			continue
		}
		t := s.tables[i].table
		if i != at {
			clear(columns)
			for c := range t.Columns {
				columns[t.Columns[c].Name] = c
			}
			at = i
		}
		c, found := columns[e.column]
		if !found {
			continue
		}
		stats := e.stats
		t.Columns[c].Stats = &stats
		if len(t.Columns[c].SampleValues) == 0 {
			t.Columns[c].SampleValues = e.values
		}
	}
}

// decodeProfile reads the profile entry by entry, because it may be large.
func decodeProfile(content []byte) (*ProfileInfo, []profileEntry, error) {
	d := json.NewDecoder(bytes.NewReader(content))
	info := &ProfileInfo{}
	var entries []profileEntry
	err := members(d, func(key string) error {
		var err error
		switch key {
		case "profiledAt":
			err = lenient(d.Decode(&info.ProfiledAt))
			info.ProfiledAt = cut(info.ProfiledAt, maxName)
		case "profileSampleRows":
			err = lenient(d.Decode(&info.SampleRows))
		case "sampleValuesPerColumn":
			err = lenient(d.Decode(&info.ValuesPerColumn))
		case "columns":
			err = members(d, func(key string) error {
				var in profileEntryFile
				if err := lenient(d.Decode(&in)); err != nil {
					return err
				}
				if len(entries) < maxColumns {
					entries = append(entries, in.entry(key))
				}
				return nil
			})
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("more than one value")
	}
	return info, entries, nil
}

// members calls f for every key of the object that comes next. f reads the value.
func members(d *json.Decoder, f func(key string) error) error {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errors.New("expected an object"))
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return errors.New("expected a key")
		}
		if err := f(key); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// lenient drops the error of a value of another type, which the decoder has read
// past.
func lenient(err error) error {
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}

// entry returns the entry under key. A profile may name the table in the key only.
func (in *profileEntryFile) entry(key string) profileEntry {
	length := func(n *float64) int32 {
		if n == nil || *n < 0 || *n > 1<<30 {
			return -1
		}
		return int32(*n)
	}
	e := profileEntry{
		column: in.Column, values: samples(in.SampleValues),
		stats: Stats{
			Rows: whole(in.RowCount), Nulls: whole(in.NullCount), Distinct: whole(in.DistinctCount),
			MinLength: length(in.MinTextLength), MaxLength: length(in.MaxTextLength),
		},
	}
	if e.column == "" {
		if dot := strings.LastIndexByte(key, '.'); dot >= 0 {
			e.column = key[dot+1:]
		}
	}
	if json.Unmarshal(in.Table, &e.table) == nil && e.table.Name != "" {
		e.text = strings.TrimPrefix(e.table.DB+"."+e.table.Name, ".")
		return e
	}
	e.table = Ref{}
	if json.Unmarshal(in.Table, &e.text) != nil || e.text == "" {
		e.text = strings.TrimSuffix(key, "."+e.column)
	}
	return e
}

// whole returns a count, or 0 for a number that is none.
func whole(f float64) int64 {
	if f < 0 || f > 1<<53 {
		return 0
	}
	return int64(f)
}
