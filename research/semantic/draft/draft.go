// Package draft proposes measures for sources that a scan found.
//
// A draft is an overlay with what is obvious: how many rows there are, and the sum of
// each column that is an amount. It is a beginning for a person to correct, and says so.
package draft

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Tag is the tag of a source whose measures nobody has looked at.
const Tag = "draft"

// File is a drafted overlay.
type File struct {
	Source   string   `json:"source"`
	Name     string   `json:"file"`     // in the folder of the connection
	Measures []string `json:"measures"` // that it defines
	Content  []byte   `json:"-"`
}

// Files drafts an overlay for each source of the model that has none, or for those that
// are named. Taken reports whether a file of a name exists already.
func Files(m *model.Model, named []int, taken func(name string) bool) ([]File, error) {
	joined := joinColumns(m)
	used := map[string]bool{}
	var out []File
	for i, s := range m.Sources {
		if s.Form != model.Manifest || s.Denied || named != nil && !slices.Contains(named, i) {
			continue
		}
		f, err := draft(s, joined[i])
		if err != nil {
			return nil, err
		}
		base := FileName(s.Name)
		f.Name = base + ".yaml"
		for n := 2; used[strings.ToLower(f.Name)] || taken(f.Name); n++ {
			f.Name = fmt.Sprintf("%s-%d.yaml", base, n)
		}
		used[strings.ToLower(f.Name)] = true
		out = append(out, f)
	}
	return out, nil
}

// joinColumns returns by source the columns that a join compares.
func joinColumns(m *model.Model) []map[int]bool {
	out := make([]map[int]bool, len(m.Sources))
	for i := range out {
		out[i] = map[int]bool{}
	}
	for i, s := range m.Sources {
		for _, j := range s.Joins {
			for _, p := range j.Pairs {
				out[i][p.From] = true
				if j.Target >= 0 {
					out[j.Target][p.To] = true
				}
			}
		}
	}
	return out
}

type overlay struct {
	Name        string    `yaml:"name"`
	Tags        []string  `yaml:"tags,flow"`
	DefaultTime string    `yaml:"default_time_dimension,omitempty"`
	Measures    []measure `yaml:"measures"`
}

type measure struct {
	Name        string `yaml:"name"`
	Expr        string `yaml:"expr"`
	Description string `yaml:"description"`
}

func draft(s *model.Source, joined map[int]bool) (File, error) {
	o := overlay{Name: s.Name, Tags: []string{Tag}}
	taken := map[string]bool{}
	for _, m := range s.Measures {
		taken[strings.ToLower(m.Name)] = true
	}
	add := func(name, text, description string) {
		for base, n := name, 2; taken[strings.ToLower(name)]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		taken[strings.ToLower(name)] = true
		o.Measures = append(o.Measures, measure{name, text, description})
	}
	add(identifier(s.Name)+"_count", "count(*)", "Draft: the number of rows.")
	for i, c := range s.Columns {
		if c.Type == expr.Time && o.DefaultTime == "" && c.Visibility == model.Public {
			o.DefaultTime = c.Name
		}
		if c.Expr != nil || c.Visibility == model.Hidden || joined[i] || slices.Contains(s.Grain, i) && len(s.Grain) < len(s.Columns) || !additive(c) {
			continue
		}
		add("total_"+identifier(c.Name), "sum("+(expr.Name{Leaf: c.Name}).String()+")", fmt.Sprintf("Draft: the sum of %s.", c.Name))
	}
	f := File{Source: s.Name}
	for _, m := range o.Measures {
		f.Measures = append(f.Measures, m.Name)
	}
	var b bytes.Buffer
	b.WriteString("# Drafted by ktx sl init from what the scan found. Look at each measure, and take the\n# tag draft away when they are right.\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(o); err != nil {
		return f, fmt.Errorf("draft %s: %w", s.Name, err)
	}
	if err := e.Close(); err != nil {
		return f, fmt.Errorf("draft %s: %w", s.Name, err)
	}
	f.Content = b.Bytes()
	return f, nil
}

// notAdditive are words in the names of numbers whose sum says nothing: keys, places in
// time and space, shares, and prices of one piece.
var notAdditive = []string{
	"id", "key", "code", "no", "nr", "num", "number", "uuid", "sk", "ref", "zip", "postcode", "postal", "phone", "fax", "year", "month", "week", "day", "hour",
	"minute", "second", "quarter", "date", "time", "timestamp", "epoch", "lat", "latitude", "lon", "lng", "longitude", "rate", "ratio", "percent", "percentage",
	"pct", "share", "price", "avg", "average", "mean", "median", "score", "rating", "rank", "age", "version", "level", "index", "position", "sort", "order",
	"sequence", "seq", "status", "type", "flag", "is", "has", "min", "max", "limit", "threshold", "temperature", "discount", "factor", "weight",
}

// additive reports whether the sum of a column is likely to mean something.
func additive(c *model.Column) bool {
	if c.Type != expr.Number {
		return false
	}
	for _, word := range words(c.Name) {
		if slices.Contains(notAdditive, word) {
			return false
		}
	}
	return true
}

// words splits a name at _ and other signs, and where a capital follows a small letter.
func words(name string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	small := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && small:
			flush()
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		small = unicode.IsLower(r)
	}
	flush()
	return out
}

// identifier returns the name in small letters, with _ for each run of other characters.
func identifier(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(parts) == 0 {
		return "value"
	}
	return strings.Join(parts, "_")
}

// FileName returns a name of a file for a source, of characters that every file system
// takes.
func FileName(source string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '_'
		}
	}, source)
	name = strings.Trim(name[:min(len(name), 80)], "_-")
	if name == "" {
		return "source"
	}
	return name
}
