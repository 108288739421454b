// Package wire sends the requests of BigQuery's REST API that the backend needs, and reads
// the errors that come back. It knows nothing of rows.
//
// A request that changes nothing, and one whose job has an identifier of its own, is sent
// again when the service says that it is overloaded. Redirects are not followed, and a
// token is sent to no other host than that of the API.
package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// maxError bounds the text of an error, and maxAnswer every answer except rows.
	maxError  = 64 << 10
	maxAnswer = 32 << 20
	// attempts is how often a request is sent, and firstPause the time before the second
	// attempt. Each later pause is twice as long.
	attempts   = 5
	firstPause = 100 * time.Millisecond
)

// Tokens gives access tokens. Refused is called with a token that the service refused.
type Tokens interface {
	Token(ctx context.Context) (string, error)
	Refused(token string)
}

// Client sends requests for one project. It is safe for concurrent use.
type Client struct {
	HTTP    *http.Client
	API     string // the address of the API, up to its version
	Project string // whose jobs run, and who pays
	Tokens  Tokens // nil sends none
	// Pause waits between two attempts; nil waits for that time or until ctx ends.
	Pause func(ctx context.Context, d time.Duration)

	version atomic.Uint32 // of TLS, of the last answer
}

// ServiceError is an error of the service. Reason is its short name, such as notFound.
type ServiceError struct {
	Status          int
	Reason, Message string
}

func (e *ServiceError) Error() string { return e.Message }

// ErrMalformed says that an answer is not what the API documents.
var ErrMalformed = errors.New("the answer is not one of BigQuery's API")

// Table is the name of a table.
type Table struct {
	Project string `json:"projectId"`
	Dataset string `json:"datasetId"`
	Name    string `json:"tableId"`
}

func (t Table) String() string { return t.Project + "." + t.Dataset + "." + t.Name }

// Field is a column, or a part of a struct.
type Field struct {
	Name   string  `json:"name"`
	Type   string  `json:"type"`
	Mode   string  `json:"mode"`
	Fields []Field `json:"fields"`
}

// Schema is the columns of a result.
type Schema struct {
	Fields []Field `json:"fields"`
}

// Reference names a job.
type Reference struct {
	Project  string `json:"projectId"`
	ID       string `json:"jobId,omitempty"`
	Location string `json:"location,omitempty"`
}

// Query is the statement of a job and its settings.
type Query struct {
	SQL      string   `json:"query"`
	Legacy   bool     `json:"useLegacySql"` // sent even when false, which is not the default
	Dataset  *Dataset `json:"defaultDataset,omitempty"`
	Billed   string   `json:"maximumBytesBilled,omitempty"`
	Priority string   `json:"priority,omitempty"`
}

// Dataset names a dataset.
type Dataset struct {
	Project string `json:"projectId"`
	Dataset string `json:"datasetId"`
}

// Configuration says how a job runs.
type Configuration struct {
	Query   Query             `json:"query"`
	DryRun  bool              `json:"dryRun,omitempty"`
	Timeout string            `json:"jobTimeoutMs,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
}

// Job is a job as it is sent and as the service describes it.
type Job struct {
	Reference     *Reference     `json:"jobReference,omitempty"`
	Configuration *Configuration `json:"configuration,omitempty"`
	Status        *Status        `json:"status,omitempty"`
	Statistics    *Statistics    `json:"statistics,omitempty"`
}

// Status is the state of a job: PENDING, RUNNING or DONE.
type Status struct {
	State string  `json:"state"`
	Fault *Reason `json:"errorResult"`
}

// Reason is why a job failed.
type Reason struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Statistics is what the service found out about a job.
type Statistics struct {
	Bytes string `json:"totalBytesProcessed"`
	Query *struct {
		Type   string  `json:"statementType"`
		Bytes  string  `json:"totalBytesProcessed"`
		Tables []Table `json:"referencedTables"`
	} `json:"query"`
}

// Results is the state of a query and its columns, without rows.
type Results struct {
	Complete  bool       `json:"jobComplete"`
	Schema    *Schema    `json:"schema"`
	Reference *Reference `json:"jobReference"`
	Rows      string     `json:"totalRows"`
}

// TableInfo is what the service says about a table.
type TableInfo struct {
	Table Table  `json:"tableReference"`
	Type  string `json:"type"`
}

// SendJob inserts a job. A job that is not a dry run must have an identifier, so that it
// does not run twice. A job that is there already is no error.
func (c *Client) SendJob(ctx context.Context, job Job) (*Job, error) {
	if !job.Configuration.DryRun && (job.Reference == nil || job.Reference.ID == "") {
		return nil, errors.New("a job without an identifier")
	}
	out := &Job{}
	err := c.decode(ctx, http.MethodPost, c.project("jobs"), nil, job, out)
	if e, ok := errors.AsType[*ServiceError](err); ok && e.Status == http.StatusConflict && !job.Configuration.DryRun {
		return c.Job(ctx, *job.Reference)
	}
	return out, err
}

// Job asks for the state of a job.
func (c *Client) Job(ctx context.Context, r Reference) (*Job, error) {
	out := &Job{}
	return out, c.decode(ctx, http.MethodGet, c.project("jobs", r.ID), located(r), nil, out)
}

// Cancel asks the service to end a job, and returns the state that it has then.
func (c *Client) Cancel(ctx context.Context, r Reference) (*Job, error) {
	out := &struct {
		Job *Job `json:"job"`
	}{}
	err := c.decode(ctx, http.MethodPost, c.project("jobs", r.ID, "cancel"), located(r), nil, out)
	return out.Job, err
}

// Wait waits for a job to end, at most for the given time, and returns its columns.
func (c *Client) Wait(ctx context.Context, r Reference, patience time.Duration) (*Results, error) {
	params := located(r)
	params.Set("maxResults", "0")
	params.Set("timeoutMs", strconv.FormatInt(patience.Milliseconds(), 10))
	out := &Results{}
	return out, c.decode(ctx, http.MethodGet, c.project("queries", r.ID), params, nil, out)
}

// Page returns rows of a job that has ended, as an answer to be read and closed.
func (c *Client) Page(ctx context.Context, r Reference, token string, rows int) (io.ReadCloser, error) {
	params := located(r)
	params.Set("maxResults", strconv.Itoa(rows))
	params.Set("formatOptions.useInt64Timestamp", "true")
	params.Set("fields", "pageToken,rows")
	if token != "" {
		params.Set("pageToken", token)
	}
	resp, err := c.send(ctx, http.MethodGet, c.project("queries", r.ID), params, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Location returns where a dataset is, such as EU.
func (c *Client) Location(ctx context.Context, d Dataset) (string, error) {
	var out struct {
		Location string `json:"location"`
	}
	err := c.decode(ctx, http.MethodGet, c.path("projects", d.Project, "datasets", d.Dataset), url.Values{"fields": {"location"}}, nil, &out)
	return out.Location, err
}

// Table asks what a table is.
func (c *Client) Table(ctx context.Context, t Table) (*TableInfo, error) {
	out := &TableInfo{}
	params := url.Values{"fields": {"tableReference,type"}}
	return out, c.decode(ctx, http.MethodGet, c.path("projects", t.Project, "datasets", t.Dataset, "tables", t.Name), params, nil, out)
}

// Tables lists the tables of a dataset, at most so many.
func (c *Client) Tables(ctx context.Context, d Dataset, most int) ([]TableInfo, error) {
	var all []TableInfo
	return all, c.list(ctx, c.path("projects", d.Project, "datasets", d.Dataset, "tables"), "tables(tableReference,type)", func(raw []byte) (int, error) {
		var page struct {
			Tables []TableInfo `json:"tables"`
		}
		err := json.Unmarshal(raw, &page)
		all = append(all, page.Tables...)
		return most - len(all), err
	})
}

// Datasets lists the datasets of the project that the principal may see, at most so many.
func (c *Client) Datasets(ctx context.Context, most int) ([]string, error) {
	var all []string
	return all, c.list(ctx, c.project("datasets"), "datasets(datasetReference)", func(raw []byte) (int, error) {
		var page struct {
			Datasets []struct {
				Reference Dataset `json:"datasetReference"`
			} `json:"datasets"`
		}
		err := json.Unmarshal(raw, &page)
		for _, d := range page.Datasets {
			all = append(all, d.Reference.Dataset)
		}
		return most - len(all), err
	})
}

// ErrTooMany says that a list is longer than the caller takes.
var ErrTooMany = errors.New("the list is too long")

// list reads the pages of a list. add returns how many entries there is room for.
func (c *Client) list(ctx context.Context, path, fields string, add func([]byte) (int, error)) error {
	params := url.Values{"maxResults": {"1000"}, "fields": {"nextPageToken," + fields}}
	for {
		var raw json.RawMessage
		if err := c.decode(ctx, http.MethodGet, path, params, nil, &raw); err != nil {
			return err
		}
		room, err := add(raw)
		var next struct {
			Token string `json:"nextPageToken"`
		}
		if err = errors.Join(err, json.Unmarshal(raw, &next)); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
		switch {
		case room < 0, room == 0 && next.Token != "":
			return ErrTooMany
		case next.Token == "", next.Token == params.Get("pageToken"):
			return nil
		}
		params.Set("pageToken", next.Token)
	}
}

// Permitted returns those of the permissions that the principal has on a table.
func (c *Client) Permitted(ctx context.Context, t Table, permissions []string) ([]string, error) {
	var out struct {
		Permissions []string `json:"permissions"`
	}
	path := c.path("projects", t.Project, "datasets", t.Dataset, "tables", t.Name) + ":testIamPermissions"
	err := c.decode(ctx, http.MethodPost, path, nil, map[string][]string{"permissions": permissions}, &out)
	return out.Permissions, err
}

// TLS returns the version of TLS that the last answer came over, 0 without TLS.
func (c *Client) TLS() uint16 { return uint16(c.version.Load()) } //nolint:gosec // it was a uint16

func located(r Reference) url.Values {
	out := url.Values{}
	if r.Location != "" {
		out.Set("location", r.Location)
	}
	return out
}

func (c *Client) project(parts ...string) string {
	return c.path(append([]string{"projects", c.Project}, parts...)...)
}

func (c *Client) path(parts ...string) string {
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return c.API + "/" + strings.Join(parts, "/")
}

// decode sends a request and decodes its answer.
func (c *Client) decode(ctx context.Context, method, address string, params url.Values, body, out any) error {
	resp, err := c.send(ctx, method, address, params, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return err
	case len(raw) > maxAnswer:
		return fmt.Errorf("%w: it has more than %d bytes", ErrMalformed, maxAnswer)
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// send sends a request until it has an answer that is worth keeping.
func (c *Client) send(ctx context.Context, method, address string, params url.Values, body any) (*http.Response, error) {
	var raw []byte
	if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	if len(params) > 0 {
		address += "?" + params.Encode()
	}
	pause, renewed := firstPause, false
	for n := 1; ; n++ {
		resp, token, err := c.once(ctx, method, address, raw)
		failed, ok := errors.AsType[*ServiceError](err)
		switch {
		case err == nil:
			return resp, nil
		case !ok || ctx.Err() != nil:
			return nil, err
		case failed.Status == http.StatusUnauthorized && token != "" && !renewed:
			renewed = true
			c.Tokens.Refused(token)
			continue
		case !failed.Overload() || n == attempts:
			return nil, err
		}
		c.pause(ctx, pause)
		pause *= 2
	}
}

func (c *Client) pause(ctx context.Context, d time.Duration) {
	if c.Pause != nil {
		c.Pause(ctx, d)
		return
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Overload reports whether the same request may succeed later.
func (e *ServiceError) Overload() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError && e.Status != http.StatusNotImplemented ||
		slices.Contains([]string{"rateLimitExceeded", "jobRateLimitExceeded", "backendError", "internalError"}, e.Reason)
}

// once sends a request. Its errors name no address.
func (c *Client) once(ctx context.Context, method, address string, body []byte) (_ *http.Response, token string, _ error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, "", errors.New("the address of the API cannot be used")
	}
	req.Header.Set("User-Agent", "ktx")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Tokens != nil {
		if token, err = c.Tokens.Token(ctx); err != nil {
			return nil, "", err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.HTTP.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		return nil, token, e.Err // without the address
	}
	if err != nil {
		return nil, token, err
	}
	if resp.TLS != nil {
		c.version.Store(uint32(resp.TLS.Version))
	}
	if resp.StatusCode == http.StatusOK {
		return resp, token, nil
	}
	defer func() { _ = resp.Body.Close() }() // it is not needed
	return nil, token, readError(resp)
}

// readError reads the error of an answer.
func readError(resp *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	var said struct {
		Error struct {
			Message string   `json:"message"`
			Status  string   `json:"status"`
			Errors  []Reason `json:"errors"`
		} `json:"error"`
	}
	_ = json.Unmarshal(raw, &said) // a proxy's page is an error without a message
	out := &ServiceError{Status: resp.StatusCode, Message: said.Error.Message, Reason: said.Error.Status}
	if len(said.Error.Errors) > 0 {
		out.Reason = said.Error.Errors[0].Reason
	}
	if out.Message == "" {
		if err != nil {
			return err
		}
		out.Message = "the service answered with status " + strconv.Itoa(resp.StatusCode)
	}
	out.Message = strings.ToValidUTF8(out.Message, "\uFFFD")
	return out
}

// In returns a client whose lists are those of another project. Its jobs are not.
func (c *Client) In(project string) *Client {
	return &Client{HTTP: c.HTTP, API: c.API, Project: project, Tokens: c.Tokens, Pause: c.Pause}
}
