package postgres_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestEveryKindHasARule: every kind of node that a parser knows must have a rule.
func TestEveryKindHasARule(t *testing.T) {
	names, _ := newNodes()
	if diff := cmp.Diff(names, postgres.NodeNames); diff != "" {
		t.Errorf("the generated walker does not know the parser's kinds; run go generate (-parser +walker):\n%s", diff)
	}
	for _, name := range names {
		if _, ok := postgres.NodeTable[name]; !ok {
			t.Errorf("node kind %s has no rule in nodes.go", name)
		}
	}
	for name := range postgres.NodeTable {
		if !slices.Contains(names, name) && !slices.Contains(otherKinds, name) {
			t.Errorf("nodes.go rules on %s, which no parser knows", name)
		}
	}
}

func TestRulesFitTheWalker(t *testing.T) {
	statements := 0
	for name, rule := range postgres.NodeTable {
		if judged := slices.Contains(postgres.JudgedKinds(), name); judged != (rule.Class() == postgres.NodeJudged) {
			t.Errorf("%s: has a judge: %v, but its class is %d", name, judged, rule.Class())
		}
		verb, code := rule.Statement()
		isStatement := strings.HasSuffix(name, "Stmt")
		if isStatement {
			statements++
		}
		switch rule.Class() {
		case postgres.NodeStatement, postgres.NodeOpenStatement:
			if !isStatement || verb == "" || code == "" {
				t.Errorf("%s: a statement needs verb and code, got %q and %q", name, verb, code)
			}
			if _, known := sqlguard.LookupCode(code); !known {
				t.Errorf("%s: code %q does not exist", name, code)
			}
		case postgres.NodeJudged:
			if isStatement && verb == "" {
				t.Errorf("%s: a statement needs a verb", name)
			}
		case postgres.NodePlain, postgres.NodePart, postgres.NodeRefused, postgres.NodeInternal:
			if verb != "" || code != "" {
				t.Errorf("%s is not a statement and has the verb %q and the code %q", name, verb, code)
			}
		}
	}
	if statements != 117 {
		t.Errorf("%d statements, want the parsers' 117", statements)
	}
}

// TestEveryFieldIsVisited: the walk must visit every field of every kind whose fields it
// visits. The test puts a parameter into each field, and the walk must refuse it.
func TestEveryFieldIsVisited(t *testing.T) {
	names, nodes := newNodes()
	tried := 0
	for i, n := range nodes {
		class := postgres.NodeTable[names[i]].Class()
		switch class {
		case postgres.NodeStatement, postgres.NodeRefused, postgres.NodeInternal:
			if st := postgres.WalkNode(n, false); len(st.Effects) == 0 {
				t.Errorf("%s passes", names[i])
			}
			continue
		case postgres.NodePlain, postgres.NodeJudged, postgres.NodeOpenStatement, postgres.NodePart:
		}
		message := reflect.ValueOf(n.Node).Elem().Field(0).Elem().Type()
		for field := range message.Fields() {
			if !field.IsExported() {
				continue
			}
			fresh := reflect.New(message)
			if !plant(fresh.Elem().FieldByIndex(field.Index), 3) {
				continue
			}
			tried++
			reflect.ValueOf(n.Node).Elem().Field(0).Set(fresh)
			st := postgres.WalkNode(n, class == postgres.NodePart)
			if !slices.ContainsFunc(st.Effects, func(f sqlguard.Finding) bool {
				return f.Code == sqlguard.CodeParameterNotAllowed || strings.Contains(f.Message, "holds a construct")
			}) && (names[i] != "LockingClause" || field.Name != "LockedRels") { // it has names of this query's own items
				t.Errorf("%s.%s is not visited: %+v", names[i], field.Name, st.Effects)
			}
		}
	}
	if tried < 150 {
		t.Errorf("only %d fields tried", tried)
	}
}

// plant puts a parameter into a field, or into a message inside the field. It reports
// whether the field can have one.
func plant(field reflect.Value, depth int) bool {
	t := field.Type()
	if t.Kind() == reflect.Slice {
		one := reflect.MakeSlice(t, 1, 1)
		if !plant(one.Index(0), depth) {
			return false
		}
		field.Set(one)
		return true
	}
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct || depth == 0 {
		return false
	}
	if t == reflect.TypeFor[*pgNode]() {
		field.Set(reflect.ValueOf(paramNode(1)))
		return true
	}
	message := reflect.New(t.Elem())
	for inner := range t.Elem().Fields() {
		if inner.IsExported() && plant(message.Elem().FieldByIndex(inner.Index), depth-1) {
			field.Set(message)
			return true
		}
	}
	return false
}

// TestEmptyNodesAreRefused: an empty node could mean anything.
func TestEmptyNodesAreRefused(t *testing.T) {
	if st := postgres.WalkNode(&pgNode{}, false); len(st.Effects) == 0 {
		t.Error("an empty node passes")
	}
}
