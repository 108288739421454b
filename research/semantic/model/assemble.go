package model

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// maxName is how long a name of a source, an alias, a measure, or a segment may be, in
// bytes.
const maxName = 256

// assemble makes the sources of what the files say, sorted by name, and the indexes of
// names.
func (l *loader) assemble() {
	manifest := map[string]*entry{}
	var again []*entry
	for _, e := range l.manifest {
		if _, ok := manifest[e.v.name]; ok {
			again = append(again, e)
			continue
		}
		manifest[e.v.name] = e
	}
	type built struct {
		*Source
		*origins
	}
	var list []built
	taken := map[string]int{} // by name in lower case
	add := func(s *Source, o *origins, bad bool) {
		if l.without.source(s.Name) {
			s, o, bad = deny(s), &origins{self: o.self}, false
		}
		if bad {
			s.Invalid = true
		}
		folded := strings.ToLower(s.Name)
		if i, ok := taken[folded]; ok {
			l.report(list[i].Source, o.self.at("name"), expr.DuplicateName, "give one of them another name", "the name %s stands in %s too", s.Name, list[i].File)
			return
		}
		if len(list) == maxSources {
			l.unreadable(s.Name, s.File, o.self.v.line, fmt.Sprintf("the model has more than %d sources; this one and further ones are left out", maxSources))
			return
		}
		taken[folded] = len(list)
		list = append(list, built{s, o})
	}
	used := map[string]bool{}
	for _, e := range l.authored {
		o := &origins{self: origin{e.file, e.v}}
		name := e.v.word("name")
		if e.v.has("table") || e.v.has("sql") {
			used[name] = true // it stands in place of the entry of the manifest
			add(l.standalone(e, o), o, e.bad)
			continue
		}
		base, ok := manifest[name]
		if !ok {
			s := &Source{Name: name, Form: Overlaid, File: e.file, DefaultTime: -1}
			l.describe(s, e.v)
			known := slices.DeleteFunc(slices.Sorted(maps.Keys(manifest)), l.without.source)
			l.report(s, o.self.at("name"), expr.InvalidSource, didYouMean(l.m.near(name, func() []string { return known })),
				"it has neither table nor sql, and the manifest has no table %s that it could be an overlay of", shorten(name))
			add(s, o, true)
			continue
		}
		used[name] = true
		add(l.overlaid(base, e, o), o, e.bad || base.bad)
	}
	for _, e := range l.manifest {
		if manifest[e.v.name] == e && !used[e.v.name] {
			o := &origins{self: origin{e.file, e.v}}
			add(l.fromManifest(e, o), o, e.bad)
		}
	}
	for _, e := range again {
		if i, ok := taken[strings.ToLower(e.v.name)]; ok && list[i].Form != Standalone {
			l.report(list[i].Source, origin{e.file, e.v}, expr.DuplicateName, "run the scan again", "the table %s stands in two files of the manifest", shorten(e.v.name))
		}
	}
	slices.SortFunc(list, func(a, b built) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range list {
		b.grainAt = b.grain
		l.m.Sources = append(l.m.Sources, b.Source)
		l.origins = append(l.origins, b.origins)
	}
	l.index()
}

// index fills the indexes of names and the nodes of sources.
func (l *loader) index() {
	m := l.m
	m.names.local = make([]local, len(m.Sources))
	m.computed = make([][]*computed, len(m.Sources))
	for i, s := range m.Sources {
		m.names.local[i].columns.room(len(s.Columns))
		m.Nodes = append(m.Nodes, Node{Name: s.Name, Source: i})
		m.names.nodes.add(s.Name, i)
		for j, c := range s.Columns {
			m.names.columns.add(c.Name, place{i, j})
			m.names.local[i].columns.add(c.Name, j)
		}
		for j, x := range s.Measures {
			m.names.measures.add(x.Name, place{i, j})
			m.names.local[i].measures.add(x.Name, j)
		}
		for j, x := range s.Segments {
			m.names.local[i].segments.add(x.Name, j)
		}
	}
}

// standalone makes the source of a file with table or sql.
func (l *loader) standalone(e *entry, o *origins) *Source {
	s := &Source{Name: e.v.word("name"), Form: Standalone, File: e.file, DefaultTime: -1}
	l.describe(s, e.v)
	l.name(s, o.self.at("name"), expr.InvalidSource, s.Name, false)
	table, sql := e.v.at("table"), e.v.at("sql")
	switch {
	case table != nil && sql != nil:
		l.report(s, o.self.at("sql"), expr.InvalidSource, "keep one of them", "it has both table and sql")
	case table != nil:
		o.table = o.self.at("table")
		l.table(s, o.table)
	case sql != nil:
		o.table = o.self.at("sql")
		s.SQL = sql.text
	}
	for _, k := range overlayKeys {
		if e.v.at(k) != nil {
			l.report(s, o.self.at(k), expr.InvalidSource, "change columns and joins themselves", "only an overlay can have %s, and this source has its own table or sql", k)
		}
	}
	for _, v := range e.v.list("columns") {
		at := origin{e.file, v}
		c := &Column{Name: v.word("name"), Type: typeNamed(v.word("type")), Text: v.word("expr")}
		l.metadata(s, c, at)
		l.addColumn(s, o, c, at)
	}
	l.body(s, o)
	l.parts(s, o)
	if !e.v.has("grain") {
		l.report(s, o.self, expr.InvalidGrain, "list the columns of its key, as grain: [id]", "the grain is missing: which columns are unique together")
	} else if e.v.at("grain") != nil {
		o.grain = o.self.at("grain")
		l.grain(s, o.grain)
	}
	l.defaultTime(s, o.self)
	return s
}

// body asks the guard about the body of a source with sql.
func (l *loader) body(s *Source, o *origins) {
	if s.SQL == "" {
		return
	}
	at := o.table
	if l.judge == nil {
		l.report(s, at, expr.UnsafeSQLSource, "", "nothing is there that could judge the query")
		return
	}
	if strings.HasSuffix(strings.TrimSpace(s.SQL), ";") {
		l.report(s, at, expr.UnsafeSQLSource, "remove it", "the query ends with ;, and it is used as a part of other queries")
		return
	}
	_, columns, err := l.judge(s.SQL)
	if errors.Is(err, ErrDenied) && l.without == nil {
		s.Denied = true
		return
	}
	if err != nil {
		l.report(s, at, expr.UnsafeSQLSource, "", "the guard refuses the query: %s", shortenTo(err.Error(), 500))
		return
	}
	if columns == nil {
		return
	}
	var known lookup[int]
	for i, c := range columns {
		known.add(c, i)
	}
	for i, c := range s.Columns {
		if c.Text == "" && len(known.find(c.Name)) == 0 {
			l.report(s, o.columns[i].at("name"), expr.InvalidColumn, didYouMean(l.m.near(c.Name, func() []string { return columns })), "the query has no column %s in its result", shorten(c.Name))
		}
	}
}

// fromManifest makes the source of an entry of the manifest.
func (l *loader) fromManifest(e *entry, o *origins) *Source {
	s := &Source{Name: e.v.name, Form: Manifest, File: e.file, DefaultTime: -1}
	l.describe(s, e.v)
	l.base(s, e, o, nil)
	return s
}

// base fills a source from its entry of the manifest, without the columns that an
// overlay excludes.
func (l *loader) base(s *Source, e *entry, o *origins, excluded map[string]bool) {
	at := origin{e.file, e.v}
	l.name(s, at, expr.InvalidSource, s.Name, true)
	if e.v.at("table") != nil {
		o.table = at.at("table")
		l.table(s, o.table)
	}
	columns := e.v.list("columns")
	types := make([]string, len(columns))
	for i, v := range columns {
		types[i] = v.word("type")
	}
	four := fourTypes(types)
	var key []int
	anyKey := slices.ContainsFunc(columns, func(v *value) bool { return v.word("pk") == "true" })
	for i, v := range columns {
		c := &Column{
			Name: v.word("name"), NativeType: types[i], Type: nativeType(types[i]), Nullable: v.word("nullable") == "true", PrimaryKey: v.word("pk") == "true",
		}
		if four {
			c.Type = typeNamed(types[i])
		}
		c.Time = c.Type == expr.Time
		c.Enum = v.words("enum_values")
		c.Description, c.Descriptions = describe(v)
		if excluded[c.Name] || l.without.column(s.Name, c.Name) {
			continue
		}
		if l.addColumn(s, o, c, origin{e.file, v}) && c.PrimaryKey {
			key = append(key, len(s.Columns)-1)
		}
	}
	// Without all columns of its key, what is left is not unique, and the grain unknown.
	lost := slices.ContainsFunc(columns, func(v *value) bool {
		name := v.word("name")
		return (excluded[name] || l.without.column(s.Name, name)) && (!anyKey || v.word("pk") == "true")
	})
	switch {
	case lost:
	case anyKey:
		s.Grain = key
	default:
		for i := range s.Columns {
			s.Grain = append(s.Grain, i)
		}
	}
	o.grain = at.at("columns")
	for _, v := range e.v.list("joins") {
		l.addJoin(s, o, v, origin{e.file, v}, cmp.Or(v.word("source"), "formal"))
	}
}

// overlaid makes the source of an entry of the manifest and an overlay.
func (l *loader) overlaid(base, over *entry, o *origins) *Source {
	s := &Source{Name: base.v.name, Form: Overlaid, File: over.file, DefaultTime: -1}
	l.describe(s, base.v)
	l.describe(s, over.v)
	known := map[string]bool{}
	var names []string
	for _, v := range base.v.list("columns") {
		known[v.word("name")] = true
		if !l.without.column(s.Name, v.word("name")) {
			names = append(names, v.word("name"))
		}
	}
	excluded := map[string]bool{}
	for i, name := range over.v.words("exclude_columns") {
		if !known[name] {
			l.report(s, o.self.item("exclude_columns", i), expr.InvalidColumn, didYouMean(l.m.near(name, func() []string { return names })), "the manifest has no column %s to exclude", shorten(name))
			continue
		}
		excluded[name] = true
	}
	l.base(s, base, o, excluded)
	overridden := map[string]bool{}
	for i, v := range over.v.list("column_overrides") {
		at := o.self.item("column_overrides", i)
		name := v.word("name")
		c := s.columnNamed(name)
		switch {
		case name == "":
		case c == nil:
			l.report(s, at, expr.InvalidColumn, didYouMean(l.m.near(name, func() []string { return names })), "the source has no column %s of the manifest", shorten(name))
		case overridden[name]:
			l.report(s, at, expr.DuplicateName, "write one entry for it", "the column %s is overridden twice", shorten(name))
		default:
			overridden[name] = true
			l.metadata(s, c, at)
		}
	}
	for _, v := range over.v.list("columns") {
		at := origin{over.file, v}
		c := &Column{Name: v.word("name"), Type: typeNamed(v.word("type")), Text: v.word("expr")}
		l.metadata(s, c, at)
		switch {
		case c.Name == "":
		case excluded[c.Name]:
			l.report(s, at.at("name"), expr.DuplicateName, "give the computed column another name", "the table has a column %s, which is excluded", shorten(c.Name))
		case c.Text == "":
			hint := "write an expr"
			if known[c.Name] {
				hint = "put it under column_overrides"
			}
			l.report(s, at, expr.InvalidColumn, hint, "the column %s of an overlay has no expr", shorten(c.Name))
		default:
			l.addColumn(s, o, c, at)
		}
	}
	l.disableJoins(s, o)
	l.parts(s, o)
	if over.v.at("grain") != nil {
		o.grain = o.self.at("grain")
		s.Grain = nil
		l.grain(s, o.grain)
	}
	l.defaultTime(s, o.self)
	return s
}

func (s *Source) columnNamed(name string) *Column {
	for _, c := range s.Columns {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// disableJoins marks the joins of the manifest that an overlay switches off.
func (l *loader) disableJoins(s *Source, o *origins) {
	for i, text := range o.self.v.words("disable_joins") {
		found := false
		for _, j := range s.Joins {
			if normalOn(j.On) == normalOn(text) {
				j.Disabled, found = true, true
			}
		}
		if !found {
			var known []string
			for _, j := range s.Joins {
				known = append(known, shorten(j.On))
			}
			hint := "the manifest has no joins for it"
			if len(known) > 0 {
				hint = "its joins are: " + strings.Join(known[:min(5, len(known))], "; ")
			}
			l.report(s, o.self.item("disable_joins", i), expr.InvalidJoin, hint, "the manifest has no join on %s", shorten(text))
		}
	}
}

// normalOn writes the text of an on without quotes, white space, and differences of case
// and order.
func normalOn(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("\"`[]", r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ToLower(r)
	}, text)
	parts := strings.Split(strings.Join(strings.Fields(text), " "), " and ")
	for i, p := range parts {
		sides := strings.Split(strings.ReplaceAll(p, " ", ""), "=")
		slices.Sort(sides)
		parts[i] = strings.Join(sides, "=")
	}
	slices.Sort(parts)
	return strings.Join(parts, " and ")
}

// parts adds the joins, segments, and measures of a file.
func (l *loader) parts(s *Source, o *origins) {
	file, v := o.self.file, o.self.v
	for _, j := range v.list("joins") {
		l.addJoin(s, o, j, origin{file, j}, "")
	}
	for _, g := range v.list("segments") {
		at := origin{file, g}
		x := &Segment{Name: g.word("name"), Text: g.word("expr")}
		x.Description, _ = describe(g)
		if x.Name == "" || !l.name(s, at.at("name"), expr.InvalidSegment, x.Name, false) {
			continue
		}
		if slices.ContainsFunc(s.Segments, func(y *Segment) bool { return y.Name == x.Name }) {
			l.report(s, at.at("name"), expr.DuplicateName, "give one of them another name", "the segment %s is defined twice", x.Name)
			continue
		}
		s.Segments = append(s.Segments, x)
		o.segments = append(o.segments, at)
	}
	for _, g := range v.list("measures") {
		at := origin{file, g}
		x := &Measure{Name: g.word("name"), Text: g.word("expr"), FilterText: g.word("filter"), Draft: g.word("draft") == "true"}
		x.Description, _ = describe(g)
		if x.Name == "" || !l.name(s, at.at("name"), expr.InvalidMeasure, x.Name, false) {
			continue
		}
		if slices.ContainsFunc(s.Measures, func(y *Measure) bool { return y.Name == x.Name }) {
			l.report(s, at.at("name"), expr.DuplicateName, "give one of them another name", "the measure %s is defined twice", x.Name)
			continue
		}
		s.Measures = append(s.Measures, x)
		o.measures = append(o.measures, at)
	}
	s.Tags = append(s.Tags, v.words("tags")...)
	s.Draft = v.word("draft") == "true"
}

func (l *loader) addColumn(s *Source, o *origins, c *Column, at origin) bool {
	if c.Name == "" || !l.name(s, at.at("name"), expr.InvalidColumn, c.Name, s.Form != Standalone && c.Text == "") {
		return false
	}
	if s.columnNamed(c.Name) != nil {
		l.report(s, at.at("name"), expr.DuplicateName, "give one of them another name", "the source has two columns %s", shorten(c.Name))
		return false
	}
	s.Columns = append(s.Columns, c)
	o.columns = append(o.columns, at)
	return true
}

func (l *loader) addJoin(s *Source, o *origins, v *value, at origin, from string) {
	if len(s.Joins) == maxJoins {
		l.report(s, at, expr.InvalidJoin, "", "the source has more than %d joins", maxJoins)
		return
	}
	j := &Join{To: v.word("to"), Alias: v.word("alias"), On: v.word("on"), Origin: from, Target: -1, Node: -1, at: at}
	switch v.word("relationship") {
	case "many_to_one":
		j.Kind = ManyToOne
	case "one_to_many":
		j.Kind = OneToMany
	case "one_to_one":
		j.Kind = OneToOne
	}
	s.Joins = append(s.Joins, j)
	o.joins = append(o.joins, at)
}

// metadata fills what changes nothing of what a column computes.
func (l *loader) metadata(s *Source, c *Column, at origin) {
	if text, labels := describe(at.v); text != "" {
		if c.Descriptions == nil {
			c.Descriptions = labels
		} else {
			maps.Copy(c.Descriptions, labels)
		}
		c.Description = described(c.Descriptions)
	}
	switch at.v.word("visibility") {
	case "internal":
		c.Visibility = Internal
	case "hidden":
		c.Visibility = Hidden
	}
	if g := at.v.word("natural_granularity"); g != "" {
		c.NaturalGranularity = g
	}
	if list := at.v.words("enum_values"); list != nil {
		c.Enum = list
	}
	switch role := at.v.word("role"); {
	case role == "time" && c.Type != expr.Time:
		if c.Type != expr.Unknown {
			l.report(s, at.at("role"), expr.InvalidColumn, "give it type: time, or leave role out", "%s has role time and type %s", shorten(c.Name), c.Type)
		}
	case role == "default":
		c.Time = false
	default:
		c.Time = c.Type == expr.Time
	}
}

// describe returns the description of a value by precedence, and all of them. A key
// description counts as written by a user.
func describe(v *value) (string, map[string]string) {
	list, text := v.list("descriptions"), v.word("description")
	if len(list) == 0 && text == "" {
		return "", nil
	}
	labels := make(map[string]string, len(list)+1)
	for _, d := range list {
		if strings.TrimSpace(d.text) != "" {
			labels[d.name] = d.text
		}
	}
	if strings.TrimSpace(text) != "" && labels["user"] == "" {
		labels["user"] = text
	}
	return described(labels), labels
}

// described returns the description that counts: user, ai, dbt, db, then the first of
// the others by their names.
func described(labels map[string]string) string {
	for _, k := range []string{"user", "ai", "dbt", "db"} {
		if labels[k] != "" {
			return labels[k]
		}
	}
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		return labels[k]
	}
	return ""
}

// describe adds the descriptions of a file to those that a source has.
func (l *loader) describe(s *Source, v *value) {
	_, labels := describe(v)
	if labels == nil {
		return
	}
	if s.Descriptions == nil {
		s.Descriptions = map[string]string{}
	}
	maps.Copy(s.Descriptions, labels)
	s.Description = described(s.Descriptions)
}

// name reports a name that cannot be one. A scanned name is that of a table or a column,
// which may have points, and white space at its ends.
func (l *loader) name(s *Source, at origin, class expr.Class, name string, scanned bool) bool {
	var why string
	switch {
	case len(name) > maxName:
		why = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		why = "has a control character"
	case !scanned && strings.TrimSpace(name) != name:
		why = "begins or ends with white space"
	case !scanned && strings.Contains(name, "."):
		why = "has a point, and points stand between a source and its fields"
	default:
		return true
	}
	l.report(s, at, class, "", "the name %q %s", shorten(name), why)
	return false
}

// table reads the identifier of a table.
func (l *loader) table(s *Source, at origin) {
	parts, err := expr.ParsePath(at.v.text, 3)
	if err != nil {
		l.report(s, at, expr.InvalidSource, cmp.Or(err.Hint, "write one to three identifiers with points between them; a query goes under sql"),
			"%s is not the name of a table: %s", shorten(at.v.text), err.Message)
		return
	}
	for _, p := range parts {
		s.Table = append(s.Table, Ident{p.Name, p.Quoted})
	}
}

// grain reads the list of columns of a grain.
func (l *loader) grain(s *Source, at origin) {
	if len(at.v.items) == 0 {
		l.report(s, at, expr.InvalidGrain, "list the columns of its key", "the grain is empty")
	}
	for _, v := range at.v.items {
		i, hint := l.own(s, v.text)
		here := origin{at.file, v}
		switch {
		case i < 0:
			l.report(s, here, expr.InvalidGrain, hint, "the source has no column %s", shorten(v.text))
		case slices.Contains(s.Grain, i):
			l.report(s, here, expr.InvalidGrain, "", "the column %s is listed twice", shorten(v.text))
		default:
			s.Grain = append(s.Grain, i)
		}
	}
}

// own finds a column of a source by its name as it stands in a list; -1 if there is none
// or more than one.
func (l *loader) own(s *Source, name string) (column int, hint string) {
	folded := -1
	several := false
	for i, c := range s.Columns {
		if c.Name == name {
			return i, ""
		}
		if strings.EqualFold(c.Name, name) {
			several = folded >= 0
			folded = i
		}
	}
	if folded >= 0 && !several {
		return folded, ""
	}
	if strings.Contains(name, ".") {
		return -1, "write the name of the column alone, without its source"
	}
	return -1, didYouMean(l.m.near(name, func() []string { return columnNames(s) }))
}

func columnNames(s *Source) []string {
	var out []string
	for _, c := range s.Columns {
		out = append(out, c.Name)
	}
	return out
}

func (l *loader) defaultTime(s *Source, self origin) {
	v := self.v.at("default_time_dimension")
	if v == nil || v.text == "" {
		return
	}
	i, hint := l.own(s, v.text)
	switch {
	case i < 0:
		l.report(s, origin{self.file, v}, expr.InvalidColumn, hint, "the source has no column %s", shorten(v.text))
	case s.Columns[i].Type != expr.Time:
		l.report(s, origin{self.file, v}, expr.InvalidColumn, "name a column of type time", "%s has type %s", shorten(v.text), s.Columns[i].Type)
	default:
		s.DefaultTime = i
	}
}
