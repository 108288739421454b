package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// linuxPackages writes a .deb, a .rpm and an .apk for each Linux: the program, its
// manual, the systemd unit, the directory of the services' variables, and scripts that
// make and remove the unit's user. nfpm packs them.
func (r *release) linuxPackages(ctx context.Context) error {
	unit, err := os.ReadFile(unitFile)
	if err != nil {
		return err
	}
	const local, packaged = "ExecStart=/usr/local/bin/ktx ", "ExecStart=/usr/bin/ktx "
	if strings.Count(string(unit), local) != 1 {
		return fmt.Errorf("%s does not start /usr/local/bin/ktx", unitFile)
	}
	tree := filepath.Join(r.work, "linux")
	unitText := []byte(strings.Replace(string(unit), local, packaged, 1))
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		program, err := os.ReadFile(r.programs[t])
		if err != nil {
			return err
		}
		contents := r.linuxContents(program, unitText)
		for _, format := range []string{"deb", "rpm", "apk"} {
			if err := r.linuxPackage(ctx, t, format, filepath.Join(tree, t.arch, format), contents); err != nil {
				return err
			}
		}
	}
	return nil
}

const unitFile = "packaging/systemd/ktx@.service"

// installed is a file of a package, or a directory when it has no data.
type installed struct {
	path string
	data []byte
	mode os.FileMode
}

// linuxContents lists what a package installs.
func (r *release) linuxContents(program, unit []byte) []installed {
	list := []installed{
		{"/usr/bin/ktx", program, 0o755},
		{"/usr/lib/systemd/system/ktx@.service", unit, 0o644},
		{"/etc/ktx", nil, 0o700},
	}
	places := map[string]string{
		"LICENSE": "/usr/share/doc/ktx/copyright", noticesFile: "/usr/share/doc/ktx/" + noticesFile,
		"completions/ktx.bash": "/usr/share/bash-completion/completions/ktx", "completions/_ktx": "/usr/share/zsh/vendor-completions/_ktx",
		"completions/ktx.fish": "/usr/share/fish/vendor_completions.d/ktx.fish",
	}
	for _, f := range r.shared {
		place, ok := places[f.name]
		if page, isPage := strings.CutPrefix(f.name, "man/"); isPage {
			place, ok = "/usr/share/man/"+page, true
		}
		if ok {
			list = append(list, installed{place, f.data, 0o644})
		}
	}
	return list
}

// scripts copies the scripts of a package to tree, and returns where they are. A package
// for Alpine has their times of change, so they get that of the release.
func (r *release) scripts(tree string) (map[string]string, error) {
	scripts := map[string]string{}
	for _, name := range []string{"postinstall", "preremove", "postremove"} {
		text, err := os.ReadFile("packaging/linux/" + name + ".sh") //nolint:gosec // a file of the repository
		if err != nil {
			return nil, err
		}
		copied := filepath.Join(tree, "scripts", name+".sh")
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			return nil, err
		}
		if err := errors.Join(os.WriteFile(copied, text, 0o600), os.Chtimes(copied, r.version.time, r.version.time)); err != nil { //nolint:gosec // a folder of this release
			return nil, err
		}
		scripts[name] = copied
	}
	return scripts, nil
}

// linuxPackage has nfpm make one package from a tree of the files.
func (r *release) linuxPackage(ctx context.Context, t target, format, tree string, contents []installed) error {
	type fileInfo struct {
		Mode  os.FileMode `json:"mode"`
		Owner string      `json:"owner"`
		Group string      `json:"group"`
	}
	type content struct {
		Source      string   `json:"src,omitempty"`
		Destination string   `json:"dst"`
		Type        string   `json:"type,omitempty"`
		Info        fileInfo `json:"file_info"`
	}
	var listed []content
	for _, f := range contents {
		c := content{Destination: f.path, Info: fileInfo{f.mode, "root", "root"}}
		if f.data == nil {
			c.Type = "dir"
		} else {
			c.Source = filepath.Join(tree, filepath.FromSlash(f.path))
			if err := os.MkdirAll(filepath.Dir(c.Source), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(c.Source, f.data, 0o600); err != nil {
				return err
			}
		}
		listed = append(listed, c)
	}
	scripts, err := r.scripts(tree)
	if err != nil {
		return err
	}
	text, err := marshal(map[string]any{
		"name": "ktx", "arch": t.arch, "platform": "linux", "version": r.version.packaged(format), "version_schema": "none", "release": packageRelease[format],
		"section": "database", "priority": "optional", "maintainer": "ktx <" + homepage + "/issues>", "description": summary, "vendor": "ktx",
		"homepage": homepage, "license": "Apache-2.0", "mtime": r.version.time, "disable_globbing": true, "umask": 0o022, "contents": listed,
		"scripts": scripts,
		// The unit reloads ktx with kill.
		"recommends": []string{"procps"}, "deb": map[string]any{"compression": "gzip"},
		"rpm": map[string]any{"compression": "gzip", "group": "Applications/Databases", "summary": summary, "buildhost": "ktx"},
	})
	if err != nil {
		return err
	}
	config := filepath.Join(tree, "nfpm.json") // JSON is YAML
	if err := os.WriteFile(config, text, 0o600); err != nil {
		return err
	}
	pack := exec.CommandContext(ctx, r.nfpm, "package", "--config", config, "--packager", format, "--target", r.result("%s", r.linuxName(t, format))) //nolint:gosec // nfpm is what the caller named
	pack.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.version.time.Unix(), 10), "TZ=UTC")
	if out, err := pack.CombinedOutput(); err != nil {
		return fmt.Errorf("nfpm: %w\n%s", err, out)
	}
	return nil
}

// packageRelease is the number of the package among those of one version.
var packageRelease = map[string]string{"deb": "1", "rpm": "1", "apk": "r0"}

// packaged returns the version as a package manager orders it: a version without a tag
// is older than every release.
func (v version) packaged(format string) string {
	if v.released() {
		return v.name
	}
	at := v.time.Format("20060102150405")
	if format == "apk" {
		return "0.0.0_git" + at
	}
	return "0.0.0~git" + at + "." + v.commit[:12]
}

// linuxName is the name of a package's file.
func (r *release) linuxName(t target, format string) string {
	return fmt.Sprintf("ktx_%s_linux_%s.%s", r.version, t.arch, format)
}
