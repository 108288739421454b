package cli_test

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestServiceManager: the service manager of a unit with Type=notify is notified when
// the server is ready and when it stops.
func TestServiceManager(t *testing.T) {
	dir := shop(t)
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	told := func() string {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(hang)); err != nil {
			t.Fatal(err)
		}
		text := make([]byte, 100)
		n, err := conn.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(text[:n])
	}
	t.Setenv("NOTIFY_SOCKET", path)
	p := run(t, dir, "mcp", "start", "--foreground", "--port", "0")
	if got := told(); got != "READY=1" {
		t.Fatalf("the service manager was told %q first", got)
	}
	want(t, dir, 0, "running", "mcp", "status")
	p.signal(t, syscall.SIGTERM)
	if got := told(); got != "STOPPING=1" {
		t.Errorf("the service manager was told %q at the end", got)
	}
	p.ends(t, 0)
}

// TestServiceManagerGone: a socket variable without a service manager does not stop
// the server from working.
func TestServiceManagerGone(t *testing.T) {
	dir := shop(t)
	t.Setenv("NOTIFY_SOCKET", filepath.Join(dir, "nobody"))
	p := run(t, dir, "mcp", "start", "--foreground", "--port", "0")
	waitFor(t, func() bool { _, _, code := ktx(t, dir, "mcp", "status"); return code == 0 })
	p.signal(t, syscall.SIGTERM)
	p.ends(t, 0)
}
