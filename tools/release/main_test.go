package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// made makes everything except the packages that nfpm packs, with a few bytes for
// each program, and returns the files by name.
func made(t *testing.T) map[string][]byte {
	t.Helper()
	r := &release{
		version: version{"1.2.3", strings.Repeat("ab", 20), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		targets: targets, dist: t.TempDir(), programs: make(map[target]string), notices: []byte("notices\n"),
		modules: []module{{path: standardLibrary, version: "go1.26.0", licences: []string{"BSD-3-Clause"}}, {path: "example.org/A", version: "v1.0.0", licences: []string{"MIT"}}},
		shared: []file{
			{name: "LICENSE", data: []byte("licence\n")},
			{name: noticesFile, data: []byte("notices\n")},
			{name: "man/man1/ktx.1", data: []byte(".TH ktx 1\n")},
		},
	}
	for _, s := range shells {
		r.shared = append(r.shared, file{name: "completions/" + s.file, data: []byte("complete\n")})
	}
	programs := t.TempDir()
	for _, target := range targets {
		path := filepath.Join(programs, target.os+target.arch)
		program := []byte("program for " + target.String())
		if target.os == "darwin" {
			program = append([]byte{0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1, 3, 0, 0, 0}, program...)
		}
		if err := os.WriteFile(path, program, 0o600); err != nil {
			t.Fatal(err)
		}
		r.programs[target] = path
	}
	for _, step := range []func() error{
		func() error { return r.archives(t.Context()) },
		func() error { return r.npmPackages(t.Context()) },
		func() error { return r.image(t.Context()) },
		func() error { return r.writeBundles(t.Context()) },
		func() error { return r.offers(t.Context()) },
		func() error { return r.materials(t.Context()) },
		func() error { return r.checksums(t.Context()) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, entry := range entries {
		if files[entry.Name()], err = os.ReadFile(filepath.Join(r.dist, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestRelease: what is made is made the same twice, and its parts agree with each
// other.
func TestRelease(t *testing.T) {
	t.Chdir("../..") // the templates are named from the root
	files := made(t)
	again := made(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(again))); diff != "" {
		t.Errorf("other files the second time:\n%s", diff)
	}
	for name := range files {
		if !bytes.Equal(files[name], again[name]) {
			t.Errorf("%s differs the second time", name)
		}
	}

	for _, target := range targets {
		name := "ktx_1.2.3_" + target.os + "_" + target.arch + ".tar.gz"
		inside := untar
		if target.os == "windows" {
			name, inside = strings.TrimSuffix(name, ".tar.gz")+".zip", unzip
		}
		list := inside(t, files[name])
		for _, want := range []string{target.program(), "LICENSE", noticesFile, "man/man1/ktx.1", "completions/ktx.bash", "completions/_ktx", "completions/ktx.fish", "completions/ktx.ps1"} {
			if list[want] == nil {
				t.Errorf("%s has no %s", name, want)
			}
		}
		for _, offer := range []string{"ktx.rb", "ktx.json", "ktx.nix"} {
			if target.os == "windows" == (offer == "ktx.json") && !bytes.Contains(files[offer], []byte("/releases/download/v1.2.3/"+name)) {
				t.Errorf("%s does not name %s", offer, name)
			}
		}
		system, processor := target.npm()
		inner := untar(t, files["ktxhq-ktx-"+system+"-"+processor+"-1.2.3.tgz"])
		if inner["package/bin/"+target.program()] == nil {
			t.Errorf("the npm package for %s has no program", target)
		}
		var manifest npmManifest
		if err := json.Unmarshal(inner["package/package.json"], &manifest); err != nil {
			t.Error(err)
		}
		if manifest.Name != target.npmName() || manifest.Version != "1.2.3" || !slices.Equal(manifest.OS, []string{system}) || !slices.Equal(manifest.CPU, []string{processor}) {
			t.Errorf("the npm package for %s says %+v", target, manifest)
		}
	}

	launcher := untar(t, files["ktxhq-ktx-1.2.3.tgz"])
	var top npmManifest
	if err := json.Unmarshal(launcher["package/package.json"], &top); err != nil {
		t.Fatal(err)
	}
	if len(top.OptionalDependencies) != len(targets) || launcher["package/"+top.Bin["ktx"]] == nil {
		t.Errorf("the npm package says %+v", top)
	}
	if bytes.Contains(launcher["package/package.json"], []byte("scripts")) {
		t.Error("the npm package has a script")
	}
	var server struct {
		Name, Version string
		Packages      []struct{ Identifier, Version string }
	}
	if err := json.Unmarshal(files["server.json"], &server); err != nil {
		t.Fatal(err)
	}
	if server.Name != top.MCPName || server.Version != "1.2.3" || len(server.Packages) != 1 || server.Packages[0].Identifier != top.Name || server.Packages[0].Version != "1.2.3" {
		t.Errorf("server.json says %+v, and the npm package %+v", server, top)
	}
	if len(summary) > 100 {
		t.Errorf("the registry takes descriptions of 100 characters, and this has %d", len(summary))
	}

	// The formula installs files of the archive.
	archive := untar(t, files["ktx_1.2.3_linux_amd64.tar.gz"])
	for _, match := range regexp.MustCompile(`install "([^"]+)"`).FindAllSubmatch(files["ktx.rb"], -1) {
		if archive[string(match[1])] == nil {
			t.Errorf("the formula installs %s, which the archive does not have", match[1])
		}
	}
	for _, match := range regexp.MustCompile(`(?:completions|man)/\S+`).FindAll(files["ktx.nix"], -1) {
		if ok, _ := filepath.Match(string(match), "man/man1/ktx.1"); !ok && archive[string(match)] == nil {
			t.Errorf("the nix expression installs %s, which the archive does not have", match)
		}
	}

	bundles := 0
	for name, data := range files {
		if !strings.HasSuffix(name, ".mcpb") {
			continue
		}
		bundles++
		inside := unzip(t, data)
		var manifest struct {
			Version string
			Server  struct {
				Entry  string                   `json:"entry_point"`
				Config struct{ Command string } `json:"mcp_config"`
			}
		}
		if err := json.Unmarshal(inside["manifest.json"], &manifest); err != nil {
			t.Fatal(err)
		}
		if inside[manifest.Server.Entry] == nil || manifest.Server.Config.Command != "${__dirname}/"+manifest.Server.Entry || manifest.Version != "1.2.3" {
			t.Errorf("%s: the manifest says %+v", name, manifest)
		}
	}
	if bundles != len(mcpBundles) {
		t.Errorf("%d bundles", bundles)
	}
	if n := strings.Count(string(files[checksumFile]), "\n"); n != len(files)-1 {
		t.Errorf("%d checksums of %d files", n, len(files)-1)
	}
}

func untar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(tr); err != nil {
			t.Fatal(err)
		}
	}
}

func unzip(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	zr, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string][]byte)
	for _, f := range zr.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestLicences: a module with a licence that is not permitted, with a text that nobody
// knows, and without any text ends the release.
func TestLicences(t *testing.T) {
	const isc = "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.\n\n" +
		"THE SOFTWARE IS PROVIDED \"AS IS\" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.\n"
	const gpl = "This program is free software: you can redistribute it and/or modify it under the terms of the GNU General Public License as published by the Free Software Foundation, either version 3 of the License, or (at your option) any later version.\n\n" +
		"This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU General Public License for more details.\n"
	for _, c := range []struct{ name, file, text, fails string }{
		{"permitted", "LICENSE", isc, ""},
		{"copyleft", "COPYING", gpl, "which is not among those"},
		{"unknown", "LICENSE.md", "You may look at this on Sundays, when nobody else does, and on no other day of the week.\n", "is not recognised"},
		{"only a notice", "NOTICE", "Copyright of somebody\n", "has no licence file"},
		{"none", "README", "Hello\n", "has no licence file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			linked := filepath.Join(dir, "inner", "linked")
			if err := os.MkdirAll(linked, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readModule("example.org/m", "v1.0.0", dir, map[string]bool{linked: true})
			if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("error %v, want %q", err, c.fails)
			}
			if c.fails != "" {
				return
			}
			// What lies beside a linked package counts too.
			if err := os.WriteFile(filepath.Join(dir, "inner", "COPYING"), []byte(gpl), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readModule("example.org/m", "v1.0.0", dir, map[string]bool{linked: true}); err == nil {
				t.Error("the licence of a linked package was not seen")
			}
		})
	}
}

// TestNotices: the notices have the licence of each module and those of the tables.
func TestNotices(t *testing.T) {
	wordnet, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(wordnetLicence)))
	if err != nil {
		t.Fatal(err)
	}
	glove, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(gloveLicence)))
	if err != nil {
		t.Fatal(err)
	}
	got := string(notices([]module{{path: "example.org/m", version: "v1.0.0", texts: []notice{{"LICENSE", []byte("Do as you like.\r\n")}}}}, wordnet, glove))
	for _, want := range []string{"example.org/m v1.0.0: LICENSE", "\nDo as you like.\n", "WordNet 3.0 Copyright 2006 by Princeton University.", "\nPrinceton University and LICENSEE agrees to preserve same.\n", "GRAYPE Systems Private Limited", "Public Domain Dedication and License"} {
		if !strings.Contains(got, want) {
			t.Errorf("the notices lack %q", want)
		}
	}
}

// TestPackagedVersions: package managers order a version without a tag before every
// release.
func TestPackagedVersions(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct{ name, format, want string }{
		{"1.2.3", "deb", "1.2.3"},
		{"1.2.3", "apk", "1.2.3"},
		{"0.0.0-20260102030405-abababababab", "deb", "0.0.0~git20260102030405.abababababab"},
		{"0.0.0-20260102030405-abababababab", "rpm", "0.0.0~git20260102030405.abababababab"},
		{"0.0.0-20260102030405-abababababab", "apk", "0.0.0_git20260102030405"},
	} {
		if got := (version{c.name, strings.Repeat("ab", 20), at}).packaged(c.format); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.format, c.name, got, c.want)
		}
	}
}
