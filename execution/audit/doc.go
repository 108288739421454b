// Package audit keeps the audit log: which statement was asked for, by which
// principal, what the guard decided, and how the statement ended.
//
// A [Writer] appends events to JSON Lines files in one directory. Each event
// carries the hash of the event before it and its own hash, the SHA-256 over
// its canonical JSON (RFC 8785) without that hash. [Verify] walks the chain
// and names the first event that was edited, deleted, inserted or moved, and
// the first that is missing up to the last anchor. [Reader] reads the events
// back, forwards and backwards, [Statements] and [NewestStatements] join decision
// and outcome, [Summarize] counts, [Checked] reads and verifies in one pass,
// [OCSF] writes a statement as OCSF Datastore Activity, and [Archive] moves old
// segments away so that the rest still verifies.
//
//	log, err := audit.Open(cfg.Dir(projectDir), cfg, logger)
//	…
//	if err := log.Append(ctx, event); err != nil {
//		// the event is not recorded: the statement must not run
//	}
//
// The directory holds
//
//	audit-000001.jsonl            segments, numbered without gaps; the first
//	                              ones may be in an archive
//	audit-000001.jsonl.torn-…     bytes that a crash left after the last whole event
//	anchor.json                   sequence number and hash of an event known to be on disk
//	key                           32 random bytes, the key of the HMAC over raw statements
//	lock                          held by a process for the time of one append
//
// The directory has mode 0700 and its files 0600. Looser modes of the directory
// and of the files in use are tightened when the log is opened.
//
// # What is promised
//
// An event for which Append returned nil was handed to the operating system
// and survives the process. With [SyncAlways] it was also flushed to the disk,
// one flush serving all appends that wait for it. With [SyncInterval] a flush
// follows within a second, at rotation and at Close. With [SyncOff] nothing is
// flushed.
//
// Several processes may append to the same directory; sequence numbers and the
// chain run through all of them. On systems without flock a second process is
// refused.
//
// # What is not promised
//
// The chain has no secret. Anyone who may write the directory can replace the
// whole log and the anchor together. Copy anchor.json elsewhere from time to
// time and give it to [Verify]: it proves that the log still contains that
// event and everything before it.
//
// Verify does not notice when events after the last anchor are cut off. The
// anchor follows the log by at most a second while a process is writing, and is
// set when the log is closed. Anyone who sets the anchor back to an earlier
// event of the same log can cut off everything after that event. Only a copy of
// the later anchor shows it.
//
// # What it never does
//
// It never stores a literal of a statement unless [SQLFull] is configured. It
// never stores a value of a result. A field of [Event] without a classification tag is
// never written. It never judges a statement and never opens a database.
package audit
