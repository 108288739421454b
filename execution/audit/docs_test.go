package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/execution/audit"
)

// auditDocument is the page of the fields and the OCSF mapping.
var auditDocument = filepath.Join("..", "..", "docs", "evidence", "audit-fields.md")

// section compares a part of the page, between two comments that name the part,
// with want.
func section(t *testing.T, name, want string) {
	t.Helper()
	text := string(read(t, auditDocument))
	begin, end := fmt.Sprintf("<!-- %s: begin, written by a test -->\n", name), fmt.Sprintf("<!-- %s: end, written by a test -->\n", name)
	head, rest, ok := strings.Cut(text, begin)
	got, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("docs/evidence/audit-fields.md has no part %s", name)
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("docs/evidence/audit-fields.md, %s; run make golden (-document +code):\n%s", name, cmp.Diff(got, want))
		return
	}
	if err := os.WriteFile(auditDocument, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocumentedFields writes the table of fields and their classes.
func TestDocumentedFields(t *testing.T) {
	table := "| field | type | class |\n|---|---|---|\n"
	for _, f := range audit.Fields() {
		table += fmt.Sprintf("| `%s` | %s | %s |\n", f.Path, f.Type, f.Class)
	}
	section(t, "fields", table)
}

// ocsfDerived describes the attributes that are not simply the value of one
// field.
var ocsfDerived = map[string]string{
	"activity_id":            "4 Query for a statement that reads, 6 Create for insert, 2 Update, 7 Delete for delete and truncate, 5 Write for merge and for a query that would write, 0 Unknown for a text that could not be read, 99 Other for the rest, by `sql.kind`",
	"activity_name":          "its caption; for 99 `sql.kind`",
	"type_uid":               "600500 and the activity",
	"type_name":              "its caption",
	"time":                   "`ts` of the decision, in milliseconds since 1970",
	"duration":               "`result.exec_ms`, rounded",
	"severity_id":            "2 for a refused statement, else 1",
	"severity":               "its caption: Low, Informational",
	"status_id":              "1 for ok; 2 for error, cancelled and refused; 0 where no end is recorded",
	"status":                 "its caption: Success, Failure, Unknown",
	"status_code":            "`result.code`; for a refused statement the first of `decision.codes`",
	"status_detail":          "all codes of a refusal, the SQLSTATE of an error, or what cut the result",
	"message":                "one line: connection, status, code",
	"action_id":              "1 for a statement that was allowed, 2 for one that was refused, 0 where no decision is recorded",
	"action":                 "its caption: Allowed, Denied, Unknown",
	"disposition_id":         "1 for a statement that was allowed, 2 for one that was refused, 0 where no decision is recorded",
	"disposition":            "its caption: Allowed, Blocked, Unknown",
	"metadata.sequence":      "`seq` of the decision, up to 2147483647",
	"metadata.original_time": "`ts` of the decision",
	"src_endpoint.ip":        "the address in `client.address`",
	"src_endpoint.port":      "the port in `client.address`",
	"type_id":                "3 when the statement names one table, else 1",
	"type":                   "its caption: Table, Database",
	"table.name":             "`sql.tables`, when it is one table",
	"unmapped.limits.*":      "`limits`, member by member",

	"unmapped.decision_event.seq":  "`seq` of the decision",
	"unmapped.decision_event.ts":   "`ts` of the decision",
	"unmapped.decision_event.hash": "`chain.hash` of the decision",
	"unmapped.outcome_event.seq":   "`seq` of the outcome",
	"unmapped.outcome_event.ts":    "`ts` of the outcome",
	"unmapped.outcome_event.hash":  "`chain.hash` of the outcome",
}

// leaves puts the values of a JSON document that are not objects or lists into
// out, by their paths.
func leaves(path string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			leaves(strings.TrimPrefix(path+"."+key, "."), inner, out)
		}
	case []any:
		for _, inner := range v {
			leaves(path+"[]", inner, out)
		}
	default:
		if strings.HasPrefix(path, "unmapped.limits.") {
			path = "unmapped.limits.*"
		}
		out[path] = fmt.Sprint(v)
	}
}

func ocsfLeaves(t *testing.T, s audit.Statement) map[string]string {
	t.Helper()
	line, err := audit.OCSF(s, "VERSION")
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	leaves("", doc, out)
	return out
}

// TestDocumentedMapping writes the table of the OCSF mapping. It gives every
// field of both events a distinct value, to find the fields that each attribute
// is made of. An attribute that is not made of a single field, and that differs
// between statements, needs a description in ocsfDerived.
func TestDocumentedMapping(t *testing.T) {
	var s audit.Statement
	marks := map[string]marked{}
	for _, e := range []*audit.Event{&s.Decision, &s.Outcome} {
		if problems := mark(reflectOf(e), "Event", marks); len(problems) > 0 {
			t.Fatal(problems)
		}
	}
	s.Decision.Type, s.Outcome.Type = audit.QueryDecision, audit.QueryFinished
	s.Decision.Decision.Verdict, s.Outcome.Result.Status = audit.VerdictAllow, audit.StatusOK
	said := map[string]map[string]bool{}
	note := func(path, what string) {
		if said[path] == nil {
			said[path] = map[string]bool{}
		}
		said[path][what] = true
	}
	isField := map[string]bool{}
	for path, value := range ocsfLeaves(t, s) {
		if m, ok := marks[value]; ok && ocsfDerived[path] == "" {
			note(path, "`"+m.field+"`")
			isField[path] = true
		}
	}
	for _, sample := range everyStatement() {
		for path, value := range ocsfLeaves(t, sample) {
			if !isField[path] {
				note(path, value)
			}
		}
	}
	fromTwo := map[string]string{ // attributes made of fields of both events, or of no field
		"authorizations[].decision": "`decision.verdict`",
		"metadata.product.version":  "the version of ktx that exports",
	}
	table := "| attribute | value |\n|---|---|\n"
	for _, path := range slices.Sorted(maps.Keys(said)) {
		what, values := ocsfDerived[path], slices.Sorted(maps.Keys(said[path]))
		switch {
		case what != "":
		case fromTwo[path] != "":
			what = fromTwo[path]
		case len(values) == 1 && isField[path]:
			what = values[0]
		case len(values) == 1:
			what = "“" + values[0] + "”"
		default:
			t.Errorf("%s is %q: add to ocsfDerived what it is made of", path, values)
		}
		table += fmt.Sprintf("| `%s` | %s |\n", path, what)
	}
	for path := range ocsfDerived {
		if said[path] == nil {
			t.Errorf("ocsfDerived describes %s, and no statement has it", path)
		}
	}
	section(t, "ocsf", table)
}
