package upstream

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/rank"
)

// The fields of the index, with their weights. docs/evidence/discovery-quality.md says
// how well they find tools of public sets.
const (
	fieldName = iota
	fieldSentence
	fieldDescription
	fieldServer
	fieldParameter
	fieldServerAbout
	fieldParameterAbout
	fieldTags
)

var fields = []rank.Field{
	fieldName:           {Name: "name", Weight: 3, B: 0.4},
	fieldSentence:       {Name: "summary", Weight: 1.5, B: 0.5},
	fieldDescription:    {Name: "description", Weight: 1, B: 0.6},
	fieldServer:         {Name: "server", Weight: 1.2, B: 0.4},
	fieldParameter:      {Name: "parameter", Weight: 0.6, B: 0.5},
	fieldServerAbout:    {Name: "server_description", Weight: 0.3, B: 0.5},
	fieldParameterAbout: {Name: "parameter_description", Weight: 0.3, B: 0.6},
	fieldTags:           {Name: "tags", Weight: 1.2, B: 0.4},
}

// gramLength is how many letters a gram of the index has.
const gramLength = 4

// laneDepth is how many tools of each ranking are fused.
const laneDepth = 200

// analyzer has no abbreviations of its own: tools are described in words.
var analyzer = rank.NewAnalyzer(nil)

// catalogue is the index of the enabled tools. It is immutable.
type catalogue struct {
	setup  *setup
	lists  int64
	tools  []entry
	hidden map[string]int // by server

	words *rank.Index
	terms *rank.Vectors
	grams *rank.Vectors
}

// entry is one tool of the index.
type entry struct {
	tool *Tool
	tags []string
	// name and whole are the folded name of the tool, and server:tool.
	name, whole string
}

// Query asks for tools.
type Query struct {
	Texts  []string // 1 to 5
	Server string   // "" is every server
	Tags   []string // all of which a tool must have
	Limit  int
}

// Found is a tool that a query found.
type Found struct {
	Server     string   `json:"server"`
	Tool       string   `json:"tool"`
	Summary    string   `json:"summary"`
	Relevance  float64  `json:"relevance"` // 1 for the first
	Tags       []string `json:"tags,omitempty"`
	MatchedOn  string   `json:"matchedOn"`
	ReadOnly   bool     `json:"readOnly"`
	definition *Tool
}

// Definition returns the tool as its server defined it.
func (f *Found) Definition() *Tool { return f.definition }

// Result is the answer to a [Query].
type Result struct {
	Results     []Found
	Hidden      int      // tools that are disabled or changed
	Suggestions []string // names that resemble the words of a query that found nothing
	Missing     []string // servers whose tools are not known yet
}

// Search finds tools. It connects only to servers whose tools are not known.
func (m *Manager) Search(ctx context.Context, q Query) (Result, error) {
	s := m.current.Load()
	part := s.of(ctx)
	server := ""
	if q.Server != "" {
		l, err := part.link(q.Server)
		if err != nil {
			return Result{}, err
		}
		server = l.name()
	}
	missing := m.missing(ctx, part, server)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	c := m.catalogue(s)
	out := c.search(q, server, part.links)
	out.Missing = missing
	return out, nil
}

// catalogue returns the index of the present tools, and makes it if they have changed.
func (m *Manager) catalogue(s *setup) *catalogue {
	if c := m.index.Load(); c != nil && c.setup == s && c.lists == m.lists.Load() {
		return c
	}
	m.made.Lock()
	defer m.made.Unlock()
	lists := m.lists.Load()
	if c := m.index.Load(); c != nil && c.setup == s && c.lists == lists {
		return c
	}
	c := m.build(s)
	c.lists = lists
	if m.current.Load() == s {
		m.index.Store(c)
	}
	return c
}

func (m *Manager) build(s *setup) *catalogue {
	c := &catalogue{setup: s, hidden: map[string]int{}}
	b := rank.NewBuilder(analyzer, fields)
	var terms, grams [][]string
	for _, name := range s.names {
		l := s.links[name]
		settings := l.settings()
		listed := l.known()
		if listed == nil || settings.Disabled {
			continue
		}
		for _, t := range listed.tools {
			st := s.standing(t)
			if !st.Enabled || m.changed(t) {
				c.hidden[name]++
				continue
			}
			c.tools = append(c.tools, entry{tool: t, tags: st.Tags, name: fold(t.Name), whole: fold(name + ":" + t.Name)})
			texts := []rank.Text{
				{Field: fieldName, Text: t.Name},
				{Field: fieldSentence, Text: t.Summary},
				{Field: fieldDescription, Text: t.Description},
				{Field: fieldServer, Text: name + " " + t.Title},
				{Field: fieldServerAbout, Text: settings.Description},
				{Field: fieldTags, Text: strings.Join(append(slices.Clone(st.Tags), settings.Keywords...), " ")},
			}
			for _, p := range t.Parameters {
				texts = append(texts, rank.Text{Field: fieldParameter, Text: p.Name}, rank.Text{Field: fieldParameterAbout, Text: p.Description})
			}
			b.Add(texts...)
			whole := strings.Join([]string{t.Name, t.Title, name, t.Description}, " ")
			terms = append(terms, rank.Stems(whole))
			grams = append(grams, rank.Grams(whole, gramLength))
		}
	}
	c.words, c.terms, c.grams = b.Index(), rank.NewVectors(terms), rank.NewVectors(grams)
	return c
}

// place is what ranks a tool before the words of a query do.
type place int

const (
	placeExact  place = iota // the query is the name
	placePrefix              // the name begins with the query
	placeRanked
)

// search finds tools of the servers that are permitted.
func (c *catalogue) search(q Query, server string, permitted map[string]*link) Result {
	out := Result{Results: []Found{}}
	for name, n := range c.hidden {
		if permitted[name] != nil && (server == "" || name == server) {
			out.Hidden += n
		}
	}
	fits := func(e *entry) bool {
		return permitted[e.tool.Server] != nil && (server == "" || e.tool.Server == server) && !slices.ContainsFunc(q.Tags, func(tag string) bool {
			return !slices.ContainsFunc(e.tags, func(has string) bool { return fold(has) == fold(tag) })
		})
	}
	first := map[int]place{}
	var ranked [][]rank.Fused // by query
	matched := map[int]string{}
	item := func(doc int) rank.Item {
		return rank.Item{Kind: "tool", Connection: c.tools[doc].tool.Server, ID: c.tools[doc].tool.Name, Ref: doc}
	}
	blank := true
	for _, text := range q.Texts {
		blank = blank && strings.TrimSpace(text) == ""
		c.named(fold(strings.TrimSpace(text)), fits, first)
		question := analyzer.Query(text)
		if question.Empty() {
			continue
		}
		var lane []rank.Item
		var lanes [][]rank.Item
		for _, hit := range rank.Search(question, c.words) {
			if len(lane) == laneDepth {
				break
			}
			if fits(&c.tools[hit.Doc]) {
				lane = append(lane, item(hit.Doc))
				if matched[hit.Doc] == "" {
					matched[hit.Doc] = fields[hit.Field].Name
				}
			}
		}
		lanes = append(lanes, lane)
		for _, found := range [][]rank.Match{c.terms.Search(rank.Stems(question.Text())), c.grams.Search(rank.Grams(question.Text(), gramLength))} {
			var lane []rank.Item
			for _, hit := range found {
				if len(lane) == laneDepth {
					break
				}
				if fits(&c.tools[hit.Doc]) {
					lane = append(lane, item(hit.Doc))
				}
			}
			lanes = append(lanes, lane)
		}
		ranked = append(ranked, rank.Fuse(lanes...))
	}
	var order []int
	for p := placeExact; p <= placePrefix; p++ {
		for doc := range c.tools {
			if at, ok := first[doc]; ok && at == p {
				order = append(order, doc)
				matched[doc] = map[place]string{placeExact: "exact_name", placePrefix: "name_prefix"}[p]
			}
		}
	}
	// The best tool of each query, then the second best of each, and so on.
	for at := range 3 * laneDepth {
		for _, list := range ranked {
			if at >= len(list) {
				continue
			}
			if _, ok := first[list[at].Ref]; !ok {
				first[list[at].Ref] = placeRanked
				order = append(order, list[at].Ref)
			}
		}
	}
	if blank { // everything, by name
		for doc := range c.tools {
			if fits(&c.tools[doc]) {
				order = append(order, doc)
				matched[doc] = "all"
			}
		}
	}
	for at, doc := range order {
		if at == q.Limit {
			break
		}
		e := &c.tools[doc]
		st := c.setup.standing(e.tool)
		out.Results = append(out.Results, Found{
			Server: e.tool.Server, Tool: e.tool.Name, Summary: e.tool.Summary, Tags: e.tags, MatchedOn: matchedOn(matched[doc]),
			Relevance: relevance(at), ReadOnly: readOnly(e.tool, &st), definition: e.tool,
		})
	}
	if len(out.Results) == 0 && !blank {
		out.Suggestions = c.suggest(q.Texts, fits)
	}
	return out
}

func matchedOn(field string) string {
	if field == "" {
		return "similar_letters"
	}
	return field
}

// relevance is 1 for the first of a list, and falls with the rank.
func relevance(at int) float64 {
	return math.Round(1e4*10/float64(10+at)) / 1e4
}

// named finds the tools that a text names, wholly or by the begin of the name.
func (c *catalogue) named(text string, fits func(*entry) bool, first map[int]place) {
	if text == "" || strings.ContainsRune(text, ' ') {
		return
	}
	for doc := range c.tools {
		e := &c.tools[doc]
		at := placeRanked
		switch {
		case e.name == text || e.whole == text:
			at = placeExact
		case len(text) >= 3 && (strings.HasPrefix(e.name, text) || strings.HasPrefix(e.whole, text)):
			at = placePrefix
		}
		if before, ok := first[doc]; at != placeRanked && (!ok || at < before) && fits(e) {
			first[doc] = at
		}
	}
}

// maxSuggestions bounds the names that are suggested.
const maxSuggestions = 5

// suggest returns names of tools that resemble the words of a query.
func (c *catalogue) suggest(texts []string, fits func(*entry) bool) []string {
	var names []string
	for i := range c.tools {
		if fits(&c.tools[i]) {
			names = append(names, c.tools[i].tool.Server+":"+c.tools[i].tool.Name)
		}
	}
	var out []string
	for _, text := range texts {
		for _, name := range similar(text, names) {
			if len(out) < maxSuggestions && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// similar returns the names that share pairs of letters with a text, best first.
func similar(text string, names []string) []string {
	grams := make([][]string, len(names))
	for i, name := range names {
		grams[i] = rank.Grams(name, 2)
	}
	var out []string
	for _, hit := range rank.NewVectors(grams).Search(rank.Grams(text, 2)) {
		if hit.Score < minSimilar {
			break
		}
		out = append(out, names[hit.Doc])
	}
	return out
}

// minSimilar is the least similarity of names that are suggested.
const minSimilar = 0.35

// nearest returns the name that was probably meant, or "".
func nearest(text string, names []string) string {
	if found := similar(text, names); len(found) > 0 {
		return found[0]
	}
	return ""
}

// String names a tool as server:tool.
func (t *Tool) String() string { return fmt.Sprintf("%s:%s", t.Server, t.Name) }
