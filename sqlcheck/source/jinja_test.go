package source_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck/source"
	"github.com/ktxhq/ktx/sqlguard"
)

func template(t *testing.T, code string) *source.Template {
	t.Helper()
	parsed, err := source.ParseTemplate(code)
	if err != nil {
		t.Fatalf("%q: %v", code, err)
	}
	return parsed
}

func quoted(name string) string { return `"` + name + `"` }

func cut(code string, spans []sqlguard.Span) []string {
	var all []string
	for _, s := range spans {
		all = append(all, code[s.Start:s.End])
	}
	return all
}

// TestPlainTemplate: the text that a template produces, as far as it is known
// without dbt.
func TestPlainTemplate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code, want string
		unproved   []string
	}{
		{"  select 1\n", "select 1", nil},
		{"select * from {{ ref('orders') }} o, {{ source(\"raw\", 'people') }}", `select * from "orders" o, "raw"."people"`, nil},
		{"select * from {{ ref('shop', 'orders') }}, {{ ref('orders', v=2) }}, {{ref('orders',version=3)}}", `select * from "orders", "orders_v2", "orders_v3"`, nil},
		{"{{ config(materialized='table', tags=['a', var('b')]) }}\nselect 1 from {{ this }}", "\nselect 1 from \"model\"", nil},
		{"{# drop table t #}select {#- x -#} 1", "select1", nil},
		{"select a {{- ref('x') -}}\n b", "select a\"x\"b", nil},
		{"select '{{ 'x' }}', {{ 1 }} {%- set a = [1, 'b'] %} from t", "select 'x', 1 from t", nil},
		{"{% raw %}select '{{ x }}'{% endraw %}", "select '{{ x }}'", nil},
		{"select '}}', '{', '%}' from t", "select '}}', '{', '%}' from t", nil},
		{"select {{ {'a': {'b': '}}'}} }} from t", "select x from t", []string{"{{ {'a': {'b': '}}'}} }}"}},
		{"select 1\r\nfrom t\r where x", "select 1\nfrom t\n where x", nil},
		{"{% macro f() %}drop table t{% endmacro %}select 1", "select 1", nil},

		{"select '{{ var('a') }}', 'a-{{ env_var(\"b\") }}' from t", "select 'x', 'a-x' from t", nil},
		{"select cast(a as {{ dbt.type_string() }}), {{ dbt.current_timestamp() }}", "select cast(a as text), current_timestamp", nil},

		{"select '{{ f(a) }}', \"{{ var('a') }}\"", "select 'x', \"x\"", []string{"{{ f(a) }}", "{{ var('a') }}"}},
		{"select cast(a as {{ dbt.type_string(1) }}), {{ x.type_string() }}", "select cast(a as x), x", []string{"{{ dbt.type_string(1) }}", "{{ x.type_string() }}"}},
		{"select * from {{ var('table') }}", "select * from x", []string{"{{ var('table') }}"}},
		{"select {{ f(a) }} from {{ ref(name) }}", "select x from x", []string{"{{ f(a) }}", "{{ ref(name) }}"}},
		{"select * from {{ ref('a\"b') }}", "select * from x", []string{"{{ ref('a\"b') }}"}},
		{"select * from {{ ref('a').include(database=false) }}", "select * from x", []string{"{{ ref('a').include(database=false) }}"}},
		{"select 1{% if a %} from t{% endif %}", "select 1", []string{"{% if a %}"}},
		{"{% for x in y %}{% if x %}a{% endif %}{% else %}b{% endfor %}", "", []string{"{% for x in y %}"}},
		{"{% set x = run_query('drop table t') %}select 1", "select 1", []string{"{% set x = run_query('drop table t') %}"}},
		{"{% set x %}drop table t{% endset %}select 1", "select 1", []string{"{% set x %}"}},
		{"{% do f() %}{% include 'x' %}{% call f() %}{% endcall %}select 1", "select 1", []string{"{% do f() %}", "{% include 'x' %}", "{% call f() %}"}},
		{"{{ config(a=run_query('x')) }}select 1", "select 1", []string{"{{ config(a=run_query('x')) }}"}},
		{"{{ config(a=(f)('x')) }}select 1", "select 1", []string{"{{ config(a=(f)('x')) }}"}},
		{"-- {{ f() }}\nselect 1", "-- x\nselect 1", []string{"{{ f() }}"}},
		{"select {{ 'a' 'b' }}, {{ 'a\\'' }}", "select x, x", []string{"{{ 'a' 'b' }}", "{{ 'a\\'' }}"}},
	} {
		text, unproved := template(t, test.code).Plain(postgres(t), "model", quoted)
		if diff := cmp.Diff(test.want, text.SQL()); diff != "" {
			t.Errorf("%q: %s", test.code, diff)
		}
		if diff := cmp.Diff(test.unproved, cut(test.code, unproved)); diff != "" {
			t.Errorf("%q: %s", test.code, diff)
		}
	}
}

// TestAlign maps words of a compiled text to the file.
func TestAlign(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code, compiled string
		places         map[string]string // for a word of compiled, the text at its position in the file
	}{
		{"select 1", "select 1", map[string]string{"1": "1"}},
		{"select a from {{ ref('x') }} where b", `select a from "d"."s"."x" where b`, map[string]string{"a": "a", `"s"`: "{{ ref('x') }}", "where b": "where b", `"x" where`: "{{ ref('x') }} where"}},
		{"{{ config(a='b') }}\n\nselect\r\n a\r\nfrom {{ ref('x') }}\r\n", "\n\nselect\n a\nfrom x", map[string]string{"select\n": "select\r\n", "from": "from", "x": "{{ ref('x') }}"}},
		// The comma may be the one between the two, or one that Jinja produced.
		{"select {{ a }}, {{ b }} from t", "select 1, 2, 3 from t", map[string]string{"2": "{{ a }}, {{ b }}", "from t": "from t"}},
		{"select {{ a }}, {{ b }} from t", "select 1, 2 from t", map[string]string{"1": "{{ a }}", "2": "{{ b }}"}},
		{"select 1{% if x %} where a{% else %} where b{% endif %} limit 1", "select 1 where b limit 1", map[string]string{"b": "b", "limit": "limit"}},
		{"select 1{% if x %} where a{% endif %} limit 1", "select 1 limit 1", map[string]string{"limit": "limit"}},
		{"select 1{% if x %} where a > (select 1 from {{ this }}){% endif %}", "select 1 where a > (select 1 from s.m)", map[string]string{"a >": "a >", "s.m": "{{ this }}"}},
		{"{% for x in y %}{{ x }}, {% endfor %}c from t", "a, b, c from t", map[string]string{"b": "{% for x in y %}{{ x }}, {% endfor %}", "c from": "c from"}},
		{"{% set x = 1 %}{# y #}select {{ f() }}", "select é😀 z", map[string]string{"é": "{{ f() }}", "z": "{{ f() }}"}},
		{"{{ f() }}", "drop table t", map[string]string{"table": "{{ f() }}"}},
	} {
		text, ok := template(t, test.code).Align(test.compiled)
		if !ok {
			t.Errorf("%q does not become %q", test.code, test.compiled)
			continue
		}
		filled := text.Exact()
		if filled.SQL != test.compiled {
			t.Errorf("%q: %q", test.code, filled.SQL)
		}
		for word, want := range test.places {
			i := strings.Index(test.compiled, word)
			span := filled.Place(sqlguard.Span{Start: i, End: i + len(word)})
			if got := test.code[span.Start:span.End]; got != want {
				t.Errorf("%q: %q stands at %q, want %q", test.code, word, got, want)
			}
		}
	}
	for code, compiled := range map[string]string{
		"select 1":                             "select 2",
		"select 1 from {{ a }}":                "drop table t",
		"{{ a }} limit 1":                      "select 1",
		"select {{ a }} limit 1":               "select 1; drop table t",
		"a {{ x }} b {{ y }} c":                "a 1 c",
		"aa{{ x }}aa":                          "aaa",
		"{# select 1 #}":                       "select 1",
		"":                                     "select 1",
		"{% set x = 1 %}select 1":              "drop table t; select 1",
		"{{ config(a='b') }}select 1":          "drop table t; select 1",
		"select 1{% raw %}{{ x }}{% endraw %}": "select 1; drop table t",
	} {
		if _, ok := template(t, code).Align(compiled); ok {
			t.Errorf("%q becomes %q", code, compiled)
		}
	}
}

func TestInject(t *testing.T) {
	t.Parallel()
	const code = "with a as (select 1) select * from {{ ref('e') }}, a"
	parsed := template(t, code)
	text, ok := parsed.Align("with a as (select 1) select * from __dbt__cte__e, a")
	if !ok {
		t.Fatal("not aligned")
	}
	filled := text.Inject(4, " e as (drop),", parsed.Reference("e")).Exact()
	if want := "with e as (drop), a as (select 1) select * from __dbt__cte__e, a"; filled.SQL != want {
		t.Errorf("%q", filled.SQL)
	}
	for word, want := range map[string]string{"drop": "{{ ref('e') }}", "with": "with", "select 1": "select 1", "__dbt__cte__e": "{{ ref('e') }}", ", a": ", a"} {
		i := strings.LastIndex(filled.SQL, word)
		span := filled.Place(sqlguard.Span{Start: i, End: i + len(word)})
		if got := code[span.Start:span.End]; got != want && word != ", a" {
			t.Errorf("%q stands at %q, want %q", word, got, want)
		}
	}
	if span := parsed.Reference("other"); span != parsed.Span {
		t.Errorf("%v", span)
	}
}

// TestHiddenSQL: SQL that Jinja runs while dbt compiles, and hooks.
func TestHiddenSQL(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		"select {{ x }} from {{ ref('run_query') }}":                                         nil,
		"{% set r = run_query('drop table t') %}":                                            {"{% set r = run_query('drop table t') %}"},
		"{% set r = dbt.run_query(q) %}":                                                     {"{% set r = dbt.run_query(q) %}"},
		"{% call statement('x') %}drop table t{% endcall %}":                                 {"{% call statement('x') %}"},
		"{% call set_sql_header(config) %}drop table t;{% endcall %}":                        {"{% call set_sql_header(config) %}"},
		"{% if execute %}{% do adapter.drop_relation(r) %}{% endif %}":                       {"{% do adapter.drop_relation(r) %}"},
		"{{ adapter.dispatch('m')() }}{{ adapter.quote('x') }}":                              nil,
		"{% set a = adapter %}{{ a.execute('drop table t') }}":                               {"{% set a = adapter %}"},
		"{{ context['run_' ~ 'query']('drop table t') }}":                                    {"{{ context['run_' ~ 'query']('drop table t') }}"},
		"{% if run_query('x') %}{% elif a %}{% endif %}":                                     {"{% if run_query('x') %}"},
		"{% if a %}{% elif run_query('x') %}{% endif %}":                                     {"{% if a %}"},
		"{{ config(statement=1) }}{# run_query('x') #}{{ f(context = 'a') }}{{ 'adapter' }}": nil,
	} {
		if diff := cmp.Diff(want, cut(code, template(t, code).Hidden())); diff != "" {
			t.Errorf("%q: %s", code, diff)
		}
	}
	for code, want := range map[string][2][]string{
		"{{ config(materialized='table') }}":                                                     {},
		"{{ config(post_hook='grant select on {{ this }} to x') }}":                              {{"grant select on {{ this }} to x"}, nil},
		"{{ config(pre_hook=['a', \" b \"], post_hook=after_commit('c')) }}":                     {{"a", "b", "c"}, nil},
		"{{ config({'post-hook': [{'sql': 'a', 'transaction': False}], 'x': 'y'}) }}":            {{"a"}, nil},
		"{{ config(sql_header='create function f()', post_hook=f(x), tags='z') }}":               {{"create function f()"}, {"post_hook=f(x)"}},
		"{{ config(post_hook='a' ~ b) }}{{ config(pre_hook='a\\'b') }}{{ other(pre_hook='x') }}": {{"a"}, {"post_hook='a' ~ b", "pre_hook='a\\'b'"}},
	} {
		hooks, unproved := template(t, code).Hooks()
		var got [2][]string
		for _, h := range hooks {
			got[0] = append(got[0], h.Source())
		}
		got[1] = cut(code, unproved)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", code, diff)
		}
	}
}

func TestBrokenTemplates(t *testing.T) {
	t.Parallel()
	for _, code := range []string{
		"{{ a", "{% if a", "{# a", "{{ 'a }}", "{% if a %}", "{% endif %}", "{% raw %}{% endra %}", "{{ a) }}", "{% macro f() %}", "{% for a in b %}{% endif %}",
		strings.Repeat("{% if a %}", 100), "{{", "{%", "{#", "{#}", "{{ '\\",
	} {
		if _, err := source.ParseTemplate(code); err == nil {
			t.Errorf("%.40q is read", code)
		}
	}
}

func postgres(t *testing.T) sqlguard.Dialect {
	t.Helper()
	d, ok := dialects.Lookup("postgres")
	if !ok {
		t.Fatal("no PostgreSQL")
	}
	return d
}

func FuzzTemplate(f *testing.F) {
	f.Add("{% if a %}x{{ b }}{%- else -%}\r\ny{% endif %}{# z #}", "x1")
	f.Add("{{ config(post_hook=['a']) }} {% raw %} {{ {% endraw %}", " {{ ")
	f.Fuzz(func(t *testing.T, code, compiled string) {
		parsed, err := source.ParseTemplate(code)
		if err != nil {
			return
		}
		inside := func(s sqlguard.Span) {
			if s.Start < 0 || s.End < s.Start || s.End > len(code) {
				t.Fatalf("%v lies outside of %q", s, code)
			}
		}
		text, unproved := parsed.Plain(postgres(t), "m", quoted)
		for _, s := range append(append(unproved, parsed.Hidden()...), parsed.Comments()...) {
			inside(s)
		}
		hooks, _ := parsed.Hooks()
		for _, h := range hooks {
			inside(h.Span)
		}
		all := []*source.Text{text}
		if aligned, ok := parsed.Align(compiled); ok {
			if aligned.SQL() != compiled {
				t.Fatalf("%q is aligned to %q", compiled, aligned.SQL())
			}
			all = append(all, aligned)
		}
		for _, text := range all {
			filled := text.Exact()
			for i := range len(filled.SQL) + 1 {
				inside(filled.Place(sqlguard.Span{Start: i, End: len(filled.SQL)}))
			}
		}
	})
}
