package research

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/wiki"
)

// discovery is one call of discover_data.
type discovery struct {
	service *Service
	stores  *Stores
	query   *rank.Query
	text    string // of the query
	limit   int    // of a lane
	scoped  bool   // the caller named the connection

	wiki      *wiki.Snapshot // nil without a wiki
	snapshots []*catalog.Snapshot
	indexes   []*search.Index // of the snapshots
	missing   []string        // connections without a scan
	models    []*semantic.Index
	owners    []string // the connections of models
	used      []search.Evidence
}

// scope returns the connections that are searched: the one with the id, or all that
// the caller may use.
func (s *Service) scope(ctx context.Context, connectionID string) ([]execution.ConnectionInfo, error) {
	if connectionID == "" {
		return s.gateway.Connections(ctx), nil
	}
	info, err := s.gateway.Connection(ctx, connectionID)
	if err != nil {
		return nil, err
	}
	return []execution.ConnectionInfo{info}, nil
}

// open reads what is searched, and weighs the words of the question by all of it, so
// that the lanes can be compared. Nothing of a connection that is not in scope takes
// part.
func (d *discovery) open(ctx context.Context, scope []execution.ConnectionInfo, tables bool, models modelScope) error {
	var all []*rank.Index
	if d.stores.Wiki != nil {
		pages, err := d.stores.Wiki.Snapshot()
		if err != nil {
			return storeError(err)
		}
		d.wiki = pages
		all = append(all, pages.Ranks()...)
	}
	if tables {
		if err := d.openScans(ctx, scope); err != nil {
			return err
		}
		for _, x := range d.indexes {
			all = append(all, x.Ranks()...)
		}
	}
	if models != noModels && d.stores.Semantic != nil {
		for _, c := range scope {
			if models == authoredModels && !d.stores.Semantic.Authored(c.ID) {
				continue // nothing of it would be returned, and a large scan takes long to read
			}
			found, err := d.service.semanticLayer(ctx, c)
			if err != nil {
				return err
			}
			if len(found.Model().Sources) == 0 {
				continue
			}
			x := found.Index(d.stores.Analyzer)
			d.models, d.owners = append(d.models, x), append(d.owners, c.ID)
			all = append(all, x.Ranks()...)
		}
	}
	d.query = d.query.Within(all...)
	return nil
}

// modelScope says which models are read.
type modelScope int

const (
	noModels       modelScope = iota
	authoredModels            // those of connections with files that a person wrote
	allModels
)

// semantic is the lane of the semantic layer. Unless the caller names its kinds, it
// leaves out what only a scan named: the lane of the scans has it.
func (d *discovery) semantic(kinds []semantic.Kind, models modelScope) lane {
	hits := semantic.Search(d.query, semantic.SearchOptions{Kinds: kinds, Limit: d.limit, Authored: models == authoredModels}, d.models...)
	l := lane{Lane: rank.Lane{Weight: 1}, render: func(ref int) DiscoverRef {
		h := &hits[ref]
		return semanticRef(d.query, d.models[h.Index], d.owners[h.Index], h)
	}}
	for i := range hits {
		h := &hits[i]
		l.Items = append(l.Items, rank.Item{Kind: string(semanticKinds[h.Kind]), Connection: d.owners[h.Index], ID: d.models[h.Index].ID(h), Mass: h.Mass, Ref: i})
	}
	return l
}

// semanticKinds are the kinds of the semantic layer, by the number that it has there.
var semanticKinds = []Kind{semantic.KindSource: KindSource, semantic.KindMeasure: KindMeasure, semantic.KindDimension: KindDimension}

// openScans gets the snapshots and indexes of the connections, several at a time.
func (d *discovery) openScans(ctx context.Context, scope []execution.ConnectionInfo) error {
	snapshots, indexes, errs := make([]*catalog.Snapshot, len(scope)), make([]*search.Index, len(scope)), make([]error, len(scope))
	work := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(scope)) {
		wait.Go(func() {
			for i := range work {
				if snapshots[i], errs[i] = d.service.snapshot(ctx, d.stores.Catalog, scope[i].ID); errs[i] == nil {
					indexes[i], errs[i] = d.service.index(ctx, d.stores, scope[i], snapshots[i])
				}
			}
		})
	}
	for i := range scope {
		work <- i
	}
	close(work)
	wait.Wait()
	for i := range scope {
		switch {
		case errors.Is(errs[i], catalog.ErrNoScan):
			d.missing = append(d.missing, scope[i].ID)
		case errs[i] != nil:
			return errs[i]
		default:
			d.snapshots, d.indexes = append(d.snapshots, snapshots[i]), append(d.indexes, indexes[i])
		}
	}
	return nil
}

// How pages are merged with the rest. They are longer than names, so they have more words
// of any question by chance: their masses count less, the less their first stands out from
// the others. docs/evidence/discovery-quality.md says how the figures were chosen.
const (
	pageWeight  = 0.73
	pagePlaces  = 5    // of the first 15 results
	fewStandOut = 0.35 // how much the first of few pages stands out
)

// standsOut is how much better the first of the pages is than the sixth to fifteenth,
// from 0 to 1.
func standsOut(hits []wiki.Hit) float64 {
	if len(hits) <= pagePlaces || hits[0].Score <= 0 {
		return fewStandOut
	}
	rest := hits[pagePlaces:min(len(hits), 3*pagePlaces)]
	sum := 0.0
	for i := range rest {
		sum += rest[i].Score
	}
	return max(0, 1-sum/float64(len(rest))/hits[0].Score)
}

// pages is the lane of the wiki.
func (d *discovery) pages() lane {
	if d.wiki == nil {
		return lane{}
	}
	hits := d.wiki.Search(d.query, d.text, d.limit).Hits
	l := lane{Lane: rank.Lane{Weight: pageWeight * (0.5 + standsOut(hits)), Quota: pagePlaces}, render: func(ref int) DiscoverRef { return pageRef(&hits[ref]) }}
	for i, h := range hits {
		l.Items = append(l.Items, rank.Item{Kind: string(KindWiki), ID: h.Page.Key, Mass: h.Mass, Exact: h.Named, Ref: i})
	}
	return l
}

// tables is the lane of the scans.
func (d *discovery) tables(tables, columns bool) lane {
	hits := search.Search(d.query, search.Options{
		Tables: tables, Columns: columns, Limit: d.limit, Scoped: d.scoped, Evidence: append(d.used, d.evidence()...),
	}, d.indexes...)
	l := lane{Lane: rank.Lane{Weight: 1}, render: func(ref int) DiscoverRef { return tableOrColumn(d.query, d.snapshots[hits[ref].Index], &hits[ref]) }}
	for i, h := range hits {
		found := d.snapshots[h.Index]
		item := rank.Item{Kind: string(KindTable), Connection: found.ConnectionID(), Mass: h.Mass, Exact: h.Named, Ref: i}
		if h.Column < 0 {
			item.ID = found.Display(h.Table.Ref())
		} else {
			item.Kind, item.ID = string(KindColumn), found.DisplayColumn(h.Table.Ref(), h.Table.Columns[h.Column].Name)
		}
		l.Items = append(l.Items, item)
	}
	return l
}

// maxMentions is how many identifiers of the wiki lend their words to tables.
const maxMentions = 30

// evidence returns how well the pages fit that name a table or a column.
func (d *discovery) evidence() []search.Evidence {
	if d.wiki == nil || len(d.indexes) == 0 {
		return nil
	}
	named := d.service.mentions(d.stores, d.wiki)
	if named == nil {
		return nil
	}
	hits := rank.Search(d.query, named.index)
	hits = hits[:min(len(hits), maxMentions)]
	most := 0.0
	for _, h := range hits {
		most = max(most, h.Score)
	}
	var out []search.Evidence
	for _, h := range hits {
		for _, found := range d.snapshots {
			t, c := found.Lookup(named.identifiers[h.Doc])
			if t == nil {
				continue
			}
			e := search.Evidence{Connection: found.ConnectionID(), Table: t.Ref(), Wiki: h.Score / most}
			if c != nil {
				e.Column = c.Name
			}
			out = append(out, e)
		}
	}
	return out
}

// mentionIndex ranks the identifiers that the wiki names by the words around them.
type mentionIndex struct {
	wiki        string // the ID of the wiki's snapshot
	analyzer    *rank.Analyzer
	identifiers []string
	index       *rank.Index
}

// mentions returns the index for a wiki, or nil if it names nothing.
func (s *Service) mentions(stores *Stores, pages *wiki.Snapshot) *mentionIndex {
	m := s.named.Load()
	if m == nil || m.wiki != pages.ID() || m.analyzer != stores.Analyzer {
		m = &mentionIndex{wiki: pages.ID(), analyzer: stores.Analyzer}
		b := rank.NewBuilder(stores.Analyzer, []rank.Field{{Name: "text", Weight: 1, B: 0.75}})
		for _, mention := range pages.Mentions() {
			m.identifiers = append(m.identifiers, mention.Identifier)
			b.Add(rank.Text{Text: mention.Text})
		}
		m.index = b.Index()
		s.named.Store(m)
	}
	if len(m.identifiers) == 0 {
		return nil
	}
	return m
}

// indexes keeps the search index of each connection's latest snapshot.
type indexes struct {
	mu   sync.Mutex
	byID map[string]*indexSlot
}

type indexSlot struct {
	mu         sync.Mutex // held by the one call that builds
	identity   string
	connection search.Connection
	analyzer   *rank.Analyzer
	index      *search.Index
}

// index returns the search index of a snapshot.
func (s *Service) index(ctx context.Context, stores *Stores, info execution.ConnectionInfo, found *catalog.Snapshot) (*search.Index, error) {
	s.indexes.mu.Lock()
	if s.indexes.byID == nil {
		s.indexes.byID = map[string]*indexSlot{}
	}
	slot := s.indexes.byID[info.ID]
	if slot == nil {
		slot = &indexSlot{}
		s.indexes.byID[info.ID] = slot
	}
	s.indexes.mu.Unlock()
	connection := search.Connection{ID: info.ID, Name: info.Name, Description: info.Description}
	slot.mu.Lock()
	defer slot.mu.Unlock()
	if slot.index == nil || slot.identity != found.Identity() || slot.connection != connection || slot.analyzer != stores.Analyzer {
		in := search.Input{Connection: connection, Tables: found.Tables(), Relationships: slices.Clone(found.Relationships())}
		slot.index = search.Open(stores.Analyzer, in, found.Identity(), search.Cache(stores.Catalog, info.ID))
		slot.identity, slot.connection, slot.analyzer = found.Identity(), connection, stores.Analyzer
	}
	return slot.index, ctx.Err()
}
