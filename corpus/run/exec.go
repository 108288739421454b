package run

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/sqlguard"
)

// Protocol is the protocol of guard programs: JSON Lines over standard input
// and output, with one reply to each line. The first line is a greeting.
const Protocol = "ktx-guard/1"

// The limits of the exchange with a guard program.
const (
	DefaultLimit = 10 * time.Second // to answer one case
	startLimit   = 30 * time.Second // to answer the greeting, at least
	restarts     = 3                // attempts to restart it after a fault
	maxName      = 200              // bytes of a name, version or code
	maxDetail    = 500              // bytes of a detail
	maxAbout     = 20               // facts that a guard reports about itself
)

// Exec is a guard program. It is started before the first case, and again after
// a fault. It gets the dialect and the statement of a case and nothing else.
// The id of a request is a running number, because the id of a case would tell
// what the case expects.
type Exec struct {
	kind     string // the kind of guard, in a run file
	command  string // the program, without arguments
	words    []string
	starting time.Duration // for the reply to the greeting
	limit    time.Duration
	running  *process
	greeted  bool
	name     string
	version  string
	about    map[string]string
	requests int
}

var _ Guard = (*Exec)(nil)

// NewExec returns the guard program of a command line, as [SplitWords] reads
// it. limit is the time for one answer. The caller must call Close, which ends
// the program.
func NewExec(command string, limit time.Duration) (*Exec, error) {
	words, err := SplitWords(command)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		return nil, errors.New("the time limit of a case must be more than 0")
	}
	return &Exec{kind: "exec", command: filepath.Base(words[0]), words: words, starting: max(limit, startLimit), limit: limit}, nil
}

// Describe implements Guard. It leaves out the arguments of the command,
// because they may hold secrets and a run file may be published.
func (e *Exec) Describe() map[string]string {
	out := maps.Clone(e.about)
	if out == nil {
		out = map[string]string{}
	}
	out["name"], out["command"], out["protocol"] = e.kind, e.command, Protocol
	if e.name != "" {
		out["name"] = e.name
	}
	if e.version != "" {
		out["version"] = e.version
	}
	return out
}

// OwnDefaults implements Guard.
func (*Exec) OwnDefaults() bool { return false }

// Prepare implements Guard: it starts the program if it does not run. The first
// start must succeed. Later starts are tried a few times.
func (e *Exec) Prepare(ctx context.Context) error {
	if e.running != nil {
		return nil
	}
	attempts := 1
	if e.greeted {
		attempts = restarts
	}
	var err error
	for range attempts {
		if err = e.start(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// start starts the program and exchanges greetings.
func (e *Exec) start(ctx context.Context) error {
	p, err := startProcess(ctx, e.words)
	if err != nil {
		return fmt.Errorf("start the guard: %w", err)
	}
	text, err := p.ask(ctx, e.starting, []byte(`{"proto":"`+Protocol+`"}`+"\n"))
	var hello struct {
		Proto, Name, Version string
		About                map[string]string
	}
	if err == nil {
		if err = json.Unmarshal(text, &hello); err != nil || hello.Proto != Protocol {
			err = fmt.Errorf("the reply is not {\"proto\":%q}: %q", Protocol, cut(strings.TrimSpace(string(text)), maxName))
		}
	}
	if err != nil {
		p.end(0)
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("no reply in time")
		}
		err = fmt.Errorf("greet the guard: %w", err)
		if said := p.stderr.String(); said != "" {
			err = fmt.Errorf("%w\nits standard error ends with:\n%s", err, said)
		}
		return err
	}
	e.running, e.greeted = p, true
	e.name, e.version = cut(hello.Name, maxName), cut(hello.Version, maxName)
	e.about = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(hello.About)) {
		if len(e.about) < maxAbout {
			e.about[cut(name, maxName)] = cut(hello.About[name], maxName)
		}
	}
	return nil
}

// Decide implements Guard. It ends a program that does not give a valid answer.
// Prepare then starts it again.
func (e *Exec) Decide(ctx context.Context, q Question) Answer {
	if e.running == nil {
		return Answer{Decision: Error, Fault: Crash, Detail: "the guard does not run"}
	}
	e.requests++
	id := strconv.Itoa(e.requests)
	line, err := request(id, q)
	if err != nil {
		return Answer{Decision: Error, Detail: err.Error()}
	}
	text, err := e.running.ask(ctx, e.limit, line)
	var answer Answer
	if err == nil {
		if answer, err = readReply(id, text); err == nil {
			return answer
		}
		err = &replyError{err}
	}
	return e.abandon(err)
}

// replyError is a reply that breaks the protocol.
type replyError struct{ err error }

// Error implements error.
func (r *replyError) Error() string { return r.err.Error() }

// abandon ends the program and returns the answer for its fault.
func (e *Exec) abandon(err error) Answer {
	p := e.running
	e.running = nil
	if errors.Is(err, errEnded) {
		p.end(endGrace) // it is ending already; its exit status is wanted
		return Answer{Decision: Error, Fault: Crash, Detail: p.lastWords()}
	}
	p.end(0)
	if _, bad := errors.AsType[*replyError](err); bad || errors.Is(err, errTooLong) {
		return Answer{Decision: Error, Fault: BadReply, Detail: err.Error()}
	}
	return Answer{Decision: Error, Fault: TimeOut, Detail: strings.TrimSuffix("no answer in "+e.limit.String()+"; "+p.stderr.lastLine(), "; ")}
}

// Close ends the program.
func (e *Exec) Close() error {
	if e.running != nil {
		e.running.end(endGrace)
		e.running = nil
	}
	return nil
}

// request encodes one question as a line. The statement is in Base64 if a JSON
// string cannot hold it.
func request(id string, q Question) ([]byte, error) {
	r := struct {
		ID      string  `json:"id"`
		Dialect string  `json:"dialect"`
		SQL     *string `json:"sql,omitempty"`
		SQLB64  *string `json:"sql_b64,omitempty"`
	}{ID: id, Dialect: q.Dialect}
	if utf8.ValidString(q.SQL) && !strings.ContainsRune(q.SQL, 0) {
		r.SQL = &q.SQL
	} else {
		encoded := base64.StdEncoding.EncodeToString([]byte(q.SQL))
		r.SQLB64 = &encoded
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(r)
	return b.Bytes(), err
}

// readReply decodes the reply to one request. It ignores unknown members.
func readReply(id string, text []byte) (Answer, error) {
	var r struct {
		ID       string        `json:"id"`
		Decision Decision      `json:"decision"`
		Code     sqlguard.Code `json:"code"`
		Fault    Fault         `json:"fault"`
		Detail   string        `json:"detail"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return Answer{}, fmt.Errorf("the reply cannot be read: %w: %q", err, cut(strings.TrimSpace(string(text)), maxName))
	}
	switch {
	case r.ID != id:
		return Answer{}, fmt.Errorf("the reply is to %q; the request was %q", cut(r.ID, maxName), id)
	case !slices.Contains([]Decision{Allow, Reject, Error}, r.Decision):
		return Answer{}, fmt.Errorf("the decision is %q; it must be allow, reject or error", cut(string(r.Decision), maxName))
	case len(r.Code) > maxName:
		return Answer{}, fmt.Errorf("the code is longer than %d bytes", maxName)
	case r.Fault != "" && (r.Decision != Error || !slices.Contains([]Fault{Crash, TimeOut}, r.Fault)):
		return Answer{}, fmt.Errorf("the fault is %q; it must be crash or timeout, and the decision must be error", cut(string(r.Fault), maxName))
	}
	return Answer{Decision: r.Decision, Code: r.Code, Fault: r.Fault, Detail: cut(r.Detail, maxDetail)}, nil
}
