package research

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/catalog/search"
	"github.com/ktxhq/ktx/research/usage"
)

// usedSlots keeps the counts of each connection for its latest snapshot.
type usedSlots struct {
	mu   sync.Mutex
	byID map[string]*usedSlot
}

type usedSlot struct {
	mu                 sync.Mutex // held by the one call that counts
	artifact, snapshot string
	counts             *usage.Counts // nil without an artifact
	evidence           []search.Evidence
	warned             string
}

// The most used tables and columns of a connection take part in ranking. Those that
// few statements read would change little.
const (
	maxUsedTables  = 1000
	maxUsedColumns = 3000
)

// usedIn returns how statements used what a snapshot has. Its counts are nil when the
// project does not ask for them or has none. An artifact that cannot be read is a
// warning for the operator, and counts as none.
func (s *Service) usedIn(ctx context.Context, stores *Stores, found *catalog.Snapshot) (*usage.Counts, []search.Evidence) {
	if stores.Usage == nil {
		return nil, nil
	}
	id := found.ConnectionID()
	s.used.mu.Lock()
	if s.used.byID == nil {
		s.used.byID = map[string]*usedSlot{}
	}
	slot := s.used.byID[id]
	if slot == nil {
		slot = &usedSlot{}
		s.used.byID[id] = slot
	}
	s.used.mu.Unlock()
	slot.mu.Lock()
	defer slot.mu.Unlock()
	file, artifact, err := stores.Usage.File(id)
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem != "" && problem != slot.warned {
		s.logger.WarnContext(ctx, "the counts of ktx usage build cannot be used; run it again", "connection", id, "problem", problem)
	}
	slot.warned = problem
	if file == nil {
		slot.artifact, slot.counts, slot.evidence = "", nil, nil
		return nil, nil
	}
	if slot.counts == nil || slot.artifact != artifact || slot.snapshot != found.Identity() {
		slot.artifact, slot.snapshot = artifact, found.Identity()
		slot.counts = file.In(found)
		slot.evidence = usedObjects(id, slot.counts)
	}
	return slot.counts, slot.evidence
}

// usedObjects returns the most used tables and columns of a connection. Tables are
// compared with the most used table, and columns with the most used column.
func usedObjects(connectionID string, counts *usage.Counts) []search.Evidence {
	tables, columns := slices.Clone(counts.Tables), slices.Clone(counts.Columns)
	slices.SortStableFunc(tables, func(a, b usage.Table) int { return cmp.Compare(b.Statements, a.Statements) })
	slices.SortStableFunc(columns, func(a, b usage.Column) int { return cmp.Compare(b.Statements, a.Statements) })
	var out []search.Evidence
	for _, t := range tables[:min(len(tables), maxUsedTables)] {
		out = append(out, search.Evidence{Connection: connectionID, Table: t.Table, Usage: usage.Share(t.Statements, tables[0].Statements)})
	}
	for _, c := range columns[:min(len(columns), maxUsedColumns)] {
		out = append(out, search.Evidence{Connection: connectionID, Table: c.Table, Column: c.Column, Usage: usage.Share(c.Statements, columns[0].Statements)})
	}
	return out
}

// usedEvidence returns what ranking gets of the counts of all snapshots.
func (s *Service) usedEvidence(ctx context.Context, stores *Stores, snapshots []*catalog.Snapshot) []search.Evidence {
	var out []search.Evidence
	for _, found := range snapshots {
		_, evidence := s.usedIn(ctx, stores, found)
		out = append(out, evidence...)
	}
	return out
}

// EntityUsage says how the statements of the audit log used a table.
type EntityUsage struct {
	Statements   int64        `json:"statements"` // that read it
	LastUsed     string       `json:"lastUsed"`   // RFC 3339, UTC
	JoinedWith   []EntityJoin `json:"joinedWith"` // most statements first
	OmittedJoins int          `json:"omittedJoins,omitempty"`
}

// EntityJoin says how many statements joined a column with one of another table.
type EntityJoin struct {
	Column     string `json:"column"`
	ToTable    string `json:"toTable"` // qualified
	ToColumn   string `json:"toColumn"`
	Statements int64  `json:"statements"`
}

// maxEntityJoins is how many joins of a table an answer shows.
const maxEntityJoins = 20

// entityUsage returns the counts of a table in at most size bytes, or nil if no
// statement read it.
func entityUsage(found *catalog.Snapshot, counts *usage.Counts, table catalog.Ref, size int) *EntityUsage {
	if counts == nil {
		return nil
	}
	used, ok := counts.Table(table)
	if !ok || used.Statements == 0 {
		return nil
	}
	out := &EntityUsage{Statements: used.Statements, LastUsed: used.LastUsed, JoinedWith: []EntityJoin{}}
	joins := counts.Joined(table)
	for _, j := range joins {
		shown := EntityJoin{Column: j.Column, ToTable: found.Display(j.To.Table), ToColumn: j.To.Column, Statements: j.Statements}
		if size -= jsonSize(shown); len(out.JoinedWith) == maxEntityJoins || size < 0 {
			break
		}
		out.JoinedWith = append(out.JoinedWith, shown)
	}
	out.OmittedJoins = len(joins) - len(out.JoinedWith)
	return out
}
