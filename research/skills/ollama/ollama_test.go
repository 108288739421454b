package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ktxhq/ktx/research/skills/ollama"
)

// server speaks POST /api/embed as the documentation of Ollama has it, and misbehaves on
// request. It stands for Ollama, which cannot run here: it proves that the client keeps
// the contract, and nothing about vectors of a real model.
type server struct {
	*httptest.Server
	mu     sync.Mutex
	behave string
	bodies []string
}

func (s *server) set(behave string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behave = behave
}

// asked returns what was asked since the last call.
func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.bodies
	s.bodies = nil
	return list
}

func newServer(t *testing.T, dimensions int) *server {
	t.Helper()
	s := &server{}
	quit := make(chan struct{})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		err := json.NewDecoder(r.Body).Decode(&in)
		s.mu.Lock()
		s.bodies = append(s.bodies, fmt.Sprintf("%s %s %s %d %.40q", r.Method, r.URL.Path, in.Model, len(in.Input), strings.Join(in.Input, "|")))
		behave := s.behave
		s.mu.Unlock()
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		vectors := make([][]float32, len(in.Input))
		for i := range vectors {
			vectors[i] = make([]float32, dimensions)
			vectors[i][len(in.Input[i])%dimensions] = 1
		}
		switch behave {
		case "slow":
			select {
			case <-r.Context().Done():
			case <-quit:
			}
			return
		case "error":
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"error":"model \u001b[31m not found"}`))
			return
		case "redirect":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
			return
		case "dimension":
			vectors[0] = vectors[0][:dimensions-1]
		case "zero":
			vectors[0] = make([]float32, dimensions)
		case "empty":
			vectors = [][]float32{}
		case "model":
			in.Model = "other:latest"
		case "tag":
			in.Model += ":latest"
		case "html":
			_, _ = w.Write([]byte("<html>"))
			return
		case "cut":
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"embeddings":[[1`))
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": in.Model, "embeddings": vectors, "total_duration": 1})
	}))
	t.Cleanup(func() {
		close(quit)
		s.Close()
	})
	return s
}

// clock is a time that the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t, 8)
	for model, want := range map[string][2]string{
		"nomic-embed-text": {`"search_query: close books"`, `"search_document: aaa|search_document: aa`},
		"mxbai":            {`"close books"`, `"aaa|aaa|aaa|aaa|aaa|aaa|aaa|aaa|aaa|aaa|`},
	} {
		c := ollama.New(ollama.Options{URL: s.URL, Model: model, Dimensions: 8})
		if v, err := c.Query(t.Context(), "close books"); err != nil || len(v) != 8 {
			t.Errorf("%v, %v", v, err)
		}
		texts := make([]string, 35)
		for i := range texts {
			texts[i] = "aaa"
		}
		if list, err := c.Documents(t.Context(), texts); err != nil || len(list) != 35 {
			t.Errorf("%d vectors, %v", len(list), err)
		}
		got := s.asked()
		if len(got) != 4 || got[0] != "POST /api/embed "+model+" 1 "+want[0] ||
			!strings.HasPrefix(got[1], "POST /api/embed "+model+" 16 "+want[1]) || !strings.Contains(got[3], " 3 ") {
			t.Errorf("%q", got)
		}
	}
}

// TestWrongAnswers: each wrong answer is an error that says what is wrong.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t, 8)
	host := strings.TrimPrefix(s.URL, "http://")
	for behave, want := range map[string]string{
		"error":     "status 500: model  [31m not found",
		"redirect":  "status 307",
		"dimension": "the model nomic-embed-text made vectors with 7 dimensions; embeddings.dimensions says 8",
		"zero":      "a vector of nomic-embed-text has zeros only",
		"empty":     "0 vectors for 1 texts",
		"model":     "it answered with the model other:latest; embeddings.model says nomic-embed-text",
		"html":      "the answer is not the JSON of /api/embed",
		"cut":       "unexpected EOF",
		"slow":      "no answer within 50ms",
	} {
		s.set(behave)
		limit := time.Minute
		if behave == "slow" {
			limit = 50 * time.Millisecond
		}
		c := ollama.New(ollama.Options{URL: s.URL, Model: "nomic-embed-text", Dimensions: 8, TimeLimit: limit})
		if _, err := c.Query(t.Context(), "x"); err == nil || err.Error() != "the embedding server "+host+": "+want {
			t.Errorf("%s: %v", behave, err)
		}
	}
	s.set("tag")
	if _, err := ollama.New(ollama.Options{URL: s.URL, Model: "nomic-embed-text", Dimensions: 8}).Query(t.Context(), "x"); err != nil {
		t.Errorf("a model with the tag that it has anyway: %v", err)
	}
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	c := ollama.New(ollama.Options{URL: dead.URL, Model: "m", Dimensions: 8})
	if _, err := c.Query(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "it cannot be reached: ") {
		t.Errorf("%v", err)
	}
}

// TestBreaker: three failures in a row, or one answer that does not come in time, keep the
// following questions from waiting, for a minute.
func TestBreaker(t *testing.T) {
	t.Parallel()
	s := newServer(t, 8)
	at := &clock{now: time.Unix(1_800_000_000, 0)}
	c := ollama.New(ollama.Options{URL: s.URL, Model: "m", Dimensions: 8, Now: at.Now, TimeLimit: time.Minute})
	ask := func(want error) {
		t.Helper()
		if _, err := c.Query(t.Context(), "x"); (err == nil) != (want == nil) || errors.Is(want, ollama.ErrOpen) != errors.Is(err, ollama.ErrOpen) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	other := errors.New("another error")
	s.set("error")
	ask(other)
	ask(other)
	s.set("")
	ask(nil) // the count begins anew
	s.set("error")
	ask(other)
	ask(other)
	ask(other)
	s.asked()
	for range 5 {
		ask(ollama.ErrOpen)
	}
	at.move(59 * time.Second)
	ask(ollama.ErrOpen)
	if got := s.asked(); len(got) != 0 {
		t.Errorf("the breaker is open, and the server is asked %q", got)
	}
	s.set("")
	at.move(time.Second)
	ask(nil)

	s.set("slow")
	c = ollama.New(ollama.Options{URL: s.URL, Model: "m", Dimensions: 8, Now: at.Now, TimeLimit: 20 * time.Millisecond})
	ask(other)
	ask(ollama.ErrOpen)
	// A caller that goes away says nothing of the server.
	c = ollama.New(ollama.Options{URL: s.URL, Model: "m", Dimensions: 8, Now: at.Now, TimeLimit: time.Minute})
	for range 4 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := c.Query(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		cancel()
	}
	s.set("")
	ask(nil)
}
