package audit

import "time"

// Row is an event, or a statement with its outcome, as lists show it. JSON leaves out
// values that are absent.
type Row struct {
	Time       time.Time `json:"time"`
	Seq        int64     `json:"seq"`
	Event      string    `json:"event,omitempty"`
	QueryID    string    `json:"queryId,omitempty"`
	SessionID  string    `json:"sessionId,omitempty"`
	Principal  string    `json:"principal,omitempty"`
	Client     string    `json:"client,omitempty"`
	Address    string    `json:"address,omitempty"`
	User       string    `json:"user,omitempty"` // of the operating system
	Reason     string    `json:"reason,omitempty"`
	Connection string    `json:"connection,omitempty"`
	Verdict    string    `json:"verdict,omitempty"`
	Codes      []string  `json:"codes,omitempty"`
	Status     string    `json:"status,omitempty"`
	Rows       *int64    `json:"rows,omitempty"`
	ExecMS     *float64  `json:"execMs,omitempty"`
	Kind       string    `json:"kind,omitempty"`
	Tables     []string  `json:"tables,omitempty"`
	Functions  []string  `json:"functions,omitempty"`
	// Fingerprint is the fingerprint of SQL.
	Fingerprint string `json:"fingerprint,omitempty"`
	SQL         string `json:"sql,omitempty"` // the statement without literals
}

// StatementRow returns the row of a statement.
func StatementRow(s Statement) Row {
	row := EventRow(s.Event())
	row.Event, row.Status = "", s.Status()
	return row
}

// EventRow returns the row of an event.
func EventRow(e Event) Row {
	row := Row{
		Time: e.Time.UTC(), Seq: e.Seq, Event: string(e.Type), QueryID: e.QueryID, SessionID: e.Session,
		Principal: e.Principal, Client: e.Client.Name, Address: e.Client.Address, User: e.Client.User, Reason: e.Reason, Connection: e.Connection.ID,
		Verdict: e.Decision.Verdict, Codes: e.Decision.Codes, Status: e.Result.Status,
		Kind: e.SQL.Kind, Tables: e.SQL.Tables, Functions: e.SQL.Functions, Fingerprint: e.SQL.Fingerprint, SQL: e.SQL.Normalized,
	}
	if e.Result.Status != "" && e.Result.Status != StatusCrashed { // of a crash nothing is known
		row.Rows, row.ExecMS = &e.Result.Rows, &e.Result.ExecMS
		if e.Result.Code != "" {
			row.Codes = append(append([]string{}, row.Codes...), e.Result.Code)
		}
	}
	return row
}
