package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/joho/godotenv"
)

// Environment returns a lookup of variables: those that lookup has, and then those of
// the file that the key env names.
func (p *Project) Environment(lookup func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if value, set := lookup(name); set {
			return value, true
		}
		value, set := p.variables[name]
		return value, set
	}
}

// Variables returns the names of the variables that connections take their addresses
// and passwords from, sorted, without those that the file of the key env has.
func (p *Project) Variables() []string {
	var names []string
	for _, c := range p.Config.Connections {
		for _, secret := range []Secret{c.URL, c.Password} {
			name, ok := secret.Variable()
			if _, filed := p.variables[name]; ok && !filed {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxEnv bounds the file of the key env, in bytes.
const maxEnv = 1 << 20

// readVariables reads the file that the key env names. Problems never repeat what
// stands in it. A file that is missing is a warning: the variables may be set otherwise,
// and one that is not set is an error of its own.
func (p *Project) readVariables() []Problem {
	if p.Config.Env == "" {
		return nil
	}
	problem := func(warning bool, format string, args ...any) []Problem {
		return []Problem{{Path: "env", Line: 1, Message: fmt.Sprintf(format, args...), Warning: warning}}
	}
	name := p.Config.Env
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.Dir, name)
	}
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		return problem(true, "there is no file %s", p.Config.Env)
	}
	if err != nil {
		return problem(false, "%s cannot be read", p.Config.Env)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxEnv+1))
	if err != nil || len(text) > maxEnv {
		return problem(false, "%s cannot be read, or is larger than 1 MiB", p.Config.Env)
	}
	if p.variables, err = godotenv.Parse(bytes.NewReader(text)); err != nil {
		p.variables = nil
		return problem(false, "%s is not a list of lines NAME=value", p.Config.Env)
	}
	if info, err := f.Stat(); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return problem(true, "other users of this machine can read %s; use chmod 600", p.Config.Env)
	}
	return nil
}
