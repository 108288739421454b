package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// readTable reads a table file. It accepts what other tools write: samples and
// estimates of any kind, and kinds of tables by other names.
func readTable(text []byte) (*Table, error) {
	var in tableFile
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	t := &Table{
		Catalog: shared(in.Catalog), DB: shared(in.DB), Name: in.Name, Kind: kindOf(in.Kind), Comment: comment(in.Comment),
		EstimatedRows: estimate(in.EstimatedRows), Descriptions: descriptions(in.Descriptions),
		Columns: make([]Column, len(in.Columns)), ForeignKeys: in.ForeignKeys,
	}
	for i := range in.Columns {
		c := &in.Columns[i]
		t.Columns[i] = Column{
			Name: c.Name, NativeType: intern(c.NativeType), NormalizedType: intern(c.NormalizedType), DimensionType: dimensionOf(c.DimensionType),
			Nullable: c.Nullable, PrimaryKey: c.PrimaryKey, Comment: comment(c.Comment), Descriptions: descriptions(c.Descriptions),
			SampleValues: samples(c.SampleValues), Generated: generated(c.Generated), EnumValues: labels(c.EnumValues),
		}
	}
	for i := range t.ForeignKeys {
		k := &t.ForeignKeys[i]
		k.ToCatalog, k.ToDB, k.ToTable = shared(k.ToCatalog), shared(k.ToDB), intern(k.ToTable)
	}
	return t, nil
}

type tableFile struct {
	Catalog       *string           `json:"catalog"`
	DB            *string           `json:"db"`
	Name          string            `json:"name"`
	Kind          string            `json:"kind"`
	Comment       *string           `json:"comment"`
	EstimatedRows json.RawMessage   `json:"estimatedRows"`
	Descriptions  map[string]string `json:"descriptions"`
	Columns       []columnFile      `json:"columns"`
	ForeignKeys   []ForeignKey      `json:"foreignKeys"`
}

type columnFile struct {
	Name           string            `json:"name"`
	NativeType     string            `json:"nativeType"`
	NormalizedType string            `json:"normalizedType"`
	DimensionType  string            `json:"dimensionType"`
	Nullable       bool              `json:"nullable"`
	PrimaryKey     bool              `json:"primaryKey"`
	Comment        *string           `json:"comment"`
	Descriptions   map[string]string `json:"descriptions"`
	SampleValues   json.RawMessage   `json:"sampleValues"`
	Generated      json.RawMessage   `json:"generated"`
	EnumValues     json.RawMessage   `json:"enumValues"`
}

func (t *tableFile) check() error {
	if len(t.Columns) > maxTableColumns || len(t.ForeignKeys) > maxTableKeys {
		return fmt.Errorf("it has more than %d columns or %d foreign keys", maxTableColumns, maxTableKeys)
	}
	if t.Name == "" {
		return errors.New("it names no table")
	}
	names := []string{t.Name, text(t.Catalog), text(t.DB)}
	for i := range t.Columns {
		if t.Columns[i].Name == "" {
			return fmt.Errorf("column %d has no name", i+1)
		}
		if len(t.Columns[i].NativeType) > maxType || len(t.Columns[i].NormalizedType) > maxType {
			return fmt.Errorf("the type of column %d is longer than %d bytes", i+1, maxType)
		}
		names = append(names, t.Columns[i].Name)
	}
	for _, k := range t.ForeignKeys {
		names = append(names, k.FromColumn, text(k.ToCatalog), text(k.ToDB), k.ToTable, k.ToColumn, text(k.ConstraintName))
	}
	for _, name := range names {
		if len(name) > maxName {
			return fmt.Errorf("a name is longer than %d bytes", maxName)
		}
	}
	return nil
}

// kindOf returns the kind that another name stands for.
func kindOf(kind string) Kind {
	switch k := strings.ToLower(kind); {
	case k == string(KindEventStream):
		return KindEventStream
	case strings.Contains(k, "view"):
		return KindView
	case strings.Contains(k, "external"), strings.Contains(k, "foreign"):
		return KindExternal
	default:
		return KindTable
	}
}

func dimensionOf(d string) DimensionType {
	switch t := DimensionType(strings.ToLower(d)); t {
	case DimensionTime, DimensionNumber, DimensionBoolean, DimensionString:
		return t
	default:
		return DimensionString
	}
}

// estimate reads a number of rows. It is not known when it is not a number or is
// negative.
func estimate(raw json.RawMessage) *int64 {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f >= 1<<62 {
		return nil
	}
	n := int64(f)
	return &n
}

// comment returns nil for a text that is blank.
func comment(s *string) *string {
	if s == nil || strings.TrimSpace(*s) == "" {
		return nil
	}
	if len(*s) > maxText {
		short := cut(*s, maxText)
		return &short
	}
	return s
}

// descriptions leaves out blank texts, and those of too many sources.
func descriptions(in map[string]string) map[string]string {
	if len(in) == 0 {
		return nil
	}
	out := make(map[string]string, min(len(in), maxSources))
	for _, known := range []string{"user", "ai", "dbt", "db"} {
		if d, ok := in[known]; ok && strings.TrimSpace(d) != "" {
			out[known] = cut(d, maxText)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(in)) {
		if len(out) < maxSources && len(source) <= maxName && strings.TrimSpace(in[source]) != "" {
			out[source] = cut(in[source], maxText)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// samples reads values of any kind as texts. It leaves out null, lists, objects
// and long values.
func samples(raw json.RawMessage) []string {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "[]" {
		return nil
	}
	var texts []string
	if json.Unmarshal(raw, &texts) != nil || bytes.Contains(raw, []byte("null")) {
		var values []json.RawMessage
		if json.Unmarshal(raw, &values) != nil {
			return nil
		}
		texts = texts[:0]
		for _, v := range values {
			var s string
			switch {
			case len(v) == 0 || v[0] == '[' || v[0] == '{' || string(v) == "null":
				continue
			case v[0] == '"':
				if json.Unmarshal(v, &s) != nil {
					continue
				}
			default:
				s = string(v)
			}
			texts = append(texts, s)
		}
	}
	texts = slices.DeleteFunc(texts, func(s string) bool { return len(s) > maxSample })
	if len(texts) == 0 {
		return nil
	}
	return slices.Clip(texts[:min(len(texts), maxSamples)])
}

// generated reads how a column is filled. What is no text says nothing.
func generated(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return intern(cut(s, maxName))
}

// labels reads the labels of an enum, in their order. A list that is too long or has
// a label that is none is left out as a whole, because a part of it would be wrong.
func labels(raw json.RawMessage) []string {
	var list []string
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil || len(list) == 0 || len(list) > maxLabels {
		return nil
	}
	for _, label := range list {
		if len(label) > maxName {
			return nil
		}
	}
	return list
}

// intern returns s so that equal texts share their memory. It is for types and
// schemas, of which a scan has few.
func intern(s string) string { return unique.Make(s).Value() }

func shared(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	// Tables of one schema share the pointer's text.
	v := intern(*s)
	return &v
}
