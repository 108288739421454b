package mysqldb_test

import (
	"strings"
	"testing"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/mysqldb"
	"github.com/ktxhq/ktx/sqlguard"
)

func TestOpenTakes(t *testing.T) {
	guard := executiontest.Guard(t, "mysql", 0).ID()
	for _, test := range []struct {
		url      string
		insecure bool
	}{
		{"mysql://u:p@db.example/shop", false},
		{"mariadb://u:p@db.example:3307/shop", false},
		{"mysql://u@[::1]/shop", false},
		{"mysql://u:p%40%3F%2F@127.0.0.1/shop?program-name=x&connect-timeout=3", false},
		{"mysql://u@localhost/shop?ssl-mode=DISABLED", false},
		{"mysql://u@localhost/shop?ssl-mode=preferred", false},
		{"mysql://u@/shop?socket=/run/mysqld/mysqld.sock", false},
		{"mysql://u@localhost:3306/shop?socket=/run/mysqld/mysqld.sock", false},
		{"mysql://u@db.example/shop?ssl-mode=VERIFY_IDENTITY", false},
		{"mysql://u@db.example/shop?ssl-mode=REQUIRED", true},
		{"mysql://u@db.example/shop?ssl-mode=DISABLED", true},
		{"mysql://u@db.example/shop", true},
		{"mysql://u@db.example/mysql_shop", false},
		{"mysql://u@db.example/a%60b%20c", false},
	} {
		db, err := mysqldb.Open(t.Context(), mysqldb.Config{URL: execution.NewSecret(test.url), InsecureTLS: test.insecure}, guard)
		if err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		if err := db.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	guard := executiontest.Guard(t, "mysql", 0).ID()
	const host = "mysql://u:hidden-word@db.example/shop"
	for _, test := range []struct{ url, says string }{
		{"", "must look like"},
		{"u:hidden-word@tcp(db.example)/shop", "must look like"},
		{"postgres://u:hidden-word@db.example/shop", "must look like"},
		{"mysql://u:hidden-word@db.example", "names no database"},
		{"mysql://u:hidden-word@db.example/", "names no database"},
		{"mysql://u:hidden-word@db.example/mysql", "database of the server"},
		{"mysql://u:hidden-word@db.example/MySQL", "database of the server"},
		{"mysql://u:hidden-word@db.example/sys", "database of the server"},
		{"mysql://u:hidden-word@db.example/information_schema", "database of the server"},
		{"mysql://u:hidden-word@db.example/Performance_Schema", "database of the server"},
		{"mysql://u:hidden-word@db.example/a/b", "must look like"},
		{"mysql://db.example/shop", "names no user"},
		{"mysql://u:hidden-word@a,b/shop", "must look like"},
		{"mysql://u:hidden-word@:3306/shop", "must look like"},
		{"mysql://u:hidden-word@db.example:0/shop", "must look like"},
		{"mysql://u:hidden-word@db.example:99999/shop", "must look like"},
		{"mysql://u:hidden?word@db.example/shop", "must look like"},
		{"mysql://u@db.example/shop?program-name=a@b", "ambiguous"},
		{"mysql://u:hidden#word@db.example/shop", "must look like"},
		{host + "?multiStatements=true", "multiStatements is not accepted: a call runs one statement"},
		{host + "?multiStatements=false", "multiStatements"},
		{host + "?allowAllFiles=true", "allowAllFiles"},
		{host + "?allowCleartextPasswords=1", "allowCleartextPasswords"},
		{host + "?allowOldPasswords=1", "allowOldPasswords"},
		{host + "?allowNativePasswords=false", "allowNativePasswords"},
		{host + "?allowFallbackToPlaintext=true", "allowFallbackToPlaintext"},
		{host + "?interpolateParams=true", "interpolateParams"},
		{host + "?tls=skip-verify", "use ssl-mode"},
		{host + "?tls=false", "use ssl-mode"},
		{host + "?tls=preferred", "use ssl-mode"},
		{host + "?sql_mode=ANSI_QUOTES", "sql_mode"},
		{host + "?charset=gbk", "charset"},
		{host + "?autocommit=1", "autocommit"},
		{host + "?maxAllowedPacket=0", "limits"},
		{host + "?max_statement_time=0", "limits"},
		{host + "?nobody=knows", "is not accepted; known are"},
		{host + "?ssl-ca=a&ssl-ca=b", "more than once"},
		{host + "?ssl-mode=DISABLED", "with tls: off in the entry"},
		{host + "?ssl-mode=PREFERRED", "does not verify"},
		{host + "?ssl-mode=REQUIRED", "does not verify"},
		{host + "?ssl-mode=VERIFY_CA", "needs ssl-ca"},
		{host + "?ssl-mode=maybe", "is one of"},
		{host + "?ssl-ca=/nowhere/hidden-word", "unable to read ssl-ca"},
		{host + "?ssl-cert=/nowhere/hidden-word", "both ssl-cert and ssl-key"},
		{host + "?ssl-cert=/nowhere/hidden-word&ssl-key=/nowhere/hidden-word", "unable to read"},
		{host + "?socket=/run/mysqld.sock", "no other host"},
		{"mysql://u@/shop?socket=", "the socket's path"},
		{"mysql://u@localhost/shop?ssl-mode=DISABLED&ssl-ca=x", "no use"},
		{host + "?connect-timeout=0", "connect-timeout"},
		{host + "?connect-timeout=x", "connect-timeout"},
		{host + "?program-name=a:b,c", "program-name"},
	} {
		db, err := mysqldb.Open(t.Context(), mysqldb.Config{URL: execution.NewSecret(test.url)}, guard)
		if err == nil {
			t.Errorf("%s was accepted", test.url)
			_ = db.Close()
			continue
		}
		if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: error %v, want one with %q and no part of the URL", test.url, err, test.says)
		}
	}
}

func TestOpenRefusesConfigurations(t *testing.T) {
	guard := executiontest.Guard(t, "mysql", 0).ID()
	url := execution.NewSecret("mysql://u@localhost/shop")
	set := func(name, value string) mysqldb.Config {
		return mysqldb.Config{URL: url, Session: []sqlguard.Setting{{Name: name, Value: value}}}
	}
	for name, cfg := range map[string]mysqldb.Config{
		"fewer than no connections": {URL: url, MaxConnections: -1},
		"no name":                   set("sql mode", "x"),
		"a quote in a value":        set("sql_mode", "x', autocommit = '0"),
		"a backslash in a value":    set("sql_mode", `x\`),
		"writable":                  set("tx_read_only", "0"),
		"without a limit":           set("max_statement_time", "0"),
		"without automatic commit":  set("autocommit", "OFF"),
		"another character set":     set("character_set_results", "gbk"),
	} {
		if _, err := mysqldb.Open(t.Context(), cfg, guard); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := mysqldb.Open(t.Context(), mysqldb.Config{URL: url}, sqlguard.ID{}); err == nil {
		t.Error("a backend without a guard was opened")
	}
	if _, err := mysqldb.Open(t.Context(), set("autocommit", "ON"), guard); err != nil {
		t.Errorf("settings that are pinned in any case: %v", err)
	}
}
