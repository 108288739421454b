package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
)

// clickhouse is the library of ClickHouse over a folder that this package made. It runs
// every statement of a text, as the command line client does. The library has one user, so
// the roles are two processes over the folder, one after the other. The read-only
// transaction is readonly=1, because ClickHouse has none.
type clickhouse struct {
	dir     string
	limit   time.Duration
	fixture []string
	number  string
	running *chengine.Engine
	role    string // of the process that runs
	seen    State  // the last snapshot, and the files that lay in the folder then
	files   string
}

const (
	chAdmin  = "full_access"
	chReader = "select_only"
)

// chExtra gives the server a macro, and a cluster of a server that is not there.
const chExtra = "<macros><shard>01</shard></macros>" +
	"<remote_servers><default><shard><replica><host>127.0.0.1</host><port>9</port></replica></shard></default></remote_servers>"

// chScript is what the table function executable runs under the name attack.sh. It leaves a
// file.
const chScript = "#!/bin/sh\necho ran > ran\necho a\n"

// startClickHouse starts the library with the fixture.
func startClickHouse(fixture string, limit time.Duration) (_ *clickhouse, err error) {
	dir, err := os.MkdirTemp("", "ktx-prove-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	h := &clickhouse{dir: dir, limit: limit}
	for text := range strings.SplitSeq(fixture, ";\n") {
		if text = strings.TrimSpace(text); text != "" {
			h.fixture = append(h.fixture, text)
		}
	}
	if err := h.reset(context.Background()); err != nil {
		return nil, errors.Join(err, h.close())
	}
	rows, err := h.rows("SELECT version()")
	if err != nil {
		return nil, errors.Join(err, h.close())
	}
	h.number = rows[0]
	return h, nil
}

func (h *clickhouse) name() string     { return "clickhouse" }
func (h *clickhouse) version() string  { return h.number }
func (h *clickhouse) roles() [2]string { return [2]string{chAdmin, chReader} }
func (h *clickhouse) log() string      { return "" }

// as makes the process that runs that of a role.
func (h *clickhouse) as(role string) error {
	if h.running != nil && h.role == role {
		return nil
	}
	h.stop()
	config := chengine.Config{Folder: filepath.Join(h.dir, "data"), Files: filepath.Join(h.dir, "files"), Here: true, Extra: chExtra}
	if role == chReader {
		config.Grants = []string{"GRANT SELECT ON default.*"}
	}
	var err error
	h.running, err = chengine.New(config)
	h.role = role
	return err
}

func (h *clickhouse) stop() {
	if h.running != nil {
		h.running.Stop()
		h.running = nil
	}
}

func (h *clickhouse) close() error {
	h.stop()
	return os.RemoveAll(h.dir)
}

// reset makes the folder anew.
func (h *clickhouse) reset(ctx context.Context) error {
	h.stop()
	h.seen = nil
	for _, name := range []string{"data", "files"} {
		if err := os.RemoveAll(filepath.Join(h.dir, name)); err != nil {
			return err
		}
	}
	pristine := filepath.Join(h.dir, "pristine")
	if _, err := os.Stat(pristine); err == nil {
		if err := errors.Join(copyTree(ctx, pristine, filepath.Join(h.dir, "data")), os.Mkdir(filepath.Join(h.dir, "files"), 0o750)); err != nil {
			return err
		}
		return h.as(chAdmin)
	}
	scripts := filepath.Join(h.dir, "data", "user_scripts")
	if err := errors.Join(os.MkdirAll(scripts, 0o750), os.Mkdir(filepath.Join(h.dir, "files"), 0o750)); err != nil {
		return err
	}
	//nolint:gosec // a program of this package
	if err := os.WriteFile(filepath.Join(scripts, "attack.sh"), []byte(chScript), 0o700); err != nil {
		return err
	}
	if err := h.as(chAdmin); err != nil {
		return err
	}
	if err := h.exec(h.fixture); err != nil {
		return err
	}
	h.stop()
	if err := copyTree(ctx, filepath.Join(h.dir, "data"), pristine); err != nil {
		return err
	}
	return h.as(chAdmin)
}

func (h *clickhouse) exec(texts []string) error {
	for _, text := range texts {
		if _, err := h.rows(text); err != nil {
			return &setupError{text, err}
		}
	}
	return nil
}

// rows runs one statement in a session of its own.
func (h *clickhouse) rows(text string) ([]string, error) {
	s, err := h.running.Open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return chRows(s, text)
}

func chRows(s *chengine.Session, text string) ([]string, error) {
	out, err := s.Query(text, "TSV")
	if err != nil || out == "" {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out, "\n"), "\n"), nil
}

// prepare sets up in the database what a case needs.
func (h *clickhouse) prepare(_ context.Context, c corpus.Case) (made bool, err error) {
	texts, _ := setup(c)
	if len(texts) == 0 {
		return false, nil
	}
	if err := h.as(chAdmin); err != nil {
		return false, err
	}
	return true, h.exec(texts)
}

func (h *clickhouse) try(ctx context.Context, a Attempt, c corpus.Case) (o Outcome, err error) {
	if err := h.as(a.Role); err != nil {
		return o, err
	}
	s, err := h.running.Open()
	if err != nil {
		return o, err
	}
	defer s.Close()
	if err := setUpSession(a, chReader, c, func(text string) error {
		_, err := chRows(s, text)
		return err
	}); err != nil {
		return o, err
	}
	if a.ReadOnly {
		if _, err := chRows(s, "SET readonly = 1"); err != nil {
			return o, err
		}
	}
	before, err := chSession(s, c.SQL)
	if err != nil {
		return o, err
	}
	limited, cancel := context.WithTimeout(ctx, h.limit)
	defer cancel()
	over := context.AfterFunc(limited, s.Close)
	begun := time.Now()
	err = s.Stream(c.SQL, "TSV", func(part io.Reader) error {
		n, err := io.Copy(io.Discard, part)
		o.Rows = o.Rows || n > 0
		return err
	})
	o.took = time.Since(begun)
	over()
	failed, told := errors.AsType[*chengine.Error](err)
	switch {
	case err == nil:
		o.Result = Executed
	case told:
		o.Result, o.Code, o.ReadOnly = Failed, "clickhouse "+failed.Code, failed.Code == "164"
		if failed.Code == "" { // the library gave no result
			o.Code = "client"
		}
	case limited.Err() != nil:
		o.Result = TimedOut
		h.stop() // what runs ends with the process
	default:
		o.Result = Crashed
		h.stop()
	}
	if h.running != nil {
		if after, err := chSession(s, c.SQL); err == nil {
			o.Changed = before.Changed(after)
		}
	}
	return o, nil
}

// chParameter finds a parameter that a statement sets.
var chParameter = regexp.MustCompile(`(?i)\bSET\s+param_(\w+)`)

// chSession reads the state of a session, with the parameter that a statement sets.
func chSession(s *chengine.Session, sql string) (State, error) {
	state := State{}
	for name, text := range map[string]string{
		"setting": "SELECT name, value FROM system.settings WHERE changed", "database": "SELECT currentDatabase()", "temporary tables": "SHOW TEMPORARY TABLES",
	} {
		rows, err := chRows(s, text)
		if err != nil {
			return nil, err
		}
		state["session "+name] = strings.Join(rows, "\n")
	}
	if m := chParameter.FindStringSubmatch(sql); m != nil {
		if rows, err := chRows(s, "SELECT {"+m[1]+":String}"); err == nil {
			state["session parameter "+m[1]] = strings.Join(rows, "\n")
		}
	}
	return state, nil
}

// chCatalog are what statements may change beside rows.
var chCatalog = map[string]string{
	"catalogue tables":      "SELECT database, name, engine_full, create_table_query FROM system.tables WHERE database NOT IN ('system', 'information_schema', 'INFORMATION_SCHEMA') ORDER BY ALL",
	"catalogue databases":   "SELECT name, engine FROM system.databases ORDER BY ALL",
	"catalogue functions":   "SELECT name FROM system.functions WHERE origin != 'System' ORDER BY ALL",
	"catalogue users":       "SELECT name, storage FROM system.users ORDER BY ALL",
	"catalogue roles":       "SELECT name FROM system.roles ORDER BY ALL",
	"catalogue profiles":    "SELECT name FROM system.settings_profiles ORDER BY ALL",
	"catalogue policies":    "SELECT name FROM system.row_policies ORDER BY ALL",
	"catalogue quotas":      "SELECT name FROM system.quotas ORDER BY ALL",
	"catalogue collections": "SELECT name FROM system.named_collections ORDER BY ALL",
	"parts":                 "SELECT table, name FROM system.parts WHERE active AND database = 'default' ORDER BY ALL",
	"catalogue mutations":   "SELECT table, command FROM system.mutations ORDER BY ALL",
}

// listed returns the names and sizes of the files that statements may change.
func (h *clickhouse) listed() (string, error) {
	var b strings.Builder
	for _, name := range []string{"data/metadata", "data/store", "data/data", "data/shadow", "files"} {
		err := filepath.WalkDir(filepath.Join(h.dir, name), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			size := info.Size()
			if d.IsDir() {
				size = 0
			}
			_, err = fmt.Fprintln(&b, path, size)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("list the files of the server: %w", err)
		}
	}
	return b.String(), nil
}

// snapshot reads everything as the role that may do everything. It starts no process for
// that when the other role has left the files as they were.
func (h *clickhouse) snapshot(context.Context) (State, error) {
	files, err := h.listed()
	if err != nil {
		return nil, err
	}
	if h.role == chReader && h.seen != nil && files == h.files {
		return maps.Clone(h.seen), nil
	}
	state, err := h.read()
	if err != nil {
		return nil, err
	}
	if h.files, err = h.listed(); err != nil {
		return nil, err
	}
	h.seen = maps.Clone(state)
	return state, nil
}

func (h *clickhouse) read() (State, error) {
	if err := h.as(chAdmin); err != nil {
		return nil, err
	}
	state := State{}
	for name, text := range chCatalog {
		rows, err := h.rows(text)
		if err != nil {
			return nil, err
		}
		state[name] = digest([][]string{rows})
	}
	tables, err := h.rows("SELECT name FROM system.tables WHERE database = 'default' AND engine LIKE '%MergeTree'")
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		rows, err := h.rows("SELECT * FROM default." + chengine.Quote(table) + " ORDER BY ALL")
		if err != nil {
			return nil, err
		}
		state["rows "+table] = digest([][]string{rows})
	}
	if frozen, err := os.ReadDir(filepath.Join(h.dir, "data", "shadow")); err == nil && len(frozen) > 0 {
		state["files frozen"] = "there"
	}
	return state, listFiles(state, filepath.Join(h.dir, "files"), func(string) bool { return false })
}
