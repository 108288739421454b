package pages

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
)

const (
	// tailEvery is how often the tail looks for new statements.
	tailEvery = time.Second
	// tailMost is how many statements it reads at a time, and of how many that run it
	// awaits the end.
	tailMost = 1000
)

// tail sends the statements that meet the conditions as they are written, each as the
// event row. One that was running is sent again when it has ended. The list begins after
// the place from, or where the client's stream ended.
func (p *Pages) tail(w http.ResponseWriter, r *http.Request) {
	r, from := without(r, "from")
	from = cmp.Or(r.Header.Get("Last-Event-ID"), from)
	f, err := p.filter(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	last, err := p.newest(r.Context())
	if n, bad := strconv.ParseInt(from, 10, 64); bad == nil && n >= 0 && n < last {
		last = n
	} else if from != "" && bad != nil {
		err = &requestError{"from is not a place in the list", ""}
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	// What has ended may meet the conditions on how it ended.
	early := f
	early.Status, early.Code, early.MinRows, early.MinExecMS = "", "", 0, 0
	running := map[string]bool{}
	events := startEvents(w)
	send := func(s audit.Statement) {
		if f.MatchStatement(s) {
			if data, err := json.Marshal(audit.StatementRow(s)); err == nil {
				events.send("row", data)
			}
		}
	}
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		if !httpapi.AccessFrom(r.Context()).InForce() {
			return
		}
		for id := range running {
			found, err := p.config.Index.Statements(r.Context(), audit.Filter{QueryID: id, Principal: f.Principal}, index.Page{Limit: 1})
			if err != nil {
				return // the browser asks again
			}
			if len(found.Statements) == 1 && found.Statements[0].Status() != audit.StatusUnfinished {
				delete(running, id)
				send(found.Statements[0])
			}
		}
		for more := true; more; {
			found, err := p.config.Index.Statements(r.Context(), early, index.Page{Limit: tailMost, Oldest: true, After: last})
			if err != nil {
				return
			}
			for _, s := range found.Statements {
				if s.Status() == audit.StatusUnfinished && len(running) < tailMost {
					running[s.Decision.QueryID] = true
				}
				send(s)
			}
			last, more = max(last, found.Last), found.Next != 0
		}
		events.place(last)
		events.send("time", []byte(strconv.Quote(p.now().UTC().Format(time.RFC3339)))) // a client that left is noticed
	}
}

// newest returns the place of the newest statement.
func (p *Pages) newest(ctx context.Context) (int64, error) {
	found, err := p.config.Index.Statements(ctx, audit.Filter{}, index.Page{Limit: 1})
	return found.First, err
}

// without returns a request whose address lacks a member, and its value.
func without(r *http.Request, name string) (*http.Request, string) {
	q := r.URL.Query()
	value := q.Get(name)
	if !q.Has(name) {
		return r, ""
	}
	q.Del(name)
	rest := r.Clone(r.Context())
	rest.URL.RawQuery = q.Encode()
	return rest, value
}

// export answers with every statement that meets the conditions, the newest first, as a
// file.
func (p *Pages) export(w http.ResponseWriter, r *http.Request) {
	rest, format := without(r, "format")
	kinds := map[string]string{"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8", "ocsf": "application/jsonl"}
	if kinds[format] == "" {
		p.refuse(w, r, &requestError{"format is not jsonl, csv or ocsf", ""})
		return
	}
	f, err := p.filter(rest)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	begun := false
	begin := func() {
		if begun {
			return
		}
		begun = true
		w.Header().Set("Content-Type", kinds[format])
		name := map[string]string{"jsonl": "audit.jsonl", "csv": "audit.csv", "ocsf": "audit-ocsf.jsonl"}[format]
		w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	}
	table := csv.NewWriter(w)
	if format == "csv" {
		begin()
		_ = table.Write([]string{"time", "queryId", "principal", "client", "connection", "verdict", "codes", "status", "rows", "execMs", "tables", "sql"})
	}
	for s, err := range p.config.Index.All(r.Context(), f, false) {
		if err != nil {
			if !begun {
				p.refuse(w, r, err)
				return
			}
			panic(http.ErrAbortHandler) // the file is not whole, and the browser must see that
		}
		begin()
		row := audit.StatementRow(s)
		switch format {
		case "csv":
			err = table.Write(csvRow(row))
		case "ocsf":
			var line []byte
			if line, err = audit.OCSF(s, p.config.Version); err == nil {
				_, err = io.WriteString(w, string(line)+"\n")
			}
		default:
			var line []byte
			if line, err = json.Marshal(row); err == nil {
				_, err = io.WriteString(w, string(line)+"\n")
			}
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	begin()
	table.Flush()
}

// csvRow returns a row of a file. A cell that a spreadsheet would take for a formula
// begins with an apostrophe.
func csvRow(row audit.Row) []string {
	rows, ms := "", ""
	if row.Rows != nil {
		rows = strconv.FormatInt(*row.Rows, 10)
	}
	if row.ExecMS != nil {
		ms = strconv.FormatFloat(*row.ExecMS, 'f', -1, 64)
	}
	cells := []string{
		row.Time.Format(time.RFC3339Nano), row.QueryID, row.Principal, row.Client, row.Connection, row.Verdict, strings.Join(row.Codes, " "), row.Status, rows, ms,
		strings.Join(row.Tables, " "), row.SQL,
	}
	for i, c := range cells {
		cells[i] = plainCell(c)
	}
	return cells
}

// plainCell returns a text that a spreadsheet does not take for a formula.
func plainCell(text string) string {
	if text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
		return "'" + text
	}
	return text
}
