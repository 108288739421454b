package mysqldb_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest/testdb"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

// galeraLibrary is where Debian's package galera-4 has the provider.
const galeraLibrary = "/usr/lib/galera/libgalera_smm.so"

// A node of a Galera Cluster that has lost its cluster is busy: it reads nothing, and
// does when the cluster is back. The node is real; it loses its cluster because it is
// told to join one that nobody answers for.
func TestGaleraWithoutQuorum(t *testing.T) {
	library := os.Getenv("KTX_TEST_GALERA")
	if library == "" {
		library = galeraLibrary
	}
	if _, err := os.Stat(library); err != nil {
		if os.Getenv("CI") != "" && os.Getenv("KTX_TEST_MARIADB_URL")+os.Getenv("KTX_TEST_MARIADB_BIN") == "" {
			t.Fatal("no Galera provider (make test-deps installs it):", err)
		}
		t.Skip("no Galera provider (make test-deps installs it):", err)
	}
	server := testdb.StartMariaDB(t, testdb.Options{Settings: map[string]string{
		"loose_wsrep_on": "ON", "loose_wsrep_provider": library, "loose_wsrep_cluster_address": "gcomm://", "binlog_format": "ROW",
		"loose_wsrep_node_address": "127.0.0.1", "loose_wsrep_provider_options": "gmcast.listen_addr=tcp://127.0.0.1:0;ist.recv_addr=127.0.0.1:0",
	}})
	if server.Product() != "mariadb" {
		t.Skip("MySQL has no such provider")
	}
	// The server takes connections before the node is a member of its cluster, and reads
	// nothing until then.
	admin := server.DB(t, server.URL("", ""))
	wait(t, "the node is a member of its cluster", func() bool {
		var name, ready string
		err := admin.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'wsrep_ready'").Scan(&name, &ready)
		return err == nil && ready == "ON"
	})
	b := open(t, server.NewDatabase(t, "CREATE TABLE t (n int PRIMARY KEY)", "INSERT INTO t VALUES (7)"), mysqldb.Config{MaxConnections: 2, Relative: "galera"})
	const read = "SELECT n FROM t"
	if got := b.One(t, read); got != "7" {
		t.Fatal(got)
	}
	for relative, want := range map[string]string{"galera": "", "": "set driver: mysql:galera", "aurora": "mend the address"} {
		report, err := open(t, server.NewDatabase(t), mysqldb.Config{MaxConnections: 2, Relative: relative}).Probe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, f := range report.Findings {
			if f.Topic == execution.TopicServer {
				said = append(said, f.Fix)
			}
		}
		if got := strings.Join(said, "\n"); !strings.Contains(got, want) || want == "" && strings.Contains(got, "driver") {
			t.Errorf("driver mysql:%s on a node of Galera: %q", relative, got)
		}
	}
	server.Exec(t, server.URL("", ""), "SET GLOBAL wsrep_cluster_address = 'gcomm://127.0.0.1:1?pc.wait_prim=no'")
	wait(t, "the node says that it is busy", func() bool {
		_, err := b.Try(t.Context(), t, read, execution.Limits{})
		e, ok := errors.AsType[*execution.Error](err)
		return ok && e.Code == sqlguard.CodeBusy && e.Retryable && e.RetryAfter > 0 && strings.Contains(e.Hint, "cluster")
	})
	// Seen once in hundreds of runs: the server itself never answers this. Then there is no
	// node left to ask.
	again, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := admin.ExecContext(again, "SET GLOBAL wsrep_cluster_address = 'gcomm://'"); errors.Is(err, context.DeadlineExceeded) {
		t.Log("the server did not join a cluster again, so that this was not tried")
		return
	} else if err != nil {
		t.Fatal(err)
	}
	wait(t, "the node reads again", func() bool {
		_, err := b.Try(t.Context(), t, read, execution.Limits{})
		return err == nil
	})
}

// wait asks until an answer is yes, for as long as a busy machine may need.
func wait(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !yes(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within a minute: " + what)
		}
	}
}
