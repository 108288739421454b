package fresh

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/cmd/ktx/internal/atomicfile"
	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
)

// URLVariable is the environment variable with the address of a database, for a start
// without a project.
const URLVariable = "KTX_URL"

// Address is a database that a user names instead of a project.
type Address struct {
	URL     string   // of a server, or the path of an SQLite or DuckDB file, or of a folder of files for DuckDB
	Driver  string   // "" takes it from the URL
	Schemas []string // as in ktx.yaml
	Role    string   // guard.role; "" is refuse
}

// One is a project with one connection to an [Address].
type One struct {
	Dir, ID, Driver string
	URL             string // what URLVariable must hold while the project is open; "" for a path
}

// schemes says which driver a scheme of an address means.
var schemes = map[string]string{
	"postgres": "postgres", "postgresql": "postgres", "mysql": "mysql", "mariadb": "mariadb",
	"sqlserver": "sqlserver", "mssql": "sqlserver", "sqlite": "sqlite", "sqlite3": "sqlite",
	"clickhouse": "clickhouse", "bigquery": "bigquery", "duckdb": "duckdb",
}

// ForAddress returns a project with one connection to an address. It lies in the
// user's folder for state, and equal addresses have one project. Its ktx.yaml names
// [URLVariable] and holds no credential. The rules are the strictest that a connection
// can have without knowing its tables.
func ForAddress(a *console.App, at Address) (*One, error) {
	driver, u, err := at.parse()
	if err != nil {
		return nil, err
	}
	conn := map[string]any{"driver": driver}
	guard := map[string]any{"role": "refuse", "types": "refuse", "explainAnalyze": false}
	if at.Role != "" {
		if err := console.OneOf("--role", at.Role, []string{"refuse", "warn"}); err != nil {
			return nil, err
		}
		guard["role"] = at.Role
	}
	if len(at.Schemas) > 0 {
		conn["schemas"] = at.Schemas
	}
	one := &One{Driver: driver}
	var name, identity string
	if onDisk(driver) {
		file, folder, err := at.File()
		if err != nil {
			return nil, err
		}
		conn[map[bool]string{false: "path", true: "files"}[folder]] = file
		name = strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		identity = file
	} else {
		conn["url"] = "env:" + URLVariable
		one.URL = at.URL
		name = databaseOf(driver, u)
		identity = strings.Join([]string{u.User.Username(), u.Host, u.Path, name}, "\n")
	}
	one.ID = idOf(name, driver)
	text, err := configOf(one.ID, conn, guard)
	if err != nil {
		return nil, err
	}
	if _, problems := project.Parse(text, nil); slices.ContainsFunc(problems, func(p project.Problem) bool { return !p.Warning }) {
		return nil, console.Usage("%s", problems[0].Message)
	}
	state, err := stateFolder(a.Lookup)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(identity+"\n"), text...))
	one.Dir = filepath.Join(state, one.ID+"-"+hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(one.Dir, 0o700); err != nil {
		return nil, console.Failed("make the folder for the audit log: %w", err)
	}
	file := filepath.Join(one.Dir, project.FileName)
	if old, err := os.ReadFile(file); err != nil || !bytes.Equal(old, text) { //nolint:gosec // the path is ours
		if err := atomicfile.Write(file, 0o600, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return nil, console.Failed("%w", err)
		}
	}
	return one, nil
}

// parse returns the driver and the parsed URL of an address. Errors never repeat the
// address, because it may hold a password.
func (at Address) parse() (driver string, u *url.URL, err error) {
	if strings.TrimSpace(at.URL) == "" {
		return "", nil, console.Usage("--url is blank")
	}
	scheme, _, found := strings.Cut(at.URL, ":")
	known, ok := schemes[strings.ToLower(scheme)]
	if at.Driver != "" {
		given, isKnown := schemes[strings.ToLower(at.Driver)]
		if !isKnown {
			return "", nil, console.OneOf("--driver", at.Driver, Drivers)
		}
		if found && ok && given != known && (given != "mariadb" || known != "mysql") {
			return "", nil, console.Usage("--driver %s does not fit an address that begins with %s:", at.Driver, strings.ToLower(scheme))
		}
		known = given
	}
	if known == "" {
		return "", nil, console.Usage("the address has no known scheme: expected postgres://, mysql://, mariadb://, sqlserver://, clickhouse://, bigquery://, sqlite:FILE or duckdb:PATH")
	}
	if onDisk(known) {
		return known, nil, nil
	}
	u, err = url.Parse(at.URL)
	if err != nil || u.Host == "" && u.RawQuery == "" && u.Path == "" {
		return "", nil, console.Usage("the address is not a URL; a password in it must be percent-encoded")
	}
	return known, u, nil
}

// onDisk reports whether the addresses of a driver are paths.
func onDisk(driver string) bool { return driver == "sqlite" || driver == "duckdb" }

// File returns the absolute path that an address of SQLite or DuckDB names, and whether it
// is a folder, which only DuckDB reads.
func (at Address) File() (file string, folder bool, err error) {
	name := at.URL
	driver := strings.ToLower(at.Driver)
	if scheme, rest, ok := strings.Cut(at.URL, ":"); ok && len(scheme) > 1 {
		if _, known := schemes[strings.ToLower(scheme)]; known {
			name, driver = rest, cmp.Or(driver, schemes[strings.ToLower(scheme)])
			if rooted, ok := strings.CutPrefix(rest, "//"); ok {
				name = rooted
			}
		}
	}
	if strings.ContainsRune(name, '?') {
		return "", false, console.Usage("an address of a file takes no parameters after ?")
	}
	if file, err = filepath.Abs(name); err != nil {
		return "", false, console.Failed("find the file: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil || info.IsDir() && driver != "duckdb" {
		return "", false, console.Usage("there is no file %s", console.DisplayPath(file))
	}
	return file, info.IsDir(), nil
}

// databaseOf returns the name of the database in an address, or "".
func databaseOf(driver string, u *url.URL) string {
	if driver == "sqlserver" {
		return u.Query().Get("database")
	}
	return path.Base("/" + strings.Trim(u.Path, "/"))
}

var notInID = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

// idOf returns an id for a connection to a database.
func idOf(name, driver string) string {
	id := strings.Trim(notInID.ReplaceAllString(name, "-"), "-_")
	if id == "" {
		return driver
	}
	return id[:min(len(id), 40)]
}

// configOf returns the ktx.yaml of one connection.
func configOf(id string, conn, guard map[string]any) ([]byte, error) {
	text, err := yaml.Marshal(map[string]any{"connections": map[string]any{id: conn}, "guard": guard})
	if err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	return append([]byte("# ktx writes this file when it is started with an address instead of a project.\n"), text...), nil
}

// stateFolder returns the folder for the state of this user's programs, as the XDG Base
// Directory Specification and Windows have it.
func stateFolder(lookup func(string) (string, bool)) (string, error) {
	if dir, _ := lookup("XDG_STATE_HOME"); filepath.IsAbs(dir) { // the specification ignores relative paths
		return filepath.Join(dir, "ktx"), nil
	}
	if dir, _ := lookup("LOCALAPPDATA"); runtime.GOOS == "windows" && dir != "" {
		return filepath.Join(dir, "ktx"), nil
	}
	home, _ := lookup("HOME")
	if runtime.GOOS == "windows" {
		home, _ = lookup("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return "", console.AsUsage(errors.New("there is no home directory for the audit log; set XDG_STATE_HOME"))
	}
	return filepath.Join(home, ".local", "state", "ktx"), nil
}

// Drivers are the engines that ktx can run statements on.
var Drivers = []string{"postgres", "mysql", "mariadb", "sqlserver", "clickhouse", "bigquery", "sqlite", "duckdb"}

// Described returns the driver of an address and an id for its database. The address
// may also be a reference: env:NAME or file:/path, which needs a driver.
func (at Address) Described() (driver, id string, err error) {
	if Reference(at.URL) {
		if at.Driver == "" {
			return "", "", console.Usage("--driver is missing: the address %s does not say the engine", at.URL)
		}
		if err := console.OneOf("--driver", at.Driver, Drivers); err != nil {
			return "", "", err
		}
		return at.Driver, at.Driver, nil
	}
	driver, u, err := at.parse()
	if err != nil {
		return "", "", err
	}
	if onDisk(driver) {
		file, _, err := at.File()
		if err != nil {
			return "", "", err
		}
		return driver, idOf(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)), driver), nil
	}
	return driver, idOf(databaseOf(driver, u), driver), nil
}

// Reference reports whether an address is a reference to one: env:NAME or file:/path.
// An SQLite file is not written as file: there.
func Reference(address string) bool {
	return strings.HasPrefix(address, "env:") || strings.HasPrefix(address, "file:/") || strings.HasPrefix(address, "file:~/")
}
