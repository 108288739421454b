package prove

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/corpus"
)

// client is the command line client of a server. It reads a case as a file of statements,
// in an empty folder, and shows only what is seen from outside.
type client struct {
	engine
	product         string // its name in evidence
	program, number string
	dir             string // where it runs
	// url is the address of the database for a user, "" for the administrator.
	url func(user string) string
	// connect returns the arguments and the variables with which it finds a database.
	connect func(u *url.URL) (args, env []string)
	first   string // before each case
	begin   string // of a read-only transaction
	ends    string // behind each case, or empty
	asks    string // prints the database, behind a case
	moves   *regexp.Regexp
	code    *regexp.Regexp // finds the code in a message
}

// clientLimit is the time that a client has for a case.
const clientLimit = 4 * time.Second

// clientEnds is what a client prints behind a case.
const clientEnds = "the statement has ended"

// asClient returns the client of a server.
func asClient(ctx context.Context, e engine) (_ engine, err error) {
	c := &client{engine: e}
	switch e := e.(type) {
	case *postgres:
		c.product, c.program, c.url = "psql", "psql", func(user string) string { return e.server.URL(database, user) }
		c.connect = func(u *url.URL) (args, env []string) {
			return []string{"-X", "-q", "-t", "-v", "VERBOSITY=sqlstate"}, []string{
				"PGHOST=" + u.Hostname(), "PGPORT=" + u.Port(), "PGUSER=" + u.User.Username(), "PGPASSWORD=" + password(u), "PGDATABASE=" + database,
			}
		}
		c.first, c.begin, c.asks = `\set status open`+"\n", "BEGIN READ ONLY;\n", "SELECT current_database();\n"
		c.ends = "\n;\n" + `\echo ` + clientEnds + "\n"
		c.moves, c.code = regexp.MustCompile(`^\\c`), regexp.MustCompile(`(?:ERROR|FATAL): +([0-9A-Z]{5})`)
	case *mariadb:
		c.product, c.program, c.url = "mariadb-client", "mariadb", func(user string) string { return e.server.URL(database, user) }
		c.connect = func(u *url.URL) (args, env []string) {
			return []string{"--no-defaults", "--batch", "--protocol=TCP", "--host=" + u.Hostname(), "--port=" + u.Port(), "--user=" + u.User.Username(), database},
				[]string{"MYSQL_PWD=" + password(u)}
		}
		c.begin, c.asks = "START TRANSACTION READ ONLY;\n", "\nSELECT DATABASE();\n"
		c.moves, c.code = regexp.MustCompile(`^\\u `), regexp.MustCompile(`ERROR ([0-9]+) \(([0-9A-Z]{5})\)`)
	default:
		return nil, fmt.Errorf("%s has no client here", e.name())
	}
	out, err := exec.CommandContext(ctx, c.program, "--version").Output() //nolint:gosec // one of the two above
	if err != nil {
		return nil, fmt.Errorf("ask %s for its version: %w", c.program, err)
	}
	found := clientVersion.FindStringSubmatch(string(out))
	if found == nil {
		return nil, fmt.Errorf("%s does not tell its version: %s", c.program, out)
	}
	c.number = found[1]
	if c.dir, err = os.MkdirTemp("", "ktx-prove-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	return c, nil
}

var clientVersion = regexp.MustCompile(`(?:\(PostgreSQL\)|from|Distrib) ([0-9]+(?:\.[0-9]+)+)`)

func password(u *url.URL) string {
	text, _ := u.User.Password()
	return text
}

func (l *client) name() string    { return l.product }
func (l *client) version() string { return l.number }

func (l *client) close() error { return errors.Join(l.engine.close(), os.RemoveAll(l.dir)) }

// prepare also writes the file of statements that a case reads.
func (l *client) prepare(ctx context.Context, c corpus.Case) (bool, error) {
	made, err := l.engine.prepare(ctx, c)
	for _, path := range namedPaths(c.SQL) {
		if err == nil && strings.HasSuffix(path, ".sql") {
			err = os.WriteFile(path, []byte("SELECT 'from a file';\n"), 0o600)
		}
	}
	return made, err
}

func (l *client) try(ctx context.Context, a Attempt, c corpus.Case) (o Outcome, err error) {
	user := ""
	if a.Role == "select_only" {
		user = readerRole
	}
	address, err := url.Parse(l.url(user))
	if err != nil {
		return o, fmt.Errorf("read the server's own URL: %w", err)
	}
	script := l.first
	if a.ReadOnly {
		script += l.begin
	}
	script += c.SQL + l.ends
	moves := l.moves.MatchString(c.SQL)
	if moves {
		script += l.asks
	}
	limited, cancel := context.WithTimeout(ctx, clientLimit)
	defer cancel()
	args, env := l.connect(address)
	cmd := exec.CommandContext(limited, l.program, args...) //nolint:gosec // a client of this package
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = l.dir, strings.NewReader(script), &out, &errs
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "LC_ALL=C.UTF-8"}, env...)
	// A program that the statement started ends too.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = grace
	err = cmd.Run()
	printed, behind, _ := strings.Cut(out.String(), clientEnds)
	if moves && l.ends == "" {
		printed, behind = "", printed
	}
	o = Outcome{Result: Executed, Rows: strings.TrimSpace(printed) != ""}
	ended, failed := errors.AsType[*exec.ExitError](err)
	switch code := l.code.FindStringSubmatch(errs.String()); {
	case limited.Err() != nil:
		o.Result = TimedOut
	case len(code) > 2:
		o.Result, o.Code = Failed, code[2]+" "+code[1]
	case code != nil:
		o.Result, o.Code = Failed, code[1]
	case failed && ended.ExitCode() > 0 || errs.Len() > 0:
		o.Result, o.Code = Failed, "client"
	case err != nil:
		return o, fmt.Errorf("run %s: %w\n%s", l.program, err, errs.String())
	}
	o.ReadOnly = strings.HasPrefix(o.Code, "25006")
	if moves && o.Result == Executed && !strings.Contains(behind, database) {
		o.Changed = append(o.Changed, "session database")
	}
	return o, l.files(&o)
}

// files notes the files that the client wrote, and removes them.
func (l *client) files(o *Outcome) error {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return fmt.Errorf("read the folder: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // such as a history
			o.Changed = append(o.Changed, "file "+e.Name())
		}
		if err := os.RemoveAll(filepath.Join(l.dir, e.Name())); err != nil {
			return fmt.Errorf("empty the folder: %w", err)
		}
	}
	return nil
}
