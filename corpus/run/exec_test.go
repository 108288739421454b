package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ktxhq/ktx/corpus"
	"github.com/ktxhq/ktx/corpus/run"
)

// TestMain lets the test binary be the guard program of its own tests.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "be-a-guard" {
		os.Exit(beGuard(os.Args[2]))
	}
	os.Exit(m.Run())
}

// beGuard is a guard program. The statement says how it misbehaves, and manner
// says how it greets.
func beGuard(manner string) int {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 4<<20)
	write := func(format string, args ...any) { _, _ = fmt.Fprintf(os.Stdout, format, args...) }
	if !in.Scan() {
		return 9
	}
	switch manner {
	case "mute":
		_, _ = fmt.Fprintln(os.Stderr, "no licence\nsecond line")
		return 7
	case "wrong":
		write("ready\n")
	case "telling":
		write(`{"proto":"ktx-guard/1","about":{"role":"reader","name":"other"}}` + "\n")
	default:
		write(`{"proto":"ktx-guard/1","name":"tester","version":"3"}` + "\n")
	}
	for in.Scan() {
		var r struct {
			ID, Dialect string
			SQL         *string
			SQLB64      []byte `json:"sql_b64"`
		}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			return 8
		}
		sql := string(r.SQLB64)
		if r.SQL != nil {
			sql = *r.SQL
		}
		word, _, _ := strings.Cut(sql, " ")
		switch word {
		case "crash":
			_, _ = fmt.Fprintln(os.Stderr, "segmentation fault at 0x0")
			return 3
		case "leave":
			return 0
		case "sleep":
			time.Sleep(time.Hour)
		case "garbage":
			write("no JSON\n")
		case "other":
			write(`{"id":"x","decision":"allow"}` + "\n")
		case "maybe":
			write(`{"id":%q,"decision":"maybe"}`+"\n", r.ID)
		case "flood":
			write("%s\n", strings.Repeat("x", 1<<20))
		case "twice":
			write(`{"id":%q,"decision":"allow"}`+"\n"+`{"id":%[1]q,"decision":"allow"}`+"\n", r.ID)
		case "unable":
			write(`{"id":%q,"decision":"error","code":"unsupported_dialect"}`+"\n", r.ID)
		case "last":
			write(`{"id":%q,"decision":"reject","code":"c"}`, r.ID)
			return 0
		case "late", "dead", "lost":
			write(`{"id":%q,"decision":"error","fault":%q,"detail":"its own guard"}`+"\n", r.ID, map[string]string{"late": "timeout", "dead": "crash"}[word])
		case "fault":
			write(`{"id":%q,"decision":"reject","fault":"crash"}`+"\n", r.ID)
		case "unheard":
			write(`{"id":%q,"decision":"error","fault":"bad_reply"}`+"\n", r.ID)
		case "SELECT":
			write(`{"id":%q,"decision":"allow"}`+"\n", r.ID)
		default:
			write(`{"id":%q,"decision":"reject","code":"bytes_%d"}`+"\n", r.ID, len(sql))
		}
	}
	return 0
}

func tester(t *testing.T, manner string, limit time.Duration) *run.Exec {
	t.Helper()
	g, err := run.NewExec(fmt.Sprintf("%q be-a-guard %s", os.Args[0], manner), limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

func texts(sql ...string) []corpus.Case {
	var out []corpus.Case
	for i, s := range sql {
		out = append(out, corpus.Case{ID: fmt.Sprintf("KTX-%dB", i), Dialect: "postgres", SQL: s, Expect: corpus.Reject})
	}
	return out
}

// TestExec checks that each misbehaviour of a guard is the result of its case,
// and that the next case is answered nevertheless.
func TestExec(t *testing.T) {
	t.Parallel()
	g := tester(t, "well", time.Minute)
	asked := texts(
		"SELECT 1", "crash", "SELECT 1", "leave", "garbage", "SELECT 1", "other", "maybe", "flood", "unable",
		"a\x00b", "a\xff", "é\u2028<&>\"\\\n", strings.Repeat("x", 1<<20), "last", "SELECT 1", "twice", "SELECT 2", "SELECT 3",
	)
	results, err := run.Run(t.Context(), g, asked, nil)
	if err != nil {
		t.Fatal(err)
	}
	type short struct {
		Decision run.Decision
		Code     string
		Fault    run.Fault
		Detail   string
	}
	var got []short
	for _, r := range results {
		got = append(got, short{r.Decision, string(r.Code), r.Fault, r.Detail})
	}
	want := []short{
		{"allow", "", "", ""},
		{"error", "", "crash", "exit status 3: segmentation fault at 0x0"},
		{"allow", "", "", ""},
		{"error", "", "crash", "exit status 0"},
		{"error", "", "bad_reply", `the reply cannot be read: invalid character 'o' in literal null (expecting 'u'): "no JSON"`},
		{"allow", "", "", ""},
		{"error", "", "bad_reply", `the reply is to "x"; the request was "1"`},
		{"error", "", "bad_reply", `the decision is "maybe"; it must be allow, reject or error`},
		{"error", "", "bad_reply", "a line is longer than 65536 bytes"},
		{"error", "unsupported_dialect", "", ""},
		{"reject", "bytes_3", "", ""},
		{"reject", "bytes_2", "", ""},
		{"reject", "bytes_11", "", ""},
		{"reject", "bytes_1048576", "", ""},
		{"reject", "c", "", ""},
		{"error", "", "crash", "exit status 0"},
		{"allow", "", "", ""},
		{"error", "", "bad_reply", `the reply is to "2"; the request was "3"`},
		{"allow", "", "", ""},
	}
	ids := cmpopts.AcyclicTransformer("ids", func(s short) short {
		s.Detail = regexp.MustCompile(`"[0-9]+"`).ReplaceAllString(s.Detail, `"N"`)
		return s
	})
	if diff := cmp.Diff(want, got, ids); diff != "" {
		t.Error(diff)
	}
	if s := run.Scores(results)[0]; s.Cases != 19 || s.Errors != 9 || s.Crashes != 3 || s.BadReplies != 5 || s.Bypasses != 5 {
		t.Errorf("%+v", s)
	}
	if diff := cmp.Diff(map[string]string{"name": "tester", "version": "3", "command": filepath.Base(os.Args[0]), "protocol": "ktx-guard/1"}, g.Describe()); diff != "" {
		t.Error(diff)
	}
}

// TestExecTimesOut: a guard that does not answer in time gets a result for the
// case, and is ended. It would sleep for an hour.
func TestExecTimesOut(t *testing.T) {
	t.Parallel()
	g := tester(t, "well", 300*time.Millisecond)
	results, err := run.Run(t.Context(), g, texts("sleep"), nil)
	if err != nil || results[0].Fault != run.TimeOut || results[0].Decision != run.Error || results[0].Detail != "no answer in 300ms" {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestExecEndsWithItsContext(t *testing.T) {
	t.Parallel()
	g := tester(t, "well", time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	results, err := run.Run(ctx, g, texts("SELECT 1", "sleep"), func() { time.AfterFunc(50*time.Millisecond, cancel) })
	if !errors.Is(err, context.Canceled) || len(results) != 1 {
		t.Errorf("%+v, %v", results, err)
	}
}

// TestExecDoesNotStart checks that a program that is not a guard ends the run,
// and that the error has the program's output.
func TestExecDoesNotStart(t *testing.T) {
	t.Parallel()
	for manner, want := range map[string]string{
		"mute":  "greet the guard: it ended without a reply\nits standard error ends with:\nno licence\nsecond line",
		"wrong": `greet the guard: the reply is not {"proto":"ktx-guard/1"}: "ready"`,
	} {
		results, err := run.Run(t.Context(), tester(t, manner, time.Minute), texts("SELECT 1"), nil)
		if err == nil || !strings.Contains(err.Error(), want) || len(results) > 0 {
			t.Errorf("%s: %v", manner, err)
		}
	}
	g, err := run.NewExec("./no-such-program", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Run(t.Context(), g, texts("SELECT 1"), nil); err == nil || !strings.Contains(err.Error(), "start the guard: ") {
		t.Errorf("%v", err)
	}
	if a := g.Decide(t.Context(), run.Question{}); a.Decision != run.Error {
		t.Errorf("a guard that does not run answers %+v", a)
	}
	for _, command := range []string{"", " ", "'a", `"a\"`, "''"} {
		if _, err := run.NewExec(command, time.Second); err == nil {
			t.Errorf("%q is a command", command)
		}
	}
	if _, err := run.NewExec("a", 0); err == nil {
		t.Error("no time is a time limit")
	}
}

// TestExecEndsTheGroup: a guard that does not answer in time is ended together
// with the programs that it started.
func TestExecEndsTheGroup(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no process groups")
	}
	marker := filepath.Join(t.TempDir(), "pid")
	script := `read l; sleep 3600 & echo $! > ` + marker + `; echo "{\"proto\":\"ktx-guard/1\"}"; wait`
	g, err := run.NewExec("sh -c '"+script+"'", 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	results, err := run.Run(t.Context(), g, texts("SELECT 1"), nil)
	if err != nil || results[0].Fault != run.TimeOut {
		t.Fatalf("%+v, %v", results, err)
	}
	pid, err := os.ReadFile(marker)
	if err != nil {
		t.Fatal(err)
	}
	for { // until it has ended or is a zombie; the timeout of the test binary bounds this
		if exec.CommandContext(t.Context(), "kill", "-0", strings.TrimSpace(string(pid))).Run() != nil {
			return
		}
		if state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat"); err == nil && strings.Contains(string(state), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"a":                           {"a"},
		"  a \t b\n":                  {"a", "b"},
		`sh -c 'echo "$x" | wc'`:      {"sh", "-c", `echo "$x" | wc`},
		`a "b \"c\" \\ \n" ''`:        {"a", `b "c" \ \n`, ""},
		`C:\tools\guard.exe x`:        {`C:\tools\guard.exe`, "x"},
		`"C:\Program Files\g.exe" *;`: {`C:\Program Files\g.exe`, "*;"},
		`a'b'"c"d`:                    {"abcd"},
	} {
		got, err := run.SplitWords(line)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	}
}

// TestExecDoesNotStartAgain checks that the run ends if a guard crashed and
// cannot be restarted. The remaining cases do not count as crashes.
func TestExecDoesNotStartAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	once := filepath.Join(t.TempDir(), "once")
	g, err := run.NewExec(`sh -c 'mkdir `+once+` || exit 4; read l; echo "{\"proto\":\"ktx-guard/1\"}"; read l; exit 3'`, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	results, err := run.Run(t.Context(), g, texts("a", "b"), nil)
	if err == nil || !strings.Contains(err.Error(), "case KTX-1B: greet the guard: it ended without a reply") || len(results) != 1 || results[0].Fault != run.Crash {
		t.Errorf("%+v, %v", results, err)
	}
}

// TestExecOfAnother checks the faults and facts that a guard reports about
// another guard, which it asks itself.
func TestExecOfAnother(t *testing.T) {
	t.Parallel()
	g := tester(t, "telling", time.Minute)
	results, err := run.Run(t.Context(), g, texts("late", "dead", "lost", "SELECT 1", "fault", "unheard"), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		got = append(got, fmt.Sprintf("%s %s: %s", r.Decision, r.Fault, r.Detail))
	}
	want := []string{
		"error timeout: its own guard", "error crash: its own guard", "error : its own guard", "allow : ",
		`error bad_reply: the fault is "crash"; it must be crash or timeout, and the decision must be error`,
		`error bad_reply: the fault is "bad_reply"; it must be crash or timeout, and the decision must be error`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"name": "exec", "role": "reader", "command": filepath.Base(os.Args[0]), "protocol": "ktx-guard/1"}, g.Describe()); diff != "" {
		t.Error(diff)
	}
}

// TestMCPNeedsProve checks that the message says which program is missing, and
// how to install it.
func TestMCPNeedsProve(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if _, err := run.NewMCP("server {url}", time.Second); !errors.Is(err, run.ErrNoProve) || !strings.Contains(err.Error(), "go install github.com/ktxhq/ktx/cmd/ktx-prove@latest") {
		t.Errorf("%v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	const program = "#!/bin/sh\nread hello\necho '{\"proto\":\"ktx-guard/1\",\"name\":\"'$*'\"}'\n"
	if err := os.WriteFile(filepath.Join(dir, "ktx-prove"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	g, err := run.NewMCP("--role select_only -- server {url}", 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"name": "guard --timeout 2s --role select_only -- server {url}", "command": "ktx-prove", "protocol": "ktx-guard/1"}
	if diff := cmp.Diff(want, g.Describe()); diff != "" {
		t.Error(diff)
	}
	for command, limit := range map[string]time.Duration{"'": time.Second, "server": 0} {
		if _, err := run.NewMCP(command, limit); err == nil {
			t.Errorf("%q, %s: no error", command, limit)
		}
	}
}
