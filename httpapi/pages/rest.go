package pages

import (
	"errors"
	"math"
	"net/http"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// list is the answer of the lists.
type list struct {
	Schema string      `json:"schema"`
	Rows   []audit.Row `json:"rows"`
	// Next is the after of the next page; absent on the last one.
	Next  int64  `json:"next,omitempty"`
	Chain *chain `json:"chain"`
}

// page reads which statements an address asks for.
func (p *Pages) page(r *http.Request) (audit.Filter, index.Page, error) {
	f, err := p.filter(r)
	if err != nil {
		return f, index.Page{}, err
	}
	limit, err := number(r, "limit", defaultLimit, 1, maxLimit)
	if err != nil {
		return f, index.Page{}, err
	}
	after, err := number(r, "after", 0, 0, math.MaxInt64)
	return f, index.Page{Limit: int(limit), After: after}, err
}

func (p *Pages) listStatements(w http.ResponseWriter, r *http.Request) {
	f, page, err := p.page(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	found, err := p.config.Index.Statements(r.Context(), f, page)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	out := list{Schema: "ktx-rest-statements/1", Rows: []audit.Row{}, Next: found.Next, Chain: chainOf(found.State)}
	for _, s := range found.Statements {
		out.Rows = append(out.Rows, audit.StatementRow(s))
	}
	httpapi.Respond(w, http.StatusOK, out)
}

// listEvents lists events, the newest first. They are read from the log.
func (p *Pages) listEvents(w http.ResponseWriter, r *http.Request) {
	f, page, err := p.page(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	if kind := r.URL.Query().Get("event"); kind != "" {
		f.Types = []audit.Type{audit.Type(kind)}
	}
	log, err := audit.OpenReader(p.config.LogDir)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	defer func() { _ = log.Close() }() // it was only read
	out := list{Schema: "ktx-rest-events/1", Rows: []audit.Row{}}
	for rec, err := range log.Newest(r.Context()) {
		if _, bad := errors.AsType[*audit.LineError](err); bad {
			continue // verify says what is wrong with it
		}
		if err != nil {
			p.refuse(w, r, err)
			return
		}
		if page.After > 0 && rec.Event.Seq >= page.After || !f.Match(rec.Event) {
			continue
		}
		if len(out.Rows) == page.Limit {
			out.Next = out.Rows[len(out.Rows)-1].Seq
			break
		}
		out.Rows = append(out.Rows, audit.EventRow(rec.Event))
	}
	state, err := p.config.Index.State(r.Context())
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	out.Chain = chainOf(state)
	httpapi.Respond(w, http.StatusOK, out)
}

func (p *Pages) stats(w http.ResponseWriter, r *http.Request) {
	f, err := p.filter(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	counts, err := p.config.Index.Count(r.Context(), f)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	httpapi.Respond(w, http.StatusOK, struct {
		Schema string `json:"schema"`
		index.Counts
		Chain *chain `json:"chain"`
	}{"ktx-rest-stats/1", counts, chainOf(counts.State)})
}

// verify reads the whole log.
func (p *Pages) verify(w http.ResponseWriter, r *http.Request) {
	report, err := audit.Verify(r.Context(), p.config.LogDir)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	httpapi.Respond(w, http.StatusOK, struct {
		Schema string `json:"schema"`
		audit.Report
	}{"ktx-audit-verify/1", report})
}

func (p *Pages) connections(w http.ResponseWriter, r *http.Request) {
	httpapi.Respond(w, http.StatusOK, struct {
		Schema      string       `json:"schema"`
		Connections []Connection `json:"connections"`
	}{"ktx-rest-connections/1", append([]Connection{}, p.config.Connections(r.Context())...)})
}
