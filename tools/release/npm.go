package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"text/template"
)

// npmName is the package that people install. It starts the program that one of its
// optional dependencies has: npm installs only the one for the machine's system.
const npmName = "@ktxhq/ktx"

// npm returns the names that Node has for the system and processor of t.
func (t target) npm() (system, processor string) {
	system, processor = t.os, t.arch
	if system == "windows" {
		system = "win32"
	}
	if processor == "amd64" {
		processor = "x64"
	}
	return system, processor
}

func (t target) npmName() string {
	system, processor := t.npm()
	return npmName + "-" + system + "-" + processor
}

// npmFile is the name that npm pack gives a package.
func (r *release) npmFile(t *target) string {
	suffix := ""
	if t != nil {
		system, processor := t.npm()
		suffix = "-" + system + "-" + processor
	}
	return fmt.Sprintf("ktxhq-ktx%s-%s.tgz", suffix, r.version)
}

// npmManifest is package.json.
type npmManifest struct {
	Name                 string            `json:"name"`
	Version              string            `json:"version"`
	Description          string            `json:"description"`
	License              string            `json:"license"`
	Homepage             string            `json:"homepage"`
	Repository           map[string]string `json:"repository"`
	Keywords             []string          `json:"keywords,omitempty"`
	MCPName              string            `json:"mcpName,omitempty"`
	Bin                  map[string]string `json:"bin,omitempty"`
	OS                   []string          `json:"os,omitempty"`
	CPU                  []string          `json:"cpu,omitempty"`
	Files                []string          `json:"files"`
	Engines              map[string]string `json:"engines,omitempty"`
	OptionalDependencies map[string]string `json:"optionalDependencies,omitempty"`
	PublishConfig        map[string]string `json:"publishConfig"`
}

// npmPackages writes the package that starts ktx, and one with the program for each
// target. None of them has a script that runs at installation.
func (r *release) npmPackages(context.Context) error {
	launcher, err := os.ReadFile("packaging/npm/ktx.js")
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("packaging/npm/README.md")
	if err != nil {
		return err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	common := npmManifest{
		Version: r.version.name, License: "Apache-2.0", Homepage: homepage,
		Repository: map[string]string{"type": "git", "url": "git+" + homepage + ".git"}, PublishConfig: map[string]string{"access": "public"},
	}

	top := common
	top.Name, top.Description, top.MCPName = npmName, summary, registryName
	top.Keywords = []string{"mcp", "mcp-server", "sql", "postgres", "mysql", "mariadb", "sqlite", "sqlserver", "security"}
	top.Bin, top.Files, top.Engines = map[string]string{"ktx": "ktx.js"}, []string{"ktx.js"}, map[string]string{"node": ">=18"}
	top.OptionalDependencies = make(map[string]string)
	for _, t := range targets { // all of them, also when this run makes only some
		top.OptionalDependencies[t.npmName()] = r.version.name
	}
	if err := r.npmPackage(r.npmFile(nil), top, file{name: "ktx.js", data: launcher, program: true}, file{name: "README.md", data: readme}, file{name: "LICENSE", data: licence}); err != nil {
		return err
	}

	for _, t := range r.targets {
		program, err := os.ReadFile(r.programs[t])
		if err != nil {
			return err
		}
		system, processor := t.npm()
		one := common
		one.Name, one.Description = t.npmName(), fmt.Sprintf("The program of %s for %s on %s", npmName, system, processor)
		one.OS, one.CPU, one.Files = []string{system}, []string{processor}, []string{"bin", noticesFile}
		text := fmt.Sprintf("# %s\n\nThe program ktx for %s on %s. Install [%s](https://www.npmjs.com/package/%s) instead, which depends on this package.\n", one.Name, system, processor, npmName, npmName)
		if err := r.npmPackage(r.npmFile(&t), one, file{name: "bin/" + t.program(), data: program, program: true}, file{name: "README.md", data: []byte(text)},
			file{name: "LICENSE", data: licence}, file{name: noticesFile, data: r.notices}); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) npmPackage(name string, manifest npmManifest, files ...file) error {
	text, err := marshal(manifest)
	if err != nil {
		return err
	}
	data, err := tarGz(append(files, file{name: "package.json", data: text}), "package/", r.version.time)
	if err != nil {
		return err
	}
	return r.write(name, data)
}

// marshal returns v as indented JSON that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return out.Bytes(), err
}

// What ktx is called where it is offered.
const (
	homepage     = "https://github.com/ktxhq/ktx"
	registryName = "io.github.ktxhq/ktx"
	summary      = "Read-only SQL for data agents over MCP: every statement is parsed, judged, limited and recorded"
)

// fill executes the template in a file of this repository.
func fill(name string, values any) ([]byte, error) {
	t, err := template.New("").Option("missingkey=error").ParseFiles(name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, named := range t.Templates() {
		if err := named.Execute(&out, values); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return out.Bytes(), nil
}
