package audit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/gowebpki/jcs"
	"pgregory.net/rapid"

	"github.com/ktxhq/ktx/execution/audit"
)

// texts draws strings with everything that a JSON writer can get wrong.
var texts = rapid.OneOf(
	rapid.String(),
	rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	rapid.SampledFrom([]string{
		"", `"\/`, "<script>&amp;</script>", "\u2028\u2029", "\x00\x01\x1f\x7f", "\b\f\n\r\t", "é ü 漢 🎉", "\xff\xfe", "a\xc3",
		"\xed\xa0\x80", "\ufffd", "\ufeff", strings.Repeat("x", 5000),
	}),
)

var events = rapid.Custom(func(t *rapid.T) audit.Event {
	text := func(label string) string { return texts.Draw(t, label) }
	list := func(label string) []string { return rapid.SliceOfN(texts, 0, 3).Draw(t, label) }
	number := func(label string) int64 { return rapid.Int64().Draw(t, label) }
	return audit.Event{
		Time:       time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "sec"), rapid.Int64Range(0, 999999999).Draw(t, "ns")).UTC(),
		Seq:        number("seq"),
		Type:       audit.Type(text("type")),
		QueryID:    text("id"),
		Session:    text("session"),
		Principal:  text("principal"),
		Client:     audit.Client{Name: text("client"), Version: text("version"), Transport: text("transport"), Address: text("address")},
		Connection: audit.Connection{ID: text("connection"), Dialect: text("dialect")},
		SQL: audit.SQL{
			Fingerprint: text("fingerprint"), Normalized: text("normalized"), HMAC: text("hmac"), Text: text("text"),
			Bytes: number("bytes"), Kind: text("kind"), Tables: list("tables"), Functions: list("functions"),
		},
		Decision: audit.Decision{
			Verdict: text("verdict"), Codes: list("codes"), Policy: text("policy"), Parser: text("parser"), LatencyUS: number("latency"),
		},
		Limits: audit.Limits{Rows: number("limit"), TimeoutMS: number("timeout")},
		Result: audit.Result{
			Status: text("status"), Rows: number("rows"), SQLState: text("sqlstate"),
			ExecMS: rapid.Float64().Draw(t, "exec"), Code: text("code"),
		},
		Tool:    audit.Tool{Server: text("server"), Name: text("tool"), ArgumentHash: text("args")},
		Process: audit.Process{PID: number("pid"), Version: text("build"), Config: text("config")},
		Reason:  text("reason"),
		Log:     audit.LogInfo{Segment: text("segment"), Lost: number("lost")},
	}
})

// TestLineIsCanonical compares the writer with two other implementations: the
// line is the one that jcs writes, the hash is that of jcs's form without the
// hash member, and encoding/json reads the event back.
func TestLineIsCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := events.Draw(t, "event")
		prev := audit.Hash(sha256.Sum256([]byte(texts.Draw(t, "prev"))))
		full := rapid.Bool().Draw(t, "full")
		line, hash, err := audit.Line(e, prev, full)
		if err != nil {
			t.Fatal(err)
		}
		body := bytes.TrimSuffix(line, []byte{'\n'})
		if bytes.IndexByte(body, '\n') >= 0 || !utf8.Valid(body) {
			t.Fatalf("not one line of UTF-8: %q", line)
		}
		canonical, err := jcs.Transform(body)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(canonical, body) {
			t.Fatalf("not canonical\n got %s\nwant %s", body, canonical)
		}
		if got := independentHash(t, body); got != hash.String() {
			t.Fatalf("hash %s, the content has %s", hash, got)
		}
		var back audit.Event
		if err := json.Unmarshal(body, &back); err != nil {
			t.Fatal(err)
		}
		want := expected(e, full)
		want.Chain = audit.Chain{Prev: prev.String(), Hash: hash.String()}
		if diff := cmp.Diff(want, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

// independentHash computes the hash as the documentation says, without any code
// of the package.
func independentHash(t *rapid.T, line []byte) string {
	var v map[string]any
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	chain, ok := v["chain"].(map[string]any)
	if !ok {
		t.Fatal("no chain")
	}
	delete(chain, "hash")
	plain, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// expected returns the event that a reader gets for e.
func expected(e audit.Event, full bool) audit.Event {
	text := func(s *string) { *s = string([]rune(*s)) } // one U+FFFD for each bad byte
	list := func(l []string) []string {
		var out []string
		for _, s := range l {
			text(&s)
			out = append(out, s)
		}
		return out
	}
	whole := func(n *int64) { *n = max(-(1<<53 - 1), min(*n, 1<<53-1)) }
	if !full {
		e.SQL.Text = ""
	}
	kind := string(e.Type)
	text(&kind)
	e.Type = audit.Type(kind)
	for _, s := range []*string{
		&e.QueryID, &e.Session, &e.Principal, &e.Client.Name, &e.Client.Version, &e.Client.Transport, &e.Client.Address,
		&e.Connection.ID, &e.Connection.Dialect, &e.SQL.Fingerprint, &e.SQL.Normalized, &e.SQL.HMAC, &e.SQL.Text, &e.SQL.Kind,
		&e.Decision.Verdict, &e.Decision.Policy, &e.Decision.Parser, &e.Result.Status, &e.Result.SQLState, &e.Result.Code,
		&e.Tool.Server, &e.Tool.Name, &e.Tool.ArgumentHash, &e.Process.Version, &e.Process.Config, &e.Reason, &e.Log.Segment,
	} {
		text(s)
	}
	e.SQL.Tables, e.SQL.Functions, e.Decision.Codes = list(e.SQL.Tables), list(e.SQL.Functions), list(e.Decision.Codes)
	for _, n := range []*int64{
		&e.Seq, &e.SQL.Bytes, &e.Decision.LatencyUS, &e.Limits.Rows, &e.Limits.TimeoutMS, &e.Result.Rows, &e.Process.PID, &e.Log.Lost,
	} {
		whole(n)
	}
	return e
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		ms   float64
		rows int64
		want string
	}{
		{0, 0, `"exec_ms":0,"rows":0`},
		{1.25, 7, `"exec_ms":1.25,"rows":7`},
		{0.000001, 1<<53 - 1, `"exec_ms":0.000001,"rows":9007199254740991`},
		{1e-7, 1 << 53, `"exec_ms":1e-7,"rows":9007199254740991`},
		{1e21, math.MaxInt64, `"exec_ms":1e+21,"rows":9007199254740991`},
		{123456789012345680000, math.MinInt64, `"exec_ms":123456789012345680000,"rows":-9007199254740991`},
		{math.NaN(), 1, `"exec_ms":null,"rows":1`},
		{math.Inf(-1), 1, `"exec_ms":null,"rows":1`},
		{math.Copysign(0, -1), 1, `"exec_ms":0,"rows":1`},
	} {
		line, _, err := audit.Line(audit.Event{Type: "t", Result: audit.Result{Status: "ok", ExecMS: tt.ms, Rows: tt.rows}}, audit.Hash{}, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := `"result":{"bytes":0,` + tt.want + `,"status":"ok"}`; !strings.Contains(string(line), want) {
			t.Errorf("%v, %d: %s does not contain %s", tt.ms, tt.rows, line, want)
		}
		canonical, err := jcs.Transform(line)
		if err != nil || string(canonical)+"\n" != string(line) {
			t.Errorf("%v: not canonical: %s (%v)", tt.ms, line, err)
		}
	}
}

func TestEventTooLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := openLog(t, dir, audit.Config{})
	e := small("q")
	e.Reason = strings.Repeat("x", 17<<20)
	if err := log.Append(t.Context(), e); err == nil {
		t.Error("an event longer than a line may be was accepted")
	}
	appendAll(t, log, small("q"))
	closeLog(t, log)
	sound(t, dir)
}

func TestHashText(t *testing.T) {
	t.Parallel()
	var h audit.Hash
	for _, text := range []string{"", "00", strings.Repeat("A", 64), strings.Repeat("g", 64), strings.Repeat("0", 65)} {
		if err := h.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as a hash", text)
		}
	}
	text := strings.Repeat("0f", 32)
	if err := h.UnmarshalText([]byte(text)); err != nil || h.String() != text {
		t.Errorf("%q was read as %s (%v)", text, h, err)
	}
}
