package source_test

import (
	"fmt"
	"slices"
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

// TestRenderTemplate: the text that a template produces, as far as it is known
// without dbt.
func TestRenderTemplate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code, want string
		unproved   []string
	}{
		{"  select 1\n", "select 1", nil},
		{"select * from {{ ref('orders') }} o, {{ source(\"raw\", 'people') }}", `select * from "orders" o, "raw"."people"`, nil},
		{"select * from {{ ref('shop', 'orders') }}, {{ ref('orders', v=2) }}, {{ref('orders',version=3)}}", `select * from "orders", "orders_v2", "orders_v3"`, nil},
		{"select * from {{ ref('a').include(database=false) }}, {{ builtins.ref('b') }}", `select * from "a", "b"`, nil},
		{"{{ config(materialized='table', tags=['a', var('b')]) }}\nselect 1 from {{ this }}", "\nselect 1 from \"model\"", nil},
		{"{# drop table t #}select {#- x -#} 1", "select1", nil},
		{"select a {{- ref('x') -}}\n b", "select a\"x\"b", nil},
		{"select '{{ 'x' }}', {{ 1 }}, {{ -1.5 }} {%- set a = [1, 'b'] %} from t", "select 'x', 1, -1.5 from t", nil},
		{"{% raw %}select '{{ x }}'{% endraw %}", "select '{{ x }}'", nil},
		{"select '}}', '{', '%}' from t", "select '}}', '{', '%}' from t", nil},
		{"select 1\r\nfrom t\r where x", "select 1\nfrom t\n where x", nil},
		{"select '{{ var('a') }}', 'a-{{ env_var(\"b\") }}' from t", "select 'x', 'a-x' from t", nil},
		{"select cast(a as {{ dbt.type_string() }}), {{ dbt.current_timestamp() }}, b::{{ type_int() }}", "select cast(a as text), current_timestamp, b::int", nil},
		{"select {{ 'a' 'b' }}, {{ 'a\\'\\n' }}, {{ 'é\\\\' }}", "select ab, a'\n, é\\", nil},

		// Values that the file sets.
		{"{% set t = 'orders' %}select * from {{ t }}_{{ t | upper }} limit {{ 1 + 2 }}", "select * from orders_ORDERS limit 3", nil},
		{"{% set q %}select {{ 1 }}{% endset %}{{ q }} union {{ q | trim }}", "select 1 union select 1", nil},
		{"select {% for c in ['a', 'b'] %}{{ c }}{% if not loop.last %}, {% endif %}{% endfor %}", "select a, b", nil},
		{"{% set d = {'a': 1, 'b': 'x'} %}select {% for k, v in d.items() %}{{ v }} as {{ k }},{% endfor %} {{ d.a }}{{ d['b'] }}{{ d.get('c', 3) }}", "select 1 as a,x as b, 1x3", nil},
		{"{% set l = [] %}{% do l.append('a') %}{% do l.append('b') %}select {{ l | join(', ') }}, {{ l[1] }}, {{ l | length }}", "select a, b, b, 2", nil},
		{"{% for x in [] %}a{% else %}select 1{% endfor %}", "select 1", nil},
		{"{% macro f(a, b='z') %}{{ a }}.{{ b }}{% endmacro %}select {{ f('x') }}, {{ f('x', b='y') }}", "select x.z, x.y", nil},
		{"{% macro f() %}{{ return('a' ~ 'b') }}drop{% endmacro %}select {{ f() }}", "select ab", nil},
		{"{% macro f() %}{{ f() }}{% endmacro %}select '{{ f() }}'", "select 'x'", []string{"{{ f() }}"}},
		{"select {{ 'a' if 1 == 1 else 'b' }}, {{ 'a' if 'x' in ['y'] else 'b' }}", "select a, b", nil},

		// Conditions that are known, and the first of those that are not.
		{"{% if target.type == 'snowflake' %}a{% elif target.type in ('bigquery', 'postgres') %}select 1{% else %}b{% endif %}", "select 1", nil},
		{"{% if target.type != 'postgres' or not execute %}drop{% endif %}select 1", "select 1", nil},
		{"select 1{% if is_incremental() %} where a{% endif %}", "select 1 where a", nil},
		{"select 1{% if var('a') %} a{% else %} b{% endif %}", "select 1 a", nil},

		// What is not known.
		{"select {{ {'a': {'b': '}}'}} }} from t", "select x from t", []string{"{{ {'a': {'b': '}}'}} }}"}},
		{"select '{{ f(a) }}', \"{{ var('a') }}\"", "select 'x', \"x\"", []string{"{{ f(a) }}", "{{ var('a') }}"}},
		{"select cast(a as {{ dbt.type_string(1) }}), {{ x.type_string() }}", "select cast(a as x), x", []string{"{{ dbt.type_string(1) }}", "{{ x.type_string() }}"}},
		{"select * from {{ var('table') }}", "select * from x", []string{"{{ var('table') }}"}},
		{"select {{ f(a) }} from {{ ref(name) }}", "select x from x", []string{"{{ f(a) }}", "{{ ref(name) }}"}},
		{"select * from {{ ref('a\"b') }}", "select * from x", []string{"{{ ref('a\"b') }}"}},
		{"select {% for x in f() %}{{ x }}, {% endfor %}1", "select x, x, 1", []string{"{% for x in f() %}", "{{ x }}", "{{ x }}"}},
		{"{% set x %}a{% endset %}{% set x = f(x) %}select '{{ x }}'", "select 'x'", []string{"{% set x = f(x) %}", "{{ x }}"}},
		{"{% do f() %}{% include 'x' %}{% call f() %}{% endcall %}select 1", "xselect 1", []string{"{% do f() %}", "{% include 'x' %}", "{% call f() %}", "{% call f() %}"}},
		{"-- {{ f() }}\nselect 1", "-- x\nselect 1", []string{"{{ f() }}"}},
		{"select {{ a b }}, {{ 1 + }}, {{ '\\x41' }}", "select x, x, x41", []string{"{{ a b }}", "{{ 1 + }}", "\\x"}},
	} {
		rendered := template(t, test.code).Render(postgres(t), "model", quoted)
		guess := rendered.Texts[0].Guesses(postgres(t))[0]
		if diff := cmp.Diff(test.want, guess.Text.SQL()); diff != "" {
			t.Errorf("%q: %s", test.code, diff)
		}
		unproved := slices.Concat(rendered.Unknown, guess.Unproved)
		slices.SortFunc(unproved, func(x, y sqlguard.Span) int { return x.Start - y.Start })
		if diff := cmp.Diff(test.unproved, cut(test.code, unproved)); diff != "" {
			t.Errorf("%q: %s", test.code, diff)
		}
	}
}

// TestRenderBranches: every branch of a condition that is not known is in a text.
func TestRenderBranches(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		"{% if a %}1{% endif %}":                                           {"1", ""},
		"{% if a %}1{% elif b %}2{% else %}3{% endif %}":                   {"1", "3", "2"},
		"{% if a %}1{% endif %}{% if not a %}2{% endif %}":                 {"1", "2"},
		"{% if a and target.type == 'mysql' %}1{% else %}2{% endif %}":     {"2"},
		"{% if a %}{% if b %}1{% else %}2{% endif %}{% endif %}":           {"1", "2", ""},
		"{% if a == 1 %}1{% endif %}{% if b is none %}2{% endif %}":        {"12", "1", "2", ""},
		"{{ 'a' if x else 'b' }}":                                          {"a", "b"},
		"{% for x in f() %}1{% else %}2{% endfor %}":                       {"11", "2"},
		"{% if execute %}1{% else %}2{% endif %}":                          {"1"},
		"{% if target.type == 'redshift' %}1{% else %}2{% endif %}":        {"2"},
		"{% if target.type == 'unheard' %}1{% else %}2{% endif %}":         {"1", "2"},
		"{% if (target.type in ['postgres']) | as_bool() %}1{% endif %}":   {"1"},
		"{% if flags.FULL_REFRESH or should_full_refresh() %}1{% endif %}": {"1", ""},
	} {
		var got []string
		for _, text := range template(t, code).Render(postgres(t), "m", quoted).Texts {
			got = append(got, text.SQL())
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", code, diff)
		}
	}
	code := ""
	for i := range 40 {
		code += fmt.Sprintf("{%% if a%d %%}{%% if b%d %%}x{%% endif %%}{%% endif %%}", i, i)
	}
	rendered := template(t, code).Render(postgres(t), "m", quoted)
	if len(rendered.Texts) > 12 {
		t.Errorf("%d texts", len(rendered.Texts))
	}
	deep := strings.Repeat("{% for x in [1, 2, 3, 4, 5, 6, 7, 8, 9] %}", 20) + "x" + strings.Repeat("{% endfor %}", 20)
	if rendered := template(t, deep).Render(postgres(t), "m", quoted); len(rendered.Unknown) == 0 {
		t.Error("a text that is cut is not noted")
	}
}

// TestGuesses: holes are read as a name or as nothing.
func TestGuesses(t *testing.T) {
	t.Parallel()
	for code, want := range map[string][]string{
		"select 1":                                {"select 1"},
		"{{ f() }} select {{ g() }}":              {"x select x", " select x"},
		"select 1\n  {{ f() }}\nlimit 1":          {"select 1\n  x\nlimit 1", "select 1\n  \nlimit 1"},
		"select a {{ f() }} from t where {{ g }}": {"select a x from t where x", "select a  from t where x"},
	} {
		var got []string
		for _, guess := range template(t, code).Render(postgres(t), "m", quoted).Texts[0].Guesses(postgres(t)) {
			got = append(got, guess.Text.SQL())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", code, diff)
		}
	}
	guess := template(t, "select {{ a }}.f(b), c").Render(postgres(t), "m", quoted).Texts[0].Guesses(postgres(t))[0]
	for part, want := range map[string]bool{"f": true, "c": false, "b": false, "x": true} {
		at := strings.LastIndex(guess.Text.SQL(), part)
		if got := guess.Touches(sqlguard.Span{Start: at, End: at + len(part)}); got != want {
			t.Errorf("%s: %t", part, got)
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
		"{{ config(pre_hook=['a', \" b \"], post_hook=after_commit('c')) }}":                     {{"a", " b ", "c"}, nil},
		"{{ config({'post-hook': [{'sql': 'a', 'transaction': False}], 'x': 'y'}) }}":            {{"a"}, nil},
		"{{ config(sql_header='create function f()', post_hook=f(x), tags='z') }}":               {{"create function f()"}, {"{{ config(sql_header='create function f()', post_hook=f(x), tags='z') }}"}},
		"{% set h %}drop table t{% endset %}{{ config(post_hook=h, pre_hook=['a'] + ['b']) }}":   {{"drop table t", "a", "b"}, nil},
		"{{ config(post_hook='a' ~ b) }}{{ config(pre_hook='a\\'b') }}{{ other(pre_hook='x') }}": {{"a", "a'b"}, nil},
		"{% if x %}{{ config(pre_hook='a') }}{% else %}{{ config(pre_hook='b') }}{% endif %}":    {{"a", "b"}, nil},
	} {
		rendered := template(t, code).Render(postgres(t), "m", quoted)
		var got [2][]string
		for _, h := range rendered.Hooks {
			got[0] = append(got[0], h.Text.SQL())
		}
		got[1] = cut(code, rendered.UnknownHooks)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", code, diff)
		}
	}
	for code, want := range map[string][2][]string{
		"{% set r = run_query('drop table t') %}":                                                       {{"drop table t"}, nil},
		"{% set q %}delete from {{ this }}{% endset %}{% if execute %}{% do run_query(q) %}{% endif %}": {{`delete from "m"`}, nil},
		"{% call statement('x', fetch_result=true) %}drop table t{% endcall %}":                         {{"drop table t"}, nil},
		"{{ dbt_utils.get_single_value(\"select 1\") }}":                                                {{"select 1"}, nil},
		"{% set r = run_query(f()) %}":                                                                  {nil, {"{% set r = run_query(f()) %}"}},
		"{% if run_query('a')[0] and run_query(b) %}{% endif %}":                                        {{"a"}, {"{% if run_query('a')[0] and run_query(b) %}"}},
		"{% do adapter.drop_relation(r) %}":                                                             {nil, {"{% do adapter.drop_relation(r) %}"}},
		"{{ context['run_' ~ 'query']('drop table t') }}":                                               {nil, {"{{ context['run_' ~ 'query']('drop table t') }}"}},
		"{{ a run_query('x') }}":                                                                        {nil, {"{{ a run_query('x') }}"}},
		"{% macro f() %}{% do run_query('a') %}{% endmacro %}{{ f() }}":                                 {{"a"}, nil},
		"{% if target.type == 'mysql' %}{% do run_query('a') %}{% endif %}":                             {nil, nil},
		"{{ run_query('a' ~ f()) }}":                                                                    {{"a"}, nil},
	} {
		rendered := template(t, code).Render(postgres(t), "m", quoted)
		var got [2][]string
		for _, run := range rendered.Runs {
			got[0] = append(got[0], run.Text.SQL())
		}
		got[1] = cut(code, rendered.UnknownRuns)
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
		rendered := parsed.Render(postgres(t), "m", quoted)
		for _, s := range slices.Concat(rendered.Unknown, rendered.UnknownHooks, rendered.UnknownRuns, parsed.Hidden(), parsed.Comments()) {
			inside(s)
		}
		var all []*source.Text
		for _, text := range rendered.Texts {
			for _, guess := range text.Guesses(postgres(t)) {
				all = append(all, guess.Text)
				for _, s := range guess.Unproved {
					inside(s)
				}
			}
		}
		for _, run := range slices.Concat(rendered.Hooks, rendered.Runs) {
			inside(run.Call)
			if inner, err := run.Render(postgres(t), code, "m", quoted); err == nil {
				for _, text := range inner.Texts {
					all = append(all, text.Guesses(postgres(t))[0].Text)
				}
			}
		}
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
