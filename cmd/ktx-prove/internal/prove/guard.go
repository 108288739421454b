package prove

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/ktxhq/ktx/corpus"
)

// guardProtocol is the protocol between ktx corpus run and a guard.
// corpus/GUARD.md describes it.
const guardProtocol = "ktx-guard/1"

const guardUsage = `ktx-prove guard puts cases of the corpus to an MCP server, on a database of its own.

  ktx-prove guard [flags] -- CMD [ARG]...

CMD is the MCP server, over standard input and output. {url}, {host}, {port}, {user},
{password}, {database}, {file} (of SQLite) and {dir} (an empty directory) in its words
stand for the database that it is to use; PGHOST, MYSQL_HOST and the like are set to
the same. The program speaks ktx-guard/1 on its own standard input and output: ktx corpus run starts it
for --guard mcp:CMD.

`

// guardOptions are the options of ktx-prove guard.
type guardOptions struct {
	dialect string
	role    string
	bin     string
	limit   time.Duration // for one statement, at the database
	wait    time.Duration // for one answer of the MCP server
	log     string
	mcp     mcpCommand
}

// GuardMain runs ktx-prove guard and returns its exit code.
func GuardMain(args []string, in io.Reader, out, errs io.Writer) int {
	o, err := parseGuard(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return say(errs, exitUsage, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serveGuard(ctx, o, in, out); err != nil {
		return say(errs, exitNotRun, err)
	}
	return exitOK
}

func parseGuard(args []string, errs io.Writer) (o guardOptions, err error) {
	o.mcp.with = map[string]any{}
	flags := flag.NewFlagSet("ktx-prove guard", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.dialect, "dialect", "postgres", "the `dialect` of the database: postgres, mysql or sqlite")
	flags.StringVar(&o.role, "role", "superuser", "the `role` that the MCP server connects as: superuser or select_only")
	flags.StringVar(&o.mcp.tool, "tool", "", "the `name` of the tool that takes SQL, where it is not recognised")
	flags.StringVar(&o.mcp.argument, "argument", "", "the `name` of the tool's argument that holds the SQL")
	flags.Func("with", "another argument of the tool as `NAME=VALUE` (repeatable); a value that is JSON is taken as such", func(text string) error {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return errors.New("it must be NAME=VALUE")
		}
		var decoded any
		if json.Unmarshal([]byte(value), &decoded) != nil {
			decoded = value
		}
		o.mcp.with[name] = decoded
		return nil
	})
	flags.StringVar(&o.bin, "bin", "", "the `directory` of the programs of PostgreSQL, MariaDB or MySQL")
	flags.DurationVar(&o.limit, "limit", 2*time.Second, "the time limit of one statement, at the database")
	flags.DurationVar(&o.wait, "timeout", 10*time.Second, "the time that the MCP server has for one answer")
	flags.StringVar(&o.log, "log", "", "a `file` for what was seen of each case, as JSON Lines")
	if err := parseFlags(flags, guardUsage, args, errs); err != nil {
		return o, err
	}
	o.mcp.words = flags.Args()
	// A placeholder stands for the database that this program starts:
	// "POSTGRES_HOST={host}".
	placeholders := strings.NewReplacer("={host}", "", "={database}", "", "={url}", "", "={file}", "")
	if slices.ContainsFunc(args, func(arg string) bool { return isAddress(placeholders.Replace(arg)) }) {
		return o, errors.New("the MCP server is given a database that this program starts itself; an address of a server is refused: write {url}")
	}
	if len(o.mcp.words) == 0 {
		return o, errors.New("no MCP server is named: ktx-prove guard -- CMD")
	}
	if !slices.Contains([]string{"postgres", "mysql", "sqlite"}, o.dialect) {
		return o, fmt.Errorf("the dialect is %q: it must be postgres, mysql or sqlite", o.dialect)
	}
	if o.dialect == "sqlite" && (o.role != "superuser" || o.bin != "") {
		return o, errors.New("SQLite has no roles and no programs: it takes no --role and no --bin")
	}
	if o.role != "superuser" && o.role != "select_only" {
		return o, fmt.Errorf("the role is %q: it must be superuser or select_only", o.role)
	}
	if o.limit < 10*time.Millisecond || o.limit > time.Minute {
		return o, errors.New("--limit must lie between 10ms and 1m")
	}
	if o.wait <= o.limit {
		return o, errors.New("--timeout must be more than --limit")
	}
	// The server runs in its own directory.
	if o.mcp.words[0], err = exec.LookPath(o.mcp.words[0]); err == nil {
		o.mcp.words[0], err = filepath.Abs(o.mcp.words[0])
	}
	if err != nil {
		return o, fmt.Errorf("find the MCP server: %w", err)
	}
	return o, nil
}

// serveGuard answers questions until its input ends.
func serveGuard(ctx context.Context, o guardOptions, in io.Reader, out io.Writer) (err error) {
	lines := bufio.NewReader(in)
	if err := readHello(lines); err != nil {
		return err
	}
	g, err := openGuard(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	if err := answers.Encode(g.hello()); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	for {
		q, err := readQuestion(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		v, err := g.decide(ctx, q)
		if err != nil {
			return err
		}
		if err := answers.Encode(answer{ID: q.ID, Decision: v.decision, Code: v.code, Fault: v.fault, Detail: v.detail}); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
	}
}

// question and answer are the lines of the protocol.
type (
	question struct {
		ID      string  `json:"id"`
		Dialect string  `json:"dialect"`
		SQL     *string `json:"sql"`
		SQLB64  []byte  `json:"sql_b64"`
	}
	answer struct {
		ID       string `json:"id"`
		Decision string `json:"decision"`
		Code     string `json:"code,omitempty"`
		Fault    string `json:"fault,omitempty"`
		Detail   string `json:"detail,omitempty"`
	}
	hello struct {
		Proto   string            `json:"proto"`
		Name    string            `json:"name,omitempty"`
		Version string            `json:"version,omitempty"`
		About   map[string]string `json:"about,omitempty"`
	}
)

func readHello(lines *bufio.Reader) error {
	line, err := lines.ReadBytes('\n')
	var h hello
	if err == nil {
		err = json.Unmarshal(line, &h)
	}
	if err != nil || h.Proto != guardProtocol {
		return fmt.Errorf("the first line must be {\"proto\":%q}; ktx corpus run --guard mcp:CMD starts this program", guardProtocol)
	}
	return nil
}

func readQuestion(lines *bufio.Reader) (q question, err error) {
	line, err := lines.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) == 0 {
		return q, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return q, fmt.Errorf("read a question: %w", err)
	}
	if err := json.Unmarshal(line, &q); err != nil {
		return q, fmt.Errorf("read a question: %w", err)
	}
	if q.SQL == nil {
		text := string(q.SQLB64)
		q.SQL = &text
	}
	return q, nil
}

// guard is an MCP server with a database that this program started.
type guard struct {
	options guardOptions
	engine  *subject
	tap     *tap // nil for SQLite, which the MCP server has within itself
	dir     string
	log     io.WriteCloser // may be nil
	known   map[string]corpus.Case

	before  State // of the fixture; nil if it must be read
	fixture State // what before was when no case had set anything up

	server  *mcpServer // nil if it must be started
	habits  habits
	failure string            // how an answer of an SQLite server begins that reports a failure; "" if it is marked as an error
	rests   bool              // its sessions are outside of a transaction between two statements
	rest    State             // the state of a session of the server between two statements
	states  map[*tapped]State // the same, for each session
	about   map[string]string
	names   [2]string // the name and the version of the server
}

// openGuard starts the database and the MCP server.
func openGuard(ctx context.Context, o guardOptions) (_ *guard, err error) {
	g := &guard{options: o, known: map[string]corpus.Case{}}
	for _, c := range corpus.Cases() {
		if c.Dialect == o.dialect {
			g.known[c.SQL] = c
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	if o.log != "" {
		if g.log, err = os.Create(o.log); err != nil {
			return nil, fmt.Errorf("open the log: %w", err)
		}
	}
	if g.engine, err = openSubject(ctx, o.dialect, o.bin, o.limit); err != nil {
		return nil, fmt.Errorf("start the database: %w", err)
	}
	if g.engine.server != "" {
		if g.tap, err = startTap(ctx, o.dialect, g.engine.server); err != nil {
			return nil, err
		}
	}
	if g.dir, err = os.MkdirTemp("", "ktx-guard-"); err != nil {
		return nil, fmt.Errorf("make a directory for the MCP server: %w", err)
	}
	if err := g.address(); err != nil {
		return nil, err
	}
	return g, g.ready(ctx)
}

// address fills the address of the database into the command.
func (g *guard) address() error {
	user := ""
	if g.options.role == "select_only" {
		user = readerRole
	}
	tap := ""
	if g.tap != nil {
		tap = g.tap.addr()
	}
	where, err := g.engine.place(user, tap)
	if err != nil {
		return err
	}
	fill := strings.NewReplacer(append(where.placeholders, "{dir}", g.dir)...)
	words := slices.Clone(g.options.mcp.words)
	for i, word := range words {
		words[i] = fill.Replace(word)
	}
	g.options.mcp.words = words
	g.options.mcp.dir = cmp.Or(g.engine.dir, g.dir)
	g.options.mcp.env = where.env
	return nil
}

func (g *guard) close() error {
	g.stopServer()
	if g.tap != nil {
		g.tap.close()
	}
	var err error
	if g.engine != nil {
		err = g.engine.close()
	}
	if g.log != nil {
		err = errors.Join(err, g.log.Close())
	}
	if g.dir != "" {
		err = errors.Join(err, os.RemoveAll(g.dir))
	}
	return err
}

func (g *guard) hello() hello {
	return hello{Proto: guardProtocol, Name: g.names[0], Version: g.names[1], About: g.about}
}

// startLimit is the time that an MCP server has to start and to answer twice.
const startLimit = 2 * time.Minute

// marker is in the statement that a server must allow and send to this
// database.
const marker = "ktx_marker"

const markerSQL = "SELECT count(*) AS " + marker + " FROM orders"

// ready ensures that the server runs, that its sessions lead to this database,
// and that its habits are known.
func (g *guard) ready(ctx context.Context) error {
	if g.server != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	server, err := startMCP(ctx, g.options.mcp)
	if err != nil {
		return err
	}
	g.server = server
	g.names = [2]string{server.name, server.version}
	g.about = map[string]string{
		"engine": g.engine.name() + " " + g.engine.version(), "role": g.options.role, "tool": server.tool, "judged_by": "state probes",
	}
	if g.tap == nil {
		return g.readyFile(ctx)
	}
	var seen [2][]exchange
	for i := range seen {
		g.tap.forget("")
		answer, err := server.ask(ctx, startLimit, markerSQL)
		if err != nil {
			return err
		}
		g.rests = g.tap.quiet(ctx)
		seen[i], _ = g.tap.seen()
		ran := slices.ContainsFunc(seen[i], func(e exchange) bool {
			return e.executed && e.done && e.code == "" && slices.ContainsFunc(e.texts, func(text string) bool { return strings.Contains(text, marker) })
		})
		if !ran || answer.fault != "" {
			return server.explain("try the MCP server", fmt.Errorf("the tool %s did not run %q on the database that it was given; its answer: %q", server.tool, markerSQL, answer.text))
		}
	}
	g.habits = learn(marker, seen[0], seen[1])
	g.rest, g.states = nil, map[*tapped]State{}
	for _, c := range g.tap.open() {
		if state, err := g.look(ctx, c); err == nil {
			g.states[c], g.rest = state, state
		}
	}
	return nil
}

func (g *guard) stopServer() {
	if g.server != nil {
		g.server.stop()
		g.server = nil
	}
	if g.tap != nil {
		g.tap.drop()
	}
}

// look reads the state of a session of the server.
func (g *guard) look(ctx context.Context, c *tapped) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, g.options.limit+grace)
	defer cancel()
	return g.engine.session(func(sql string) ([][]string, error) { return c.query(ctx, sql) })
}

// decide puts one statement to the server. After an error, no further statement
// can be judged.
func (g *guard) decide(ctx context.Context, q question) (verdict, error) {
	sql := *q.SQL
	c, known := g.known[sql]
	switch {
	case q.Dialect != g.options.dialect:
		return verdict{decision: "error", code: codeOtherDialect}, nil
	case !utf8.ValidString(sql):
		return verdict{decision: "error", code: codeNotText}, nil
	case occupied(namedPaths(sql)) != "":
		return verdict{decision: "error", code: codeNotRunnable, detail: "it names a place where something lies already"}, nil
	case known && c.Expect == corpus.Allow && c.Engine != nil && c.Engine.Name != "" && c.Engine.Name != g.engine.name():
		return verdict{decision: "error", code: codeNotRunnable, detail: "it is about " + c.Engine.Name}, nil
	case known && c.Expect == corpus.Allow && c.Engine != nil && !within(g.engine.version(), c.Engine.Min, c.Engine.Max):
		return verdict{decision: "error", code: codeNotRunnable, detail: "it is about other versions of the server"}, nil
	}
	banned := ""
	if never[c.ID] != "" {
		banned = strings.Trim(sql, " \t\r\n;")
	}
	prepared := false
	if known {
		var err error
		prepared, err = g.engine.prepare(ctx, c)
		if _, ok := errors.AsType[*setupError](err); ok {
			return verdict{decision: "error", code: codeNotRunnable, detail: "this engine cannot " + err.Error()}, g.putBack(ctx)
		}
		if err != nil {
			return verdict{}, fmt.Errorf("prepare: %w", err)
		}
	}
	if g.tap == nil && banned != "" {
		return verdict{decision: "error", code: codeNeverRun, detail: never[c.ID]}, nil // nothing could stop it on its way
	}
	v, w, dirty, err := g.try(ctx, sql, banned, prepared)
	if err != nil {
		return verdict{}, err
	}
	if g.tap == nil {
		if v, err = g.alone(ctx, sql, v); err != nil {
			return verdict{}, err
		}
		dirty = dirty || v.code != codeExecuted // it may have been run without the server
		if v.decision == "allow" && c.Expect != corpus.Allow {
			g.stopServer() // its session may have changed, which cannot be seen
		}
	}
	if code, refused := strings.CutPrefix(v.code, codeRefusedByDB+"_"); refused && !strings.HasPrefix(code, "25006") {
		anyway, changed, err := g.failsAnyway(ctx, sql)
		if err != nil {
			return verdict{}, err
		}
		switch {
		case anyway != "" && known && c.Expect == corpus.Allow:
			v = verdict{decision: "error", code: codeNotRunnable, detail: "the database refuses it from this role: " + anyway}
		case anyway != "":
			v.code = codeFailsAnyway + "_" + anyway
		}
		dirty = dirty || changed
	}
	if err := g.note(sql, w, v); err != nil {
		return verdict{}, err
	}
	if dirty {
		err = g.putBack(ctx)
	}
	return v, err
}

// putBack restores the fixture, which ends the sessions of the server.
func (g *guard) putBack(ctx context.Context) error {
	g.stopServer()
	g.before = nil
	if err := g.engine.reset(ctx); err != nil {
		return fmt.Errorf("put the database back: %w", err)
	}
	return nil
}

// try puts a statement to the server and looks at what it did. dirty reports
// whether the database must be restored.
func (g *guard) try(ctx context.Context, sql, banned string, prepared bool) (v verdict, w witnesses, dirty bool, err error) {
	if err := g.ready(ctx); err != nil {
		return v, w, false, err
	}
	if g.before == nil || prepared {
		if g.before, err = g.engine.snapshot(ctx); err != nil {
			return v, w, false, fmt.Errorf("probe before: %w", err)
		}
		if !prepared {
			g.fixture = g.before
		}
	}
	made := there(namedPaths(sql))
	logged := len(g.engine.log())
	rests, stopped := true, false
	var session []string
	if g.tap == nil {
		if w, err = g.askFile(ctx, sql); err != nil {
			return v, w, false, err
		}
	} else {
		there := g.tap.open()
		g.tap.forget(banned)
		if w.answer, err = g.server.ask(ctx, g.options.wait, sql); err != nil {
			return v, w, false, err
		}
		rests, w.exchanges, stopped = g.settle(ctx, there)
		g.tap.forget("")
		session = g.sessions(ctx)
	}
	written, err := takeFiles(namedPaths(sql))
	if err != nil {
		return v, w, false, fmt.Errorf("remove what the statement wrote: %w", err)
	}
	written = slices.DeleteFunc(written, func(name string) bool { return slices.Contains(made, name) })
	after, probeErr := g.engine.snapshot(ctx)
	lasting := g.before.Changed(after)
	if probeErr != nil {
		lasting = []string{"server"} // The server or its sessions are gone.
	}
	log := g.engine.log()
	if crashed(log[min(logged, len(log)):]) {
		lasting = []string{"server"}
	}
	w.changed = slices.Compact(slices.Sorted(slices.Values(slices.Concat(session, written, lasting))))
	v = judge(sql, w)
	if stopped {
		v = verdict{decision: "error", code: codeNeverRun, detail: "the server passed it on: " + w.answer.text}
	}
	if v.code == codeChanged || v.fault != "" || stopped || !rests && g.rests {
		g.stopServer()
	}
	// A statement without an answer may still be running.
	return v, w, prepared || len(lasting) > 0 || w.answer.fault != "", nil
}

// settle waits until the server has done what it does for every statement. It
// returns what else the server asked of the database. If that is nothing, it
// may still follow: a ROLLBACK counts as the server's own until the server's
// own ROLLBACK is seen too.
func (g *guard) settle(ctx context.Context, there []*tapped) (rests bool, own []exchange, stopped bool) {
	for range 50 {
		var all []exchange
		rests = g.tap.quiet(ctx)
		all, stopped = g.tap.seen()
		own = g.habits.beyond(all, there)
		if len(all) == 0 || len(own) > 0 || !rests || stopped {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return rests, own, stopped
}

// sessions returns what changed in the state of the server's sessions.
func (g *guard) sessions(ctx context.Context) (changed []string) {
	for _, c := range g.tap.open() {
		locks, err := g.engine.locks(ctx, c.pid)
		if err != nil {
			continue // The database is gone, which the probe reports.
		}
		changed = append(changed, slices.Sorted(maps.Keys(locks))...)
		state, err := g.look(ctx, c)
		if err != nil {
			continue // In a transaction; its effects end with it.
		}
		before := g.states[c]
		if before == nil {
			before = g.rest
		}
		if before != nil {
			changed = append(changed, slices.DeleteFunc(before.Changed(state), func(name string) bool {
				// A loaded library adds its own settings.
				_, had := before[name]
				return !had && strings.HasPrefix(name, "session setting ") || g.setUp(name, state)
			})...)
		}
		g.states[c] = state
	}
	return changed
}

// setUp reports whether a session has a setting because the case has set it up for the server,
// of which MariaDB and MySQL show some as settings of each session.
func (g *guard) setUp(name string, state State) bool {
	setting, ok := strings.CutPrefix(name, "session ")
	return ok && g.fixture != nil && g.fixture[setting] != g.before[setting] && g.before[setting] == state[name]
}

// failsAnyway runs a statement without the MCP server, from the same role. It
// returns the SQLSTATE with which the database refuses it, and whether that
// changed anything. The code is empty if the database runs the statement.
// Nothing has changed since g.before.
func (g *guard) failsAnyway(ctx context.Context, sql string) (code string, changed bool, err error) {
	o, err := g.withoutServer(ctx, sql)
	if err != nil {
		return "", false, err
	}
	after, err := g.engine.snapshot(ctx)
	changed = err != nil || len(g.before.Changed(after)) > 0
	if o.Result == Failed {
		code = codeOf(o)
	}
	return code, changed, nil
}

// codeOf returns the code of a failure as the codes of a decision end with it.
func codeOf(o Outcome) string { return strings.ReplaceAll(o.Code, " ", "_") }

// withoutServer runs a statement from the same role, and removes the files that it
// wrote elsewhere.
func (g *guard) withoutServer(ctx context.Context, sql string) (Outcome, error) {
	o, err := g.engine.try(ctx, Attempt{Role: g.options.role}, corpus.Case{SQL: sql})
	if err != nil {
		return o, fmt.Errorf("try without the MCP server: %w", err)
	}
	if _, err := takeFiles(namedPaths(sql)); err != nil {
		return o, fmt.Errorf("remove what the statement wrote: %w", err)
	}
	return o, nil
}

// note writes the observations for one statement to the log.
func (g *guard) note(sql string, w witnesses, v verdict) error {
	if g.log == nil {
		return nil
	}
	type seen struct {
		Texts []string `json:"texts"`
		Rows  int      `json:"rows"`
		Tags  []string `json:"tags,omitempty"`
		Code  string   `json:"code,omitempty"`
		Done  bool     `json:"done"`
	}
	line := struct {
		SQL      string   `json:"sql"`
		Decision string   `json:"decision"`
		Code     string   `json:"code,omitempty"`
		Fault    string   `json:"fault,omitempty"`
		Refused  bool     `json:"refused"`
		Answer   string   `json:"answer"`
		Changed  []string `json:"changed,omitempty"`
		Database []seen   `json:"database,omitempty"`
	}{SQL: sql, Decision: v.decision, Code: v.code, Fault: v.fault, Refused: w.answer.refused, Answer: w.answer.text, Changed: w.changed}
	for _, e := range w.exchanges {
		line.Database = append(line.Database, seen{e.texts, e.rows, e.tags, e.code, e.done})
	}
	encoder := json.NewEncoder(g.log)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(line); err != nil {
		return fmt.Errorf("write the log: %w", err)
	}
	return nil
}
