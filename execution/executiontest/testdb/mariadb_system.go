package testdb

import (
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

	"github.com/go-sql-driver/mysql"
)

// mariadbRoot is the administrator of every server that this package makes.
const mariadbRoot = "root"

// mariadbSystem runs MariaDB, or MySQL.
type mariadbSystem struct{ mysql bool }

func (s mariadbSystem) product() string {
	if s.mysql {
		return "MySQL"
	}
	return "MariaDB"
}

func (mariadbSystem) prefix() string     { return "ktx-maria-" }
func (mariadbSystem) accounts() []string { return []string{"mysql", "nobody"} }
func (mariadbSystem) pidFile() string    { return "pid" }

func (s mariadbSystem) signal(mode StopMode) (syscall.Signal, error) {
	switch mode {
	case Fast:
		return syscall.SIGTERM, nil
	case Immediate:
		return syscall.SIGKILL, nil
	case Smart:
		return 0, errMode(s, mode)
	default:
		return 0, errMode(s, mode)
	}
}

func mariadbOptions(c *cluster) string { return filepath.Join(c.dir, "my.cnf") }
func mariadbSocket(dir string) string  { return filepath.Join(dir, "sock") }
func mariadbSetup(c *cluster) string   { return filepath.Join(c.dir, "setup.sql") }

func (s mariadbSystem) initialise(ctx context.Context, c *cluster) error {
	if err := s.configure(c); err != nil {
		return err
	}
	var cmd *exec.Cmd
	if s.mysql {
		cmd = c.command(ctx, filepath.Join(c.bin, "mysqld"),
			"--defaults-file="+mariadbOptions(c), "--initialize-insecure")
	} else {
		program, err := installer(c.bin)
		if err != nil {
			return err
		}
		args := []string{
			"--defaults-file=" + mariadbOptions(c), "--datadir=" + c.data(),
			"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
		}
		if base := filepath.Dir(c.bin); base != "/usr" {
			args = append(args, "--basedir="+base)
		}
		cmd = c.command(ctx, program, args...)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, out)
	}
	return c.write(mariadbSetup(c), []byte(strings.Join([]string{
		"DROP USER IF EXISTS 'root'@'::1';",
		"CREATE USER IF NOT EXISTS 'root'@'127.0.0.1';",
		"GRANT ALL PRIVILEGES ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;",
		"ALTER USER 'root'@'127.0.0.1' IDENTIFIED BY '" + c.password + "';",
		"ALTER USER 'root'@'localhost' IDENTIFIED BY '" + c.password + "';",
	}, "\n")+"\n"))
}

// configure writes the only option file that the server reads. Committed data
// survives the end of the server process, but not a crash of the machine.
func (s mariadbSystem) configure(c *cluster) error {
	temporary := filepath.Join(c.dir, "tmp") // servers with a common one would use each other's tables
	if err := os.Mkdir(temporary, 0o700); err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	if err := c.owner.own(temporary); err != nil {
		return fmt.Errorf("configure the server: %w", err)
	}
	all := map[string]string{
		"datadir":                        c.data(),
		"socket":                         mariadbSocket(c.dir),
		"pid_file":                       c.pidFile(),
		"tmpdir":                         temporary,
		"bind_address":                   "127.0.0.1",
		"skip_name_resolve":              "1",
		"skip_log_bin":                   "1",
		"secure_file_priv":               "",
		"default_time_zone":              "+00:00",
		"character_set_server":           "utf8mb4",
		"max_connections":                "200",
		"max_allowed_packet":             "1G",
		"innodb_buffer_pool_size":        "32M",
		"innodb_flush_log_at_trx_commit": "2",
		"innodb_doublewrite":             "0",
	}
	if s.mysql {
		maps.Copy(all, map[string]string{
			"mysqlx": "0", "innodb_redo_log_capacity": "8M", "auto_generate_certs": "0",
		})
	} else {
		maps.Copy(all, map[string]string{
			"innodb_log_file_size": "8M", "debug_no_sync": "1",
		})
	}
	switch {
	case c.tls:
		all["ssl_ca"] = c.certificateFile()
		all["ssl_cert"] = c.certificateFile()
		all["ssl_key"] = c.keyFile()
	case s.mysql:
		all["tls_version"] = ""
	default:
		all["loose_skip_ssl"] = "1"
	}
	maps.Copy(all, c.settings)
	if all["log_bin"] != "" {
		delete(all, "skip_log_bin")
	}
	var text strings.Builder
	text.WriteString("[mysqld]\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text.WriteString(name + ` = "` + strings.ReplaceAll(all[name], `\`, `\\`) + "\"\n")
	}
	return c.write(mariadbOptions(c), []byte(text.String()))
}

// serve starts the server through a shell that writes the process ID first. So
// the reaper finds a server that has not written its own pid file yet.
func (s mariadbSystem) serve(ctx context.Context, c *cluster, port int) *exec.Cmd {
	program, _ := mariadbServer(c.bin)
	args := []string{
		"-c", `echo $$ >"$1" || exit; shift; exec "$@"`, "serve", c.pidFile(),
		program, "--defaults-file=" + mariadbOptions(c), "--port=" + strconv.Itoa(port),
	}
	if _, err := os.Lstat(mariadbSetup(c)); err == nil {
		args = append(args, "--init-file="+mariadbSetup(c))
	}
	cmd := c.command(ctx, "/bin/sh", args...)
	if s.mysql { // which then takes RESTART, as from a service manager
		cmd.Env = append(cmd.Env, "MYSQLD_PARENT_PID="+strconv.Itoa(os.Getpid()))
	}
	return cmd
}

// ready logs in over the socket. By the first success the password is set,
// because the server runs its setup before it accepts connections.
func (mariadbSystem) ready(ctx context.Context, c *cluster) (bool, error) {
	config := newConfig(mariadbRoot, c.password)
	config.Net, config.Addr = "unix", mariadbSocket(c.dir)
	db, err := openPool(config)
	if err != nil {
		return false, err
	}
	err = db.PingContext(ctx)
	_ = db.Close() // nothing was sent on it
	if err == nil {
		if err = os.Remove(mariadbSetup(c)); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return err == nil, err
	}
	const denied = 1045 // ER_ACCESS_DENIED_ERROR
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok && e.Number == denied {
		return false, fmt.Errorf("the setup did not give root its password: %w", err)
	}
	return false, nil
}
