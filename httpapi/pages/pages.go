package pages

import (
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ktxhq/ktx/execution/audit"
	"github.com/ktxhq/ktx/execution/audit/index"
	"github.com/ktxhq/ktx/httpapi"
	"github.com/ktxhq/ktx/httpapi/markup"
	"github.com/ktxhq/ktx/sqlguard"
)

// Config is what the pages show.
type Config struct {
	// Index answers questions about the log in LogDir.
	Index  *index.Index
	LogDir string
	// Connections returns the connections that the actor of a request may use.
	Connections func(context.Context) []Connection
	// Tools are the tools of the MCP server.
	Tools Tools
	// Artifacts are what the project knows of its data.
	Artifacts Artifacts
	// Trust says why the tools of another MCP server may be called or not.
	Trust func(ctx context.Context, server string) map[string]Trust
	// Judge judges texts for the playground, and statements of the log again.
	Judge Judge
	// Codes are those that only tools have, beside those of the guard.
	Codes []sqlguard.CodeInfo
	// Review returns what judges many statements again, by the policies of the ktx.yaml
	// that is on the disk, as far as the actor may use their connections.
	Review func(context.Context) (*audit.Reviewer, error)
	// Corpus returns the cases with the answers of this build's guard. It is called when
	// somebody looks, and keeps what it made.
	Corpus  func() (*Corpus, error)
	Version string
	Logger  *slog.Logger
}

// Connection is a database as the pages show it.
type Connection struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Engine  string `json:"engine"`
	Dialect string `json:"dialect,omitempty"`
	// Runs says that statements can be run.
	Runs bool `json:"runs"`
	// Probed is when the role was looked at last, Role which one it was, and Findings
	// what is wrong with it.
	Probed   time.Time `json:"probed,omitzero"`
	Role     string    `json:"role,omitempty"`
	Findings []string  `json:"findings,omitempty"`
	// Catalog is when the guard's catalogue was read, and CatalogFailure why it was not.
	Catalog        time.Time `json:"catalog,omitzero"`
	CatalogFailure string    `json:"catalogFailure,omitempty"`
	// Scanned is when a scan read the tables.
	Scanned time.Time `json:"scanned,omitzero"`
	// Running and Waiting count its statements at this moment.
	Running int `json:"running"`
	Waiting int `json:"waiting"`
}

// Pages answers the routes. Make it with [New].
type Pages struct {
	config Config
	codes  map[string]sqlguard.CodeInfo
	now    func() time.Time
	tools  func() []Tool
	// reviewing has one place: judging many statements again takes a processor, and memory.
	reviewing chan struct{}
	compared  comparisons
}

//go:embed static
var files embed.FS

// New returns the pages of a project.
func New(c Config) *Pages {
	p := &Pages{config: c, codes: map[string]sqlguard.CodeInfo{}, now: time.Now, reviewing: make(chan struct{}, 1)}
	p.tools = sync.OnceValue(func() []Tool { return c.Tools.Tools() }) // they stay as long as the server
	for _, info := range slices.Concat(sqlguard.Codes(), c.Codes) {
		p.codes[string(info.Code)] = info
	}
	return p
}

// Routes returns the routes for [httpapi.Config].
func (p *Pages) Routes() []httpapi.Route {
	seen := []httpapi.Right{httpapi.RightQuery, httpapi.RightAudit, httpapi.RightPages}
	pages := []httpapi.Right{httpapi.RightPages}
	get := func(path string, needs []httpapi.Right, h http.HandlerFunc) httpapi.Route {
		return httpapi.Route{Method: http.MethodGet, Path: path, Needs: needs, Handler: h}
	}
	page := func(path string, h http.HandlerFunc) httpapi.Route {
		return httpapi.Route{Method: http.MethodGet, Path: path, Needs: pages, Handler: h, Page: true}
	}
	tool := httpapi.Route{Method: http.MethodPost, Path: "/v1/tools/{name}", Needs: []httpapi.Right{httpapi.RightQuery}, Handler: p.callTool, Runs: true}
	form := func(path string, h http.HandlerFunc) httpapi.Route {
		return httpapi.Route{Method: http.MethodPost, Path: path, Needs: pages, Handler: h, Form: true, Runs: true}
	}
	tail, export := get("/v1/audit/tail", seen, p.tail), get("/v1/audit/export", seen, p.export)
	tail.Waits, export.Waits = true, true
	rejudge := page("/audit/rejudge", p.rejudge)
	rejudge.Runs = true // it ends when its reader leaves
	static := get("/static/{file}", nil, p.static)
	static.Open = true
	return []httpapi.Route{
		page("/", p.overview),
		page("/audit", p.audit),
		page("/audit/{query}", p.statement),
		page("/audit/verify", p.verifyPage),
		rejudge,
		page("/principal", p.principal),
		page("/session", p.session),
		page("/corpus", p.corpus),
		page("/corpus/compare", p.compare),
		form("/corpus/compare", p.compare),
		page("/corpus/{id}", p.corpusCase),
		page("/explain", p.explanation),
		page("/playground", p.playground),
		form("/playground", p.playground),
		page("/explore", p.acting(p.explore)),
		page("/query", p.acting(p.query)),
		form("/query", p.acting(p.query)),
		page("/tools", p.acting(p.listTools)),
		page("/skills", p.acting(p.listSkills)),
		static,
		get("/v1/audit/statements", seen, p.listStatements),
		get("/v1/audit/events", seen, p.listEvents),
		get("/v1/audit/stats", seen, p.stats),
		tail,
		export,
		get("/v1/corpus", seen, p.listCases),
		get("/v1/corpus/{id}", seen, p.oneCase),
		get("/v1/audit/verify", []httpapi.Right{httpapi.RightAudit}, p.verify),
		get("/v1/connections", seen, p.connections),
		get("/v1/openapi.json", seen, p.openAPI),
		tool,
	}
}

// policy is the content security policy of every page. With the referrer policy
// no-referrer, which other answers have, browsers would send our own forms with the
// Origin null.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// chain says whether the log is whole.
type chain struct {
	OK       bool            `json:"ok"`
	UpTo     int64           `json:"upTo"`
	Problems []audit.Problem `json:"problems,omitempty"`
	More     int64           `json:"more,omitempty"`
	// Remade is when the index was found damaged, and made anew from the log.
	Remade time.Time `json:"indexRemade,omitzero"`
}

func chainOf(s index.State) *chain {
	c := &chain{OK: s.Report.OK, UpTo: s.Report.LastSeq, Problems: s.Report.Problems, More: s.Report.More}
	if s.Remade != nil {
		c.Remade = s.Remade.Time.UTC()
	}
	return c
}

// show writes a page. A page that is not about the log says nothing of its chain unless
// the chain is broken.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, status int, title string, c *chain, page content) {
	w.Header().Set("Content-Security-Policy", policy)
	w.Header().Set("Referrer-Policy", "same-origin")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	text := p.render(r, title, c, page)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // the browser may have left
}

// render returns a page.
func (p *Pages) render(r *http.Request, title string, c *chain, page content) string {
	a := httpapi.AccessFrom(r.Context())
	if c == nil && a.Principal != "" {
		if state, err := p.config.Index.State(r.Context()); err == nil && !state.Report.OK {
			c = chainOf(state)
		}
	}
	d := document{new(markup.Document), p.codes}
	d.page(shown{Title: title, Path: r.URL.Path, Version: p.config.Version, Access: a, All: a.Has(httpapi.RightAudit), Menu: p.menu(a), Chain: c, Page: page})
	return d.String()
}

// menu returns the pages that a principal may open, without those that have no subject.
func (p *Pages) menu(a httpapi.Access) []link {
	if !a.Has(httpapi.RightPages) {
		return nil // the login
	}
	list := []link{{Label: "Overview", Href: "/"}, {Label: "Audit log", Href: "/audit"}, {Label: "Corpus", Href: "/corpus"}, {Label: "Playground", Href: "/playground"}}
	if !a.Has(httpapi.RightQuery) {
		return list
	}
	for _, of := range []struct {
		tool string
		link link
	}{
		{"discover_data", link{Label: "Explore", Href: "/explore"}},
		{"sql_execution", link{Label: "Query", Href: "/query"}},
		{"server_list", link{Label: "Tools", Href: "/tools"}},
		{"search_skills", link{Label: "Skills", Href: "/skills"}},
	} {
		if p.has(of.tool) {
			list = append(list, of.link)
		}
	}
	return list
}

// fail shows an error as a page.
func (p *Pages) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, said := p.explain(r, err)
	p.Problem(w, r, status, said)
}

// refuse answers a REST request with an error.
func (p *Pages) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, said := p.explain(r, err)
	httpapi.Refuse(w, status, said)
}

// requestError is an error in what was asked for.
type requestError struct{ message, hint string }

func (e *requestError) Error() string { return e.message }

// errNoSuch says that there is nothing of that name, or nothing that the principal may see.
var errNoSuch = errors.New("there is nothing of that name in the audit log")

// errNoCode says that there is no code of that name.
var errNoCode = errors.New("there is no code of that name")

// errNoRuns says that a comparison is not kept.
var errNoRuns = errors.New("the comparison is not kept any more; send the files again")

// errNoCase says that the corpus has no case of that name.
var errNoCase = errors.New("the corpus has no case of that name")

func (p *Pages) explain(r *http.Request, err error) (int, httpapi.Problem) {
	if bad, ok := errors.AsType[*requestError](err); ok {
		return http.StatusBadRequest, httpapi.Problem{Code: string(sqlguard.CodeInvalidArguments), Message: bad.message, Hint: bad.hint}
	}
	if errors.Is(err, errNoSuch) || errors.Is(err, errNoCase) || errors.Is(err, errNoCode) || errors.Is(err, errNoRuns) {
		return http.StatusNotFound, httpapi.Problem{Code: "not_found", Message: err.Error()}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return http.StatusNotFound, httpapi.Problem{Code: "not_found", Message: "there is no audit log yet; the first statement makes it"}
	}
	if _, full := errors.AsType[*index.DiskError](err); full {
		p.config.Logger.ErrorContext(r.Context(), "a question about the audit log has no answer", "error", err)
		return http.StatusServiceUnavailable, httpapi.Problem{Code: string(sqlguard.CodeInternalError), Message: "the index of the audit log cannot be written: its disk is full or read-only", Hint: "free some space there or in the folder for temporary files; ktx audit query reads the log without an index"}
	}
	if r.Context().Err() == nil {
		p.config.Logger.ErrorContext(r.Context(), "a question about the audit log met a fault", "error", err)
	}
	return http.StatusInternalServerError, httpapi.Problem{Code: string(sqlguard.CodeInternalError), Message: "the audit log could not be read; the server's log says why"}
}

// Login writes the form in which a browser's user gives a token.
func (p *Pages) Login(w http.ResponseWriter, r *http.Request, status int, next, said string) {
	p.show(w, r, status, "Log in", nil, loginPage(next, said))
}

// Problem writes why a request of a browser has no answer.
func (p *Pages) Problem(w http.ResponseWriter, r *http.Request, status int, said httpapi.Problem) {
	if status == http.StatusUnauthorized {
		p.show(w, r, status, "You are not logged in", nil, func(d *document) {
			d.Put(`<p>The login has ended, or there was none. <a href="/login">Log in</a></p>`)
		})
		return
	}
	first, size := utf8.DecodeRuneInString(said.Message)
	p.show(w, r, status, string(unicode.ToUpper(first))+said.Message[size:], nil, problemPage(said.Hint))
}

// static serves a file of ours.
func (p *Pages) static(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/static/")
	data, err := files.ReadFile("static/" + name)
	kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}[name[max(0, strings.LastIndexByte(name, '.')):]]
	if err != nil || kind == "" {
		httpapi.Refuse(w, http.StatusNotFound, httpapi.Problem{Code: "not_found", Message: "there is nothing at this path"})
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "max-age=300")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) //nolint:gosec // a file of ours
}
