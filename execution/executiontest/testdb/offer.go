package testdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// ServersVariable names the environment variable that holds the path of a file
// with servers that several test binaries share. [RunWithServers] sets it.
const ServersVariable = "KTX_TEST_SERVERS"

// An offer describes a server that already runs.
type offer struct {
	URL string `json:"url"`
	Dir string `json:"dir,omitempty"` // holds its socket and log; empty for a server of the user's own
}

// The keys of the file. They are also the products' names in messages.
const (
	postgresProduct = "PostgreSQL"
	mariadbProduct  = "MariaDB"
)

// offers reads the servers that the environment offers, by product.
func offers() (map[string]offer, error) {
	path := os.Getenv(ServersVariable)
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ServersVariable, err)
	}
	var all map[string]offer
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", ServersVariable, path, err)
	}
	return all, nil
}

// openNamed opens a server. Its error names the variable that named the server.
func openNamed[S any](ctx context.Context, variable string, o offer, open func(context.Context, offer) (S, error)) (S, error) {
	s, err := open(ctx, o)
	if err != nil {
		return s, fmt.Errorf("%s: %w", variable, err)
	}
	return s, nil
}

// RunWithServers starts one PostgreSQL and one MariaDB, runs cmd with
// [ServersVariable] in its environment, and stops the servers when cmd has
// ended. The tests that cmd runs then share these two servers: each test uses
// databases and roles of its own. A product is not started when its variable
// (KTX_TEST_POSTGRES_URL, KTX_TEST_MARIADB_URL) names a server of the user's
// own. The error is that of cmd when the servers started.
func RunWithServers(ctx context.Context, cmd *exec.Cmd) (err error) {
	dir, err := os.MkdirTemp("", "ktx-servers-")
	if err != nil {
		return fmt.Errorf("make a folder for the list of servers: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	var postgres *PostgresServer
	var mariadb *MariaDBServer
	var wg sync.WaitGroup
	errs := make([]error, 2)
	if os.Getenv("KTX_TEST_POSTGRES_URL") == "" {
		wg.Go(func() { postgres, errs[0] = Start(ctx, Options{}) })
	}
	if os.Getenv("KTX_TEST_MARIADB_URL") == "" {
		wg.Go(func() { mariadb, errs[1] = LaunchMariaDB(ctx, Options{}) })
	}
	wg.Wait()
	all := map[string]offer{}
	if postgres != nil {
		defer func() { err = errors.Join(err, postgres.Close()) }()
		all[postgresProduct] = offer{URL: postgres.URL("", ""), Dir: postgres.dir}
	}
	if mariadb != nil {
		defer func() { err = errors.Join(err, mariadb.Close()) }()
		all[mariadbProduct] = offer{URL: mariadb.URL("", ""), Dir: mariadb.dir}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("start the servers that the tests share: %w", err)
	}

	text, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("write the list of servers: %w", err)
	}
	path := filepath.Join(dir, "servers.json") // it holds passwords; MkdirTemp lets nobody else in
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write the list of servers: %w", err)
	}
	cmd.Env = append(cmd.Environ(), ServersVariable+"="+path)
	return cmd.Run()
}
