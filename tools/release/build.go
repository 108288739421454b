package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a system that ktx is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// program is the name of the program's file.
func (t target) program() string {
	if t.os == "windows" {
		return "ktx.exe"
	}
	return "ktx"
}

// targets lists all systems of a release. The programs for linux are static and
// also run where the C library is musl.
var targets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// version is what a release is called.
type version struct {
	// name is a semantic version without the v: that of the tag on the commit, else
	// the one that Go gives a commit without tags, such as
	// 0.0.0-20261123171739-cb92f6bdeadb.
	name   string
	commit string
	time   time.Time // of the commit
}

func (v version) String() string { return v.name }

// released says whether the commit has the tag of a release.
func (v version) released() bool { return !strings.HasPrefix(v.name, "0.0.0-") }

var tagged = regexp.MustCompile(`^v([0-9]+\.[0-9]+\.[0-9]+)$`)

// readVersion asks git for the version of the checkout in the current directory,
// which must hold what the commit holds.
func readVersion(ctx context.Context) (version, error) {
	var v version
	changed, err := output(ctx, "git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return v, err
	}
	commit, err := output(ctx, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return v, err
	}
	hash, seconds, _ := strings.Cut(commit, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || len(hash) < 12 {
		return v, fmt.Errorf("git log: unexpected %q", commit)
	}
	v.commit, v.time = hash, time.Unix(unix, 0).UTC()
	v.name = "0.0.0-" + v.time.Format("20060102150405") + "-" + hash[:12]
	tags, err := output(ctx, "git", "tag", "--points-at", "HEAD")
	if err != nil {
		return v, err
	}
	for tag := range strings.FieldsSeq(tags) {
		if match := tagged.FindStringSubmatch(tag); match != nil {
			v.name = match[1]
		}
	}
	if changed != "" {
		if v.released() {
			return v, fmt.Errorf("the checkout differs from its tag:\n%s", changed)
		}
		v.name += ".changed"
	}
	return v, nil
}

// build builds the program for each target, without cgo.
func (r *release) build(ctx context.Context) error {
	r.programs = make(map[target]string, len(r.targets))
	for _, t := range r.targets {
		path := filepath.Join(r.work, "programs", t.os+"_"+t.arch, t.program())
		if err := goBuild(ctx, t, path, r.version); err != nil {
			return err
		}
		r.programs[t] = path
	}
	return nil
}

// environ is the environment in which go works for t. The user's flags and
// experiments have no effect.
func (t target) environ() []string {
	return append(os.Environ(), "GOFLAGS=", "GOEXPERIMENT=", "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch, "GOAMD64=v1", "GOARM64=v8.0")
}

// small are packages in which inlining is off: parsers that are written in Go, which are
// large and whose calls are short, and packages that run once or rarely. Inlined they make
// the program 3.6 MB longer, and it must stay below [maxProgram].
var small = []string{
	"github.com/sqlc-dev/...", "github.com/yuin/goldmark/...", "github.com/parquet-go/...", "github.com/prometheus/...",
	"google.golang.org/protobuf/...", "github.com/santhosh-tekuri/jsonschema/...",
	"go.yaml.in/yaml/v3", "github.com/spf13/...", "github.com/modelcontextprotocol/...", "golang.org/x/oauth2/...", "github.com/microsoft/go-mssqldb/...",
	"github.com/google/jsonschema-go/...", "go.uber.org/...", "golang.org/x/text/encoding/...", "golang.org/x/text/internal/...", "golang.org/x/text/language", "golang.org/x/text/message/...", "golang.org/x/text/secure/...",
	"crypto/tls", "crypto/x509", "encoding/asn1", "encoding/gob", "encoding/xml", "html/template", "mime/...", "net/mail", "text/template/...",
	"github.com/ktxhq/ktx/cmd/ktx", "github.com/ktxhq/ktx/cmd/ktx/internal/cli/...", "github.com/ktxhq/ktx/cmd/ktx/internal/daemon", "github.com/ktxhq/ktx/cmd/ktx/internal/demo",
	"github.com/ktxhq/ktx/cmd/ktx/internal/project/...", "github.com/ktxhq/ktx/cmd/ktx/internal/setup/...",
	"github.com/ktxhq/ktx/corpus/...", "github.com/ktxhq/ktx/execution/bigquerydb/...",
	"github.com/ktxhq/ktx/research/scan/...", "github.com/ktxhq/ktx/research/semantic/...",
	"github.com/ktxhq/ktx/research/skills/...", "github.com/ktxhq/ktx/research/upstream/...",
	"github.com/ktxhq/ktx/sqlcheck/fix/...", "github.com/ktxhq/ktx/sqlcheck/migration/...", "github.com/ktxhq/ktx/sqlcheck/report/...",
	"github.com/ktxhq/ktx/httpapi/pages/...", "github.com/pelletier/go-toml/v2/...",
	"github.com/pingcap/tidb/pkg/parser/ast", "github.com/pingcap/tidb/pkg/parser/charset", "github.com/pingcap/tidb/pkg/parser/format", "github.com/pingcap/tidb/pkg/parser/mysql", "github.com/pingcap/tidb/pkg/parser/types",
	"github.com/golang-sql/...", "github.com/peterh/liner", "github.com/sourcegraph/jsonrpc2/...", "github.com/tailscale/hujson", "text/tabwriter",
	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile", "github.com/ktxhq/ktx/cmd/ktx/internal/lsp", "github.com/ktxhq/ktx/cmd/ktx/internal/rpc/...",
	"github.com/ktxhq/ktx/execution/audit/index", "github.com/ktxhq/ktx/execution/mssqldb/...", "github.com/ktxhq/ktx/research/memory", "github.com/ktxhq/ktx/research/usage",
}

// smallOnWindows are further packages in which inlining is off in programs for Windows. Their
// tables for exceptions and for loading at any address take 1 MB.
var smallOnWindows = []string{
	"github.com/pingcap/tidb/pkg/parser", "github.com/jackc/pgx/v5/...", "github.com/go-sql-driver/mysql", "github.com/kljensen/...", "github.com/ncruces/go-sqlite3/ext/...",
	"github.com/segmentio/...", "github.com/shopspring/...", "github.com/russross/...", "github.com/cpuguy83/...", "filippo.io/...", "golang.org/x/text/cases", "golang.org/x/text/unicode/...",
	"github.com/ktxhq/ktx/execution/audit", "github.com/ktxhq/ktx/httpapi", "github.com/ktxhq/ktx/research", "github.com/ktxhq/ktx/research/catalog/...",
	"github.com/ktxhq/ktx/research/dictionary", "github.com/ktxhq/ktx/research/wiki", "github.com/ktxhq/ktx/sqlcheck", "github.com/ktxhq/ktx/sqlcheck/source",
	"archive/...", "database/sql", "encoding/csv", "go/...", "html", "log/slog", "math/big", "net", "net/http", "net/http/internal/...", "net/textproto", "regexp/syntax",
}

// maxProgram bounds a program, in bytes.
const maxProgram = 60_000_000

// goBuild builds ktx without cgo.
func goBuild(ctx context.Context, t target, path string, v version) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-mod=readonly"}
	without := small
	if t.os == "windows" {
		without = slices.Concat(small, smallOnWindows)
	}
	for _, packages := range without {
		args = append(args, "-gcflags="+packages+"=-l")
	}
	args = append(args, "-ldflags", "-s -w -buildid= -X github.com/ktxhq/ktx/cmd/ktx/internal/cli.version="+v.name, "-o", path, "./cmd/ktx")
	build := exec.CommandContext(ctx, "go", args...)
	build.Env = t.environ()
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build for %s: %w\n%s", t, err, out)
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxProgram {
		err = fmt.Errorf("the program for %s has %d bytes, and may have %d", t, info.Size(), maxProgram)
	}
	return err
}

// here returns a program that runs on this machine.
func (r *release) here(ctx context.Context) (string, error) {
	t := target{runtime.GOOS, runtime.GOARCH}
	if path, ok := r.programs[t]; ok {
		return path, nil
	}
	path := filepath.Join(r.work, "here", t.program())
	return path, goBuild(ctx, t, path, r.version)
}

// readManual collects what every archive has beside the program: licence, notices,
// man pages and completions.
func (r *release) readManual(ctx context.Context) error {
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("packaging/README.md")
	if err != nil {
		return err
	}
	r.shared = []file{{name: "LICENSE", data: licence}, {name: noticesFile, data: r.notices}, {name: "README.md", data: readme}}
	ktx, err := r.here(ctx)
	if err != nil {
		return err
	}
	pages := filepath.Join(r.work, "man")
	run := exec.CommandContext(ctx, ktx, "man", pages) //nolint:gosec // the program was just built
	run.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.version.time.Unix(), 10), "TZ=UTC")
	if out, err := run.CombinedOutput(); err != nil {
		return fmt.Errorf("ktx man: %w\n%s", err, out)
	}
	entries, err := os.ReadDir(pages)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(pages, entry.Name())) //nolint:gosec // ktx wrote it just now
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name: "man/man1/" + entry.Name(), data: text})
	}
	for _, shell := range shells {
		text, err := output(ctx, ktx, "completion", shell.name)
		if err != nil {
			return err
		}
		r.shared = append(r.shared, file{name: "completions/" + shell.file, data: []byte(text + "\n")})
	}
	return nil
}

// shells are those that ktx completes commands for, each with the name of its file.
var shells = []struct{ name, file string }{
	{"bash", "ktx.bash"},
	{"zsh", "_ktx"},
	{"fish", "ktx.fish"},
	{"powershell", "ktx.ps1"},
}

// output returns what a command prints, without the last line's end.
func output(ctx context.Context, name string, args ...string) (string, error) {
	run := exec.CommandContext(ctx, name, args...) //nolint:gosec // the commands are ours
	var out, complaint bytes.Buffer
	run.Stdout, run.Stderr = &out, &complaint
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, complaint.Bytes())
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
