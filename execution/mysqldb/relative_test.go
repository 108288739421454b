package mysqldb_test

import (
	"testing"

	"github.com/ktxhq/ktx/execution/mysqldb"
)

func TestRelativeOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want string
		rows [][]string
	}{
		{"", nil},
		{"", [][]string{{"wsrep_cluster_address", ""}, {"wsrep_on", "OFF"}}},
		{"", [][]string{{"wsrep_cluster_address", ""}, {"wsrep_on", "ON"}}},
		{"", [][]string{{"wsrep_cluster_address", "gcomm://a,b"}, {"wsrep_on", "OFF"}}},
		{"galera", [][]string{{"wsrep_cluster_address", "gcomm://"}, {"wsrep_on", "ON"}}},
		{"aurora", [][]string{{"aurora_version", "3.08.0"}}},
	} {
		if got := mysqldb.RelativeOf(c.rows); got != c.want {
			t.Errorf("%v: %q, want %q", c.rows, got, c.want)
		}
	}
}
