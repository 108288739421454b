package prove

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlguard"
)

// The exit codes of [Main].
const (
	exitOK          = 0
	exitContradicts = 1 // the corpus contradicts what an engine showed
	exitUsage       = 2
	exitNotRun      = 3 // something could not run
)

const usage = `ktx-prove runs the cases of the corpus on servers that it starts itself.

  ktx-prove [--dialect postgres|mysql|sqlite|clickhouse|duckdb] [--bin DIR] [--case ID,…] [--corpus DIR] [--limit D] [--client] [--write]

It takes no address of a server. Exit codes: 0 done, 1 the corpus contradicts what
was seen, 2 usage, 3 something could not run.

`

// options are the options of the command.
type options struct {
	dialects []string
	bin      string
	ids      []string
	corpus   string
	limit    time.Duration
	write    bool
	client   bool
}

// Main runs the command and returns its exit code. It writes the observations
// to out as JSON Lines, or into the class files with --write. It writes
// progress and the summary to errs.
func Main(args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return say(errs, exitUsage, err)
	}
	if code, done, err := private(args, out, errs); err != nil {
		return say(errs, exitNotRun, err)
	} else if done {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code := exitOK
	for _, dialect := range o.dialects {
		contradicts, err := prove(ctx, o, dialect, out, errs)
		if err != nil {
			return say(errs, exitNotRun, err)
		}
		if contradicts {
			code = exitContradicts
		}
	}
	return code
}

func say(errs io.Writer, code int, err error) int {
	_, _ = fmt.Fprintln(errs, "ktx-prove:", err) // There is nowhere else to say it.
	return code
}

// foreign are the variables with which tests use a server of the user. Main
// refuses to run if they are set.
var foreign = []string{"KTX_TEST_POSTGRES_URL", "KTX_TEST_MARIADB_URL"}

func parse(args []string, errs io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("ktx-prove", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dialect := flags.String("dialect", "", "one `dialect` instead of all")
	flags.StringVar(&o.bin, "bin", "", "the `directory` of the server's programs; with --dialect")
	flags.Func("case", "cases by their `ID`s, with commas between them, with their benign twins", func(text string) error {
		o.ids = append(o.ids, strings.Split(text, ",")...)
		return nil
	})
	flags.StringVar(&o.corpus, "corpus", "corpus", "the `directory` of the class files")
	flags.DurationVar(&o.limit, "limit", 2*time.Second, "the time limit of one statement")
	flags.BoolVar(&o.client, "client", false, "give the commands of clients to psql or mariadb; with --dialect postgres or mysql")
	flags.BoolVar(&o.write, "write", false, "write the evidence into the class files instead of standard output")
	if err := parseFlags(flags, usage, args, errs); err != nil {
		return o, err
	}
	if slices.ContainsFunc(slices.Concat(flags.Args(), o.ids, []string{o.bin, o.corpus}), isAddress) {
		return o, errors.New("this program talks only to servers that it starts itself; an address of a server is refused")
	}
	for _, name := range foreign {
		if os.Getenv(name) != "" {
			return o, fmt.Errorf("%s is set; this program talks only to servers that it starts itself", name)
		}
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	switch *dialect {
	case "":
		o.dialects = []string{"postgres", "mysql", "sqlite"}
	case "postgres", "mysql", "sqlite", "clickhouse", "duckdb":
		o.dialects = []string{*dialect}
	default:
		return o, fmt.Errorf("no engine for the dialect %q: it must be postgres, mysql, sqlite, clickhouse or duckdb", *dialect)
	}
	if o.bin != "" && (*dialect == "" || *dialect == "clickhouse" || *dialect == "duckdb") {
		return o, errors.New("--bin needs --dialect postgres, mysql or sqlite")
	}
	if o.client && *dialect != "postgres" && *dialect != "mysql" {
		return o, errors.New("--client needs --dialect postgres or mysql")
	}
	if o.limit < 10*time.Millisecond || o.limit > time.Minute {
		return o, errors.New("--limit must lie between 10ms and 1m")
	}
	o.corpus, err = filepath.Abs(o.corpus)
	return o, err
}

// isAddress reports whether an argument looks like a DSN or a URL.
func isAddress(arg string) bool {
	lower := strings.ToLower(arg)
	for _, mark := range []string{"://", "host=", "@tcp(", "@unix(", "server=", "dbname=", "data source=", "sqlite:", "file:"} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	return false
}

// start starts the engine of a dialect with the fixture of the corpus.
func start(ctx context.Context, o options, dialect string) (engine, error) {
	fixture, err := os.ReadFile(filepath.Join(o.corpus, "fixtures", dialect+".sql")) //nolint:gosec // the corpus that the caller names
	if err != nil {
		return nil, fmt.Errorf("read the fixture: %w", err)
	}
	var settings []sqlguard.Setting
	if d, ok := dialects.Lookup(dialect); ok {
		settings = d.Session()
	}
	switch dialect {
	case "postgres":
		return startPostgres(ctx, o.bin, string(fixture), settings, o.limit)
	case "mysql":
		return startMariaDB(ctx, o.bin, string(fixture), settings, o.limit)
	case "sqlite":
		if o.bin != "" {
			return startLiteShell(ctx, o.bin, string(fixture), o.limit)
		}
		return startSQLite(string(fixture), o.limit)
	case "clickhouse":
		return startClickHouse(string(fixture), o.limit)
	case "duckdb":
		return startDuckDB(string(fixture), o.limit)
	}
	return nil, fmt.Errorf("no engine for the dialect %q", dialect)
}

// line is one case of the output.
type line struct {
	ID       string            `json:"id"`
	Dialect  string            `json:"dialect"`
	Expect   corpus.Expect     `json:"expect"`
	Skipped  string            `json:"skipped,omitempty"`
	Evidence []corpus.Evidence `json:"evidence,omitempty"`
}

// prove runs the cases of one dialect. It reports whether an observation
// contradicts the corpus.
func prove(ctx context.Context, o options, dialect string, out, errs io.Writer) (contradicts bool, err error) {
	files, err := readClassFiles(o.corpus, dialect)
	if err != nil {
		return false, err
	}
	total := 0
	for _, f := range files {
		for _, c := range f.cases {
			if o.wants(c) {
				total++
			}
		}
	}
	if total == 0 {
		if len(o.dialects) > 1 {
			return false, nil // the ID belongs to another dialect
		}
		return false, fmt.Errorf("no case %s in dialect %s", strings.Join(o.ids, ","), dialect)
	}
	e, err := start(ctx, o, dialect)
	if err != nil {
		return false, fmt.Errorf("start the server for %s: %w", dialect, err)
	}
	defer func() { err = errors.Join(err, e.close()) }()
	if o.client {
		shell, err := asClient(ctx, e)
		if err != nil {
			return false, err
		}
		e = shell
	}
	date := time.Now().UTC().Format(time.DateOnly)
	summary := Summary{Engine: e.name(), Version: e.version()}
	r := runner{engine: e}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	done := 0
	for _, f := range files {
		fresh := map[string][]corpus.Evidence{}
		for _, c := range f.cases {
			if !o.wants(c) {
				continue
			}
			report, err := r.run(ctx, c)
			if err == nil {
				err = ctx.Err() // a statement that the end of this program stopped shows nothing
			}
			if err != nil {
				return false, err
			}
			summary.Add(report)
			fresh[c.ID] = evidence(report, e.name(), e.version(), date)
			if !o.write {
				if err := encoder.Encode(line{c.ID, c.Dialect, c.Expect, report.Skipped, fresh[c.ID]}); err != nil {
					return false, fmt.Errorf("write the evidence: %w", err)
				}
			}
			if done++; done%50 == 0 || done == total {
				if _, err := fmt.Fprintf(errs, "%s %s: %d of %d\n", e.name(), e.version(), done, total); err != nil {
					return false, err
				}
			}
		}
		if o.write && len(fresh) > 0 {
			if err := writeEvidence(f, fresh); err != nil {
				return false, err
			}
		}
	}
	return len(summary.Contradictions) > 0, summary.Print(errs)
}

// wants reports whether a case is to be run.
func (o options) wants(c corpus.Case) bool {
	return len(o.ids) == 0 || slices.Contains(o.ids, c.ID) || slices.Contains(o.ids, strings.TrimSuffix(c.ID, "B"))
}

// parseFlags parses the flags of a command. With -h, it prints the usage and
// the flags, and returns flag.ErrHelp.
func parseFlags(flags *flag.FlagSet, usage string, args []string, errs io.Writer) error {
	err := flags.Parse(args)
	if !errors.Is(err, flag.ErrHelp) {
		return err
	}
	flags.SetOutput(errs)
	if _, err := io.WriteString(errs, usage); err != nil {
		return err
	}
	flags.PrintDefaults()
	return flag.ErrHelp
}
