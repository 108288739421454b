// Package usage counts what the accepted statements of a project read: how many
// of them named each table and each column, when the last of them ran, and which
// pairs of columns they joined.
//
// A [Builder] takes statements of the audit log and makes a [File] for each
// connection. The file is an artifact of the project, beside the scans:
//
//	raw-sources/<connection>/usage/usage.json
//
// It names tables and columns of the last scan only. It holds no principal, no
// client, no text of a statement and no literal.
//
// Ranking uses the counts to order what is otherwise equal, the finder of
// relationships takes joins that occurred at least [JoinEvidence] times as
// candidates, and entity_details shows them.
package usage
