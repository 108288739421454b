package interchange

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic/draft"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// source is a source that is being made. Names in its trees without a qualifier are its
// own columns.
type source struct {
	kind        string // semantic model or dataset
	name        string
	table       string
	description string
	grain       []string
	columns     []*column
	joins       []*join
	measures    []*measure
	defaultTime string

	known *model.Source      // what the connection knows of the table; nil: nothing
	left  bool               // it is not written
	index map[string]*column // by exact name
}

// origin is what the input calls an item.
type origin struct{ kind, name string }

type column struct {
	origin
	name        string
	typ         expr.Type  // Unknown until it is inferred
	tree        *expr.Expr // nil for a column of the table
	granularity string
	description string
	internal    bool
}

type join struct {
	origin
	to           *source
	alias        string
	pairs        [][2]string // column of the source, column of the target
	relationship string
}

type measure struct {
	origin
	name        string
	tree        *expr.Expr
	filter      *expr.Expr
	description string
	semi        *semiAdditive
	needs       []*measure
	left        bool
}

type semiAdditive struct {
	Over string   `yaml:"over"`
	Take string   `yaml:"take"`
	Per  []string `yaml:"per,flow"`
}

// importer makes the sources of one input.
type importer struct {
	Options
	label   string // of descriptions: dbt, or empty
	base    *model.Model
	sources []*source
	exists  []Exists
	left    []Loss
	notes   []Note
}

func newImporter(o Options) *importer {
	return &importer{Options: o, base: o.Load(nil)}
}

func (im *importer) lose(o origin, source, format string, args ...any) {
	im.left = append(im.left, Loss{Kind: o.kind, Name: shorten(o.name), Source: shorten(source), Reason: fmt.Sprintf(format, args...)})
}

func (im *importer) note(source, name, format string, args ...any) {
	n := Note{Source: shorten(source), Name: shorten(name), Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(im.notes, n) {
		im.notes = append(im.notes, n)
	}
}

// addSource adds a source over a table of the input, as database.schema.table.
func (im *importer) addSource(kind, name, table, description string) *source {
	s := &source{kind: kind, name: name, description: description, index: map[string]*column{}}
	at := origin{kind, name}
	if i := slices.IndexFunc(im.sources, func(o *source) bool { return strings.EqualFold(o.name, name) }); i >= 0 || name == "" {
		im.lose(at, "", "its name is missing, or another %s has it", kind)
		return nil
	}
	parts, err := expr.ParsePath(table, 3)
	if err != nil {
		im.lose(at, "", "%s is not the name of a table: %s", shorten(table), err.Message)
		return nil
	}
	if len(parts) == 3 && im.Dialect != "" && im.Dialect != "sqlserver" {
		im.note("", "", "names of databases are left out: the tables are looked for in the connection's own")
		parts = parts[1:]
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, part(p))
	}
	s.table = strings.Join(texts, ".")
	s.known = im.knownTable(parts)
	im.sources = append(im.sources, s)
	if at, ok := im.base.Source(name); ok {
		if o := im.base.Sources[at]; o.Form == model.Manifest {
			im.note(name, "", "it takes the place of the source %s that the scan found", o.Name)
		} else {
			im.exists = append(im.exists, Exists{o.Name, o.File})
			s.left = true
		}
	}
	return s
}

// part writes a part of a table's name, in quotes only where they matter.
func part(p expr.Part) string {
	if !p.Quoted || plainName(p.Name) {
		return p.Name
	}
	return `"` + strings.ReplaceAll(p.Name, `"`, `""`) + `"`
}

// plainName reports whether a name means the same with and without quotes.
func plainName(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}

// knownTable returns what a scan found about a table.
func (im *importer) knownTable(parts []expr.Part) *model.Source {
	var found *model.Source
	for _, s := range im.base.Sources {
		if s.Form == model.Standalone || len(s.Table) == 0 {
			continue
		}
		n := min(len(parts), len(s.Table))
		a, b := parts[len(parts)-n:], s.Table[len(s.Table)-n:]
		if !slices.EqualFunc(a, b, func(x expr.Part, y model.Ident) bool { return strings.EqualFold(x.Name, y.Name) }) {
			continue
		}
		if found != nil {
			return nil
		}
		found = s
	}
	return found
}

// physical returns the exact name of a column of the table.
func (im *importer) physical(s *source, n expr.Name) (string, string) {
	if s.known != nil {
		var folded []string
		for _, c := range s.known.Columns {
			switch {
			case c.Text != "":
			case c.Name == n.Leaf:
				return c.Name, ""
			case strings.EqualFold(c.Name, n.Leaf):
				folded = append(folded, c.Name)
			}
		}
		if len(folded) == 1 {
			return folded[0], ""
		}
		return "", fmt.Sprintf("the table %s has no column %s, as far as the last scan saw", s.table, shorten(n.Leaf))
	}
	if im.Dialect == "postgres" && !n.QuotedLeaf {
		return strings.ToLower(n.Leaf), ""
	}
	return n.Leaf, ""
}

// rows parses an expression over the columns of the table. Its names are exact.
func (im *importer) rows(s *source, text string) (*expr.Expr, string) {
	tree, err := expr.Parse(text)
	if err != nil {
		return nil, because(err)
	}
	why := im.differs(tree)
	if why != "" {
		return nil, why
	}
	expr.Walk(tree, func(e *expr.Expr) bool {
		if e.Op == expr.OpAggregate {
			why = "it has an aggregate where a value of one row is expected"
		}
		return why == ""
	})
	if why != "" {
		return nil, why
	}
	return rename(tree, func(n expr.Name) (*expr.Expr, string) {
		if n.Qualifier != "" && !strings.EqualFold(n.Qualifier, s.name) {
			return nil, fmt.Sprintf("it names the column %s of another table", shorten(n.String()))
		}
		name, why := im.physical(s, n)
		return nameOf("", name), why
	})
}

// because is a refusal of an expression as a reason.
func because(err *expr.Error) string {
	if err.Hint == "" {
		return err.Message
	}
	return err.Message + "; " + err.Hint
}

// rename replaces the names of a tree.
func rename(tree *expr.Expr, f func(expr.Name) (*expr.Expr, string)) (*expr.Expr, string) {
	out, err := expr.Map(tree, func(e *expr.Expr) (*expr.Expr, *expr.Error) {
		if e.Op != expr.OpName {
			return e, nil
		}
		x, why := f(e.Name)
		if why != "" {
			return nil, &expr.Error{Class: expr.UnknownField, Message: why}
		}
		return x, nil
	})
	if err != nil {
		return nil, err.Message
	}
	return out, ""
}

// nameOf is a name as a tree.
func nameOf(qualifier, leaf string) *expr.Expr {
	n := expr.Name{Qualifier: qualifier, Leaf: leaf}
	written := func(n expr.Name) bool { return strings.HasPrefix(n.String(), `"`) }
	n.QuotedLeaf = written(expr.Name{Leaf: leaf})
	n.QuotedQualifier = qualifier != "" && written(expr.Name{Leaf: qualifier})
	return &expr.Expr{Op: expr.OpName, Name: n}
}

// write is the text of a tree, without brackets around the whole.
func write(e *expr.Expr) string {
	whole := e.String()
	if e.Op == expr.OpAggregate && len(e.Args) == 1 && !e.Distinct && e.Filter == nil {
		if text := e.Func + "(" + write(e.Args[0]) + ")"; reads(text, whole) {
			return text
		}
	}
	if inner, ok := strings.CutPrefix(whole, "("); ok && strings.HasSuffix(inner, ")") {
		inner = inner[:len(inner)-1]
		if reads(inner, whole) {
			return inner
		}
	}
	return whole
}

// reads reports whether a text is read as the tree of that canonical text.
func reads(text, canonical string) bool {
	p, err := expr.Parse(text)
	return err == nil && p.String() == canonical
}

// plainColumn adds a column of the table if the source has none of that name yet.
func (s *source) plainColumn(name string, internal bool) *column {
	if c := s.index[name]; c != nil && c.tree == nil {
		c.internal = c.internal && internal
		return c
	}
	c := &column{origin: origin{"column", name}, name: name, internal: internal}
	if s.known != nil {
		for _, k := range s.known.Columns {
			if k.Name == name && k.Text == "" {
				c.typ, c.description = k.Type, k.Description
			}
		}
	}
	s.add(c)
	return c
}

func (s *source) add(c *column) {
	s.columns = append(s.columns, c)
	s.index[c.name] = c
}

// names calls f for the names of a tree.
func names(tree *expr.Expr, f func(expr.Name)) {
	expr.Walk(tree, func(e *expr.Expr) bool {
		if e.Op == expr.OpName {
			f(e.Name)
		}
		return true
	})
}

// element is a named expression over the rows of a source: a dimension, an entity, or a
// field.
type element struct {
	origin
	tree        *expr.Expr
	typ         expr.Type // Unknown: whatever the expression gives
	granularity string
	description string
	column      *column // nil if it was left out
}

// elements adds columns for the elements of a source. Further are the names of columns of
// the table that other expressions of the source use.
func (im *importer) elements(s *source, list []*element, further map[string]bool) {
	used := map[string]string{} // by name in lower case
	for name := range further {
		used[strings.ToLower(name)] = name
	}
	for _, e := range list {
		names(e.tree, func(n expr.Name) { used[strings.ToLower(n.Leaf)] = n.Leaf })
	}
	taken := map[string]*element{}
	for _, e := range list {
		if e.tree == nil {
			continue
		}
		if e.tree.Op == expr.OpName && (e.tree.Name.Leaf == e.name || e.kind == "entity") {
			e.column = s.plainColumn(e.tree.Name.Leaf, false)
			// SQLite stores times as texts, and the input knows which these are.
			if t := e.column.typ; e.typ != expr.Unknown && (t == expr.Unknown || t == expr.String && e.typ == expr.Time) {
				e.column.typ = e.typ
			}
			if e.description != "" {
				e.column.description = e.description
			}
			if e.granularity != "" && e.column.granularity == "" {
				e.column.granularity = e.granularity
			}
			continue
		}
		folded := strings.ToLower(e.name)
		if name, ok := used[folded]; ok {
			im.lose(e.origin, s.name, "an expression of the source reads the column %s of the table, and a column that is computed cannot have its name; give it another one", shorten(name))
			continue
		}
		if taken[folded] != nil {
			im.lose(e.origin, s.name, "another element of the source has its name")
			continue
		}
		taken[folded] = e
		e.column = &column{origin: e.origin, name: e.name, typ: e.typ, tree: e.tree, granularity: e.granularity, description: e.description}
		s.add(e.column)
	}
}

// complete adds the columns of the table that expressions use, those that a scan found,
// and a grain if there is none; then it decides the types.
func (im *importer) complete() {
	for _, s := range im.sources {
		var used []string
		own := func(tree *expr.Expr) {
			names(tree, func(n expr.Name) {
				if n.Qualifier == "" {
					used = append(used, n.Leaf)
				}
			})
		}
		for _, c := range s.columns {
			own(c.tree)
		}
		for _, m := range s.measures {
			expr.Walk(m.tree, func(e *expr.Expr) bool {
				if e.Op == expr.OpAggregate {
					own(e)
				}
				return e.Op != expr.OpAggregate
			})
		}
		used = append(used, s.grain...)
		if s.known != nil {
			for _, c := range s.known.Columns {
				if c.Text == "" {
					used = append(used, c.Name)
				}
			}
		}
		computed := map[string]bool{}
		for _, c := range s.columns {
			if c.tree != nil {
				computed[strings.ToLower(c.name)] = true
			}
		}
		for _, name := range used {
			if s.index[name] == nil && !computed[strings.ToLower(name)] {
				s.plainColumn(name, true)
			}
		}
		im.keyOf(s)
	}
	im.types()
}

// keyOf gives a source a grain if the input has none.
func (im *importer) keyOf(s *source) {
	if len(s.grain) > 0 || s.left {
		return
	}
	if s.known != nil {
		for _, c := range s.known.Columns {
			if c.PrimaryKey && s.index[c.Name] != nil {
				s.grain = append(s.grain, c.Name)
			}
		}
		if len(s.grain) > 0 {
			return
		}
	}
	for _, c := range s.columns {
		if c.tree == nil {
			s.grain = append(s.grain, c.name)
		}
	}
	im.note(s.name, "", "its key is not known: the grain is all of its columns; write the columns of the key")
}

// types decides the types of columns: what a scan found, what the input says, what the
// expressions need, and string.
func (im *importer) types() {
	nodes := map[string]*source{}
	for _, s := range im.sources {
		nodes[s.name] = s
		for _, j := range s.joins {
			if j.alias != "" {
				nodes[j.alias] = j.to
			}
		}
	}
	for _, s := range im.sources {
		var record func(s *source, n expr.Name, t expr.Type, depth int)
		record = func(s *source, n expr.Name, t expr.Type, depth int) {
			if n.Qualifier != "" {
				s = nodes[n.Qualifier]
			}
			if s == nil || depth > 8 {
				return
			}
			if c := s.index[n.Leaf]; c != nil && c.tree != nil {
				infer(c.tree, t, func(n expr.Name, t expr.Type) { record(s, n, t, depth+1) })
			} else if c != nil && c.typ == expr.Unknown {
				c.typ = t
			}
		}
		own := func(n expr.Name, t expr.Type) { record(s, n, t, 0) }
		for _, c := range s.columns {
			infer(c.tree, c.typ, own)
		}
		for _, m := range s.measures {
			expr.Walk(m.tree, func(e *expr.Expr) bool {
				if e.Op == expr.OpAggregate {
					infer(e, expr.Unknown, own)
				}
				return e.Op != expr.OpAggregate
			})
			infer(m.filter, expr.Boolean, own)
		}
	}
	for _, s := range im.sources {
		var assumed []string
		for _, c := range s.columns {
			if c.tree == nil && c.typ == expr.Unknown {
				c.typ = expr.String
				if !c.internal {
					assumed = append(assumed, shorten(c.name))
				}
			}
		}
		if len(assumed) > 0 && !s.left && s.known == nil {
			im.note(s.name, "", "the types of these columns are not in the input, and string is assumed: %s; a scan before the import finds them", shortList(assumed))
		}
		for _, c := range s.columns {
			if c.tree == nil || c.typ != expr.Unknown {
				continue
			}
			t, err := expr.TypeOf(c.tree, func(e *expr.Expr) expr.Type {
				if o := s.index[e.Name.Leaf]; o != nil && e.Name.Qualifier == "" {
					return o.typ
				}
				return expr.Unknown
			})
			if c.typ = t; err != nil || t == expr.Unknown {
				c.typ = expr.String
			}
		}
	}
}

func shortList(list []string) string {
	const most = 10
	out := strings.Join(list[:min(most, len(list))], ", ")
	if len(list) > most {
		out += fmt.Sprintf(" and %d more", len(list)-most)
	}
	return out
}

// The form of a file.
type (
	fileSource struct {
		Name         string            `yaml:"name"`
		Table        string            `yaml:"table"`
		Description  string            `yaml:"description,omitempty"`
		Descriptions map[string]string `yaml:"descriptions,omitempty"`
		Grain        []string          `yaml:"grain,flow"`
		DefaultTime  string            `yaml:"default_time_dimension,omitempty"`
		Columns      []fileColumn      `yaml:"columns"`
		Joins        []fileJoin        `yaml:"joins,omitempty"`
		Measures     []fileMeasure     `yaml:"measures,omitempty"`
	}
	fileColumn struct {
		Name         string            `yaml:"name"`
		Type         string            `yaml:"type"`
		Expr         string            `yaml:"expr,omitempty"`
		Granularity  string            `yaml:"natural_granularity,omitempty"`
		Visibility   string            `yaml:"visibility,omitempty"`
		Description  string            `yaml:"description,omitempty"`
		Descriptions map[string]string `yaml:"descriptions,omitempty"`
	}
	fileJoin struct {
		To           string `yaml:"to"`
		Alias        string `yaml:"alias,omitempty"`
		On           string `yaml:"on"`
		Relationship string `yaml:"relationship"`
	}
	fileMeasure struct {
		Name         string            `yaml:"name"`
		Expr         string            `yaml:"expr"`
		Filter       string            `yaml:"filter,omitempty"`
		Description  string            `yaml:"description,omitempty"`
		Descriptions map[string]string `yaml:"descriptions,omitempty"`
		Semi         *semiAdditive     `yaml:"semi_additive,omitempty"`
	}
)

// described puts a description where it belongs.
func (im *importer) described(text string) (string, map[string]string) {
	text = strings.TrimSpace(text)
	if text == "" || im.label == "" {
		return text, nil
	}
	return "", map[string]string{im.label: text}
}

// render writes the file of a source.
func (im *importer) render(s *source) ([]byte, error) {
	f := fileSource{Name: s.name, Table: s.table, Grain: s.grain, DefaultTime: s.defaultTime}
	f.Description, f.Descriptions = im.described(s.description)
	for _, c := range s.columns {
		o := fileColumn{Name: c.name, Type: c.typ.String(), Granularity: c.granularity}
		if c.tree != nil {
			o.Expr = write(c.tree)
		}
		if c.internal {
			o.Visibility = "internal"
		}
		o.Description, o.Descriptions = im.described(c.description)
		f.Columns = append(f.Columns, o)
	}
	for _, j := range s.joins {
		o := fileJoin{To: j.to.name, Alias: j.alias, Relationship: j.relationship}
		target := j.alias
		if target == "" {
			target = j.to.name
		}
		var pairs []string
		for _, p := range j.pairs {
			pairs = append(pairs, nameOf(s.name, p[0]).String()+" = "+nameOf(target, p[1]).String())
		}
		o.On = strings.Join(pairs, " AND ")
		f.Joins = append(f.Joins, o)
	}
	for _, m := range s.measures {
		o := fileMeasure{Name: m.name, Expr: write(m.tree), Semi: m.semi}
		if m.filter != nil {
			o.Filter = write(m.filter)
		}
		o.Description, o.Descriptions = im.described(m.description)
		f.Measures = append(f.Measures, o)
	}
	var b bytes.Buffer
	b.WriteString("# Written by ktx sl import. It is yours: the import never writes a file that exists.\n")
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(f); err != nil {
		return nil, fmt.Errorf("write the source %s: %w", shorten(s.name), err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("write the source %s: %w", shorten(s.name), err)
	}
	return b.Bytes(), nil
}

// fileName returns a file name for a source that is free.
func (im *importer) fileName(s *source, used map[string]bool) string {
	base := draft.FileName(s.name)
	name := base + ".yaml"
	for n := 2; used[strings.ToLower(name)] || im.Has(name); n++ {
		name = fmt.Sprintf("%s-%d.yaml", base, n)
	}
	used[strings.ToLower(name)] = true
	return name
}
