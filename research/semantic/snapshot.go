package semantic

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic/emit"
	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// Snapshot is the model of one connection at one moment. It is immutable, and safe for
// concurrent use.
type Snapshot struct {
	connectionID string
	files        files
	folder       *model.Folder // what the files say, each by itself
	model        *model.Model

	indexing sync.Mutex // held while the index is built
	index    *Index
	analyzer *rank.Analyzer // of index
}

// newSnapshot makes the model of files. What before says of files that are still the same
// is taken over; before may be nil.
func newSnapshot(connectionID string, content files, before *model.Folder, rules Rules) *Snapshot {
	folder := model.Read(content, before)
	m := folder.LoadPermitted(connectionID, rules.Judge, &permission{rules: &rules})
	return &Snapshot{connectionID: connectionID, files: content, folder: folder, model: m}
}

// Model returns the model. Nobody may change it.
func (s *Snapshot) Model() *model.Model { return s.model }

// Hash is equal for equal files.
func (s *Snapshot) Hash() string { return s.folder.Hash() }

// Compiled is a request as SQL of one engine.
type Compiled struct {
	SQL     string
	Columns []emit.Column
	Plan    *plan.Plan
	// Verified says which joins the data was found to bear out, or is nil.
	Verified *Verified
	// Tables has one statement for each source of the plan. The tables that they read
	// are those that SQL may read.
	Tables []string

	dialect emit.Dialect
	hash    string
}

// Compile turns a request into SQL. It touches no database. The error says what is wrong
// with the request or the model.
func (s *Snapshot) Compile(r plan.Request, d emit.Dialect) (*Compiled, *expr.Error) {
	p, refused := plan.Build(s.model, r)
	if refused != nil {
		return nil, refused
	}
	for _, source := range sources(p) {
		if refused := s.model.Refusal(source); refused != nil {
			return nil, refused
		}
	}
	text, refused := emit.Emit(p, d)
	if refused != nil {
		return nil, refused
	}
	return &Compiled{
		SQL: text.Text, Columns: text.Columns, Plan: p, Tables: touched(s.model, sources(p), d),
		dialect: d, hash: s.Hash(),
	}, nil
}

// sources returns the sources that a plan reads, sorted.
func sources(p *plan.Plan) []int {
	var out []int
	for _, leg := range p.Legs {
		out = append(out, p.Model.Nodes[leg.Base].Source)
		for _, j := range leg.Joins {
			out = append(out, p.Model.Nodes[p.Model.Edges[j.Edge].To].Source)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Describe returns the plan for an answer.
func (c *Compiled) Describe() *plan.Description {
	d := c.Plan.Describe(c.verified)
	d.Dialect, d.ModelHash = string(c.dialect), c.hash
	return &d
}

// Explain returns the plan for people to read.
func (c *Compiled) Explain() string { return c.Plan.Explain(c.verified) }

// verified returns when the data was found to bear a join out, or "".
func (c *Compiled) verified(source string, join int) string {
	if c.Verified == nil || !c.Verified.Joins[source][fmt.Sprintf("joins[%d]", join)] {
		return ""
	}
	return c.Verified.At.UTC().Format(time.RFC3339)
}

// Fields returns the names of all measures, or of all columns that are offered as
// dimensions, in the order of the sources.
func (s *Snapshot) Fields(measures bool) []string {
	var out []string
	for _, source := range s.model.Sources {
		if source.Denied {
			continue
		}
		if measures {
			for _, m := range source.Measures {
				out = append(out, expr.Name{Qualifier: source.Name, Leaf: m.Name}.String())
			}
			continue
		}
		for _, c := range source.Columns {
			if offered(c) {
				out = append(out, expr.Name{Qualifier: source.Name, Leaf: c.Name}.String())
			}
		}
	}
	return out
}

// With returns a function that loads the model as it would be with further files. Judge
// is that of the connection's rules.
func (s *Snapshot) With(judge model.Judge) func(added map[string][]byte) *model.Model {
	return func(added map[string][]byte) *model.Model {
		all := maps.Clone(s.files)
		if all == nil {
			all = files{}
		}
		maps.Copy(all, added)
		return model.Read(all, s.folder).Load(s.connectionID, judge)
	}
}

// Has reports whether the connection's folder has a file.
func (s *Snapshot) Has(name string) bool {
	_, ok := s.files[name]
	return ok
}
