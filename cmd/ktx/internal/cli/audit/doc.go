// Package audit is the commands of ktx audit, which read, verify, export and
// archive the audit log.
//
// The log itself, and all rules about it, are in execution/audit.
package audit
