package semantic

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic/model"
)

// Text returns a source as YAML: the file of a standalone source as it is, unless it
// joins what the rules deny, and any other as what the scan and its overlay make
// together. Columns that are hidden or that the rules deny are not in the latter.
func (s *Snapshot) Text(source int) (string, error) {
	from := s.model.Sources[source]
	if from.Form == model.Standalone && !from.Restricted {
		if content, ok := s.files[from.File]; ok {
			return string(content), nil
		}
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(resolved(from)); err != nil {
		return "", fmt.Errorf("write source %s: %w", from.Name, err)
	}
	if err := e.Close(); err != nil {
		return "", fmt.Errorf("write source %s: %w", from.Name, err)
	}
	return b.String(), nil
}

// The keys of a source, in the order of a file.
type (
	sourceText struct {
		Name        string        `yaml:"name"`
		Description string        `yaml:"description,omitempty"`
		Table       string        `yaml:"table,omitempty"`
		SQL         string        `yaml:"sql,omitempty"`
		Tags        []string      `yaml:"tags,omitempty,flow"`
		Grain       []string      `yaml:"grain,flow"`
		DefaultTime string        `yaml:"default_time_dimension,omitempty"`
		Columns     []columnText  `yaml:"columns"`
		Joins       []joinText    `yaml:"joins,omitempty"`
		Measures    []measureText `yaml:"measures,omitempty"`
		Segments    []segmentText `yaml:"segments,omitempty"`
	}
	columnText struct {
		Name        string   `yaml:"name"`
		Type        string   `yaml:"type"`
		Role        string   `yaml:"role,omitempty"`
		Visibility  string   `yaml:"visibility,omitempty"`
		Expr        string   `yaml:"expr,omitempty"`
		Granularity string   `yaml:"natural_granularity,omitempty"`
		Description string   `yaml:"description,omitempty"`
		Enum        []string `yaml:"enum_values,omitempty,flow"`
	}
	joinText struct {
		To           string `yaml:"to"`
		Alias        string `yaml:"alias,omitempty"`
		On           string `yaml:"on"`
		Relationship string `yaml:"relationship"`
	}
	measureText struct {
		Name         string    `yaml:"name"`
		Expr         string    `yaml:"expr"`
		Filter       string    `yaml:"filter,omitempty"`
		Segments     []string  `yaml:"segments,omitempty,flow"`
		Description  string    `yaml:"description,omitempty"`
		SemiAdditive *semiText `yaml:"semi_additive,omitempty"`
	}
	semiText struct {
		Over string   `yaml:"over"`
		Take string   `yaml:"take"`
		Per  []string `yaml:"per,flow"`
	}
	segmentText struct {
		Name        string `yaml:"name"`
		Expr        string `yaml:"expr"`
		Description string `yaml:"description,omitempty"`
	}
)

func resolved(s *model.Source) sourceText {
	out := sourceText{Name: s.Name, Description: s.Description, SQL: s.SQL, Tags: s.Tags, Grain: []string{}, Columns: []columnText{}}
	shown := func(c int) bool { return s.Columns[c].Visibility != model.Hidden }
	names := func(columns []int) []string {
		list := []string{}
		for _, c := range columns {
			if shown(c) {
				list = append(list, s.Columns[c].Name)
			}
		}
		return list
	}
	for i, part := range s.Table {
		if i > 0 {
			out.Table += "."
		}
		if part.Quoted {
			out.Table += `"` + strings.ReplaceAll(part.Name, `"`, `""`) + `"`
		} else {
			out.Table += part.Name
		}
	}
	out.Grain = names(s.Grain)
	if s.DefaultTime >= 0 && shown(s.DefaultTime) {
		out.DefaultTime = s.Columns[s.DefaultTime].Name
	}
	for i, c := range s.Columns {
		if !shown(i) {
			continue
		}
		column := columnText{Name: c.Name, Type: c.Type.String(), Expr: c.Text, Granularity: c.NaturalGranularity, Description: c.Description, Enum: c.Enum}
		if c.Time {
			column.Role = "time"
		}
		if c.Visibility == model.Internal {
			column.Visibility = "internal"
		}
		out.Columns = append(out.Columns, column)
	}
	for _, j := range s.Joins {
		if j.Disabled || j.Target < 0 {
			continue
		}
		relationship := map[model.Kind]string{model.ManyToOne: "many_to_one", model.OneToMany: "one_to_many", model.OneToOne: "one_to_one"}[j.Kind]
		out.Joins = append(out.Joins, joinText{To: j.To, Alias: j.Alias, On: j.On, Relationship: relationship})
	}
	for _, measure := range s.Measures {
		text := measureText{Name: measure.Name, Expr: measure.Text, Filter: measure.FilterText, Description: measure.Description}
		for _, segment := range measure.Segments {
			text.Segments = append(text.Segments, s.Segments[segment].Name)
		}
		if semi := measure.SemiAdditive; semi != nil {
			text.SemiAdditive = &semiText{Over: s.Columns[semi.Over].Name, Take: "last", Per: names(semi.Per)}
			if semi.First {
				text.SemiAdditive.Take = "first"
			}
		}
		out.Measures = append(out.Measures, text)
	}
	for _, segment := range s.Segments {
		out.Segments = append(out.Segments, segmentText{Name: segment.Name, Expr: segment.Text, Description: segment.Description})
	}
	return out
}
