package execution

import (
	"context"
	"time"

	"github.com/ktxhq/ktx/sqlguard"
)

// Backend runs approved statements on one database. It is safe for concurrent
// use. Its own pool bounds the connections, and the gateway bounds the calls.
//
// Every statement runs in a read-only session with the pins of the dialect's
// Session read back, is always rolled back, and leaves a connection that is
// reset or discarded. Errors are of type *[Error] whenever they are known.
type Backend interface {
	// Query runs stmt and returns its rows within lim. It reads the SQL of stmt
	// with stmt.SQLFor and the guard's ID given at open or by SetGuard. A
	// statement that another guard approved is an error. When ctx ends, Query
	// ends the statement at the server before it returns.
	Query(ctx context.Context, stmt sqlguard.Approved, lim Limits) (*Result, error)
	// Catalog asks the server what the guard may know about it. The gateway
	// calls it again from time to time. While nothing has changed, it may
	// return the same value. It returns a whole catalogue or an error.
	Catalog(ctx context.Context) (*sqlguard.Catalog, error)
	// SetGuard replaces the ID whose approvals Query accepts. It is the ID of
	// a guard that knows the last catalogue.
	SetGuard(id sqlguard.ID)
	// Probe reports what the role may do and which writes the engine really stops.
	Probe(ctx context.Context) (ProbeReport, error)
	// Close ends every connection. Statements in flight are ended first.
	Close() error
}

// Limits bound one call. The zero value of a field means its default.
type Limits struct {
	Rows        int           // rows returned; default 10,000
	Bytes       int64         // bytes of all values of the result, and beyond [FreeStructure] also of what is between them as JSON; default 8 MiB
	CellBytes   int64         // bytes of one value; default 256 KiB
	Columns     int           // columns returned; default 1,000
	Timeout     time.Duration // of the statement; default 30 s
	LockTimeout time.Duration // of waiting for a lock; default 1 s
	Temp        int64         // bytes of temporary files, where the backend makes them (SQLite); default 256 MiB
	ScanBytes   int64         // bytes that the statement reads, where the server tells them before it runs (BigQuery); default 10 GiB
}

// The defaults of [Limits].
const (
	DefaultRows        = 10_000
	DefaultBytes       = 8 << 20
	DefaultCellBytes   = 256 << 10
	DefaultColumns     = 1_000
	DefaultTimeout     = 30 * time.Second
	DefaultLockTimeout = time.Second
	DefaultTemp        = 256 << 20
	DefaultScanBytes   = 10 << 30
)

// WithDefaults returns l with every zero field set to its default.
func (l Limits) WithDefaults() Limits {
	if l.Rows <= 0 {
		l.Rows = DefaultRows
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.CellBytes <= 0 {
		l.CellBytes = DefaultCellBytes
	}
	if l.Columns <= 0 {
		l.Columns = DefaultColumns
	}
	if l.Timeout <= 0 {
		l.Timeout = DefaultTimeout
	}
	if l.LockTimeout <= 0 {
		l.LockTimeout = DefaultLockTimeout
	}
	if l.Temp <= 0 {
		l.Temp = DefaultTemp
	}
	if l.ScanBytes <= 0 {
		l.ScanBytes = DefaultScanBytes
	}
	return l
}

// Within returns l cut to ceiling, field by field. A zero field of l means the
// ceiling's value, and a zero field of ceiling means its default.
func (l Limits) Within(ceiling Limits) Limits {
	ceiling = ceiling.WithDefaults()
	cut := func(v, c int64) int64 {
		if v <= 0 || v > c {
			return c
		}
		return v
	}
	return Limits{
		Rows:        int(cut(int64(l.Rows), int64(ceiling.Rows))),
		Bytes:       cut(l.Bytes, ceiling.Bytes),
		CellBytes:   cut(l.CellBytes, ceiling.CellBytes),
		Columns:     int(cut(int64(l.Columns), int64(ceiling.Columns))),
		Timeout:     time.Duration(cut(int64(l.Timeout), int64(ceiling.Timeout))),
		LockTimeout: time.Duration(cut(int64(l.LockTimeout), int64(ceiling.LockTimeout))),
		Temp:        cut(l.Temp, ceiling.Temp),
		ScanBytes:   cut(l.ScanBytes, ceiling.ScanBytes),
	}
}

// ProbeReport says what a connection's role may do, and what the read-only
// session really stops.
type ProbeReport struct {
	Server   string `json:"server"` // product and version
	Role     string `json:"role,omitempty"`
	ReadOnly bool   `json:"readOnly"` // the engine refused every write that the probe tried
	// Refused says that the engine refused the write that was tried, although ReadOnly
	// does not hold: the role may write elsewhere, and the engine has no read-only session.
	Refused bool `json:"-"`
	TLS     bool `json:"tls"`
	// TLSVersion is a name such as "TLS 1.3"; empty without TLS.
	TLSVersion string `json:"tlsVersion,omitempty"`
	// Pooler says how a pooler in front of the server assigns its connections:
	// per "transaction" or per "session". It is empty when there is no pooler.
	Pooler string `json:"pooler,omitempty"`
	// Replica says that the server takes no writes at all.
	Replica bool `json:"replica,omitempty"`
	// ClockSkewMS says how far the server's clock is ahead of this machine's
	// clock, in milliseconds: the least difference that is certain. It is
	// negative when the server's clock is behind.
	ClockSkewMS int64          `json:"clockSkewMs"`
	Findings    []ProbeFinding `json:"findings"`
	// RoleScript creates a role that can only read. It is empty when the engine
	// has no such script.
	RoleScript string `json:"roleScript,omitempty"`
}

// ProbeFinding is one fact about the role or the session that an operator
// should know.
type ProbeFinding struct {
	Level   ProbeLevel `json:"level"`
	Topic   ProbeTopic `json:"topic"`
	Message string     `json:"message"`
	Fix     string     `json:"fix,omitempty"`
}

// ProbeLevel says how bad a finding is.
type ProbeLevel string

// The levels of a finding.
const (
	ProbeWarning ProbeLevel = "warning"
	ProbeNote    ProbeLevel = "note"
)

// ProbeTopic is the subject of a finding.
type ProbeTopic string

// The topics of findings.
const (
	// TopicRole: what the role, or the user of a file, may do beyond reading.
	TopicRole ProbeTopic = "role"
	// TopicSession: what the read-only session stops and what it does not.
	TopicSession ProbeTopic = "session"
	// TopicTransport: the network between this process and the server.
	TopicTransport ProbeTopic = "transport"
	// TopicServer: the server, its settings and what is installed in it.
	TopicServer ProbeTopic = "server"
	// TopicAccess: what the role may read although the rules of the connection
	// deny it.
	TopicAccess ProbeTopic = "access"
)

// Writable reports whether f is a warning that the role can do more than read,
// or that the session does not keep the role from writing. The gateway refuses
// such a role when [Connection.RefuseWritableRole] is set. A warning without a
// topic counts as writable.
func (f ProbeFinding) Writable() bool {
	return f.Level == ProbeWarning && f.Topic != TopicTransport && f.Topic != TopicServer && f.Topic != TopicAccess
}
