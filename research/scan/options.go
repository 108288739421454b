package scan

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/scan/relate"
	"github.com/ktxhq/ktx/sqlguard"
)

// The defaults of [Options].
const (
	DefaultBudget          = 10 * time.Minute
	DefaultSampleRows      = 10_000
	DefaultValuesPerColumn = 50_000
)

// Readable says what access rules permit. [sqlguard.Readable] is one.
type Readable interface {
	Relation(schema, name string) bool
	Column(schema, relation, column string) bool
	DeniesColumns() bool
	ID() string
}

var _ Readable = sqlguard.Readable{}

// Options are the options of one scan. Gateway, Connection, Driver, Root, Readable, Now
// and RunID are required.
type Options struct {
	Gateway    Gateway
	Connection execution.ConnectionInfo
	Driver     string   // as the configuration names it
	Root       *os.Root // the folder of the project
	Readable   Readable

	Now   time.Time // of the start of the run
	RunID string    // names the run in the id of the scan; letters and digits

	// Schemas are the only schemas to scan; for MySQL and MariaDB, databases. None
	// means all schemas of PostgreSQL and SQL Server, and the connection's own
	// database of MySQL and MariaDB.
	Schemas []string
	// Databases are further databases of MySQL and MariaDB to scan, beside the
	// connection's own. They do not count if Schemas are given.
	Databases []string
	// NoProfile leaves the profile out, and looks for relationships by names alone.
	NoProfile bool
	// DryRun reads the catalogue, compares it to the scan before, and writes nothing.
	DryRun bool

	Budget          time.Duration // of the run; 0 means DefaultBudget
	Concurrency     int           // statements at once; 0 means 1
	SampleRows      int           // rows of a table that the profile reads; 0 means DefaultSampleRows
	ValuesPerColumn int           // 0 means DefaultValuesPerColumn
	Include         Patterns      // columns whose values are kept although their names exclude them
	Exclude         Patterns      // columns whose values are not kept
	MaxBytes        int           // the longest statement that the guard permits; 0 means 64 KiB

	// Values opens the store of values of a scan. If it is nil, values are not kept.
	OpenValues func(syncID string) (Values, error)
	// Joins are pairs of columns that statements joined, as candidates for
	// relationships.
	Joins []relate.Pair
	// OnProgress is called after each step, from several goroutines at once if
	// Concurrency is above 1.
	OnProgress func(Progress)

	Values Values // set by Run
}

// Progress says how far a scan is.
type Progress struct {
	Stage  Stage
	Tables int   // that are profiled
	Total  int   // tables of the scan
	Rows   int64 // rows that were read for the profile
}

// Stage is a part of a scan.
type Stage string

// The stages of a scan, in their order.
const (
	StageStructure     Stage = "structure"
	StageProfile       Stage = "profile"
	StageRelationships Stage = "relationships"
	StageWriting       Stage = "writing"
)

// withDefaults returns o with each zero field set to its default.
func (o Options) withDefaults() Options {
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 1
	}
	if o.SampleRows <= 0 {
		o.SampleRows = DefaultSampleRows
	}
	if o.ValuesPerColumn <= 0 {
		o.ValuesPerColumn = DefaultValuesPerColumn
	}
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	return o
}

func (o *Options) maxBytes() int {
	if o.MaxBytes <= 0 {
		return sqlguard.DefaultMaxBytes
	}
	return o.MaxBytes
}

// identity is a hash of the options on which the results of a table depend. A scan
// goes on only from what a scan with the same options has left.
func (o *Options) identity() string {
	sum := sha256.Sum256([]byte(jsonText(struct {
		Driver                      string
		Schemas, Databases          []string
		NoProfile                   bool
		SampleRows, ValuesPerColumn int
		Include, Exclude            Patterns
		Access                      string
	}{o.Driver, o.Schemas, o.Databases, o.NoProfile, o.SampleRows, o.ValuesPerColumn, o.Include, o.Exclude, o.Readable.ID()})))
	return hex.EncodeToString(sum[:16])
}
