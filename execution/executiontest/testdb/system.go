package testdb

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
)

// A system describes how to run one database product from a directory of its
// own. A [cluster] does the rest: directory, port, process, log and clean-up.
type system interface {
	// product is the name of the product, for messages.
	product() string
	// prefix begins the names of its directories.
	prefix() string
	// accounts are the users that the server may run as when root runs the
	// tests. The first that exists is used.
	accounts() []string
	// pidFile is the file with the process ID of the running server, relative
	// to the directory of the cluster. The file does not exist after the server
	// has ended.
	pidFile() string
	// initialise makes the data directory and its configuration.
	initialise(ctx context.Context, c *cluster) error
	// serve prepares the server's process.
	serve(ctx context.Context, c *cluster, port int) *exec.Cmd
	// ready reports whether the process of this cluster accepts connections. An
	// error says that it never will.
	ready(ctx context.Context, c *cluster) (bool, error)
	// signal returns the signal that ends the server in a mode.
	signal(mode StopMode) (syscall.Signal, error)
}

// A StopMode says how to end a server. The zero value is Fast.
type StopMode int

// The stop modes, in the words of PostgreSQL's manual, section 19.5. MariaDB
// and MySQL have no Smart; their Immediate is a kill.
const (
	Fast      StopMode = iota // ends sessions and writes what must be written
	Smart                     // waits until the last client has left
	Immediate                 // ends at once; the next start recovers
)

func (m StopMode) String() string {
	switch m {
	case Fast:
		return "fast"
	case Smart:
		return "smart"
	case Immediate:
		return "immediate"
	default:
		return "stop mode " + strconv.Itoa(int(m))
	}
}

// errMode says that a product cannot be stopped in this way.
func errMode(s system, m StopMode) error {
	return fmt.Errorf("%s has no %s stop", s.product(), m)
}
