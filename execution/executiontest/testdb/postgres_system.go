package testdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// superuser owns every PostgreSQL cluster that this package makes.
const superuser = "postgres"

// postgresSystem runs PostgreSQL.
type postgresSystem struct{}

func (postgresSystem) product() string    { return "PostgreSQL" }
func (postgresSystem) prefix() string     { return "ktx-pg-" }
func (postgresSystem) accounts() []string { return []string{"postgres", "nobody"} }
func (postgresSystem) pidFile() string    { return filepath.Join("data", "postmaster.pid") }

func (s postgresSystem) signal(mode StopMode) (syscall.Signal, error) {
	switch mode {
	case Fast:
		return syscall.SIGINT, nil
	case Smart:
		return syscall.SIGTERM, nil
	case Immediate:
		return syscall.SIGQUIT, nil
	default:
		return 0, errMode(s, mode)
	}
}

func (postgresSystem) initialise(ctx context.Context, c *cluster) error {
	secret := filepath.Join(c.dir, "password")
	if err := c.write(secret, []byte(c.password)); err != nil {
		return err
	}
	cmd := c.command(ctx, filepath.Join(c.bin, "initdb"), "--pgdata="+c.data(), "--username="+superuser,
		"--pwfile="+secret, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := os.Remove(secret); err != nil {
		return err
	}
	return configurePostgres(c)
}

// configurePostgres appends to the configuration file. Committed data survives
// the end of the server process, but not a crash of the machine, because fsync
// is off.
func configurePostgres(c *cluster) error {
	all := map[string]string{
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": c.dir,
		"shared_buffers":          "32MB",
		"max_connections":         "200",
		"fsync":                   "off",
		"full_page_writes":        "off",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"log_line_prefix":         "%m [%p] %q%u@%d ",
	}
	if c.tls {
		all["ssl"] = "on"
		all["ssl_cert_file"] = c.certificateFile()
		all["ssl_key_file"] = c.keyFile()
	}
	maps.Copy(all, c.settings)
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		lines.WriteString("\n" + name + " = '" + strings.ReplaceAll(all[name], "'", "''") + "'")
	}
	lines.WriteString("\n")
	path := filepath.Join(c.data(), "postgresql.conf")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	if err := os.WriteFile(path, append(text, lines.String()...), 0o600); err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	return nil
}

// serve starts the server so that a client library inside of it, as dblink has,
// connects to this server when it is told no other, and not to one that it finds.
func (postgresSystem) serve(ctx context.Context, c *cluster, port int) *exec.Cmd {
	cmd := c.command(ctx, filepath.Join(c.bin, "postgres"), "-D", c.data(), "-p", strconv.Itoa(port))
	cmd.Env = append(cmd.Env, "PGHOST="+c.dir, "PGPORT="+strconv.Itoa(port), "PGUSER="+superuser, "PGPASSWORD="+c.password)
	return cmd
}

// ready reads the server's own state file: line 1 is the process ID, line 8 the
// state, padded.
func (postgresSystem) ready(_ context.Context, c *cluster) (bool, error) {
	text, err := os.ReadFile(c.pidFile())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	lines := strings.Split(string(text), "\n")
	return len(lines) >= 8 && lines[0] == strconv.Itoa(c.cmd.Process.Pid) && strings.TrimSpace(lines[7]) == "ready", nil
}

// postgresMajor reads the version of the data directory.
func postgresMajor(c *cluster) (int, error) {
	text, err := os.ReadFile(filepath.Join(c.data(), "PG_VERSION"))
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil {
		return 0, fmt.Errorf("read the cluster's version: %w", err)
	}
	return major, nil
}
