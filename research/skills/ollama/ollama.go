package ollama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ktxhq/ktx/research/skills"
)

// The limits of the client.
const (
	timeLimit   = 5 * time.Second
	maxAnswer   = 16 << 20
	maxFailures = 3                // in a row, after which the breaker opens
	openTime    = 60 * time.Second // for which the breaker is open
)

// Options are the settings of a [Client].
type Options struct {
	URL        string // of the server, such as http://localhost:11434
	Model      string
	Dimensions int
	// Now tells the time. TimeLimit bounds one request; 0 means five seconds.
	Now       func() time.Time
	TimeLimit time.Duration
}

// Client is a [skills.Embedder]. It is safe for concurrent use. It connects at the first
// request.
type Client struct {
	url, host string
	model     skills.Model
	prefixed  bool
	now       func() time.Time
	limit     time.Duration
	http      *http.Client

	mu       sync.Mutex
	failures int       // in a row
	until    time.Time // the breaker is open until then
}

var _ skills.Embedder = (*Client)(nil)

// New returns a client.
func New(o Options) *Client {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.TimeLimit == 0 {
		o.TimeLimit = timeLimit
	}
	host := o.URL
	if u, err := url.Parse(o.URL); err == nil {
		host = u.Host
	}
	return &Client{
		url: o.URL + "/api/embed", host: host, model: skills.Model{Name: o.Model, Dimensions: o.Dimensions},
		prefixed: strings.Contains(o.Model, "nomic-embed-text"), now: o.Now, limit: o.TimeLimit,
		http: &http.Client{
			Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: o.TimeLimit}).DialContext, MaxIdleConns: 2, IdleConnTimeout: 30 * time.Second},
			// A redirect would send texts to a server that nobody configured.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Model implements [skills.Embedder].
func (c *Client) Model() skills.Model { return c.model }

// The tasks of the model nomic-embed-text, which its texts begin with. Other models get
// texts as they are.
const (
	queryTask    = "search_query: "
	documentTask = "search_document: "
)

func (c *Client) task(task, text string) string {
	if c.prefixed {
		return task + text
	}
	return text
}

// Query implements [skills.Embedder].
func (c *Client) Query(ctx context.Context, text string) ([]float32, error) {
	list, err := c.embed(ctx, []string{c.task(queryTask, text)}, c.limit)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Documents implements [skills.Embedder].
func (c *Client) Documents(ctx context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for len(texts) > 0 {
		n := min(skills.BatchSize, len(texts))
		batch := make([]string, n)
		for i, t := range texts[:n] {
			batch[i] = c.task(documentTask, t)
		}
		// Nobody waits for documents, and a server without a GPU needs long for them.
		list, err := c.embed(ctx, batch, c.limit*time.Duration(n))
		if err != nil {
			return out, err
		}
		out, texts = append(out, list...), texts[n:]
	}
	return out, nil
}

// ErrOpen says that the server is not asked, because it has just failed.
var ErrOpen = errors.New("it has just failed, and is not asked again for a minute")

// embed asks the server, unless the breaker is open.
func (c *Client) embed(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	if c.open() {
		return nil, fmt.Errorf("the embedding server %s: %w", c.host, ErrOpen)
	}
	list, err := c.ask(ctx, texts, limit)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // the caller has gone, which says nothing of the server
	}
	c.note(err)
	if err != nil {
		return nil, fmt.Errorf("the embedding server %s: %w", c.host, err)
	}
	return list, nil
}

func (c *Client) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Before(c.until)
}

// errSlow says that the server did not answer in time.
var errSlow = errors.New("no answer")

// note counts an answer. A server that does not answer in time opens the breaker at once,
// so that it costs its time limit only once; other failures open it when there are three
// in a row.
func (c *Client) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.failures = 0
		return
	}
	if c.failures++; c.failures >= maxFailures || errors.Is(err, errSlow) {
		c.failures, c.until = 0, c.now().Add(openTime)
	}
}

func (c *Client) ask(ctx context.Context, texts []string, limit time.Duration) ([][]float32, error) {
	body, err := json.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{c.model.Name, texts})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(req)
	if err != nil {
		return nil, reason(ctx, limit, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return nil, reason(ctx, limit, err)
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d%s", res.StatusCode, said(text))
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	}
	var answer struct {
		Model      string      `json:"model"`
		Embeddings [][]float32 `json:"embeddings"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, errors.New("the answer is not the JSON of /api/embed")
	}
	if answer.Model != "" && untagged(answer.Model) != untagged(c.model.Name) {
		return nil, fmt.Errorf("it answered with the model %s; embeddings.model says %s", line(answer.Model), c.model.Name)
	}
	if len(answer.Embeddings) != len(texts) {
		return nil, fmt.Errorf("%d vectors for %d texts", len(answer.Embeddings), len(texts))
	}
	for _, v := range answer.Embeddings {
		if len(v) != c.model.Dimensions {
			return nil, fmt.Errorf("the model %s made vectors with %d dimensions; embeddings.dimensions says %d", c.model.Name, len(v), c.model.Dimensions)
		}
		if err := (skills.Vector{Text: "answer", Values: v}).Validate(c.model); err != nil {
			return nil, err
		}
	}
	return answer.Embeddings, nil
}

// untagged returns the name of a model without the tag that it has if none is given.
func untagged(model string) string { return strings.TrimSuffix(model, ":latest") }

// reason returns what is wrong with the connection, without the address.
func reason(ctx context.Context, limit time.Duration, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%w within %s", errSlow, limit)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return fmt.Errorf("it cannot be reached: %w", op.Err)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// said returns what the server says of an error.
func said(text []byte) string {
	var answer struct{ Error string }
	if json.Unmarshal(text, &answer) != nil || answer.Error == "" {
		return ""
	}
	return ": " + line(answer.Error)
}

// line returns the beginning of a text of the server, on one line.
func line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
