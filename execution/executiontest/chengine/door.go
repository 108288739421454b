package chengine

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Door describes a stand-in for the HTTP interface of an engine. The zero value lets the
// user "reader" with the password "secret" in.
type Door struct{ User, Password string }

// Served is a stand-in for the HTTP interface that runs.
type Served struct {
	door Door
	http *httptest.Server
	tb   testing.TB

	mu     sync.Mutex
	engine *Engine
	used   map[string]bool

	killing sync.Mutex
	killer  *Session // is ready to end queries of its engine
	kills   *Engine
}

// Serve starts a stand-in for the HTTP interface, which ends with the test.
func (e *Engine) Serve(tb testing.TB, door Door) *Served {
	tb.Helper()
	if door.User == "" {
		door.User, door.Password = "reader", "secret"
	}
	s := &Served{door: door, engine: e, tb: tb, used: map[string]bool{}}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	tb.Cleanup(func() {
		s.http.Close()
		s.killing.Lock()
		defer s.killing.Unlock()
		if s.killer != nil {
			s.killer.Close()
		}
	})
	return s
}

// Use lets another engine answer from now on.
func (s *Served) Use(e *Engine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.engine = e
}

// URL returns the address of a database with the user.
func (s *Served) URL(database string) string {
	u, err := url.Parse(s.http.URL)
	if err != nil {
		s.tb.Fatal(err)
	}
	u.User, u.Path = url.UserPassword(s.door.User, s.door.Password), "/"+database
	return u.String()
}

// killForm is the statement by which a client ends a query of its own.
var killForm = regexp.MustCompile(`^KILL QUERY WHERE query_id = '([-0-9a-z]+)' ASYNC$`)

// serve answers one request.
func (s *Served) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	params := r.URL.Query()
	id, sql := params.Get("query_id"), string(body)
	s.mu.Lock()
	twice := s.used[id]
	s.used[id] = true
	engine := s.engine
	s.mu.Unlock()
	if r.Method != http.MethodPost || id == "" || twice {
		s.tb.Errorf("a %s request with the identifier %q, which was used: %t", r.Method, id, twice)
	}
	a := answer{w: w}
	if r.Header.Get("X-Clickhouse-User") != s.door.User || r.Header.Get("X-Clickhouse-Key") != s.door.Password {
		a.fail(newError("Code: 516. DB::Exception: " + s.door.User + ": Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)"))
		return
	}
	// The library gives queries identifiers of its own, so a mark in their settings
	// stands for that of the request.
	if m := killForm.FindStringSubmatch(sql); m != nil {
		text, err := s.kill(engine, m[1], params)
		if err == nil {
			err = a.write(strings.NewReader(text))
		}
		if err != nil {
			a.fail(err)
		}
		return
	}
	session, err := engine.Open()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer session.Close()
	if err := session.settle(id, params); err != nil {
		a.fail(err)
		return
	}
	if err := session.admit(sql); err != nil {
		a.fail(err)
		return
	}
	over := make(chan struct{})
	defer close(over)
	if params.Get("cancel_http_readonly_queries_on_client_close") == "1" {
		go func() {
			select {
			case <-over:
				return
			case <-r.Context().Done():
			}
			for { // a server looks again and again whether the client is there
				_, _ = engine.ask(kill(id))
				select {
				case <-over:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
	}
	err = session.Stream(sql, params.Get("default_format"), a.write)
	if err != nil {
		a.fail(err)
	}
}

// kill ends a query, and answers as the engine does. A session of the library takes longer to
// open than a server takes to end a query, so one stays open.
func (s *Served) kill(engine *Engine, id string, params url.Values) (string, error) {
	s.killing.Lock()
	defer s.killing.Unlock()
	if s.killer == nil || s.kills != engine {
		if s.killer != nil {
			s.killer.Close()
		}
		session, err := engine.Open()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if err := session.settle("", params); err != nil {
			session.Close()
			s.killer = nil
			return "", err
		}
		s.killer, s.kills = session, engine
	}
	text, err := s.killer.Query(kill(id), params.Get("default_format"))
	if _, answered := errors.AsType[*Error](err); err != nil && !answered {
		s.killer.Close()
		s.killer = nil // its engine has ended
	}
	return text, err
}

// admit refuses what the interface refuses and the library does not: more than one
// statement, and INTO OUTFILE.
func (s *Session) admit(sql string) error {
	class, statements, err := s.Class(sql)
	if err != nil || statements < 2 && class != Control {
		return err
	}
	spelling, err := s.Query("SELECT formatQuerySingleLineOrNull(unhex('"+hex.EncodeToString([]byte(sql))+"'))", "TSVRaw")
	switch {
	case err != nil:
		return err
	case spelling == "\\N\n":
		return newError("Code: 62. DB::Exception: Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)")
	case class == Control && strings.Contains(spelling, " INTO OUTFILE "):
		return newError("Code: 358. DB::Exception: INTO OUTFILE is not allowed. (INTO_OUTFILE_NOT_ALLOWED)")
	}
	return nil
}

func kill(id string) string {
	return "KILL QUERY WHERE Settings['log_comment'] = '" + id + "' ASYNC"
}

// settle gives the session the database and the settings of a request, all at once.
func (s *Session) settle(id string, params url.Values) error {
	if name := params.Get("database"); name != "" {
		if _, err := s.Query("USE "+Quote(name), "TSV"); err != nil {
			return err
		}
	}
	if _, err := s.Query("SET log_comment = '"+id+"'", "TSV"); err != nil && !forbidden(err) {
		return err // with a profile that is read-only, no query can be ended
	}
	var changes []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name == "query_id" || name == "database" || name == "default_format" {
			continue
		}
		if !settingName.MatchString(name) {
			return newError("Code: 115. DB::Exception: Unknown setting. (UNKNOWN_SETTING)")
		}
		changes = append(changes, fmt.Sprintf("%s = '%s'", name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(params.Get(name))))
	}
	if len(changes) == 0 {
		return nil
	}
	_, err := s.Query("SET "+strings.Join(changes, ", "), "TSV")
	return err
}

var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func forbidden(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == "164"
}

// Quote returns a name between backquotes.
func Quote(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}

// answer writes an answer of HTTP.
type answer struct {
	w     http.ResponseWriter
	begun bool
}

// write sends a part of the rows. Each part has the lines of names and types, which only
// the first may keep.
func (a *answer) write(part io.Reader) error {
	r := bufio.NewReader(part)
	if a.begun {
		for range 2 {
			if _, err := r.ReadString('\n'); err != nil {
				return err
			}
		}
	} else {
		a.w.Header().Set("Content-Type", "application/x-ndjson; charset=UTF-8")
		a.begun = true
	}
	if _, err := io.Copy(a.w, r); err != nil {
		return errLeft
	}
	if http.NewResponseController(a.w).Flush() != nil {
		return errLeft
	}
	return nil
}

// fail writes an error as servers do since 2025: with a status before rows, and between
// marks behind them.
func (a *answer) fail(err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	text := e.Message + " (version 26.7.2.1 (official build))\n"
	if !a.begun {
		a.w.Header().Set("X-Clickhouse-Exception-Code", e.Code)
		a.w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(a.w, text)
		return
	}
	const tag = "abcdefghijklmnop"
	_, _ = io.WriteString(a.w, "__exception__\r\n"+tag+"\r\n"+text+fmt.Sprintf("%d %s\r\n__exception__\r\n", len(text), tag))
	_ = http.NewResponseController(a.w).Flush()
	panic(http.ErrAbortHandler) // such an answer has no last chunk
}
