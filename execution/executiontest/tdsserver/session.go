package tdsserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// session is the state of a connection on the server.
type session struct {
	c        *conn
	database string
	// options are the values of SET, by the option's name in upper case.
	options map[string]string
	// transaction is the descriptor of the open transaction, or 0. Last is the
	// descriptor that was used last.
	transaction, last uint64
	depth             int // @@TRANCOUNT
	doomed            bool
	rowCount          int64 // @@ROWCOUNT
	lastError         int32 // @@ERROR
	undo              []func()
}

// defaults are the settings with which a session of ODBC begins (T-SQL
// reference, "SET statements"; ODBC sets the options of ANSI_DEFAULTS at
// login).
var defaults = map[string]string{
	"ANSI_NULLS": "ON", "ANSI_PADDING": "ON", "ANSI_WARNINGS": "ON", "ANSI_NULL_DFLT_ON": "ON", "CONCAT_NULL_YIELDS_NULL": "ON",
	"QUOTED_IDENTIFIER": "ON", "ARITHABORT": "OFF", "NUMERIC_ROUNDABORT": "OFF", "IMPLICIT_TRANSACTIONS": "OFF", "XACT_ABORT": "OFF",
	"NOCOUNT": "OFF", "CURSOR_CLOSE_ON_COMMIT": "OFF", "ANSI_NULL_DFLT_OFF": "OFF", "NOEXEC": "OFF", "PARSEONLY": "OFF", "FMTONLY": "OFF",
	"FORCEPLAN": "OFF", "ARITHIGNORE": "OFF", "ANSI_DEFAULTS": "OFF", "SHOWPLAN_ALL": "OFF", "SHOWPLAN_TEXT": "OFF", "SHOWPLAN_XML": "OFF",
	"ROWCOUNT": "0", "LOCK_TIMEOUT": "-1", "TEXTSIZE": "2147483647", "DATEFIRST": "7", "DATEFORMAT": "mdy", "LANGUAGE": "us_english",
	"ISOLATION": "READ COMMITTED", "DEADLOCK_PRIORITY": "0", "QUERY_GOVERNOR_COST_LIMIT": "0",
}

// optionBits are the bits of @@OPTIONS (T-SQL reference, "Configure the user
// options").
var optionBits = map[string]int64{
	"IMPLICIT_TRANSACTIONS": 2, "CURSOR_CLOSE_ON_COMMIT": 4, "ANSI_WARNINGS": 8, "ANSI_PADDING": 16, "ANSI_NULLS": 32, "ARITHABORT": 64,
	"ARITHIGNORE": 128, "QUOTED_IDENTIFIER": 256, "NOCOUNT": 512, "ANSI_NULL_DFLT_ON": 1024, "ANSI_NULL_DFLT_OFF": 2048,
	"CONCAT_NULL_YIELDS_NULL": 4096, "NUMERIC_ROUNDABORT": 8192, "XACT_ABORT": 16384,
}

func newSession(c *conn, database string) session {
	s := session{c: c, database: database, options: make(map[string]string)}
	maps.Copy(s.options, defaults)
	return s
}

// reset carries out the RESETCONNECTION bit ([MS-TDS] 2.2.3.1.2). The session
// gets the settings of a new one. Its transaction ends, unless it must be kept.
func (s *session) reset(r *Reply, keepTransaction bool) {
	maps.Copy(s.options, defaults)
	s.database = s.c.login.Database
	if s.database == "" {
		s.database = s.c.s.config.Databases[0]
	}
	if old := s.transaction; !keepTransaction && old != 0 {
		s.unwind()
		r.token(appendEnvBytes(nil, envRollback, nil, descriptor(old)))
	}
}

// unwind undoes the changes of the transaction and ends it.
func (s *session) unwind() {
	for _, undo := range slices.Backward(s.undo) {
		undo()
	}
	s.transaction, s.depth, s.doomed, s.undo = 0, 0, false, nil
}

func (s *session) on(option string) bool { return s.options[option] == "ON" }

// begin opens a transaction, or adds one level of nesting to the open one.
func (s *session) begin(r *Reply) error {
	s.depth++
	if s.transaction == 0 {
		s.last++
		s.transaction = uint64(s.c.spid)<<32 | s.last
		r.token(appendEnvBytes(nil, envBegin, descriptor(s.transaction), nil))
	}
	return r.err
}

// rollback ends the transaction and everything nested in it.
func (s *session) rollback(r *Reply) error {
	if s.transaction == 0 {
		return &ServerError{Number: 3903, State: 1, Class: 16, Message: "The ROLLBACK TRANSACTION request has no corresponding BEGIN TRANSACTION."}
	}
	old := s.transaction
	s.unwind()
	r.token(appendEnvBytes(nil, envRollback, nil, descriptor(old)))
	return r.err
}

// commit ends the innermost transaction. The end of the outermost one keeps its
// changes.
func (s *session) commit(r *Reply) error {
	switch {
	case s.transaction == 0:
		return &ServerError{Number: 3902, State: 1, Class: 16, Message: "The COMMIT TRANSACTION request has no corresponding BEGIN TRANSACTION."}
	case s.doomed:
		return &ServerError{Number: 3930, State: 1, Class: 16, Message: "The current transaction cannot be committed and cannot support operations that write to the log file. Roll back the transaction."}
	case s.depth > 1:
		s.depth--
		return nil
	}
	old := s.transaction
	s.transaction, s.depth, s.undo = 0, 0, nil
	r.token(appendEnvBytes(nil, envCommit, nil, descriptor(old)))
	return r.err
}

// manage answers a transaction manager request ([MS-TDS] 2.2.6.9).
func (s *session) manage(r *Reply, kind TransactionKind) error {
	var err error
	switch kind {
	case TransactionBegin:
		err = s.begin(r)
	case TransactionCommit:
		err = s.commit(r)
	case TransactionRollback:
		err = s.rollback(r)
	case TransactionSave:
		err = unknown("a savepoint", 1)
	}
	return s.report(r, err, 1)
}

// report sends err if it is an error of the server, and returns it otherwise.
func (s *session) report(r *Reply, err error, line int32) error {
	e, ok := err.(*ServerError) //nolint:errorlint // statements return it as it is
	if !ok {
		return err
	}
	if e.Line == 0 {
		e.Line = line
	}
	s.lastError = e.Number
	return r.Error(e)
}

// notModelled is the error number for everything that the stand-in does not
// support. SQL Server has no such number: the numbers of user messages begin at
// 50,000 and end below it.
const notModelled = 2147483000

// unknown returns the error for something that the stand-in does not support.
func unknown(what string, line int32) *ServerError {
	return &ServerError{Number: notModelled, State: 1, Class: 16, Line: line, Message: "the stand-in for SQL Server does not model " + what}
}

// optionMask is @@OPTIONS.
func (s *session) optionMask() int64 {
	var mask int64
	for name, bit := range optionBits {
		if s.on(name) {
			mask |= bit
		}
	}
	return mask
}

// may reports whether the account has a permission on the database.
func (c *conn) may(permission string) bool {
	return c.in("sysadmin") || c.in("db_owner") || slices.Contains(c.account.Permissions, permission)
}

func (c *conn) in(role string) bool {
	return slices.Contains(c.account.Roles, role)
}

// name is @@SERVERNAME.
func (s *Server) name() string { return "TDSSERVER" }

func (s *Server) has(database string) bool {
	return slices.ContainsFunc(s.config.Databases, func(d string) bool { return strings.EqualFold(d, database) })
}

// banner is @@VERSION.
func (s *Server) banner() string {
	return fmt.Sprintf("Microsoft SQL Server (stand-in of a test) - %s", s.config.Version)
}
