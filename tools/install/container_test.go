package install_test

import (
	"archive/zip"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestImage: skopeo reads the image, umoci unpacks it, and the program runs in what
// they made as the user of the image, which owns the project's folder.
func TestImage(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	layout, unpacked := filepath.Join(dir, "layout"), filepath.Join(dir, "unpacked")
	run(t, "skopeo", "--insecure-policy", "copy", "--quiet", "oci-archive:"+b.file("ktx_%s_image.tar"), "oci:"+layout+":ktx")
	run(t, "umoci", "unpack", "--image", layout+":ktx", unpacked)
	text, err := os.ReadFile(filepath.Join(unpacked, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Process struct {
			Args []string
			Cwd  string
			User struct{ UID, GID int }
		}
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	p := config.Process
	if diff := cmp.Diff([]string{"/usr/local/bin/ktx", "mcp", "start", "--foreground", "--host", "0.0.0.0"}, p.Args); diff != "" || p.Cwd != "/project" || p.User.UID != 65532 || p.User.GID != 65532 {
		t.Errorf("the process is %+v", p)
	}
	root := filepath.Join(unpacked, "rootfs")
	as := inside(root, "--userspec=65532:65532")
	runCommand(t, slices.Concat(as, p.Args[:1], []string{"init", "--demo", p.Cwd}))
	answers(t, nil, slices.Concat(as, p.Args[:1], []string{"mcp", "stdio", "--project-dir", p.Cwd}))
	if certificates, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil || strings.Count(string(certificates), "BEGIN CERTIFICATE") < 50 {
		t.Errorf("certificates: %v", err)
	}
}

// TestBundle: the tool of Claude Desktop accepts the manifest and unpacks the bundle,
// which starts as its manifest says.
func TestBundle(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	mcpb := func(args ...string) {
		t.Helper()
		runIn(t, dir, append(os.Environ(), "HOME="+dir), filepath.Join(b.tools, "bin/node"), append([]string{filepath.Join(b.tools, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js")}, args...)...)
	}
	mcpb("unpack", b.file("ktx_%s_linux_"+runtime.GOARCH+".mcpb"), filepath.Join(dir, "bundle"))
	path := filepath.Join(dir, "bundle/manifest.json")
	mcpb("validate", path)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Version string
		Server  struct {
			Config struct {
				Command string
				Args    []string
				Env     map[string]string
			} `json:"mcp_config"`
		}
		Settings map[string]struct {
			Default   *string
			Sensitive bool
		} `json:"user_config"`
	}
	if err := json.Unmarshal(text, &manifest); err != nil {
		t.Fatal(err)
	}
	if manifest.Version != b.version {
		t.Errorf("version %s", manifest.Version)
	}
	shop := filepath.Join(dir, "shop")
	runCommand(t, append(slices.Clone(cutOff), filepath.Join(dir, "bundle/server/ktx"), "init", "--demo", shop))
	// The connection of an address has the name of its database.
	database, err := os.ReadFile(filepath.Join(shop, "shop.db"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "demo.db"), database, 0o600); err != nil {
		t.Fatal(err)
	}
	if !manifest.Settings["url"].Sensitive {
		t.Error("the address, which holds a password, is not a sensitive setting")
	}
	// One setting each time: the client puts the defaults of the others.
	for setting, value := range map[string]string{"project": shop, "url": "sqlite://" + filepath.Join(dir, "demo.db")} {
		values := []string{"${__dirname}", filepath.Join(dir, "bundle")}
		for name, s := range manifest.Settings {
			switch {
			case name == setting:
				values = append(values, "${user_config."+name+"}", value)
			case s.Default != nil:
				values = append(values, "${user_config."+name+"}", *s.Default)
			}
		}
		settings := strings.NewReplacer(values...)
		command, environ := slices.Clone(cutOff), []string{"HOME=" + dir}
		for _, word := range append([]string{manifest.Server.Config.Command}, manifest.Server.Config.Args...) {
			command = append(command, settings.Replace(word))
		}
		for name, word := range manifest.Server.Config.Env {
			environ = append(environ, name+"="+settings.Replace(word))
		}
		answers(t, environ, command)
	}

	// The bundles for other systems differ in the program and the system's name.
	bundles, err := filepath.Glob(filepath.Join(b.dist, "*.mcpb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, bundle := range bundles {
		into := filepath.Join(dir, filepath.Base(bundle))
		mcpb("unpack", bundle, into)
		mcpb("validate", filepath.Join(into, "manifest.json"))
	}
}

// TestPrograms: each archive has a program of its system and processor, which needs no
// library beyond those that the system always has.
func TestPrograms(t *testing.T) {
	b := newBench(t)
	dir := t.TempDir()
	archives, err := filepath.Glob(filepath.Join(b.dist, "ktx_*_*_*.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	zips, err := filepath.Glob(filepath.Join(b.dist, "ktx_*_windows_*.zip"))
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range append(archives, zips...) {
		name := filepath.Base(archive)
		system, processor, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(name, ".tar.gz"), ".zip"), "ktx_"+b.version+"_"), "_")
		program := filepath.Join(dir, system+processor)
		if system == "windows" {
			unzip(t, archive, "ktx.exe", program)
		} else {
			run(t, "sh", "-c", `tar -xzOf "$1" ktx >"$2"`, "sh", archive, program)
		}
		var got string
		var libraries []string
		switch system {
		case "linux":
			f, err := elf.Open(program)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
			libraries, _ = f.ImportedLibraries() // a static program has no list
		case "darwin":
			f, err := macho.Open(program)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got = map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
			if libraries, err = f.ImportedLibraries(); err != nil {
				t.Error(err)
			}
			libraries = slices.DeleteFunc(libraries, func(l string) bool {
				return strings.HasPrefix(l, "/usr/lib/") || strings.HasPrefix(l, "/System/Library/Frameworks/")
			})
		case "windows":
			f, err := pe.Open(program)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got = map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
			symbols, err := f.ImportedSymbols()
			if err != nil {
				t.Error(err)
			}
			for _, s := range symbols {
				if _, library, _ := strings.Cut(s, ":"); !strings.EqualFold(library, "kernel32.dll") && !slices.Contains(libraries, library) {
					libraries = append(libraries, library)
				}
			}
		}
		if got != processor || len(libraries) > 0 {
			t.Errorf("%s: the program is for %q and needs %v", name, got, libraries)
		}
		t.Logf("%s/%s", system, processor)
	}
	for _, bundle := range []string{"ktx_%s_macos.mcpb"} {
		path := b.file(bundle)
		if _, err := os.Stat(path); err != nil {
			continue // a release for some systems only
		}
		program := filepath.Join(dir, "universal")
		unzip(t, path, "server/ktx", program)
		fat, err := macho.OpenFat(program)
		if err != nil {
			t.Errorf("%s: %v", bundle, err)
			continue
		}
		if len(fat.Arches) != 2 || fat.Arches[0].Cpu != macho.CpuAmd64 || fat.Arches[1].Cpu != macho.CpuArm64 {
			t.Errorf("%s: %+v", bundle, fat.Arches)
		}
	}
}

// unzip writes one file of an archive.
func unzip(t *testing.T, archive, name, to string) {
	t.Helper()
	zr, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = zr.Close() }()
	from, err := zr.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSchemas: the files for the MCP registry and the bill of materials are what their
// schemas ask for.
func TestSchemas(t *testing.T) {
	b := newBench(t)
	check := func(file string, schemas ...string) {
		t.Helper()
		compiler := jsonschema.NewCompiler()
		var id string
		for _, path := range schemas {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			schema, err := jsonschema.UnmarshalJSON(f)
			_ = f.Close()
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			// Schemas name each other by file, relative to their own address.
			object, _ := schema.(map[string]any)
			id, _ = object["$id"].(string)
			for _, address := range []string{id, id[:strings.LastIndex(id, "/")+1] + filepath.Base(path)} {
				if err := compiler.AddResource(address, schema); err != nil && address == id {
					t.Fatal(err)
				}
			}
		}
		schema, err := compiler.Compile(id)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		document, err := jsonschema.UnmarshalJSON(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(document); err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	cyclone := filepath.Join(b.tools, "node_modules/@cyclonedx/cyclonedx-library/res/schema")
	check(b.file("ktx_%s.cdx.json"), filepath.Join(cyclone, "spdx.SNAPSHOT.schema.json"), filepath.Join(cyclone, "jsf-0.82.SNAPSHOT.schema.json"), filepath.Join(cyclone, "bom-1.6.SNAPSHOT.schema.json"))
	check(filepath.Join(b.dist, "server.json"), filepath.Join(os.Getenv("KTX_TEST_REGISTRY"), "internal/validators/schemas/2025-12-11.json"))
}
