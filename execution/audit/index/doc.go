// Package index answers questions about an audit log from a database that is made
// from the log.
//
// [Open] opens the index of a log, or makes an empty one. [Index.Update] takes the
// events that the log has more than the index, and checks the chain on the way.
// [Index.Statements] lists statements, [Index.Count] counts them, and
// [Index.Summarize] does what [audit.Summarize] does. Each of them takes new events
// first, so no answer is older than the log.
//
//	x, err := index.Open(ctx, logDir, filepath.Join(projectDir, index.DefaultPath))
//	…
//	defer x.Close()
//	page, err := x.Statements(ctx, audit.Filter{Verdict: audit.VerdictReject}, index.Page{Limit: 50})
//
// The index holds what conditions and counts need, and where each event lies in the
// log. The events themselves are read from the log, and each one is compared with
// its hash. So an answer never shows an event that the log does not have.
//
// The file is a SQLite database in WAL mode. It can be deleted at any time. It is
// made anew when the log was archived or replaced, when the log was changed in a
// part that had been read, and when the file has another version, is damaged or is
// not an index. Several processes may use it: whoever asks first takes the new
// events, and a process that ends in the middle loses nothing.
//
// # What it never does
//
// It never writes to the log, stores a raw statement or a value, or judges a
// statement.
package index
