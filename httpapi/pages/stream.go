package pages

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
)

const (
	// tailEvery is how often the tail looks for new statements.
	tailEvery = time.Second
	// tailMost is the most statements that it sends at a time.
	tailMost = 200
)

// tail sends the statements that meet the conditions as they are written, each as the
// event row.
func (p *Pages) tail(w http.ResponseWriter, r *http.Request) {
	f, err := p.filter(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	newest := func(limit int) ([]audit.Statement, error) {
		found, err := p.config.Index.Statements(r.Context(), f, index.Page{Limit: limit})
		return found.Statements, err
	}
	found, err := newest(1)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	last := int64(0)
	for _, s := range found {
		last = audit.StatementRow(s).Seq
	}
	events := startEvents(w)
	tick := time.NewTicker(tailEvery)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		if found, err = newest(tailMost); err != nil {
			return // the browser asks again
		}
		sent := last
		for _, one := range slices.Backward(found) {
			row := audit.StatementRow(one)
			if row.Seq <= sent {
				continue
			}
			last = max(last, row.Seq)
			if data, err := json.Marshal(row); err == nil {
				events.send("row", data)
			}
		}
		events.send("time", []byte(strconv.Quote(p.now().UTC().Format(time.RFC3339)))) // a client that left is noticed
	}
}

// export answers with every statement that meets the conditions, the newest first, as a
// file.
func (p *Pages) export(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	format := q.Get("format")
	kinds := map[string]string{"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8", "ocsf": "application/jsonl"}
	if kinds[format] == "" {
		p.refuse(w, r, &requestError{"format is not jsonl, csv or ocsf", ""})
		return
	}
	q.Del("format")
	rest := r.Clone(r.Context())
	rest.URL.RawQuery = q.Encode()
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
		secureHeaders(w.Header())
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
