package conformance_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/executiontest/testdb"
)

// token is the token of the servers that need one.
const token = "conformance-token"

// bench is a project with two databases, served over HTTP without a token and
// with one.
type bench struct {
	programs
	dir, url, guarded string
}

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{programs: installed(t)}
	server := testdb.Postgres(t)
	reader := server.NewRole(t)
	database := server.NewDatabase(t,
		"CREATE TABLE payments (id bigint, amount numeric(38,18))",
		"INSERT INTO payments VALUES (9007199254740993, 12345678901234567890.123456789012345678), (-9223372036854775808, -0.000000000000000001)",
		"GRANT SELECT ON payments TO "+reader,
	)
	name := database[strings.LastIndex(database, "/")+1:]
	name, _, _ = strings.Cut(name, "?")
	b.dir = b.withPostgres(t, server.URL(name, reader))
	b.url = b.serve(t, b.dir, "")
	b.guarded = b.serve(t, b.withPostgres(t, server.URL(name, reader)), token)
	return b
}

// withPostgres makes a project with the demo's database and the one at url.
func (b bench) withPostgres(t *testing.T, url string) (dir string) {
	t.Helper()
	dir = b.project(t)
	secret := filepath.Join(dir, "warehouse.url")
	config, err := os.ReadFile(filepath.Join(dir, "ktx.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The demo is the last connection in the file.
	config = fmt.Appendf(config, "  warehouse: {driver: postgres, url: %q}\n", "file:"+secret)
	for path, text := range map[string][]byte{secret: []byte(url), filepath.Join(dir, "ktx.yaml"): config} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// stdio is the command that starts the server over standard input and output.
func (b bench) stdio() []string { return []string{b.ktx(), "mcp", "stdio", "--project-dir", b.dir} }

// call is a call of sql_execution with the expected rows as JSON.
type call struct {
	ConnectionID string `json:"connectionId"`
	SQL          string `json:"sql"`
	rows         string
}

// calls ask both databases for values that JSON parsers round.
func calls() []call {
	return []call{
		{"demo", "SELECT 9007199254740993 AS n, 9007199254740992 AS edge, -9223372036854775808 AS least, 0.1 AS part, NULL AS missing, 'ä😀' AS words", `[["9007199254740993",9007199254740992,"-9223372036854775808",0.1,null,"ä😀"]]`},
		{"warehouse", "SELECT id, amount FROM payments ORDER BY id DESC", `[["9007199254740993","12345678901234567890.123456789012345678"],["-9223372036854775808","-0.000000000000000001"]]`},
	}
}

// result is the result of sql_execution as a client passes it on.
type result struct {
	Content           []struct{ Type, Text string } `json:"content"`
	StructuredContent structured                    `json:"structuredContent"`
	IsError           bool                          `json:"isError"`
}

type structured struct {
	Rows json.RawMessage `json:"rows"`
}

// is compares rows byte by byte, except for blanks between them.
func (s structured) is(t *testing.T, want string) {
	t.Helper()
	var text any
	decode := json.NewDecoder(strings.NewReader(string(s.Rows)))
	decode.UseNumber()
	if err := decode.Decode(&text); err != nil {
		t.Errorf("rows %q: %v", s.Rows, err)
		return
	}
	got, err := json.Marshal(text)
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

var tools = func() []string {
	text, err := os.ReadFile(filepath.FromSlash("../../research/testdata/tools.golden.json"))
	if err != nil {
		panic(err)
	}
	var list []struct{ Name string }
	if err := json.Unmarshal(text, &list); err != nil {
		panic(err)
	}
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.Name
	}
	return names
}()

// asked is the input of client.mjs.
type asked struct {
	SDK     string            `json:"sdk"`
	Mode    any               `json:"mode,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Command []string          `json:"command,omitempty"`
	Calls   []call            `json:"calls"`
	proxied bool              // by a program that may write progress and the answer together, which the SDK v1 then loses
}

// asks runs client.mjs, which must list the tools and get each row unchanged.
func (b bench) asks(t *testing.T, protocol string, a asked) {
	t.Helper()
	a.Calls = calls()
	out, errs, code := b.client(t, a)
	if code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	var got struct {
		Protocol string
		Tools    []string
		Answers  []result
		Progress [][]string
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	if got.Protocol != protocol {
		t.Errorf("protocol version %q, want %q", got.Protocol, protocol)
	}
	if diff := cmp.Diff(tools, got.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if len(got.Answers) != len(a.Calls) {
		t.Fatalf("%d answers to %d calls", len(got.Answers), len(a.Calls))
	}
	for i, c := range a.Calls {
		r := got.Answers[i]
		stages, rows, _ := strings.Cut(strings.Join(got.Progress[i], ", "), ", Fetched ")
		if !a.proxied && (stages != "Validating SQL, Executing" || !strings.HasSuffix(rows, " rows")) {
			t.Errorf("%s: progress %q", c.SQL, got.Progress[i])
		}
		if r.IsError || len(r.Content) != 1 {
			t.Errorf("%s: %+v", c.SQL, r)
			continue
		}
		r.StructuredContent.is(t, c.rows)
		var text structured
		if err := json.Unmarshal([]byte(r.Content[0].Text), &text); err != nil {
			t.Errorf("the text of the answer: %v", err)
		}
		text.is(t, c.rows)
	}
	t.Logf("protocol %s, %d tools, %d calls with exact values", got.Protocol, len(got.Tools), len(got.Answers))
}

func (b bench) client(t *testing.T, a asked) (stdout, stderr string, code int) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b.node(t, filepath.Join(b.programs.dir, "client.mjs"), string(text))
}

func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

// The protocol versions that the two eras negotiate.
const (
	older = "2025-11-25"
	newer = "2026-07-28"
)

// TestTypeScript connects with both SDKs.
func TestTypeScript(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name, sdk string
		mode      any
		protocol  string
	}{
		{"SDK v1", "v1", nil, older},
		{"client v2 legacy", "v2", "legacy", older},
		{"client v2 auto", "v2", "auto", newer},
		{"client v2 pinned", "v2", map[string]string{"pin": newer}, newer},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Run("HTTP", func(t *testing.T) { b.asks(t, c.protocol, asked{SDK: c.sdk, Mode: c.mode, URL: b.url}) })
			t.Run("HTTP with a token", func(t *testing.T) {
				b.asks(t, c.protocol, asked{SDK: c.sdk, Mode: c.mode, URL: b.guarded, Headers: bearer(token)})
			})
			t.Run("stdio", func(t *testing.T) { b.asks(t, c.protocol, asked{SDK: c.sdk, Mode: c.mode, Command: b.stdio()}) })
			for _, wrong := range []struct {
				name    string
				headers map[string]string
			}{{"no token", nil}, {"another token", bearer("other")}, {"the name of a variable", bearer("${KTX_MCP_TOKEN}")}} {
				t.Run(wrong.name, func(t *testing.T) {
					out, errs, code := b.client(t, asked{SDK: c.sdk, Mode: c.mode, URL: b.guarded, Headers: wrong.headers, Calls: []call{}})
					if code == 0 || !strings.Contains(errs, "401") && !strings.Contains(errs, "Unauthorized") {
						t.Errorf("exit code %d\n%s%s", code, out, errs)
					}
				})
			}
		})
	}
}

// TestRemote connects through mcp-remote, which is a server over standard input
// and output for its client.
func TestRemote(t *testing.T) {
	b := newBench(t)
	remote := []string{filepath.Join(b.programs.dir, "bin", "node"), b.script("mcp-remote/dist/proxy.js")}
	t.Run("HTTP", func(t *testing.T) {
		b.asks(t, older, asked{SDK: "v1", Command: append(slices.Clone(remote), b.url), proxied: true})
	})
	t.Run("HTTP with a token", func(t *testing.T) {
		b.asks(t, older, asked{SDK: "v1", Command: append(slices.Clone(remote), b.guarded, "--header", "Authorization:Bearer "+token), proxied: true})
	})
}

// TestMCPorter connects with mcporter.
func TestMCPorter(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"HTTP", []string{"--http-url", b.url, "--allow-http"}},
		{"HTTP with a token", []string{"--http-url", b.guarded, "--allow-http", "--header", "Authorization=Bearer " + token}},
		{"stdio", []string{"--stdio", strings.Join(b.stdio(), " ")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(args ...string) string {
				out, errs, code := b.node(t, slices.Concat([]string{b.script("mcporter/dist/cli.js")}, args, []string{"--name", "ktx", "--no-oauth"}, c.args)...)
				if code != 0 {
					t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
				}
				return out
			}
			var list struct {
				Status string
				Tools  []struct{ Name string }
			}
			out := run("list", "--json")
			if err := json.Unmarshal([]byte(out), &list); err != nil || list.Status != "ok" || len(list.Tools) != len(tools) || list.Tools[0].Name != tools[0] || list.Tools[1].Name != tools[1] {
				t.Errorf("%v\n%s", err, out)
			}
			for _, c := range calls() {
				args, err := json.Marshal(c)
				if err != nil {
					t.Fatal(err)
				}
				var got structured
				out := run("call", "--tool", "sql_execution", "--args", string(args), "--output", "json")
				if err := json.Unmarshal([]byte(out), &got); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got.is(t, c.rows)
			}
			t.Logf("%d tools, %d calls with exact values", len(list.Tools), len(calls()))
		})
	}
	t.Run("no token", func(t *testing.T) {
		out, errs, code := b.node(t, b.script("mcporter/dist/cli.js"), "list", "--name", "ktx", "--no-oauth", "--exit-code", "--json", "--http-url", b.guarded, "--allow-http")
		if code == 0 {
			t.Errorf("it listed the tools without the token\n%s%s", out, errs)
		}
	})
}

// TestInspector lists the tools with the protocol's inspector, which must
// report no problem with their schemas, and makes ten concurrent calls.
func TestInspector(t *testing.T) {
	b := newBench(t)
	cli := []string{b.script("@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}
	for _, c := range []struct {
		name string
		args []string // before those of the method
		last []string
		load []call
	}{
		{"HTTP", []string{b.url, "--transport", "http"}, nil, calls()},
		{"HTTP with a token", []string{b.guarded, "--transport", "http", "--header", "Authorization: Bearer " + token}, nil, nil},
		{"stdio", []string{"--transport", "stdio"}, append([]string{"--"}, b.stdio()...), calls()},
	} {
		for _, era := range []string{"legacy", "auto", "modern"} {
			run := func(t *testing.T, into any, args ...string) {
				t.Helper()
				out, errs, code := b.node(t, slices.Concat(cli, c.args, args, []string{"--protocol-era", era, "--format", "json"}, c.last)...)
				if code != 0 || errs != "" {
					t.Fatalf("exit code %d\n%s%s", code, out, errs)
				}
				if err := json.Unmarshal([]byte(out), into); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			t.Run(c.name+"/strict/"+era, func(t *testing.T) {
				var list struct {
					Result struct{ Tools []struct{ Name string } }
				}
				run(t, &list, "--method", "tools/list", "--strict")
				if n := len(list.Result.Tools); n != len(tools) {
					t.Errorf("%d tools", n)
				}
			})
			for _, call := range c.load {
				t.Run(c.name+"/load/"+era+"/"+call.ConnectionID, func(t *testing.T) {
					args, err := json.Marshal(call)
					if err != nil {
						t.Fatal(err)
					}
					var load struct {
						Result struct {
							Requests, OK, ToolErrors, Errors int
							LatencyMs                        struct{ P50, P99 float64 }
						}
					}
					run(t, &load, "--method", "tools/call", "--tool-name", "sql_execution", "--tool-args-json", string(args), "--load", "--load-requests", "500", "--load-concurrency", "10")
					if r := load.Result; r.Requests != 500 || r.OK != 500 || r.ToolErrors != 0 || r.Errors != 0 {
						t.Errorf("%+v", r)
					}
					t.Logf("%d of %d calls; p50 %.0f ms, p99 %.0f ms", load.Result.OK, load.Result.Requests, load.Result.LatencyMs.P50, load.Result.LatencyMs.P99)
				})
			}
		}
	}
}
