package testdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// childMark turns this test binary into the program that a test kills.
const childMark = "KTX_TESTDB_CHILD"

// running is a server of any product.
type running interface {
	Pid() int
	SocketDir() string
}

// products start a server for child.
var products = map[string]func(context.Context) (running, error){
	"PostgreSQL": func(ctx context.Context) (running, error) { return testdb.Start(ctx, testdb.Options{}) },
	"MariaDB":    func(ctx context.Context) (running, error) { return testdb.LaunchMariaDB(ctx, testdb.Options{}) },
}

// child starts a server, says where, and waits to be killed.
func child(product string) {
	s, err := products[product](context.Background())
	if err != nil {
		panic(err)
	}
	if _, err := fmt.Fprintln(os.Stdout, s.Pid(), s.SocketDir()); err != nil {
		panic(err)
	}
	select {}
}

func TestServerEndsWithAKilledProcess(t *testing.T) {
	for product := range products {
		t.Run(product, func(t *testing.T) { serverEndsWithAKilledProcess(t, product) })
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
