package research

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic"
)

// DiscoverDataInput is the input of discover_data.
type DiscoverDataInput struct {
	Query        string `json:"query"`
	ConnectionID string `json:"connectionId"` // "" for all connections of the caller
	Kinds        []Kind `json:"kinds"`        // nil for all
	// Limit is the most results. 0 means DefaultDiscoverLimit.
	Limit int `json:"limit"`
}

// DefaultDiscoverLimit is how many results discover_data returns by default.
const DefaultDiscoverLimit = 15

// DiscoverData is the answer of discover_data, the best result first.
type DiscoverData struct {
	Refs []DiscoverRef `json:"refs"`
	// Notes say which connections could not be searched, and what to ask when nothing was
	// found.
	Notes []string `json:"notes,omitempty"`
}

// DiscoverRef is one object that was found. ID is what other tools take: the key of
// a page, or the name of a table or a column.
type DiscoverRef struct {
	Kind         Kind         `json:"kind"`
	ID           string       `json:"id"`
	Score        float64      `json:"score"` // 0 to 1; the best has 1
	Summary      *string      `json:"summary"`
	Snippet      *string      `json:"snippet"`
	MatchedOn    string       `json:"matchedOn"`
	ConnectionID string       `json:"connectionId,omitempty"`
	TableRef     *catalog.Ref `json:"tableRef,omitempty"`
	ColumnName   string       `json:"columnName,omitempty"`
	Untrusted    bool         `json:"untrusted,omitempty"` // an agent wrote it
}

// Kind is the kind of an object that discover_data finds.
type Kind string

// The kinds.
const (
	KindWiki      Kind = "wiki"
	KindSource    Kind = "sl_source"
	KindMeasure   Kind = "sl_measure"
	KindDimension Kind = "sl_dimension"
	KindTable     Kind = "table"
	KindColumn    Kind = "column"
)

// Kinds are all kinds, in the order of the tool's schema.
var Kinds = []Kind{KindWiki, KindSource, KindMeasure, KindDimension, KindTable, KindColumn}

// A lane is one of the lists that discover_data merges. The Ref of its items is what
// render takes.
type lane struct {
	rank.Lane
	render func(ref int) DiscoverRef
}

// DiscoverData finds what a project knows about a question: pages, and the sources,
// measures, tables and columns of the connections that the caller may use. A blank query finds nothing.
// The error is that of an unknown connection.
func (s *Service) DiscoverData(ctx context.Context, in DiscoverDataInput) (DiscoverData, error) {
	out := DiscoverData{Refs: []DiscoverRef{}}
	scope, err := s.scope(ctx, in.ConnectionID)
	if err != nil {
		return out, err
	}
	stores := s.stores.Load()
	q := stores.Analyzer.Query(in.Query)
	if q.Empty() {
		return out, nil
	}
	limit := in.Limit
	if limit <= 0 {
		limit = DefaultDiscoverLimit
	}
	wanted := func(kinds ...Kind) bool {
		return len(in.Kinds) == 0 || slices.ContainsFunc(kinds, func(k Kind) bool { return slices.Contains(in.Kinds, k) })
	}
	search := &discovery{service: s, stores: stores, query: q, text: in.Query, limit: limit + laneReserve, scoped: in.ConnectionID != ""}
	models := noModels
	switch named := len(in.Kinds) > 0; {
	case !named:
		models = authoredModels
	case wanted(KindSource, KindMeasure, KindDimension):
		models = allModels
	}
	if err := search.open(ctx, scope, wanted(KindTable, KindColumn), models); err != nil {
		return out, err
	}
	var lanes []lane
	if wanted(KindWiki) {
		lanes = append(lanes, search.pages())
	}
	if wanted(KindTable, KindColumn) {
		search.used = s.usedEvidence(ctx, stores, search.snapshots)
		lanes = append(lanes, search.tables(wanted(KindTable), wanted(KindColumn)))
		out.Notes = missingScans(search.missing)
	}
	if models != noModels {
		var kinds []semantic.Kind
		for number, kind := range semanticKinds {
			if wanted(kind) {
				kinds = append(kinds, semantic.Kind(number))
			}
		}
		lanes = append(lanes, search.semantic(kinds, models))
		together(lanes[max(0, len(lanes)-2):])
	}
	lists := make([]rank.Lane, len(lanes))
	for i := range lanes {
		lists[i] = lanes[i].Lane
	}
	fused := rank.Merge(lists...)
	for _, f := range fused[:min(limit, len(fused))] {
		ref := lanes[f.Lane].render(f.Ref)
		ref.Score = f.Score
		out.Refs = append(out.Refs, ref)
	}
	pages := wanted(KindWiki) && search.wiki != nil && len(search.wiki.Pages()) > 0
	if len(out.Refs) == 0 && (pages || len(search.indexes) > 0 || len(search.models) > 0) {
		out.Notes = append(out.Notes, nothingFound(search.snapshots))
	}
	return out, nil
}

// nothingFound says what to ask instead of a question that matches nothing. Only names that
// the rules permit are in a snapshot.
func nothingFound(scans []*catalog.Snapshot) string {
	const (
		mostConnections, mostTables = 5, 10
		text                        = "nothing has a word of the question: ask with other words, or in the language that the names are in"
	)
	var lists []string
	for _, found := range scans {
		if len(lists) == mostConnections {
			break
		}
		tables := found.Tables()
		if len(tables) == 0 {
			lists = append(lists, found.ConnectionID()+" has none")
			continue
		}
		names := make([]string, 0, mostTables)
		for _, t := range tables[:min(len(tables), mostTables)] {
			names = append(names, found.Display(t.Ref()))
		}
		list := found.ConnectionID() + " has " + strings.Join(names, ", ")
		if more := len(tables) - len(names); more > 0 {
			list += fmt.Sprintf(" and %d more", more)
		}
		lists = append(lists, list)
	}
	if len(lists) == 0 {
		return text
	}
	return text + "; of tables, " + strings.Join(lists, "; ")
}

// together gives the lanes of the scans and of the semantic layer equal shares: both are
// about the same tables, and the texts of the second are longer.
func together(lanes []lane) {
	most := 0.0
	for _, l := range lanes {
		if len(l.Items) > 0 && l.Items[0].Kind != string(KindWiki) {
			most = max(most, l.Items[0].Mass)
		}
	}
	for i := range lanes {
		if len(lanes[i].Items) > 0 && lanes[i].Items[0].Kind != string(KindWiki) {
			lanes[i].Least = most
		}
	}
}

// laneReserve is how many items a lane has beyond the limit: those by which a page
// stands out.
const laneReserve = 35

// missingScans says that connections have no scan.
func missingScans(ids []string) []string {
	const most = 10
	switch n := len(ids); n {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("connection %s has no scan, so its tables are not found; ask the operator to run: ktx scan %s", ids[0], ids[0])}
	default:
		names := strings.Join(ids[:min(n, most)], ", ")
		if n > most {
			names += fmt.Sprintf(" and %d more", n-most)
		}
		return []string{fmt.Sprintf("%d connections have no scan, so their tables are not found: %s; ask the operator to run: ktx scan %s (or ktx scan --all)", n, names, ids[0])}
	}
}
