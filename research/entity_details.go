package research

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/usage"
)

// EntityDetailsInput is the input of entity_details.
type EntityDetailsInput struct {
	ConnectionID string        `json:"connectionId"`
	Entities     []EntityInput `json:"entities"`
}

// EntityInput asks for one table.
type EntityInput struct {
	// Table is a name as [catalog.Snapshot.Resolve] takes it: qualified or not, of
	// a table or of a column, or a table's reference as JSON.
	Table string `json:"table"`
	// Columns narrows the columns in the answer. Nil means all.
	Columns []string `json:"columns"`
}

// EntityDetails is the answer of entity_details, with one result for each entity, in
// the order of the input.
type EntityDetails struct {
	Results []EntityResult `json:"results"`
}

// EntityResult has either the entity or what is wrong. As JSON it is the one that it
// has, with the member ok.
type EntityResult struct {
	Entity  *Entity
	Failure *EntityFailure
}

// MarshalJSON implements json.Marshaler.
func (r EntityResult) MarshalJSON() ([]byte, error) {
	if r.Entity != nil {
		return compactJSON(struct {
			OK bool `json:"ok"`
			*Entity
		}{true, r.Entity})
	}
	return compactJSON(struct {
		OK bool `json:"ok"`
		*EntityFailure
	}{false, r.Failure})
}

// Entity is a table as the latest scan found it.
type Entity struct {
	ConnectionID       string               `json:"connectionId"`
	TableRef           catalog.Ref          `json:"tableRef"`
	Display            string               `json:"display"`
	Kind               catalog.Kind         `json:"kind"`
	Comment            *string              `json:"comment"`
	EstimatedRows      *int64               `json:"estimatedRows"`
	Columns            []EntityColumn       `json:"columns"`
	OmittedColumns     int                  `json:"omittedColumns,omitempty"`
	ForeignKeys        []catalog.ForeignKey `json:"foreignKeys"`
	OmittedForeignKeys int                  `json:"omittedForeignKeys,omitempty"`
	// Usage is nil unless search.usage is true and statements read the table.
	Usage    *EntityUsage `json:"usage,omitempty"`
	Snapshot ScanInfo     `json:"snapshot"`
}

// EntityColumn is a column of an [Entity].
type EntityColumn struct {
	Name           string                `json:"name"`
	NativeType     string                `json:"nativeType"`
	NormalizedType string                `json:"normalizedType"`
	DimensionType  catalog.DimensionType `json:"dimensionType"`
	Nullable       bool                  `json:"nullable"`
	PrimaryKey     bool                  `json:"primaryKey"`
	Comment        *string               `json:"comment"`
	// Statements is how many statements of the audit log named the column; 0 as well
	// if they were not counted.
	Statements int64 `json:"statements,omitempty"`
}

// ScanInfo says which scan an answer is from.
type ScanInfo struct {
	SyncID      string  `json:"syncId"`
	ExtractedAt string  `json:"extractedAt"`
	ScanRunID   *string `json:"scanRunId"`
}

// EntityFailure says why an entity has no details.
type EntityFailure struct {
	ConnectionID string      `json:"connectionId"`
	Table        string      `json:"table"` // as asked for; a long name is cut
	Snapshot     *ScanInfo   `json:"snapshot,omitempty"`
	Error        EntityError `json:"error"`
}

// EntityError is the error of one entity.
type EntityError struct {
	Code       string   `json:"code"` // one of the codes below
	Message    string   `json:"message"`
	Candidates []string `json:"candidates,omitempty"`
	Omitted    int      `json:"omitted,omitempty"` // further candidates
}

// The codes of [EntityError].
const (
	ScanMissing    = "scan_missing"
	TableNotFound  = "table_not_found"
	AmbiguousTable = "ambiguous_table"
	ColumnNotFound = "column_not_found"
)

// The limits of an answer of entity_details.
const (
	maxEntityColumns = 300
	maxEntityKeys    = 300
	maxComment       = 1000      // characters
	maxEntityBytes   = 240 << 10 // of all entities
	maxFailureBytes  = 2 << 10   // of one failure
)

// EntityDetails describes tables as the latest scan of a connection found them. A
// table that cannot be described has an error of its own in the answer. The error is
// that of an unknown connection.
func (s *Service) EntityDetails(ctx context.Context, in EntityDetailsInput) (EntityDetails, error) {
	stores := s.stores.Load()
	found, err := s.snapshot(ctx, stores.Catalog, in.ConnectionID)
	if err != nil && !errors.Is(err, catalog.ErrNoScan) {
		return EntityDetails{}, err
	}
	var counts *usage.Counts
	if found != nil {
		counts, _ = s.usedIn(ctx, stores, found)
	}
	out := EntityDetails{Results: make([]EntityResult, len(in.Entities))}
	for i, e := range in.Entities {
		if found == nil {
			out.Results[i] = failed(in.ConnectionID, nil, e.Table, EntityError{
				Code: ScanMissing, Message: fmt.Sprintf("connection %s has no scan; ask the operator to run: ktx scan %s", in.ConnectionID, in.ConnectionID),
			})
			continue
		}
		out.Results[i] = describeEntity(found, counts, e, maxEntityBytes/len(in.Entities))
	}
	return out, nil
}

// describeEntity describes one table in about size bytes. counts may be nil.
func describeEntity(found *catalog.Snapshot, counts *usage.Counts, in EntityInput, size int) EntityResult {
	table, column, err := found.Resolve(in.Table)
	if err != nil {
		return failed(found.ConnectionID(), found, in.Table, tableError(found, in.Table, err))
	}
	columns, err := chooseColumns(found, table, column, in.Columns)
	if err != nil {
		e, _ := errors.AsType[*missingColumnsError](err)
		return failed(found.ConnectionID(), found, in.Table, EntityError{
			Code: ColumnNotFound, Candidates: e.nearest,
			Message: fmt.Sprintf("%s has no column %s; without columns, entity_details lists all of them", found.Display(table.Ref()), e.names()),
		})
	}
	e := &Entity{
		ConnectionID: found.ConnectionID(), TableRef: table.Ref(), Display: found.Display(table.Ref()), Kind: table.Kind,
		Comment: shortText(catalog.Describe(table.Descriptions, table.Comment)), EstimatedRows: table.EstimatedRows,
		Columns: []EntityColumn{}, ForeignKeys: []catalog.ForeignKey{}, Snapshot: *scanInfo(found),
	}
	// The keys get at most half of the bytes, and joins an eighth.
	left := size - 4*maxComment
	if e.Usage = entityUsage(found, counts, table.Ref(), size/8); e.Usage != nil {
		left -= jsonSize(e.Usage)
	}
	for _, k := range table.ForeignKeys {
		cost := jsonSize(k)
		if len(e.ForeignKeys) == maxEntityKeys || left-cost < size/2 {
			break
		}
		left -= cost
		e.ForeignKeys = append(e.ForeignKeys, k)
	}
	e.OmittedForeignKeys = len(table.ForeignKeys) - len(e.ForeignKeys)
	for _, c := range columns {
		shown := EntityColumn{
			Name: c.Name, NativeType: c.NativeType, NormalizedType: c.NormalizedType, DimensionType: c.DimensionType,
			Nullable: c.Nullable, PrimaryKey: c.PrimaryKey, Comment: shortText(catalog.Describe(c.Descriptions, c.Comment)),
		}
		if counts != nil {
			shown.Statements = counts.Column(table.Ref(), c.Name)
		}
		if left -= jsonSize(shown); len(e.Columns) == maxEntityColumns || left < 0 {
			break
		}
		e.Columns = append(e.Columns, shown)
	}
	e.OmittedColumns = len(columns) - len(e.Columns)
	return EntityResult{Entity: e}
}

// chooseColumns returns the columns that were asked for, each once, in the order of
// the table. column may be nil; it is the one that the name of the entity has.
func chooseColumns(found *catalog.Snapshot, t *catalog.Table, column *catalog.Column, names []string) ([]*catalog.Column, error) {
	chosen := map[*catalog.Column]bool{}
	if column != nil {
		chosen[column] = true
	}
	missing := &missingColumnsError{}
	for _, name := range names {
		c, err := found.ResolveColumn(t, name)
		if e, ok := errors.AsType[*catalog.ColumnError](err); ok {
			missing.add(name, e.Nearest)
			continue
		}
		chosen[c] = true
	}
	if len(missing.list) > 0 {
		return nil, missing
	}
	var out []*catalog.Column
	for i := range t.Columns {
		if c := &t.Columns[i]; len(chosen) == 0 || chosen[c] {
			out = append(out, c)
		}
	}
	return out, nil
}

// missingColumnsError lists columns that a table does not have.
type missingColumnsError struct {
	list, nearest []string
}

func (m *missingColumnsError) add(name string, nearest []string) {
	if len(m.list) == 0 {
		m.nearest = nearest
	}
	m.list = append(m.list, name)
}

func (m *missingColumnsError) Error() string { return "no column " + m.names() }

// names returns the first names for a message.
func (m *missingColumnsError) names() string {
	const most = 5
	var quoted []string
	for _, name := range m.list[:min(len(m.list), most)] {
		quoted = append(quoted, strconv.Quote(cutRunes(name, 60)))
	}
	out := strings.Join(quoted, ", ")
	if more := len(m.list) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// tableError describes an error of [catalog.Snapshot.Resolve].
func tableError(found *catalog.Snapshot, name string, err error) EntityError {
	var out EntityError
	var tables []*catalog.Table
	if many, ok := errors.AsType[*catalog.AmbiguousError](err); ok {
		out = EntityError{Code: AmbiguousTable, Omitted: many.Omitted, Message: fmt.Sprintf("%d tables are named %s; qualify the name as in candidates", len(many.Candidates)+many.Omitted, strconv.Quote(cutRunes(name, 120)))}
		tables = many.Candidates
	} else {
		none, _ := errors.AsType[*catalog.NotFoundError](err)
		tables = none.Nearest
		near := "; find it with discover_data"
		if len(tables) > 0 {
			near = "; the nearest names are in candidates"
		}
		out = EntityError{Code: TableNotFound, Message: fmt.Sprintf("the scan of %s has no table %s%s; if it is newer than the scan, ask the operator to run: ktx scan %s", found.ConnectionID(), strconv.Quote(cutRunes(name, 120)), near, found.ConnectionID())}
	}
	for _, t := range tables {
		out.Candidates = append(out.Candidates, found.Display(t.Ref()))
	}
	return out
}

// failed returns a failure of at most maxFailureBytes. found may be nil.
func failed(connectionID string, found *catalog.Snapshot, table string, e EntityError) EntityResult {
	f := &EntityFailure{ConnectionID: connectionID, Table: cutRunes(table, 120), Error: e}
	if found != nil {
		f.Snapshot = scanInfo(found)
	}
	for jsonSize(f) > maxFailureBytes && len(f.Error.Candidates) > 0 {
		f.Error.Candidates = f.Error.Candidates[:len(f.Error.Candidates)-1]
		f.Error.Omitted++
	}
	return EntityResult{Failure: f}
}

func scanInfo(found *catalog.Snapshot) *ScanInfo {
	info := &ScanInfo{SyncID: found.SyncID(), ExtractedAt: found.ExtractedAt()}
	if id := found.ScanRunID(); id != "" {
		info.ScanRunID = &id
	}
	return info
}

// jsonSize returns how many bytes v has as JSON, with a comma.
func jsonSize(v any) int {
	text, err := compactJSON(v)
	if err != nil { // no value of an answer fails
		return 0
	}
	return len(text) + 1
}

// shortText returns a text of at most maxComment characters, or nil for none.
func shortText(s string) *string {
	if s == "" {
		return nil
	}
	s = cutRunes(s, maxComment)
	return &s
}

// cutRunes returns the first n characters of s, and an ellipsis in place of the last
// of them if there are more.
func cutRunes(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}
