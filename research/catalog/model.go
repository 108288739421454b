package catalog

import "encoding/json"

// Ref names a table. A part that the engine does not have is empty: PostgreSQL
// and SQLite have no catalog, and MySQL has its databases in DB. As JSON, an empty
// Catalog or DB is null.
type Ref struct {
	Catalog string
	DB      string
	Name    string
}

type refJSON struct {
	Catalog *string `json:"catalog"`
	DB      *string `json:"db"`
	Name    string  `json:"name"`
}

// MarshalJSON writes {"catalog":…,"db":…,"name":…}.
func (r Ref) MarshalJSON() ([]byte, error) {
	return json.Marshal(refJSON{Catalog: nullable(r.Catalog), DB: nullable(r.DB), Name: r.Name})
}

// UnmarshalJSON reads what MarshalJSON writes. A part that is missing is empty.
func (r *Ref) UnmarshalJSON(b []byte) error {
	var in refJSON
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = Ref{Catalog: text(in.Catalog), DB: text(in.DB), Name: in.Name}
	return nil
}

// nullable returns nil for "".
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// text returns "" for nil.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Kind is the kind of a table.
type Kind string

// The kinds. A materialized view is a view, a foreign table is external, and a
// partitioned parent is a table.
const (
	KindTable       Kind = "table"
	KindView        Kind = "view"
	KindExternal    Kind = "external"
	KindEventStream Kind = "event_stream"
)

// DimensionType is what a column is used for in an analysis.
type DimensionType string

// The types of dimensions.
const (
	DimensionTime    DimensionType = "time"
	DimensionString  DimensionType = "string"
	DimensionNumber  DimensionType = "number"
	DimensionBoolean DimensionType = "boolean"
)

// Table is one file of tables/ in a scan.
type Table struct {
	Catalog       *string           `json:"catalog"`
	DB            *string           `json:"db"`
	Name          string            `json:"name"`
	Kind          Kind              `json:"kind"`
	Comment       *string           `json:"comment"`
	EstimatedRows *int64            `json:"estimatedRows"`          // nil when it is not known
	Descriptions  map[string]string `json:"descriptions,omitempty"` // by source: user, ai, dbt, db, …
	Columns       []Column          `json:"columns"`
	ForeignKeys   []ForeignKey      `json:"foreignKeys"`
}

// Ref returns the name of the table.
func (t *Table) Ref() Ref { return Ref{Catalog: text(t.Catalog), DB: text(t.DB), Name: t.Name} }

// Column is a column of a [Table].
type Column struct {
	Name           string            `json:"name"`
	NativeType     string            `json:"nativeType"`     // as the server formats it, such as "numeric(10,2)"
	NormalizedType string            `json:"normalizedType"` // such as "decimal"
	DimensionType  DimensionType     `json:"dimensionType"`
	Nullable       bool              `json:"nullable"`
	PrimaryKey     bool              `json:"primaryKey"`
	Comment        *string           `json:"comment"`
	Descriptions   map[string]string `json:"descriptions,omitempty"`
	SampleValues   []string          `json:"sampleValues,omitempty"`
	Generated      string            `json:"generated,omitempty"`  // stored, virtual or identity; "" for a column that statements fill
	EnumValues     []string          `json:"enumValues,omitempty"` // the labels of an enum, in its order
	// Stats is what the profile of the scan says of the column, where a [Snapshot]
	// was asked. It is nil when there is no profile of it.
	Stats *Stats `json:"-"`
}

// Stats counts the values of a column in the rows that a scan read.
type Stats struct {
	Rows, Nulls, Distinct int64
	MinLength, MaxLength  int32 // of texts; -1 when it is not known
}

// ForeignKey is one column pair of a declared foreign key. The pairs of a
// composite key have the same constraint name and follow each other.
type ForeignKey struct {
	FromColumn     string  `json:"fromColumn"`
	ToCatalog      *string `json:"toCatalog"`
	ToDB           *string `json:"toDb"`
	ToTable        string  `json:"toTable"`
	ToColumn       string  `json:"toColumn"`
	ConstraintName *string `json:"constraintName"`
}

// To returns the table that the key points to.
func (f *ForeignKey) To() Ref {
	return Ref{Catalog: text(f.ToCatalog), DB: text(f.ToDB), Name: f.ToTable}
}

// Describe returns the description that is shown: that of the first source in the
// order user, ai, dbt, db, else the first source by name that has a text, else the
// comment, else "".
func Describe(descriptions map[string]string, comment *string) string {
	for _, source := range []string{"user", "ai", "dbt", "db"} {
		if d := descriptions[source]; d != "" {
			return d
		}
	}
	first := ""
	for source := range descriptions {
		if descriptions[source] != "" && (first == "" || source < first) {
			first = source
		}
	}
	if first != "" {
		return descriptions[first]
	}
	return text(comment)
}

// EndPoint is one side of a [Relationship].
type EndPoint struct {
	Table   Ref      `json:"table"`
	Columns []string `json:"columns"`
}

// Relationship is an entry of enrichment/relationships.json. The columns of From
// and To correspond by position.
type Relationship struct {
	From         EndPoint   `json:"from"`
	To           EndPoint   `json:"to"`
	Relationship string     `json:"relationship"` // many_to_one, one_to_many or one_to_one
	Confidence   float64    `json:"confidence"`   // 0 to 1
	Source       string     `json:"source"`       // formal or inferred
	Evidence     []string   `json:"evidence"`
	Validation   Validation `json:"validation"`
}

// Validation is what bounded queries said about a [Relationship]. A nil field was
// not measured.
type Validation struct {
	Coverage     *float64 `json:"coverage"` // share of the distinct values of From that To has
	TargetUnique *bool    `json:"targetUnique"`
	NullRate     *float64 `json:"nullRate"` // share of the rows of From without a value
}

// Relationships is enrichment/relationships.json.
type Relationships struct {
	ConnectionID string         `json:"connectionId"`
	Accepted     []Relationship `json:"accepted"`
	Review       []Relationship `json:"review"`
	Rejected     []Relationship `json:"rejected"`
	Skipped      []Relationship `json:"skipped"`
}

// ConnectionFile is connection.json of a scan.
type ConnectionFile struct {
	ConnectionID string          `json:"connectionId"`
	Driver       string          `json:"driver"`
	ExtractedAt  string          `json:"extractedAt"` // RFC 3339, UTC
	Scope        json.RawMessage `json:"scope,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	TableCount   *int            `json:"tableCount,omitempty"`
}

// Warning is an entry of warnings.json.
type Warning struct {
	Code        string `json:"code"`
	Message     string `json:"message"`
	Recoverable bool   `json:"recoverable"`
	Table       string `json:"table,omitempty"`
	Column      string `json:"column,omitempty"`
}

// Report is scan-report.json. A scan without a readable report does not exist for
// readers.
type Report struct {
	ConnectionID  string             `json:"connectionId"`
	Driver        string             `json:"driver"`
	SyncID        string             `json:"syncId"`
	RunID         string             `json:"runId"`
	Trigger       string             `json:"trigger"`
	Mode          string             `json:"mode"`
	DryRun        bool               `json:"dryRun"`
	ArtifactPaths map[string]string  `json:"artifactPaths"`
	DiffSummary   DiffSummary        `json:"diffSummary"`
	Warnings      []Warning          `json:"warnings"`
	Relationships RelationshipCounts `json:"relationships"`
	CreatedAt     string             `json:"createdAt"` // RFC 3339, UTC
}

// DiffSummary counts what changed since the scan before.
type DiffSummary struct {
	TablesAdded     int `json:"tablesAdded"`
	TablesModified  int `json:"tablesModified"`
	TablesDeleted   int `json:"tablesDeleted"`
	TablesUnchanged int `json:"tablesUnchanged"`
	ColumnsAdded    int `json:"columnsAdded"`
	ColumnsModified int `json:"columnsModified"`
	ColumnsDeleted  int `json:"columnsDeleted"`
}

// RelationshipCounts counts the entries of [Relationships].
type RelationshipCounts struct {
	Accepted int `json:"accepted"`
	Review   int `json:"review"`
	Rejected int `json:"rejected"`
	Skipped  int `json:"skipped"`
}

// Profile is enrichment/relationship-profile.json. Readers accept keys of Columns
// with and without a schema.
type Profile struct {
	ConnectionID          string                   `json:"connectionId"`
	Driver                string                   `json:"driver"`
	ProfiledAt            string                   `json:"profiledAt"`
	ProfileSampleRows     int                      `json:"profileSampleRows"`
	SampleValuesPerColumn int                      `json:"sampleValuesPerColumn"`
	Tables                []ProfileTable           `json:"tables"`
	Columns               map[string]ProfileColumn `json:"columns"` // by "<qualified table>.<column>"
}

// ProfileTable counts the rows of a table.
type ProfileTable struct {
	Table    Ref   `json:"table"`
	RowCount int64 `json:"rowCount"`
}

// ProfileColumn describes the values of a column.
type ProfileColumn struct {
	Table           Ref      `json:"table"`
	Column          string   `json:"column"`
	NativeType      string   `json:"nativeType"`
	RowCount        int64    `json:"rowCount"`
	NullCount       int64    `json:"nullCount"`
	DistinctCount   int64    `json:"distinctCount"`
	UniquenessRatio float64  `json:"uniquenessRatio"`
	NullRate        float64  `json:"nullRate"`
	SampleValues    []string `json:"sampleValues"` // at most five
	MinTextLength   *int     `json:"minTextLength"`
	MaxTextLength   *int     `json:"maxTextLength"`
}
