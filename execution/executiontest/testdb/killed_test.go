package testdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// childMark turns this test binary into the program that a test kills.
const childMark = "KTX_TESTDB_CHILD"

// child starts a server, prints where it is, and waits to be killed.
func child(product string) {
	i := slices.IndexFunc(systems, func(p testedSystem) bool { return p.name == product })
	s, err := systems[i].launch(context.Background(), testdb.Options{})
	if err != nil {
		panic(err)
	}
	if _, err := fmt.Fprintln(os.Stdout, s.Pid(), s.SocketDir()); err != nil {
		panic(err)
	}
	select {}
}

func TestServerEndsWithAKilledProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	for _, p := range systems {
		t.Run(p.name, func(t *testing.T) { serverEndsWithAKilledProcess(t, p.name) })
	}
}

func serverEndsWithAKilledProcess(t *testing.T, product string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childMark+"="+product)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	var dir string
	_, scanErr := fmt.Fscan(out, &pid, &dir)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // It was killed.
	if scanErr != nil {
		t.Fatalf("the child did not say where its server is: %v", scanErr)
	}
	eventually(t, "the end of the server", func() bool { return !alive(pid) })
	eventually(t, "the end of its directory", func() bool {
		_, err := os.Lstat(dir)
		return errors.Is(err, os.ErrNotExist)
	})
}
