package bqserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Project and Dataset are those of the server.
const (
	Project = "ktx-test"
	Dataset = "shop"
)

const (
	// Location is where every job of the server runs.
	Location = "europe-west1"
	// perPage is how many rows a page has at most, and pageBytes about how many bytes.
	perPage   = 4000
	pageBytes = 4 << 20
)

// Config describes a server. The zero value has a principal that can only read.
type Config struct {
	// Token is what requests must have; "" wants none.
	Token string
	// Writes says that the principal may make tables and change them.
	Writes bool
	// Tables are the tables of the dataset with their types; nil is the table items.
	Tables map[string]string
}

// Field is a column. Its type is as the API has it, such as INTEGER.
type Field struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Mode   string  `json:"mode,omitempty"`
	Fields []Field `json:"fields,omitempty"`
}

// Query is what the server does with a statement.
type Query struct {
	Type   string   // of the statement; "" is SELECT
	Tables []string // that it reads, as project.dataset.table
	Bytes  int64    // that it reads
	Refuse *Failure // instead of a dry run
	Fields []Field
	// Rows is how many rows there are, and Row writes one as the API has it.
	Rows int
	Row  func(w io.Writer, i int)
	// Fail is what the job fails with. PageFails is what pages after the first fail with.
	Fail, PageFails *Failure
	Hangs           bool   // the job runs until it is cancelled
	Deaf            bool   // jobs.cancel does not end it
	Cut             bool   // the connection breaks within the first page
	Lost            bool   // the job is made, and the answer to that is an error
	Raw             string // the answer to a request for a page, instead of one
	NoBytes         bool   // the dry run does not say how many bytes are read
}

// Failure is an error of the API.
type Failure struct {
	Status          int
	Reason, Message string
}

// Request is what a client sent.
type Request struct {
	Method, Path string
	Params       url.Values
	Body         map[string]any
}

// Server is a server that runs.
type Server struct {
	config Config
	http   *httptest.Server
	tb     testing.TB

	mu      sync.Mutex
	answers map[string]Query
	matches []match
	dry     map[string]bool // statements that ran dry
	jobs    map[string]*job
	asked   []Request
	faults  []fault
}

type match struct {
	form  *regexp.Regexp
	query Query
}

type fault struct {
	part    string // of the path
	failure Failure
}

type job struct {
	query     Query
	sql       string
	cancelled chan struct{}
	once      sync.Once
}

// Start starts a server, which ends with the test.
func Start(tb testing.TB, config Config) *Server {
	tb.Helper()
	if config.Tables == nil {
		config.Tables = map[string]string{"items": "TABLE"}
	}
	s := &Server{config: config, tb: tb, answers: map[string]Query{}, dry: map[string]bool{}, jobs: map[string]*job{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(s.http.Close)
	return s
}

// URL returns the address of the project for the backend, with further parameters in pairs.
func (s *Server) URL(params ...string) string {
	values := url.Values{"endpoint": {s.http.URL}}
	for i := 0; i+1 < len(params); i += 2 {
		values.Set(params[i], params[i+1])
	}
	return "bigquery://" + Project + "/" + Dataset + "?" + values.Encode()
}

// Address returns the address of the server itself.
func (s *Server) Address() string { return s.http.URL }

// On registers what the server does with a statement.
func (s *Server) On(sql string, q Query) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[sql] = q
}

// Match registers what the server does with the statements that an expression matches.
func (s *Server) Match(form string, q Query) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.matches = append(s.matches, match{regexp.MustCompile(form), q})
}

// Fail makes the next requests fail whose method and path contain a text, each with one of
// the failures.
func (s *Server) Fail(part string, failures ...Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range failures {
		s.faults = append(s.faults, fault{part, f})
	}
}

// FailAfter is Fail after so many requests of that kind that do not fail.
func (s *Server) FailAfter(part string, requests int, failures ...Failure) {
	s.Fail(part, slices.Repeat([]Failure{{}}, requests)...)
	s.Fail(part, failures...)
}

// Running counts the jobs that run.
func (s *Server) Running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, j := range s.jobs {
		if !j.over() {
			n++
		}
	}
	return n
}

// Requests returns what clients sent so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// End ends every job, as an administrator would.
func (s *Server) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		j.end()
	}
}

func (j *job) end() { j.once.Do(func() { close(j.cancelled) }) }

// over reports whether the job is done.
func (j *job) over() bool {
	if !j.query.Hangs {
		return true
	}
	select {
	case <-j.cancelled:
		return true
	default:
		return false
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	body := map[string]any{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &body); err != nil {
			fail(w, Failure{http.StatusBadRequest, "parseError", err.Error()})
			return
		}
	}
	line := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.asked = append(s.asked, Request{r.Method, r.URL.Path, r.URL.Query(), body})
	at := slices.IndexFunc(s.faults, func(f fault) bool { return strings.Contains(line, f.part) })
	var planned Failure
	if at >= 0 {
		planned = s.faults[at].failure
		s.faults = slices.Delete(s.faults, at, at+1)
	}
	s.mu.Unlock()
	if planned.Status != 0 {
		fail(w, planned)
		return
	}
	if s.config.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.config.Token {
		fail(w, Failure{http.StatusUnauthorized, "authError", "Request had invalid authentication credentials."})
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/bigquery/v2/projects/"+Project+"/")
	if !ok {
		fail(w, Failure{http.StatusNotFound, "notFound", "Not found: Project"})
		return
	}
	parts := strings.Split(path, "/")
	switch {
	case r.Method == http.MethodPost && path == "jobs":
		s.insert(w, body)
	case r.Method == http.MethodGet && parts[0] == "queries" && len(parts) == 2:
		s.results(w, r, parts[1])
	case parts[0] == "jobs" && (r.Method == http.MethodGet && len(parts) == 2 || r.Method == http.MethodPost && len(parts) == 3 && parts[2] == "cancel"):
		s.job(w, r, parts[1], len(parts) == 3)
	case r.Method == http.MethodGet && path == "datasets":
		write(w, map[string]any{"datasets": []any{map[string]any{"datasetReference": map[string]string{"projectId": Project, "datasetId": Dataset}}}})
	case r.Method == http.MethodGet && path == "datasets/"+Dataset:
		write(w, map[string]any{"location": Location})
	case parts[0] == "datasets" && len(parts) >= 3 && parts[2] == "tables":
		s.tables(w, r, parts[1:])
	default:
		fail(w, Failure{http.StatusNotFound, "notFound", "Not found: " + path})
	}
}

// tables answers what is asked about tables.
func (s *Server) tables(w http.ResponseWriter, r *http.Request, parts []string) {
	info := func(name string) map[string]any {
		return map[string]any{"tableReference": map[string]string{"projectId": Project, "datasetId": Dataset, "tableId": name}, "type": s.config.Tables[name]}
	}
	switch {
	case parts[0] != Dataset:
		fail(w, Failure{http.StatusNotFound, "notFound", "Not found: Dataset " + Project + ":" + parts[0]})
	case len(parts) == 2:
		var all []any
		for name := range s.config.Tables {
			all = append(all, info(name))
		}
		write(w, map[string]any{"tables": all})
	case strings.HasSuffix(parts[2], ":testIamPermissions") && r.Method == http.MethodPost:
		have := []string{}
		if s.config.Writes {
			have = []string{"bigquery.tables.updateData"}
		}
		write(w, map[string]any{"permissions": have})
	case s.config.Tables[parts[2]] == "":
		fail(w, Failure{http.StatusNotFound, "notFound", "Not found: Table " + Project + ":" + Dataset + "." + parts[2]})
	default:
		write(w, info(parts[2]))
	}
}

// insert takes a job, or answers a dry run.
func (s *Server) insert(w http.ResponseWriter, body map[string]any) {
	config, _ := body["configuration"].(map[string]any)
	query, _ := config["query"].(map[string]any)
	ref, _ := body["jobReference"].(map[string]any)
	sql, _ := query["query"].(string)
	dry, _ := config["dryRun"].(bool)
	id, _ := ref["jobId"].(string)
	if legacy, ok := query["useLegacySql"].(bool); !ok || legacy {
		s.tb.Errorf("%s: useLegacySql is %v, which is not false", sql, query["useLegacySql"])
	}
	if set, _ := query["defaultDataset"].(map[string]any); set["datasetId"] != Dataset {
		s.tb.Errorf("%s: defaultDataset is %v", sql, set)
	}
	s.mu.Lock()
	q, known := s.answers[sql]
	for _, m := range s.matches {
		if !known && m.form.MatchString(sql) {
			q, known = m.query, true
		}
	}
	if !known {
		q, known = s.answer(sql)
	}
	ran := s.dry[sql]
	if dry {
		s.dry[sql] = true
	}
	_, twice := s.jobs[id]
	s.mu.Unlock()
	switch {
	case !known:
		fail(w, Failure{http.StatusTeapot, "unheardOf", "the stand-in does not know this statement: " + sql})
		return
	case q.Refuse != nil && dry:
		fail(w, *q.Refuse)
		return
	}
	if ref["location"] != Location {
		s.tb.Errorf("%s: the location is %v", sql, ref["location"])
	}
	reference := map[string]string{"projectId": Project, "location": Location}
	if dry {
		tables := []any{}
		for _, t := range q.Tables {
			p := strings.SplitN(t, ".", 3)
			tables = append(tables, map[string]string{"projectId": p[0], "datasetId": p[1], "tableId": p[2]})
		}
		kind := q.Type
		if kind == "" {
			kind = "SELECT"
		}
		size := strconv.FormatInt(q.Bytes, 10)
		if q.NoBytes {
			size = ""
		}
		write(w, map[string]any{
			"jobReference": reference, "status": map[string]string{"state": "DONE"},
			"statistics": map[string]any{"totalBytesProcessed": size, "query": map[string]any{"statementType": kind, "totalBytesProcessed": size, "referencedTables": tables}},
		})
		return
	}
	limit, _ := config["jobTimeoutMs"].(string)
	billed, _ := query["maximumBytesBilled"].(string)
	labels, _ := config["labels"].(map[string]any)
	most, err := strconv.ParseInt(billed, 10, 64)
	switch n, err2 := strconv.Atoi(limit); {
	case err != nil || err2 != nil || n <= 0 || labels["application"] != "ktx" || id == "":
		s.tb.Errorf("%s: a job with the limits %q and %q, the labels %v and the identifier %q", sql, limit, billed, labels, id)
	case !ran:
		s.tb.Errorf("%s: it runs without a dry run", sql)
	case q.Type != "":
		s.tb.Errorf("%s: a %s runs", sql, q.Type)
	}
	switch {
	case twice:
		fail(w, Failure{http.StatusConflict, "duplicate", "Already Exists: Job " + id})
	case q.Bytes > most:
		fail(w, Failure{http.StatusBadRequest, "bytesBilledLimitExceeded", fmt.Sprintf("Query exceeded limit for bytes billed: %d. %d or higher required.", most, q.Bytes)})
	default:
		j := &job{query: q, sql: sql, cancelled: make(chan struct{})}
		s.mu.Lock()
		s.jobs[id] = j
		s.mu.Unlock()
		if q.Lost {
			fail(w, Failure{http.StatusServiceUnavailable, "backendError", "Error encountered during execution. Retrying may solve the problem."})
			return
		}
		reference["jobId"] = id
		write(w, j.shown(reference))
	}
}

// shown returns the job as the API has it.
func (j *job) shown(reference map[string]string) map[string]any {
	status := map[string]any{"state": "RUNNING"}
	if j.over() {
		status["state"] = "DONE"
	}
	return map[string]any{"jobReference": reference, "status": status}
}

// find returns a job whose location the request must have.
func (s *Server) find(w http.ResponseWriter, r *http.Request, id string) *job {
	s.mu.Lock()
	j := s.jobs[id]
	s.mu.Unlock()
	if j == nil || r.URL.Query().Get("location") != Location {
		fail(w, Failure{http.StatusNotFound, "notFound", "Not found: Job " + Project + ":" + id})
		return nil
	}
	return j
}

func (s *Server) job(w http.ResponseWriter, r *http.Request, id string, cancel bool) {
	j := s.find(w, r, id)
	if j == nil {
		return
	}
	if cancel && !j.query.Deaf {
		j.end()
	}
	shown := j.shown(map[string]string{"projectId": Project, "jobId": id, "location": Location})
	if cancel {
		shown = map[string]any{"job": shown}
	}
	write(w, shown)
}

// results answers with the state of a job or with a page of its rows.
func (s *Server) results(w http.ResponseWriter, r *http.Request, id string) {
	j := s.find(w, r, id)
	if j == nil {
		return
	}
	params, q := r.URL.Query(), j.query
	if q.Hangs {
		patience, _ := strconv.Atoi(params.Get("timeoutMs"))
		timer := time.NewTimer(time.Duration(patience) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-j.cancelled:
			fail(w, Failure{http.StatusBadRequest, "stopped", "Job execution was cancelled: User requested cancellation"})
		case <-timer.C:
			write(w, map[string]any{"jobComplete": false})
		case <-r.Context().Done():
		}
		return
	}
	if q.Fail != nil {
		fail(w, *q.Fail)
		return
	}
	most, err := strconv.Atoi(params.Get("maxResults"))
	if err != nil {
		s.tb.Errorf("%s: maxResults is %q", j.sql, params.Get("maxResults"))
	}
	if most == 0 {
		write(w, map[string]any{
			"kind": "bigquery#getQueryResultsResponse", "jobComplete": true, "schema": map[string]any{"fields": q.Fields}, "totalRows": strconv.Itoa(q.Rows),
			"jobReference": map[string]string{"projectId": Project, "jobId": id, "location": Location},
		})
		return
	}
	if params.Get("formatOptions.useInt64Timestamp") != "true" {
		s.tb.Errorf("%s: times are asked for as floats", j.sql)
	}
	from, _ := strconv.Atoi(params.Get("pageToken"))
	if from > 0 && q.PageFails != nil {
		fail(w, *q.PageFails)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	out := &counted{w: w}
	if q.Raw != "" {
		_, _ = io.WriteString(out, q.Raw)
		return
	}
	_, _ = io.WriteString(out, `{"kind": "x", "rows": [`)
	n := from
	for ; n < q.Rows && n-from < min(most, perPage) && out.n < pageBytes; n++ {
		if n > from {
			_, _ = io.WriteString(out, ", ")
		}
		q.Row(out, n)
		if q.Cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	_, _ = io.WriteString(out, "]")
	if n < q.Rows {
		_, _ = fmt.Fprintf(out, `, "pageToken": "%d"`, n)
	}
	_, _ = io.WriteString(out, "}\n")
}

type counted struct {
	w io.Writer
	n int
}

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	return c.w.Write(p)
}

// WriteString keeps long values from being copied.
func (c *counted) WriteString(s string) (int, error) {
	c.n += len(s)
	return io.WriteString(c.w, s)
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, f Failure) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": f.Status, "message": f.Message, "errors": []any{map[string]string{"message": f.Message, "domain": "global", "reason": f.Reason}},
	}})
}
