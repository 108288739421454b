package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// ocsfFacts is what OCSF publishes about the class, as testdata/ocsf/derive.go
// reads it.
type ocsfFacts struct {
	Version string
	UID     int `json:"class_uid"`
	Types   map[string]string
	Shapes  map[string]ocsfShape
}

type ocsfShape struct {
	AtLeastOne []string `json:"at_least_one"`
	Attributes map[string]ocsfAttribute
}

type ocsfAttribute struct {
	Type, Requirement, Profile, Sibling string
	Array, Deprecated                   bool
	Enum                                map[string]string
}

// ocsfVersions loads the facts of every version in testdata.
func ocsfVersions(t *testing.T) []ocsfFacts {
	t.Helper()
	dir := os.Getenv("KTX_OCSF_FACTS") // a folder with the facts of more versions
	if dir == "" {
		dir = filepath.Join("testdata", "ocsf")
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(paths) < 2 {
		t.Fatalf("facts: %v, %v", paths, err)
	}
	var all []ocsfFacts
	for _, path := range paths {
		var f ocsfFacts
		if err := json.Unmarshal(read(t, path), &f); err != nil {
			t.Fatal(err)
		}
		if f.Version+".json" != filepath.Base(path) || len(f.Shapes["class"].Attributes) < 40 {
			t.Fatalf("%s holds version %q with %d attributes", path, f.Version, len(f.Shapes["class"].Attributes))
		}
		all = append(all, f)
	}
	return all
}

// check returns what is wrong with an exported event.
func (f ocsfFacts) check(line []byte) []string {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var event map[string]any
	if err := d.Decode(&event); err != nil {
		return []string{err.Error()}
	}
	metadata, _ := event["metadata"].(map[string]any)
	list, _ := metadata["profiles"].([]any)
	var profiles []string
	for _, p := range list {
		profiles = append(profiles, fmt.Sprint(p))
	}
	return f.object("class", event, profiles)
}

func (f ocsfFacts) object(name string, object map[string]any, profiles []string) []string {
	shape, ok := f.Shapes[name]
	if !ok {
		return []string{name + " is not among the facts"}
	}
	var wrong []string
	for _, key := range slices.Sorted(maps.Keys(shape.Attributes)) {
		a := shape.Attributes[key]
		inForce := a.Profile == "" || slices.Contains(profiles, a.Profile)
		value, there := object[key]
		switch {
		case there && !inForce:
			wrong = append(wrong, fmt.Sprintf("%s.%s belongs to the profile %s", name, key, a.Profile))
		case there && a.Deprecated:
			wrong = append(wrong, fmt.Sprintf("%s.%s is deprecated", name, key))
		case there:
			wrong = append(wrong, f.value(name+"."+key, a, value, profiles)...)
			if a.Sibling != "" {
				wrong = append(wrong, sibling(name, key, a, object)...)
			}
		case inForce && a.Requirement == "required":
			wrong = append(wrong, fmt.Sprintf("%s.%s is required", name, key))
		}
	}
	for key := range object {
		if _, ok := shape.Attributes[key]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s.%s is unknown", name, key))
		}
	}
	if len(shape.AtLeastOne) > 0 && !slices.ContainsFunc(shape.AtLeastOne, func(key string) bool { _, ok := object[key]; return ok }) {
		wrong = append(wrong, fmt.Sprintf("%s has none of %v", name, shape.AtLeastOne))
	}
	return wrong
}

func (f ocsfFacts) value(path string, a ocsfAttribute, value any, profiles []string) []string {
	if a.Array {
		list, ok := value.([]any)
		if !ok || len(list) == 0 {
			return []string{path + " is not a list with something in it"}
		}
		a.Array = false
		var wrong []string
		for _, v := range list {
			wrong = append(wrong, f.value(path, a, v, profiles)...)
		}
		return wrong
	}
	basic, isBasic := f.Types[a.Type]
	ok := true
	switch {
	case !isBasic && a.Type == "object": // any object is valid
		_, ok = value.(map[string]any)
	case !isBasic:
		object, is := value.(map[string]any)
		if !is {
			return []string{path + " is not an object"}
		}
		return f.object(a.Type, object, profiles)
	case basic == "string_t":
		text, is := value.(string)
		ok = is && text != ""
		if a.Type == "ip_t" {
			_, err := netip.ParseAddr(text)
			ok = ok && err == nil
		}
	case basic == "integer_t", basic == "long_t":
		n, is := value.(json.Number)
		whole, err := strconv.ParseInt(n.String(), 10, 64)
		ok = is && err == nil && (basic == "long_t" || whole >= math.MinInt32 && whole <= math.MaxInt32)
		if a.Type == "port_t" {
			ok = ok && whole >= 0 && whole < 1<<16
		}
		if a.Type == "timestamp_t" { // milliseconds, within this century
			ok = ok && whole > 946_684_800_000 && whole < 4_102_444_800_000
		}
	case basic == "boolean_t":
		_, ok = value.(bool)
	case basic == "float_t":
		_, ok = value.(json.Number)
	}
	if !ok {
		return []string{fmt.Sprintf("%s: %v is no %s", path, value, a.Type)}
	}
	if _, listed := a.Enum[fmt.Sprint(value)]; a.Enum != nil && !listed {
		return []string{fmt.Sprintf("%s: %v is not in its enumeration", path, value)}
	}
	return nil
}

// sibling checks that the string beside a number is the number's caption.
func sibling(name, key string, a ocsfAttribute, object map[string]any) []string {
	text, there := object[a.Sibling]
	caption, listed := a.Enum[fmt.Sprint(object[key])]
	if !there || !listed || fmt.Sprint(object[key]) == "99" || text == caption {
		return nil
	}
	return []string{fmt.Sprintf("%s.%s is %v, want %s", name, a.Sibling, text, caption)}
}

// everyStatement returns statements of all forms that the gateway records.
func everyStatement() map[string]audit.Statement {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	decide := func(change func(e *audit.Event)) audit.Event {
		e := decision("Q1")
		e.Seq, e.Time, e.Session, e.Principal = 7, at, "S1", "analyst"
		e.Client = audit.Client{Name: "claude-code", Version: "2.0.1", Transport: "http", Address: "127.0.0.1:51234"}
		e.Chain = audit.Chain{Prev: strings.Repeat("a", 64), Hash: strings.Repeat("b", 64)}
		change(&e)
		return e
	}
	end := func(kind audit.Type, r audit.Result) audit.Event {
		return audit.Event{
			Type: kind, QueryID: "Q1", Seq: 8, Time: at.Add(time.Second), Principal: "analyst",
			Connection: audit.Connection{ID: "warehouse", Dialect: "postgres"}, Result: r,
			Chain: audit.Chain{Prev: strings.Repeat("b", 64), Hash: strings.Repeat("c", 64)},
		}
	}
	allowed := decide(func(*audit.Event) {})
	refuse := func(kind string, codes ...string) audit.Statement {
		return audit.Statement{Decision: decide(func(e *audit.Event) {
			e.Decision.Verdict, e.Decision.Codes, e.SQL.Kind = audit.VerdictReject, codes, kind
		})}
	}
	ok := audit.Result{Status: audit.StatusOK, Rows: 3, Bytes: 120, ExecMS: 0.412}
	return map[string]audit.Statement{
		"ok":        {Decision: allowed, Outcome: end(audit.QueryFinished, ok)},
		"truncated": {Decision: allowed, Outcome: end(audit.QueryFinished, audit.Result{Status: audit.StatusOK, Rows: 1000, TruncatedBy: "rows", ExecMS: 7.5})},
		"error":     {Decision: allowed, Outcome: end(audit.QueryFinished, audit.Result{Status: audit.StatusError, Code: "database_error", SQLState: "42703"})},
		"cancelled": {Decision: allowed, Outcome: end(audit.QueryCancelled, audit.Result{Status: audit.StatusCancelled, Code: "cancelled"})},
		"one table": {Decision: decide(func(e *audit.Event) { e.SQL.Tables = []string{"public.orders"} }), Outcome: end(audit.QueryFinished, ok)},
		"bare": {Decision: audit.Event{
			Type: audit.QueryDecision, QueryID: "Q1", Seq: 1 << 40, Time: at, Decision: audit.Decision{Verdict: audit.VerdictAllow},
		}},
		"unfinished":             {Decision: allowed},
		"undecided":              {Outcome: end(audit.QueryFinished, ok)},
		"undecided error":        {Outcome: end(audit.QueryFinished, audit.Result{Status: audit.StatusError, Code: "timeout"})},
		"refused write":          refuse("delete", "write_statement"),
		"refused insert":         refuse("insert", "write_statement"),
		"refused merge":          refuse("merge", "write_statement"),
		"refused update":         refuse("update", "write_statement"),
		"refused definition":     refuse("create", "ddl_statement"),
		"refused write in a CTE": refuse("select", "write_in_cte", "relation_not_allowed"),
		"refused read":           refuse("select", "credential_relation"),
		"refused unread":         refuse("", "parse_error"),
		"refused without a code": refuse("select"),
	}
}

// TestOCSF checks every form of statement against the facts of OCSF, with all
// fields and with fields withheld.
func TestOCSF(t *testing.T) {
	t.Parallel()
	for _, facts := range ocsfVersions(t) {
		if facts.UID != audit.OCSFClass {
			t.Errorf("%s: the class has the number %d", facts.Version, facts.UID)
		}
		for name, s := range everyStatement() {
			for _, withheld := range [][]audit.Class{nil, {audit.ClassSensitive}, {audit.ClassIdentifier, audit.ClassSensitive}} {
				line, err := audit.OCSF(s, "0.1.0", withheld...)
				if err != nil {
					t.Fatal(err)
				}
				for _, wrong := range facts.check(line) {
					t.Errorf("%s: %s without %v: %s", facts.Version, name, withheld, wrong)
				}
			}
		}
	}
}

// TestOCSFMapping checks the attributes that each form of statement gets.
func TestOCSFMapping(t *testing.T) {
	t.Parallel()
	// activity, action, disposition, severity, status, code, detail
	want := map[string]string{
		"ok":                     "4 Query 1 1 1 Success  ",
		"truncated":              "4 Query 1 1 1 Success  the result was cut by the limit on rows",
		"error":                  "4 Query 1 1 1 Failure database_error SQLSTATE 42703",
		"cancelled":              "4 Query 1 1 1 Failure cancelled ",
		"one table":              "4 Query 1 1 1 Success  ",
		"bare":                   "0 Unknown 1 1 1 Unknown  no end is recorded",
		"unfinished":             "4 Query 1 1 1 Unknown  no end is recorded",
		"undecided":              "0 Unknown 0 0 1 Success  ",
		"undecided error":        "0 Unknown 0 0 1 Failure timeout ",
		"refused write":          "7 Delete 2 2 2 Failure write_statement refused: write_statement",
		"refused insert":         "6 Create 2 2 2 Failure write_statement refused: write_statement",
		"refused merge":          "5 Write 2 2 2 Failure write_statement refused: write_statement",
		"refused update":         "2 Update 2 2 2 Failure write_statement refused: write_statement",
		"refused definition":     "99 create 2 2 2 Failure ddl_statement refused: ddl_statement",
		"refused write in a CTE": "5 Write 2 2 2 Failure write_in_cte refused: write_in_cte, relation_not_allowed",
		"refused read":           "4 Query 2 2 2 Failure credential_relation refused: credential_relation",
		"refused unread":         "0 Unknown 2 2 2 Failure parse_error refused: parse_error",
		"refused without a code": "4 Query 2 2 2 Failure  ",
	}
	got := map[string]string{}
	for name, s := range everyStatement() {
		line, err := audit.OCSF(s, "0.1.0")
		if err != nil {
			t.Fatal(err)
		}
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		text := func(key string) any {
			if v, ok := e[key]; ok {
				return v
			}
			return ""
		}
		got[name] = fmt.Sprintf("%v %v %v %v %v %v %v %v", e["activity_id"], e["activity_name"], e["action_id"], e["disposition_id"],
			e["severity_id"], e["status"], text("status_code"), text("status_detail"))
		if e["type_uid"] != float64(600500)+e["activity_id"].(float64) { //nolint:forcetypeassert // a wrong type fails the test
			t.Errorf("%s: type_uid %v", name, e["type_uid"])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	line, err := audit.OCSF(everyStatement()["one table"], "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"time":1772366400123`, `"duration":0`, `"uid":"Q1"`, `"correlation_uid":"S1"`, `"sequence":7`,
		`"original_time":"2026-03-01T12:00:00.123456789Z"`, `"user":{"name":"analyst"}`, `"app_name":"claude-code"`,
		`"ip":"127.0.0.1","port":51234`, `"database":{"name":"warehouse"`, `"table":{"name":"public.orders"}`,
		`"query_string":"SELECT c.name`, `"bytes":120`, `"rows":3`, `"exec_ms":0.412`, `"latency_us":87`,
		`"authorizations":[{"decision":"allow","policy":{"name":"ktx guard"`,
		`"decision_event":{"seq":7,"hash":"bbbb`, `"outcome_event":{"seq":8,"hash":"cccc`, `"status_id":1`,
	} {
		if !strings.Contains(string(line), part) {
			t.Errorf("%s is not in %s", part, line)
		}
	}
}

// TestOCSFWithholds: the export holds no field of a withheld class, and never
// the raw statement.
func TestOCSFWithholds(t *testing.T) {
	t.Parallel()
	var decided, ended audit.Event
	marks := map[string]marked{}
	problems := mark(reflectOf(&decided), "Event", marks)
	problems = append(problems, mark(reflectOf(&ended), "Event", marks)...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	decided.Type, ended.Type, decided.Decision.Verdict = audit.QueryDecision, audit.QueryFinished, audit.VerdictAllow
	decided.SQL.Tables = decided.SQL.Tables[:1]
	for _, withheld := range [][]audit.Class{nil, {audit.ClassIdentifier}, {audit.ClassIdentifier, audit.ClassSensitive}} {
		line, err := audit.OCSF(audit.Statement{Decision: decided, Outcome: ended}, "0.1.0", withheld...)
		if err != nil {
			t.Fatal(err)
		}
		for text, m := range marks {
			if (m.class == audit.ClassSensitive || m.class == audit.ClassSecret || slices.Contains(withheld, m.class)) && strings.Contains(string(line), text) {
				t.Errorf("%s of class %s is exported without %v", m.field, m.class, withheld)
			}
		}
	}
}

// TestOCSFCheckFinds: ocsfFacts.check finds each kind of fault.
func TestOCSFCheckFinds(t *testing.T) {
	t.Parallel()
	line, err := audit.OCSF(everyStatement()["one table"], "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"severity_id":1,`, ``, "class.severity_id is required"},
		{`"product":{`, `"prodct":{`, "metadata.product is required"},
		{`"message":`, `"mesage":`, "class.mesage is unknown"},
		{`"user":{"name"`, `"user":{"nickname"`, "user.nickname is unknown"},
		{`"activity_id":4`, `"activity_id":44`, "class.activity_id: 44 is not in its enumeration"},
		{`"action_id":1`, `"action_id":"1"`, `class.action_id: 1 is no integer_t`},
		{`"type_id":1,"type":"Relational"`, `"type_id":17,"type":"Relational"`, "database.type_id: 17 is not in its enumeration"},
		{`"status":"Success"`, `"status":"Fine"`, "class.status is Fine, want Success"},
		{`"profiles":["security_control"]`, `"profiles":[]`, "class.action_id belongs to the profile security_control"},
		{`"port":51234`, `"port":70000`, "network_endpoint.port: 70000 is no port_t"},
		{`"ip":"127.0.0.1"`, `"ip":"127.0.0.1.5"`, "network_endpoint.ip: 127.0.0.1.5 is no ip_t"},
		{`"time":1772366400123`, `"time":1772366400`, "class.time: 1772366400 is no timestamp_t"},
		{`"authorizations":[`, `"authorizations":{"a":[`, ""},
		{`"actor":{"user":{"name":"analyst"},"session":{"uid":"S1"},"app_name":"claude-code"}`, `"actor":{}`, "actor has none of"},
	} {
		bad := strings.Replace(string(line), c.from, c.to, 1)
		if bad == string(line) {
			t.Errorf("%s is not in %s", c.from, line)
			continue
		}
		for _, facts := range ocsfVersions(t) {
			found := strings.Join(facts.check([]byte(bad)), "\n")
			if found == "" || !strings.Contains(found, c.want) {
				t.Errorf("%s: %s for %s: found %q, want %q", facts.Version, c.to, c.from, found, c.want)
			}
		}
	}
}
