package clickhousedb_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/execution/clickhousedb"
	"github.com/ktxhq/ktx/execution/executiontest"
	"github.com/ktxhq/ktx/execution/executiontest/chserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// oldServerVariable names the folder of Debian's clickhouse-server, of 2018, which make
// test-engines unpacks.
const oldServerVariable = "KTX_TEST_CLICKHOUSE_SERVER"

const oldServerConfig = `<yandex>
<logger><level>error</level><log>%[1]s/log</log><errorlog>%[1]s/errors</errorlog></logger>
<http_port>%[2]d</http_port><listen_host>127.0.0.1</listen_host>
<path>%[1]s/data/</path><tmp_path>%[1]s/tmp/</tmp_path><users_config>%[1]s/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database><mark_cache_size>5368709120</mark_cache_size>
</yandex>`

const oldServerUser = "<%[1]s><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>%[1]s</profile><quota>default</quota></%[1]s>"

// startOldServer starts the server with a user for each of its profiles: readonly is 0 for
// default, 1 for one and 2 for two.
func startOldServer(t *testing.T) (address string) {
	t.Helper()
	root := os.Getenv(oldServerVariable)
	if root == "" {
		t.Skip("needs Debian's clickhouse-server: run make test-engines")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // it is one of TCP
	_ = listener.Close()
	dir := t.TempDir()
	users := ""
	for _, name := range []string{"default", "one", "two"} {
		users += fmt.Sprintf(oldServerUser, name)
	}
	for name, text := range map[string]string{
		"config.xml": fmt.Sprintf(oldServerConfig, dir, port),
		"users.xml":  "<yandex><profiles><default/><one><readonly>1</readonly></one><two><readonly>2</readonly></two></profiles><quotas><default/></quotas><users>" + users + "</users></yandex>",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(root, "usr/sbin/clickhouse-server"), "--config-file="+filepath.Join(dir, "config.xml"))
	cmd.Dir = dir
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address = fmt.Sprintf("127.0.0.1:%d", port)
	executiontest.Eventually(t, "the server answers", func() bool {
		status, _ := askOldServer(t, address, http.MethodPost, "", "SELECT 1")
		return status == http.StatusOK
	})
	return address
}

// askOldServer sends a statement as the user of the profile default.
func askOldServer(t *testing.T, address, method, params, sql string) (status int, answer string) {
	t.Helper()
	target, body := "http://"+address+"/?"+params, io.Reader(strings.NewReader(sql))
	if method == http.MethodGet {
		target, body = "http://"+address+"/?query="+url.QueryEscape(sql), nil
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Clickhouse-User", "default")
	r.Header.Set("X-Clickhouse-Key", "secret")
	client := http.Client{Timeout: executiontest.Patience}
	resp, err := client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// TestEngineServerOf2018 asks a real server through its own HTTP interface. It is too old
// for ktx, which has to say so. What it does with readonly=1, and how it writes errors, is
// what the stand-in assumes of servers.
func TestEngineServerOf2018(t *testing.T) {
	address := startOldServer(t)
	g := executiontest.Guard(t, "clickhouse", 0)
	for login, want := range map[string][2]string{
		"default:secret": {"73", "too old"},
		"one:secret":     {"73", "too old"},
		"two:secret":     {"164", ""}, // no request may set readonly to 1
		"default:wrong":  {"193", "login"},
		"nobody:secret":  {"192", "login"},
	} {
		db, err := openBackend(t.Context(), "http://"+login+"@"+address+"/default", 1, g.ID())
		if err == nil {
			_, err = executiontest.NewClient(db, g).Try(t.Context(), t, "SELECT 1 AS one", execution.Limits{})
			_ = db.Close()
		}
		e, ok := err.(*execution.Error) //nolint:errorlint // the backend returns it as it is
		if !ok || e.SQLState != want[0] || !strings.Contains(e.Hint, want[1]) {
			t.Errorf("%s: %+v, want code %s and a hint about %q", login, err, want[0], want[1])
		}
	}
	for _, sql := range []string{"CREATE TABLE default.items (id Int32) ENGINE = Memory", "INSERT INTO default.items VALUES (1), (2)"} {
		if status, answer := askOldServer(t, address, http.MethodPost, "", sql); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	for _, c := range []struct{ method, params, sql, want string }{
		{http.MethodPost, "readonly=1", "SELECT count() FROM items", "2\n"},
		{http.MethodPost, "readonly=1", "INSERT INTO default.items VALUES (3)", "Code: 164,"},
		{http.MethodPost, "readonly=1", "DROP TABLE items", "Code: 164,"},
		{http.MethodPost, "readonly=1", "SELECT count() FROM items SETTINGS readonly = 0", "Code: 164,"},
		{http.MethodPost, "readonly=1", "SELECT * FROM file('/etc/passwd', 'CSV', 'a String')", "Code: 164,"},
		{http.MethodPost, "readonly=1", "SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a String')", "Code: 164,"},
		{http.MethodPost, "readonly=1", "SELECT 1; SELECT 2", "Code: 62,"},
		{http.MethodPost, "readonly=1", "SELECT intDiv(1, 0)", "Code: 153,"},
		{http.MethodPost, "readonly=1", "SELECT a FROM nowhere", "Code: 60,"},
		{http.MethodPost, "readonly=1", "SELECT nothing FROM items", "Code: 47,"},
		{http.MethodPost, "readonly=1&max_execution_time=1", "SELECT count() FROM system.numbers", "Code: 159,"},
		{http.MethodGet, "", "INSERT INTO default.items VALUES (3)", "Code: 164,"},
		{http.MethodPost, "readonly=1&max_result_rows=1", "SELECT count() FROM items SETTINGS max_result_rows = 0", "Code: 164,"},
	} {
		if _, answer := askOldServer(t, address, c.method, c.params, c.sql); !strings.HasPrefix(answer, c.want) {
			t.Errorf("%s %s %s: %q, want %q", c.method, c.params, c.sql, answer, c.want)
		}
	}
	// A query is known to KILL while it runs, and not afterwards.
	over := make(chan string, 1)
	go func() {
		_, answer := askOldServer(t, address, http.MethodPost, "readonly=1&query_id=ktx-1", "SELECT count() FROM system.numbers")
		over <- answer
	}()
	kill := func() string {
		_, answer := askOldServer(t, address, http.MethodPost, "", "KILL QUERY WHERE query_id = 'ktx-1' ASYNC")
		return answer
	}
	executiontest.Eventually(t, "the server knows the query", func() bool { return kill() != "" })
	select {
	case answer := <-over:
		if !strings.HasPrefix(answer, "Code: 394,") {
			t.Errorf("a query that was killed: %q", answer)
		}
	case <-time.After(executiontest.Patience):
		t.Fatal("the query was not killed")
	}
	executiontest.Eventually(t, "the server knows the query no longer", func() bool { return kill() == "" })
}

// TestSuggestionsDoNotLeak: under rules, the names that the server suggests are not passed on.
// The texts are those of ClickHouse 26.7; the last is of its old analyzer.
func TestSuggestionsDoNotLeak(t *testing.T) {
	t.Parallel()
	policy := sqlguard.DefaultPolicy()
	policy.Columns = []sqlguard.ColumnRule{{Match: "default.users.email"}}
	g, err := sqlguard.New(clickhouse.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"Unknown expression identifier `emial` in scope SELECT emial FROM default.users. Maybe you meant: ['email']. (UNKNOWN_IDENTIFIER)":                        "Unknown expression identifier `emial` in scope SELECT emial FROM default.users (code 47)",
		"Unknown table expression identifier 'default.emial' in scope SELECT emial FROM default.users. Maybe you meant default.email?. (UNKNOWN_TABLE)":           "Unknown table expression identifier 'default.emial' in scope SELECT emial FROM default.users (code 47)",
		"Missing columns: 'emial' while processing: 'SELECT emial FROM default.users', required columns: 'emial', maybe you meant: 'email'. (UNKNOWN_IDENTIFIER)": "Missing columns: 'emial' while processing: 'SELECT emial FROM default.users', required columns: 'emial' (code 47)",
	} {
		s := chserver.Start(t, chserver.Config{})
		s.On("SELECT emial FROM default.users", func(r *chserver.Reply) { r.Fail("47", text) })
		db, err := clickhousedb.Open(t.Context(), clickhousedb.Config{URL: execution.NewSecret(s.URL()), Access: sqlguard.ReadRulesOf(clickhouse.Dialect{}, policy)}, g.ID())
		if err != nil {
			t.Fatal(err)
		}
		if e := executiontest.NewClient(db, g).Fails(t, "SELECT emial FROM default.users", execution.Limits{}); e.Message != want || !strings.Contains(e.Hint, "lists the columns") {
			t.Errorf("%q with the hint %q, want %q", e.Message, e.Hint, want)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
