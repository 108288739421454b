// Command withservers runs a command whose tests share one PostgreSQL and one
// MariaDB:
//
//	go run ./execution/executiontest/withservers go test ./...
//
// It starts both servers, tells the test binaries where they are
// ([testdb.ServersVariable]), runs the command, stops the servers and exits with
// the command's exit code. It exits with 2 when it is called without a command
// and with 1 when a server does not start or does not stop.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: withservers COMMAND [ARGS...]")
		return 2
	}
	// A terminal sends its interrupt to the command as well. This process waits
	// for the command and then stops the servers.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := testdb.RunWithServers(ctx, cmd)
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "withservers:", err)
	return 1
}
