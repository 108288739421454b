package model_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
)

// Each column is made of the one before it twice, so that the last one would be a tree
// of more than a million million nodes.
func TestColumnsThatDouble(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(orders)
	before := "amount"
	for i := range 40 {
		fmt.Fprintf(&b, "  - {name: c%d, type: number, expr: %s + %s}\n", i, before, before)
		before = fmt.Sprintf("c%d", i)
	}
	m := load(files{"orders.yaml": b.String()})
	if len(m.Problems) != 1 || m.Problems[0].Class != expr.InvalidColumn || !strings.Contains(m.Problems[0].Message, "too large") {
		t.Errorf("problems %v", problems(m))
	}
}

func TestProblemsOfOneFileAreBounded(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"keys":    "    x%d: 1\n",
		"columns": "  - {name: c%d, type: number, expr: nothing}\n",
	} {
		var b strings.Builder
		b.WriteString(orders)
		if name == "keys" {
			b.WriteString("  - name: x\n    type: number\n")
		}
		for i := range 1000 {
			fmt.Fprintf(&b, line, i)
		}
		m := load(files{"orders.yaml": b.String()})
		if len(m.Problems) < 100 || len(m.Problems) > 102 || m.Refusal(0) == nil {
			t.Errorf("%s: %d problems", name, len(m.Problems))
		}
		if !slices.ContainsFunc(m.Problems, func(p model.Problem) bool { return strings.Contains(p.Message, "more problems") }) {
			t.Errorf("%s: nothing says that problems are left out", name)
		}
	}
}

func TestManyFilesAndLinesBeyondTheLimits(t *testing.T) {
	t.Parallel()
	f := files{}
	for i := range 10_001 {
		f[fmt.Sprintf("t%05d.yaml", i)] = "name: [\n"
	}
	m := load(f)
	last := m.Problems[len(m.Problems)-1]
	if len(m.Problems) != 10_001 || last.File != "t10000.yaml" || !strings.Contains(last.Message, "more than 10000 files") {
		t.Errorf("%d problems, the last is %+v", len(m.Problems), last)
	}
	if _, err := m.Column(name(t, "t10000.x")); classOf(err) != expr.InvalidSource {
		t.Errorf("a source of a file that was not read: %v", err)
	}
}

func TestNativeTypes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"number":  "bigint|int(11) unsigned|INTEGER|numeric(10,2)|double precision|money|year(4)|float|oid|INT64",
		"string":  "text|character varying(20)|nvarchar(max)|uuid|uniqueidentifier|json|jsonb|integer[]|enum('a','b')|inet|bytea|interval|time without time zone|time(6)|bit(8)|bit varying(3)|xml|public.mood|\"char\"||ARRAY",
		"time":    "date|timestamp without time zone|timestamp(3) with time zone|timestamptz|DATETIME|datetime2(7)|datetimeoffset|smalldatetime",
		"boolean": "boolean|BOOL|tinyint(1)|bit|bit(1)",
	} {
		var b strings.Builder
		b.WriteString("tables:\n  x:\n    table: x\n    columns:\n")
		list := strings.Split(want, "|")
		for i, native := range list {
			fmt.Fprintf(&b, "      - {name: c%d, type: '%s'}\n", i, strings.ReplaceAll(native, "'", "''"))
		}
		m := valid(t, files{"_schema/x.yaml": b.String()})
		for i, c := range m.Sources[0].Columns {
			if c.Type.String() != text {
				t.Errorf("%q is a %s, want %s", list[i], c.Type, text)
			}
		}
	}
}
