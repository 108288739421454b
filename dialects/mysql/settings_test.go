package mysql_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/mysql"
)

func TestSettingRulings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope, name string
		allowed     bool
	}{
		{"", "version", true},
		{"", "SQL_MODE", true},
		{"global", "time_zone", true},
		{"LOCAL", "autocommit", true},
		{"session", "transaction_isolation", true},
		{"persist", "sql_mode", false},
		{"persist_only", "sql_mode", false},
		{"hot", "key_buffer_size", false},
		{"", "hot.key_buffer_size", false},
		{"", "validate_password.dictionary_file", false},
		{"", "datadir", false},
		{"", "secure_file_priv", false},
		{"", "init_file", false},
		{"", "sql_modé", false},
		{"", "anything_new", false},
		{"", "", false},
	} {
		if got := mysql.SettingRuling(c.scope, c.name).Allowed; got != c.allowed {
			t.Errorf("@@%s.%s: allowed %v, want %v", c.scope, c.name, got, c.allowed)
		}
	}
}

// TestNoSettingDiscloses checks that no listed setting discloses a file, a directory, a
// key, an address or similar data, by the words in its name.
func TestNoSettingDiscloses(t *testing.T) {
	t.Parallel()
	for _, name := range mysql.Tables()["settings"] {
		for _, word := range []string{
			"dir", "_file", "path", "ssl", "tls", "key_", "_key", "password", "_auth", "secure", "init", "plugin", "socket",
			"_log", "log_", "host_", "master", "slave", "replica", "source", "wsrep", "gtid", "keyring", "server_uuid", "user_",
			"address", "proxy", "command", "cert", "report_",
		} {
			if strings.Contains(name, word) && !permitted[name] {
				t.Errorf("%s is listed, and its name has %q in it", name, word)
			}
		}
	}
}

// permitted are settings whose names hold one of those words by chance, or that are YES or
// NO only.
var permitted = map[string]bool{
	"character_set_filesystem": true, "foreign_key_checks": true, "init_connect": true, "have_openssl": true, "have_rtree_keys": true, "have_ssl": true, "innodb_file_per_table": true,
	"key_buffer_size": true, "lower_case_file_system": true, "max_seeks_for_key": true, "max_user_connections": true,
	"session_track_gtids": true, "sql_generate_invisible_primary_key": true, "sql_require_primary_key": true,
	"table_definition_cache": true,
}
