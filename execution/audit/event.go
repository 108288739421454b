package audit

import "time"

// Type is the type of an event.
type Type string

// The event types that callers append.
const (
	// QueryDecision is the guard's answer, appended before a statement runs.
	QueryDecision Type = "query.decision"
	// QueryFinished is the end of a statement that ran, with or without an
	// error.
	QueryFinished Type = "query.finished"
	// QueryCancelled is the end of a statement that its caller stopped.
	QueryCancelled Type = "query.cancelled"
	// QueryEnded is the end at its server of a statement whose outcome said that
	// its end was not confirmed.
	QueryEnded Type = "query.ended"
	// SessionOpen is a client that connected.
	SessionOpen Type = "session.open"
	// SessionClose is a client that left.
	SessionClose Type = "session.close"
	// AuthDenied is a request refused before it reached a tool.
	AuthDenied Type = "auth.denied"
	// CallRefused is a call that was refused before the guard judged a statement.
	// Its reason is the code of the refusal.
	CallRefused Type = "call.refused"
	// ConfigReload is a change of the configuration of a running gateway.
	ConfigReload Type = "config.reload"
	// GatewayStart is the start of a process that answers queries.
	GatewayStart Type = "gateway.start"
	// GatewayStop is the orderly end of such a process.
	GatewayStop Type = "gateway.stop"
	// GatewayCrashed says that such a process ended without a stop, and ends the
	// statements that it left without an end. Another process writes it when it opens
	// the log. Its [Process] is the one that crashed.
	GatewayCrashed Type = "gateway.crashed"
	// ToolCall is a call to a tool of another MCP server.
	ToolCall Type = "tool.call"
)

// The event types that only the log itself writes; Append refuses them.
const (
	// SegmentSeal is the last event of a segment that is followed by another.
	SegmentSeal Type = "segment.seal"
	// LogRecovered says that the log was damaged and how the writer continued;
	// see [LogInfo].
	LogRecovered Type = "log.recovered"
	// LogGap says how many events before this one could not be recorded, or
	// under [SyncAlways] could not be flushed, so that Append returned an error
	// for them.
	LogGap Type = "log.gap"
	// LogArchived says that the log's first segments were copied elsewhere and
	// are now removed; see [Archive].
	LogArchived Type = "log.archived"
)

// Types returns every type of event, in the order of the documentation.
func Types() []Type {
	return []Type{
		QueryDecision, QueryFinished, QueryCancelled, QueryEnded, SessionOpen, SessionClose, AuthDenied, CallRefused, ConfigReload, GatewayStart, GatewayStop,
		GatewayCrashed,
		ToolCall, SegmentSeal, LogRecovered, LogGap, LogArchived,
	}
}

// own reports whether t is one of the types that only the log writes.
func (t Type) own() bool {
	return t == SegmentSeal || t == LogRecovered || t == LogGap || t == LogArchived || t == GatewayCrashed
}

// The values of [Decision.Verdict].
const (
	VerdictAllow  = "allow"
	VerdictReject = "reject"
)

// The values of [Result.Status].
const (
	StatusOK        = "ok"
	StatusError     = "error"
	StatusCancelled = "cancelled"
	// StatusCrashed: the process of the statement ended without recording its end.
	// Nothing says whether the statement ended at its server.
	StatusCrashed = "crashed"
)

// The values of [Result.Ended].
const (
	// EndedConfirmed: the server said that the statement is over.
	EndedConfirmed = "confirmed"
	// EndedUnconfirmed: the server was asked to end the statement and has not
	// said that it is over.
	EndedUnconfirmed = "unconfirmed"
)

// Event is one line of the log.
//
// The class tag of a field says what it holds and whether it is written. Public
// and identifier fields (names of people, connections, tables, functions) are
// always written, sensitive fields only under [SQLFull], secret fields never. A
// field without the tag counts as secret.
//
// Integers beyond ±(2^53 − 1), which JSON readers round, are written as that
// bound. Bytes that are not valid UTF-8 are written as U+FFFD, one for each
// byte; [SQL.HMAC] is made from the bytes as they were.
type Event struct {
	// Time is set by the log when it is zero. It is written in UTC with
	// nanoseconds.
	Time time.Time `json:"ts" class:"public"`
	// Seq is set by the log: 1 for the first event, then one more for each.
	Seq int64 `json:"seq" class:"public"`
	// Type is required.
	Type Type `json:"event" class:"public"`
	// QueryID joins the events of one statement.
	QueryID string `json:"query_id,omitempty" class:"public"`
	// Session joins the events of one client session. It is an id made for the
	// log, never the Mcp-Session-Id, because anyone who has that id can use the
	// session.
	Session string `json:"session_id,omitempty" class:"identifier"`
	// Principal and Client come from the context's [Actor] when both are empty.
	Principal  string     `json:"principal,omitempty" class:"identifier"`
	Client     Client     `json:"client,omitzero" class:"public"`
	Connection Connection `json:"connection,omitzero" class:"public"`
	SQL        SQL        `json:"sql,omitzero" class:"public"`
	Decision   Decision   `json:"decision,omitzero" class:"public"`
	Limits     Limits     `json:"limits,omitzero" class:"public"`
	Result     Result     `json:"result,omitzero" class:"public"`
	Tool       Tool       `json:"tool,omitzero" class:"public"`
	Process    Process    `json:"process,omitzero" class:"public"`
	// Unrecorded is how many events like this one were not written since the last one
	// that was, because there were too many at once.
	Unrecorded int64 `json:"unrecorded,omitempty" class:"public"`
	// Reason says why, in a fixed word or phrase: for auth.denied, call.refused,
	// session.close, config.reload and gateway.stop. It never holds text of a
	// client or of the database.
	Reason string `json:"reason,omitempty" class:"public"`
	// Log is set by the log in the events it writes itself.
	Log LogInfo `json:"log,omitzero" class:"public"`
	// Chain is set by the log.
	Chain Chain `json:"chain" class:"public"`
}

// Client is the program that made the request, under the name that it gave
// itself.
type Client struct {
	Name    string `json:"name,omitempty" class:"identifier"`
	Version string `json:"version,omitempty" class:"public"`
	// Transport is one of stdio, http and cli.
	Transport string `json:"transport,omitempty" class:"public"`
	// Address is the peer's address on a network transport.
	Address string `json:"address,omitempty" class:"identifier"`
	// User is the operating system's user whose process asks, where ktx runs in that
	// process.
	User string `json:"user,omitempty" class:"identifier"`
}

// Connection is the configured connection that the request was for.
type Connection struct {
	ID      string `json:"id,omitempty" class:"identifier"`
	Dialect string `json:"dialect,omitempty" class:"public"`
}

// SQL is the statement.
type SQL struct {
	// Fingerprint is the guard's hash over the tokens without literals.
	Fingerprint string `json:"fingerprint,omitempty" class:"public"`
	// Normalized is the statement with placeholders for literals and without
	// comments.
	Normalized string `json:"normalized,omitempty" class:"identifier"`
	// HMAC is [Log.HMAC] of the raw statement.
	HMAC string `json:"hmac,omitempty" class:"public"`
	// Text is the raw statement. It is written only under [SQLFull].
	Text string `json:"text,omitempty" class:"sensitive"`
	// Bytes is the length of the raw statement.
	Bytes int64 `json:"bytes" class:"public"`
	// Kind is the verb: select, values, explain, ….
	Kind      string   `json:"kind,omitempty" class:"public"`
	Tables    []string `json:"tables,omitempty" class:"identifier"`
	Functions []string `json:"functions,omitempty" class:"identifier"`
}

// Decision is the guard's answer.
type Decision struct {
	// Verdict is VerdictAllow or VerdictReject.
	Verdict string `json:"verdict,omitempty" class:"public"`
	// Codes are the codes of all findings, the primary one first.
	Codes []string `json:"codes,omitempty" class:"public"`
	// Policy is the hash of the guard: dialect, parser, policy and catalogue.
	Policy string `json:"policy,omitempty" class:"public"`
	// Parser is the parser and its grammar version.
	Parser string `json:"parser,omitempty" class:"public"`
	// LatencyUS is the time the decision took, in microseconds.
	LatencyUS int64 `json:"latency_us" class:"public"`
}

// Limits are the limits that a statement ran under. Zero is not written.
type Limits struct {
	Rows          int64 `json:"rows,omitempty" class:"public"`
	Bytes         int64 `json:"bytes,omitempty" class:"public"`
	CellBytes     int64 `json:"cell_bytes,omitempty" class:"public"`
	Columns       int64 `json:"columns,omitempty" class:"public"`
	TimeoutMS     int64 `json:"timeout_ms,omitempty" class:"public"`
	LockTimeoutMS int64 `json:"lock_timeout_ms,omitempty" class:"public"`
}

// Result is how a statement or a tool call ended.
type Result struct {
	// Status is StatusOK, StatusError or StatusCancelled.
	Status string `json:"status,omitempty" class:"public"`
	Rows   int64  `json:"rows" class:"public"`
	// Bytes counts the values as returned to the caller.
	Bytes int64 `json:"bytes" class:"public"`
	// TruncatedBy is rows, bytes, cell or columns when the result was cut.
	TruncatedBy string `json:"truncated_by,omitempty" class:"public"`
	// SQLState is the server's code. The server's message is never stored,
	// because messages quote data.
	SQLState string `json:"sqlstate,omitempty" class:"public"`
	// ExecMS is the time from sending the statement to the end of its result,
	// in milliseconds with a fraction.
	ExecMS float64 `json:"exec_ms" class:"public"`
	// QueueMS is the time before that: waiting for a slot and for a connection.
	QueueMS float64 `json:"queue_ms,omitempty" class:"public"`
	// Ended says whether the server confirmed the end of a statement that was
	// ended early.
	Ended string `json:"ended,omitempty" class:"public"`
	// HeldMS is, in query.ended, for how long the statement kept its slot after
	// its outcome.
	HeldMS float64 `json:"held_ms,omitempty" class:"public"`
	// Code is the gateway's error code: timeout, connection_lost, ….
	Code string `json:"code,omitempty" class:"public"`
}

// Tool is a call to another MCP server's tool. Its outcome is in [Result].
type Tool struct {
	Server string `json:"server,omitempty" class:"identifier"`
	Name   string `json:"name,omitempty" class:"identifier"`
	// ArgumentHash is [Log.HMAC] of the arguments' JSON; the arguments are not stored.
	ArgumentHash string `json:"argument_hash,omitempty" class:"public"`
}

// Process is the process that starts, stops, reloads or crashed. A decision has only
// its run.
type Process struct {
	PID int64 `json:"pid,omitempty" class:"public"`
	// Run names one run of a process. Its start, its stop and its decisions have it. It
	// is set by the log.
	Run     string `json:"run,omitempty" class:"public"`
	Version string `json:"version,omitempty" class:"public"`
	// Config is a hash of the configuration in force from this event on.
	Config string `json:"config,omitempty" class:"public"`
}

// LogInfo describes an event that the log writes about itself.
type LogInfo struct {
	// Reason is one of the Reason constants, for log.recovered; empty otherwise.
	Reason string `json:"reason,omitempty" class:"public"`
	// Segment is the file that the event describes; in log.archived, the last
	// segment that was archived.
	Segment string `json:"segment,omitempty" class:"public"`
	// Offset, Bytes and SHA256 describe bytes that were cut from Segment. Saved
	// is the file that keeps them. In segment.seal, Bytes is the length of the
	// segment before the seal.
	Offset int64  `json:"offset,omitempty" class:"public"`
	Bytes  int64  `json:"bytes,omitempty" class:"public"`
	SHA256 string `json:"sha256,omitempty" class:"public"`
	Saved  string `json:"saved,omitempty" class:"public"`
	// FirstSeq and Records count the events of a sealed segment without the
	// seal. In log.archived they count all events that were archived.
	FirstSeq int64 `json:"first_seq,omitempty" class:"public"`
	Records  int64 `json:"records,omitempty" class:"public"`
	// KnownSeq and KnownHash name an event that had been written and was
	// missing when the log was opened; in log.archived, the last event that was
	// archived.
	KnownSeq  int64  `json:"known_seq,omitempty" class:"public"`
	KnownHash string `json:"known_hash,omitempty" class:"public"`
	// Lost is the number of events that a log.gap event replaces. Since is the
	// time of the first of them. Under [FailDegrade] the statements of those
	// events ran.
	Lost  int64     `json:"lost,omitempty" class:"public"`
	Since time.Time `json:"since,omitzero" class:"public"`
}

// The values of [LogInfo.Reason].
const (
	// ReasonTorn: the writer cut bytes after the last whole event and kept them
	// in another file.
	ReasonTorn = "torn_write"
	// ReasonMissing: events that had been written were missing.
	ReasonMissing = "events_missing"
	// ReasonAnchor: the log has events, but its anchor was missing or
	// unreadable.
	ReasonAnchor = "anchor_missing"
	// ReasonSync: the system could not flush a segment, so its last events may
	// be lost.
	ReasonSync = "sync_failed"
)

// Chain binds an event to the one before it. Both values are 64 lower-case
// hexadecimal digits.
type Chain struct {
	// Prev is the hash of the previous event, zeros for the first.
	Prev string `json:"prev" class:"public"`
	// Hash is the SHA-256 over the event's canonical JSON without Hash.
	Hash string `json:"hash" class:"public"`
}
