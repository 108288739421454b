package chengine

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Config describes an engine. The zero value is an empty one whose user may do everything.
type Config struct {
	// Folder is where the tables are kept; "" is one that ends with the test.
	Folder string
	// Files is where functions may read and write files; "" is a folder of its own.
	Files string
	// Profile are settings of the user's profile, as elements of XML.
	Profile string
	// Grants are the rights of the user, as GRANT statements without TO; nil is every
	// right.
	Grants []string
	// Here has the process run in Files, which must be there: the library takes the name of a
	// file for one in the folder of its process.
	Here bool
	// Extra are further settings of the server, as elements of XML.
	Extra string
}

// Engine is an engine that runs.
type Engine struct {
	cmd    *exec.Cmd
	in     io.Closer
	dir    string
	socket string
}

// program and library are what make test-engines made.
const (
	program = "KTX_TEST_CHDB"
	library = "KTX_TEST_CHDB_LIBRARY"
)

// Start starts an engine, which ends with the test or with Stop.
func Start(tb testing.TB, config Config) *Engine {
	tb.Helper()
	e := StartShared(tb, config)
	tb.Cleanup(e.Stop)
	return e
}

// StartShared starts an engine, which ends with Stop or with the process.
func StartShared(tb testing.TB, config Config) *Engine {
	tb.Helper()
	Need(tb)
	e, err := New(config)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// Need skips the test unless the engine is there, which make test-engines fetches.
func Need(tb testing.TB) {
	tb.Helper()
	if os.Getenv(program) == "" || os.Getenv(library) == "" {
		tb.Skip("needs the library of ClickHouse: run make test-engines")
	}
}

// New starts an engine, which ends with Stop or with the process.
func New(config Config) (_ *Engine, err error) {
	if os.Getenv(program) == "" || os.Getenv(library) == "" {
		return nil, fmt.Errorf("%s and %s must name the program and the library of ClickHouse; make test-engines fetches them", program, library)
	}
	dir, err := os.MkdirTemp("", "ktx-chdb-") // short, as a socket's path must be
	if err != nil {
		return nil, err
	}
	e := &Engine{dir: dir, socket: filepath.Join(dir, "s")}
	defer func() {
		if err != nil {
			e.Stop()
		}
	}()
	if config.Files == "" {
		config.Files = filepath.Join(dir, "files")
	}
	if config.Folder == "" {
		config.Folder = filepath.Join(dir, "data")
	}
	server := filepath.Join(dir, "config.xml")
	for file, text := range map[string]string{server: config.serverXML(dir), filepath.Join(dir, "users.xml"): config.usersXML()} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	e.cmd = exec.CommandContext(context.Background(), os.Getenv(program), os.Getenv(library), e.socket, "--config-file="+server, "--path="+config.Folder)
	e.cmd.Dir, e.cmd.Stderr = dir, os.Stderr
	if config.Here {
		e.cmd.Dir = config.Files
	}
	ownGroup(e.cmd)
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	if err := yieldTo(e.cmd); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		return nil, fmt.Errorf("the engine did not start: %q, %w", line, err)
	}
	return e, nil
}

// Pid is the number of the process.
func (e *Engine) Pid() int { return e.cmd.Process.Pid }

// Stop ends the process.
func (e *Engine) Stop() {
	if e.in != nil {
		_ = e.in.Close()
		_ = e.cmd.Wait()
		e.in = nil
	}
	_ = os.RemoveAll(e.dir)
}

func (c *Config) serverXML(dir string) string {
	return "<clickhouse><user_directories><users_xml><path>" + filepath.Join(dir, "users.xml") + "</path></users_xml></user_directories>" +
		"<user_files_path>" + c.Files + "/</user_files_path><backups><allowed_path>" + c.Files + "/</allowed_path><allowed_path>/tmp/</allowed_path></backups>" +
		c.Extra + "</clickhouse>"
}

// usersXML describes the only user. Sessions of the library are always those of "default".
func (c *Config) usersXML() string {
	grants := "<access_management>1</access_management><named_collection_control>1</named_collection_control>"
	if c.Grants != nil {
		grants = "<grants>"
		for _, g := range c.Grants {
			grants += "<query>" + g + "</query>"
		}
		grants += "</grants>"
	}
	return "<clickhouse><users><default><password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>" + grants +
		"</default></users><profiles><default>" + c.Profile + "</default></profiles>" +
		"<quotas><default/></quotas></clickhouse>"
}

// Error is an error of the engine.
type Error struct {
	Code    string
	Message string
}

func (e *Error) Error() string { return e.Message }

func newError(text string) *Error {
	e := &Error{Message: text}
	if rest, found := strings.CutPrefix(text, "Code: "); found {
		e.Code, _, _ = strings.Cut(rest, ".")
	}
	return e
}

// Session is one session. One goroutine at a time uses it.
type Session struct {
	conn net.Conn
	r    *bufio.Reader
}

// Open opens a session.
func (e *Engine) Open() (*Session, error) {
	conn, err := net.Dial("unix", e.socket) //nolint:noctx // a socket of this machine
	if err != nil {
		return nil, err
	}
	return &Session{conn, bufio.NewReaderSize(conn, 64<<10)}, nil
}

// Close ends the session.
func (s *Session) Close() { _ = s.conn.Close() }

// Stream runs a statement and passes its answer on in parts, which are read to
// their ends. In formats with a header, every part has one. An error of the engine is an [*Error].
func (s *Session) Stream(sql, format string, part func(io.Reader) error) error {
	return s.exchange(fmt.Sprintf("q %s %d\n%s", format, len(sql), sql), part)
}

func (s *Session) exchange(request string, part func(io.Reader) error) error {
	if _, err := io.WriteString(s.conn, request); err != nil {
		return err
	}
	for {
		line, err := s.r.ReadString('\n')
		if err != nil {
			return err
		}
		status, length, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(length, 10, 64)
		if err != nil {
			return fmt.Errorf("a frame begins with %q", line)
		}
		frame := io.LimitReader(s.r, n)
		if status == "1" {
			text, err := io.ReadAll(frame)
			if err != nil {
				return err
			}
			return newError(string(text))
		}
		if n > 0 {
			if err := part(frame); err != nil {
				return err
			}
		}
		if status == "0" {
			return nil
		}
	}
}

// Query runs a statement and returns its answer in a format without a header.
func (s *Session) Query(sql, format string) (string, error) {
	var out strings.Builder
	err := s.Stream(sql, format, func(part io.Reader) error {
		_, err := io.Copy(&out, part)
		return err
	})
	return out.String(), err
}

// Classes of texts.
const (
	Read    = 0 // leaves nothing behind
	Control = 3 // changes the session, the server, or files
	Unread  = 4 // does not parse
)

// Class says what a text is to the engine's own parser: its class, and the number of its
// statements, which is 0 when it does not parse.
func (s *Session) Class(text string) (class, statements int, err error) {
	err = s.exchange(fmt.Sprintf("c %d\n%s", len(text), text), func(answer io.Reader) error {
		_, err := fmt.Fscan(answer, &class, &statements)
		return err
	})
	return class, statements, err
}

// Session opens a session that ends with the test.
func (e *Engine) Session(tb testing.TB) *Session {
	tb.Helper()
	s, err := e.Open()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// Exec runs statements, each in a session of its own.
func (e *Engine) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	for _, sql := range statements {
		if _, err := e.ask(sql); err != nil {
			tb.Fatalf("%s: %v", sql, err)
		}
	}
}

// Lines returns the answer to a statement as lines with tabs between values.
func (e *Engine) Lines(tb testing.TB, sql string) []string {
	tb.Helper()
	text, err := e.ask(sql)
	if err != nil {
		tb.Fatalf("%s: %v", sql, err)
	}
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (e *Engine) ask(sql string) (string, error) {
	s, err := e.Open()
	if err != nil {
		return "", err
	}
	defer s.Close()
	return s.Query(sql, "TSV")
}

// errLeft says that the client of a request is gone.
var errLeft = errors.New("the client has left")
