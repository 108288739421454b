package install_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestDeb installs, upgrades, removes and purges the package in a minimal Debian.
func TestDeb(t *testing.T) {
	b := newBench(t)
	root := filepath.Join(t.TempDir(), "debian")
	run(t, "cp", "-a", filepath.Join(b.tools, "debian"), root)
	deb := b.file("ktx_%s_linux_" + runtime.GOARCH + ".deb")
	in := func(args ...string) string { return runCommand(t, append(inside(root), args...)) }
	run(t, "cp", deb, filepath.Join(root, "tmp/new.deb"))
	older(t, deb, filepath.Join(root, "tmp/old.deb"))
	before := tree(t, root)
	for _, name := range []string{"tmp/new.deb", "tmp/old.deb"} {
		before[name] = true
	}
	users, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	if err != nil {
		t.Fatal(err)
	}

	in("dpkg", "-i", "/tmp/old.deb")
	first := in("dpkg-query", "-W", "-f", "${Version}", "ktx")
	// What an administrator does: the variables of a service, and its project.
	if err := os.WriteFile(filepath.Join(root, "etc/ktx/shop.env"), []byte("KTX_MCP_TOKEN=secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in("install", "-d", "-o", "ktx", "-g", "ktx", "/srv/ktx", "/srv/ktx/shop")
	in("setpriv", "--reuid", "ktx", "--regid", "ktx", "--clear-groups", "ktx", "init", "--demo", "/srv/ktx/shop")

	in("dpkg", "-i", "/tmp/new.deb")
	if second := in("dpkg-query", "-W", "-f", "${Version}", "ktx"); first == second || first != "0.0.0~0-1" {
		t.Errorf("version %s became %s", first, second)
	}
	if says := in("ktx", "version"); !strings.HasPrefix(says, "ktx "+b.version+" (") {
		t.Errorf("ktx version says %s", says)
	}
	if info, err := os.Stat(filepath.Join(root, "etc/ktx")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("/etc/ktx: %v, %v", info, err)
	}
	for _, name := range []string{"usr/share/man/man1/ktx.1", "usr/share/bash-completion/completions/ktx", "usr/share/doc/ktx/copyright", "etc/ktx/shop.env"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	if out := in("systemd-analyze", "verify", "--man=no", "--no-pager", "ktx@shop.service"); out != "" {
		t.Errorf("systemd-analyze verify: %s", out)
	}
	answers(t, nil, append(inside(root, "--userspec=ktx:ktx"), "/usr/bin/ktx", "mcp", "stdio", "--project-dir", "/srv/ktx/shop"))

	in("dpkg", "-r", "ktx")
	for name, want := range map[string]bool{"usr/bin/ktx": false, "etc/ktx/shop.env": true, "srv/ktx/shop/ktx.yaml": true} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != want {
			t.Errorf("after the removal, %s: %v", name, err)
		}
	}
	in("dpkg", "-P", "ktx")
	// dpkg, useradd and systemd-analyze keep their own records.
	left(t, root, before, "srv/ktx", "run/systemd", "var/lib/dpkg", "var/log", "etc/passwd-", "etc/group-", "etc/shadow-", "etc/gshadow-", "etc/.pwd.lock", "etc/subuid-", "etc/subgid-")
	now, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	if err != nil || string(now) != string(users) {
		t.Errorf("users after the removal: %v\n%s", err, now)
	}
}

// older packs a .deb again, with a version that is older than all others.
func older(t *testing.T, from, to string) {
	t.Helper()
	dir := t.TempDir()
	run(t, "dpkg-deb", "-R", from, dir)
	control := filepath.Join(dir, "DEBIAN/control")
	text, err := os.ReadFile(control)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "Version: ") })
	if i < 0 {
		t.Fatalf("no version in\n%s", text)
	}
	lines[i] = "Version: 0.0.0~0-1"
	if err := os.WriteFile(control, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	// nfpm writes an empty list, which dpkg-deb does not.
	if err := os.Remove(filepath.Join(dir, "DEBIAN/conffiles")); err != nil {
		t.Fatal(err)
	}
	run(t, "dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "-b", dir, to)
}

// TestRPM and TestAPK unpack the packages into an empty root and start the program.
// There is no rpm and no apk here to install them with.
func TestRPM(t *testing.T) {
	b := newBench(t)
	root := t.TempDir()
	run(t, "sh", "-c", `rpm2cpio "$1" | (cd "$2" && cpio -idm --quiet --no-absolute-filenames)`, "sh", b.file("ktx_%s_linux_"+runtime.GOARCH+".rpm"), root)
	packaged(t, root)
}

func TestAPK(t *testing.T) {
	b := newBench(t)
	root := t.TempDir()
	apk := b.file("ktx_%s_linux_" + runtime.GOARCH + ".apk")
	run(t, "sh", "-c", `tar -xzf "$1" -C "$2" 2>/dev/null; test -e "$2/.PKGINFO"`, "sh", apk, root)
	for _, name := range []string{".post-install", ".pre-deinstall", ".post-deinstall"} {
		run(t, "sh", "-n", filepath.Join(root, name))
	}
	info, err := os.ReadFile(filepath.Join(root, ".PKGINFO"))
	if err != nil || !strings.Contains(string(info), "pkgname = ktx\n") {
		t.Errorf("%v: %s", err, info)
	}
	packaged(t, root)
}

// packaged checks what a package installed into an otherwise empty root.
func packaged(t *testing.T, root string) {
	t.Helper()
	for _, name := range []string{"usr/bin/ktx", "usr/lib/systemd/system/ktx@.service", "etc/ktx", "usr/share/man/man1/ktx.1", "usr/share/doc/ktx/THIRD_PARTY_NOTICES.txt"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	runCommand(t, append(inside(root), "/usr/bin/ktx", "init", "--demo", "/shop"))
	answers(t, nil, append(inside(root), "/usr/bin/ktx", "mcp", "stdio", "--project-dir", "/shop"))
}
