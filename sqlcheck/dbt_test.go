package sqlcheck_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ktxhq/ktx/dialects"
	"github.com/ktxhq/ktx/sqlcheck"
	"github.com/ktxhq/ktx/sqlguard"
)

// dbt is a dbt project for a test.
type dbt struct {
	t    *testing.T
	dir  string
	said atomic.Value // sqlcheck.Known of the last file, from the manifest
}

func newDBT(t *testing.T) *dbt {
	t.Helper()
	d := &dbt{t: t, dir: t.TempDir()}
	d.write("dbt_project.yml", "name: shop\nprofile: shop\nmodel-paths: [models]\n")
	return d
}

func (d *dbt) write(name, text string) {
	d.t.Helper()
	path := filepath.Join(d.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// node is a node of a manifest: its source, the compiled query, and other
// fields.
type node map[string]any

func model(file, raw, compiled string, more ...node) node {
	name := strings.TrimSuffix(filepath.Base(file), ".sql")
	n := node{
		"unique_id": "model.shop." + name, "name": name, "resource_type": "model", "package_name": "shop", "original_file_path": file,
		"database": "warehouse", "schema": "public", "language": "sql", "raw_code": raw, "compiled": true, "compiled_code": compiled,
		"config": node{"enabled": true, "materialized": "view", "pre-hook": []any{}, "post-hook": []any{}}, "depends_on": node{"macros": []any{}, "nodes": []any{}},
		"extra_ctes": []any{}, "extra_ctes_injected": true,
	}
	for _, m := range more {
		maps.Copy(n, m)
	}
	return n
}

// manifest writes a manifest of version 12 with nodes, and with other members.
func (d *dbt) manifest(nodes []node, more ...node) {
	d.t.Helper()
	all := node{
		"metadata": node{"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "adapter_type": "postgres", "project_name": "shop"},
		"nodes":    node{}, "macros": node{}, "disabled": node{}, "docs": node{}, "parent_map": node{},
	}
	for i, n := range nodes {
		all["nodes"].(node)[fmt.Sprintf("%v.%d", n["unique_id"], i)] = n //nolint:forcetypeassert // made above
	}
	for _, m := range more {
		maps.Copy(all, m)
	}
	text, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	d.write("target/manifest.json", string(text))
}

// found checks the project and returns the findings: file, position, code,
// severity unless it is an error, the marked text, and the start of the message
// if there is no statement.
func (d *dbt) found() (out []string, statements int) {
	d.t.Helper()
	inputs, err := sqlcheck.Find([]string{d.dir}, "stdin")
	if err != nil {
		d.t.Fatal(err)
	}
	c := sqlcheck.Checker{Choose: d.choose, Whole: true, Today: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}
	files, err := c.Run(d.t.Context(), inputs)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, file := range files {
		statements += file.Judged
		for _, f := range file.Findings {
			rel, err := filepath.Rel(d.dir, file.Path)
			if err != nil {
				d.t.Fatal(err)
			}
			line := fmt.Sprintf("%s:%d:%d %s", filepath.ToSlash(rel), f.Line, f.Column, f.Code)
			if f.Severity != "error" {
				line += " " + string(f.Severity)
			}
			if f.State != "" {
				line += " " + string(f.State)
			}
			if text := file.Text[f.Span.Start:f.Span.End]; text != "" {
				line += fmt.Sprintf(" %q", text)
			} else {
				line += ": " + f.Message
			}
			out = append(out, line)
		}
	}
	return out, statements
}

func (d *dbt) choose(_, _ string, known sqlcheck.Known) (*sqlguard.Guard, *sqlguard.Finding) {
	d.said.Store(known)
	reader, _ := dialects.Lookup("postgres")
	policy := sqlguard.DefaultPolicy()
	policy.Database = known.Database
	guard, err := sqlguard.New(reader, policy, nil)
	if err != nil {
		d.t.Error(err)
	}
	return guard, nil
}

func (d *dbt) want(statements int, want ...string) {
	d.t.Helper()
	found, judged := d.found()
	if diff := cmp.Diff(slices.Concat(want), slices.Concat(found)); diff != "" || judged != statements {
		d.t.Errorf("%d statements, want %d: %s", judged, statements, diff)
	}
}

// TestDBTWithoutManifest: Jinja whose result is known without dbt is judged.
func TestDBTWithoutManifest(t *testing.T) {
	t.Parallel()
	d := newDBT(t)
	d.write("models/good.sql", "{{ config(materialized='table') }}\n\nselect id from {{ ref('a') }} join {{ source('b', 'c') }} using (id) -- {# {{ f() }} #}\n")
	d.write("models/bad.sql", "select pg_sleep(1) from {{ ref('a') }}\n")
	d.write("models/secret.sql", "select * from {{ source('pg_catalog', 'pg_authid') }}\n")
	d.write("models/unknown.sql", "select * from {{ ref('a') }} where {{ var(\"b\") }} = '{{ var(\"b\") }}'\n{% if is_incremental() %} and c {% endif %}\n")
	d.write("models/permitted.sql", "{# ktx:allow dynamic_sql_unprovable until=2027-01-31 reason=\"x\" #}\nselect {{ f() }}\n")
	d.write("models/hooked.sql", "{{ config(post_hook=\"grant select on {{ this }} to reader\", pre_hook=f()) }}\n-- ktx:allow function_sleep until=2027-01-31 reason=\"x\"\nselect pg_sleep(1)")
	d.write("models/two.sql", "\ufeffselect 1;\r\nselect 'é😀', pg_sleep(2) from {{ ref('a') }};\r\n")
	d.write("models/broken.sql", "select {{ a\n")
	d.write("models/empty.sql", "{# nothing #}\n")
	d.write("macros/m.sql", "{% macro m() %}drop table t{% endmacro %}\n")
	d.write("snapshots/s.sql", "{% snapshot s %}\n{{ config(unique_key='id') }}\nselect * from {{ ref('a') }} where pg_sleep(1) is null\n{% endsnapshot %}\n{% snapshot t %}select 1{% endsnapshot %}")
	d.write("tests/t.sql", "select 1 from {{ ref('a') }} for update\n")
	d.write("scripts/plain.sql", "select '{{1,2},{3,4}}'::int[]; drop table t;\n")
	d.write("target/compiled/shop/models/x.sql", "drop table t")
	d.write("target/run/shop/models/x.sql", "drop table t")
	d.write("dbt_packages/utils/macros/x.sql", "drop table t")
	d.want(14,
		`macros/m.sql:1:1 dynamic_sql_unprovable note "{% macro m() %}"`,
		`models/bad.sql:1:8 function_sleep "pg_sleep"`,
		`models/broken.sql:1:8 not_checked: the Jinja of the file cannot be read: Jinja begins here and never ends`,
		`models/hooked.sql:1:1 dynamic_sql_unprovable note "{{ config(post_hook=\"grant select on {{ this }} to reader\", pre_hook=f()) }}"`,
		`models/hooked.sql:1:22 privilege_statement "grant select on {{ this }} to reader"`,
		`models/hooked.sql:3:8 function_sleep suppressed "pg_sleep"`,
		`models/permitted.sql:2:8 dynamic_sql_unprovable note suppressed "{{ f() }}"`,
		`models/secret.sql:1:15 credential_relation "{{ source('pg_catalog', 'pg_authid') }}"`,
		`models/two.sql:2:14 function_sleep "pg_sleep"`,
		`models/unknown.sql:1:36 dynamic_sql_unprovable note "{{ var(\"b\") }}"`,
		`scripts/plain.sql:1:32 ddl_statement "drop table t"`,
		`snapshots/s.sql:3:36 function_sleep "pg_sleep"`,
		`tests/t.sql:1:30 locking_clause "for update"`,
	)
}

// TestDBTBranches: without a manifest, what the file itself says is judged in each
// branch, what it does not say is one note for each statement, and no word that
// stands for the result of a macro is an error.
func TestDBTBranches(t *testing.T) {
	t.Parallel()
	d := newDBT(t)
	d.write("models/branch.sql", "select 1\n{% if is_incremental() %}\nwhere pg_sleep(1) is null\n{% elif var('x') %}\nfrom pg_authid\n{% else %}\nfrom t for update\n{% endif %}\n")
	d.write("models/target.sql", "{% if target.type == 'snowflake' %}\nselect pg_sleep(1)\n{% else %}\nselect 1\n{% endif %}\n")
	d.write("models/write.sql", "{{ f() }}\n{% if var('x') %}delete from t{% else %}select 1{% endif %}\n")
	d.write("models/macro.sql", "{{ f() }}\n\n{{ g() }}\n")
	d.write("models/unread.sql", "with a as {{ f() }} (\nselect pg_sleep(1))\nselect * from a\n")
	d.write("models/placeholder.sql", "select {{ schema }}.f(a), {{ dbt_utils.star(ref('a')) }}, pg_sleep(1), a::{{ t }} from {{ f() }}.b\n")
	d.write("models/run.sql", "{% set q %}\ndelete from {{ this }}\n{% endset %}\n{% if execute %}{% do run_query(q) %}{% endif %}\nselect 1\n")
	d.write("models/hook.sql", "{% set h = 'drop table ' ~ this %}\n{{ config(post_hook=[h, \"{{ f() }}\", \"delete from {{ this }} where {{ var('x') }}\"]) }}\nselect 1\n")
	d.write("models/list.sql", "{% set days = [1, 2] %}\nselect {% for d in days %}pg_sleep({{ d }}){{ ', ' if not loop.last }}{% endfor %}\n")
	d.write("macros/m.sql", "{% macro m() %}{% endmacro %}%}")
	d.write("dbt_project.yml", "name: shop\nmodel-paths: [models]\nmodels:\n  shop:\n    flake:\n      +enabled: \"{{ target.type == 'snowflake' | as_bool() }}\"\n      always:\n        +enabled: true\n")
	d.write("models/flake/a.sql", "drop table t")
	d.write("models/flake/always/a.sql", "drop table t")
	d.write("models/off.sql", "{{ config(enabled=(target.type == 'bigquery')) }}drop table t")
	d.want(12,
		`macros/m.sql:1:1 dynamic_sql_unprovable note "{% macro m() %}"`,
		`models/branch.sql:3:7 function_sleep "pg_sleep"`,
		`models/branch.sql:5:6 credential_relation "pg_authid"`,
		`models/branch.sql:7:8 locking_clause "for update"`,
		"models/flake/a.sql:1:1 dynamic_sql_unprovable note: dbt does not build this model on a database of this dialect, so ktx does not judge it",
		`models/flake/always/a.sql:1:1 ddl_statement "drop table t"`,
		`models/hook.sql:1:13 ddl_statement "drop table ' ~ this %}"`,
		`models/hook.sql:2:26 dynamic_sql_unprovable note "{{ f() }}"`,
		`models/hook.sql:2:39 write_statement "delete from {{ this }} where {{ var('x') }}"`,
		`models/hook.sql:2:68 dynamic_sql_unprovable note "{{ var('x') }}"`,
		`models/list.sql:2:27 function_sleep "pg_sleep"`,
		`models/macro.sql:1:1 dynamic_sql_unprovable note "{{ f() }}"`,
		"models/off.sql:1:1 dynamic_sql_unprovable note: dbt does not build this model on a database of this dialect, so ktx does not judge it",
		`models/placeholder.sql:1:8 dynamic_sql_unprovable note "{{ schema }}"`,
		`models/placeholder.sql:1:59 function_sleep "pg_sleep"`,
		`models/run.sql:2:1 write_statement "delete from {{ this }}"`,
		"models/unread.sql:1:1 dynamic_sql_unprovable note: ktx cannot read this statement before dbt compiles it, and has not judged it (and 1 more places in it)",
		`models/write.sql:1:1 dynamic_sql_unprovable note "{{ f() }}"`,
		`models/write.sql:2:18 write_statement "delete from t"`,
	)
}

// TestDBTCompiled: the compiled query is judged, with positions in the source
// file.
func TestDBTCompiled(t *testing.T) {
	t.Parallel()
	d := newDBT(t)
	files := map[string][2]string{
		"models/a.sql":      {"select id, pg_sleep(1)\nfrom {{ ref('b') }}\n", "select id, pg_sleep(1)\nfrom \"warehouse\".\"public\".\"b\""},
		"models/b.sql":      {"select {{ cents('x') }} as x\r\nfrom t", "select (x / 100) as x\nfrom t"},
		"models/macro.sql":  {"select {{ evil() }}\nfrom t", "select pg_read_file('/etc/passwd')\nfrom t"},
		"models/if.sql":     {"select 1\n{% if is_incremental() %}\nwhere pg_sleep(1) is null\n{% endif %}", "select 1\n\nwhere pg_sleep(1) is null\n"},
		"models/other.sql":  {"select * from {{ source('x', 'y') }}", `select * from "elsewhere"."public"."y"`},
		"models/two.sql":    {"select 1; {{ m() }}", "select 1; drop table t"},
		"models/stale.sql":  {"select 1", "select 1"},
		"models/lie.sql":    {"select 1 from {{ ref('x') }} where a", "select 1"},
		"models/hidden.sql": {"{% set r = run_query(drop()) %}\n-- ktx:allow dynamic_sql_unprovable until=2027-01-31 reason=\"x\"\nselect 1", "\n-- ktx:allow dynamic_sql_unprovable until=2027-01-31 reason=\"x\"\nselect 1"},
		"models/stmt.sql":   {"{%- call statement('x') -%}drop table t{%- endcall -%}\nselect 1", "select 1"},
	}
	var nodes []node
	for name, texts := range files {
		d.write(name, texts[0])
		nodes = append(nodes, model(name, strings.TrimSpace(texts[0]), texts[1]))
	}
	d.write("models/stale.sql", "select 2")
	d.write("models/new.sql", "select 1")
	d.write("models/off.sql", "select {{ f() }}")
	d.write("models/parsed.sql", "select {{ f() }}")
	d.write("models/old.sql", "select 1 from {{ x }}")
	d.write("models/fusion.sql", "select 1 from {{ x }}\n")
	d.write("models/cte.sql", "select * from {{ ref('e') }}")
	d.write("models/ctes.sql", "with a as (select 1) select * from {{ ref('e') }}, {{ ref('f') }}")
	d.write("models/yml.sql", "{{ config(post_hook='select 1') }}select 1")
	d.write("models/uses.sql", "select {{ values() }}")
	d.write("macros/m.sql", "{% macro m() %}drop table t{% endmacro %}\n")
	d.write("snapshots/s.sql", "{% snapshot s %}\n  select * from {{ ref('a') }} where pg_sleep(1) is null\n{% endsnapshot %}\n{% snapshot gone %}select 1{% endsnapshot %}")
	const injected = " __dbt__cte__e as (\nselect pg_sleep(1)\n)"
	nodes = append(nodes,
		model("models/parsed.sql", "select {{ f() }}", "", node{"compiled_code": nil, "compiled": false}),
		model("models/old.sql", "", "", node{"raw_code": nil, "raw_sql": "select 1 from {{ x }}", "compiled_code": nil, "compiled_sql": "select 1 from pg_authid"}),
		model("models/fusion.sql", "--placeholder--", "select 1 from pg_authid", node{"checksum": node{"name": "sha256", "checksum": fmt.Sprintf("%x", sha256.Sum256([]byte("select 1 from {{ x }}")))}}),
		model("models/cte.sql", "select * from {{ ref('e') }}", "with"+injected+"select * from __dbt__cte__e",
			node{"extra_ctes": []node{{"id": "model.shop.e", "sql": injected}}}),
		model("models/ctes.sql", "with a as (select 1) select * from {{ ref('e') }}, {{ ref('f') }}", "with "+injected+",  __dbt__cte__f as (\nselect 1\n), a as (select 1) select * from __dbt__cte__e, __dbt__cte__f",
			node{"extra_ctes": []node{{"id": "model.shop.e", "sql": injected}, {"id": "model.shop.f", "sql": " __dbt__cte__f as (\nselect 1\n)"}}}),
		model("models/yml.sql", "{{ config(post_hook='select 1') }}select 1", "select 1",
			node{"config": node{"post-hook": []node{{"sql": "select 1", "transaction": true}, {"sql": "vacuum {{ this }}", "transaction": false}}}}),
		model("models/uses.sql", "select {{ values() }}", "select 1", node{"depends_on": node{"macros": []string{"macro.shop.m", "macro.shop.values"}}}),
		model("snapshots/s.sql", "\n  select * from {{ ref('a') }} where pg_sleep(1) is null\n", "\n  select * from \"warehouse\".\"public\".\"a\" where pg_sleep(1) is null\n", node{"name": "s", "resource_type": "snapshot"}),
		model("models/a.sql", "select 1", "select 1", node{"package_name": "utils"}),
		model("../../outside.sql", "select 1", "select 1"),
		model("models/gone.sql", "select 1", "drop table t"),
	)
	d.manifest(nodes, node{
		"disabled": node{"model.shop.off": []node{model("models/off.sql", "select {{ f() }}", "")}},
		"macros": node{
			"macro.shop.m":        node{"package_name": "shop", "original_file_path": "macros/m.sql", "depends_on": node{"macros": []string{}}},
			"macro.shop.values":   node{"package_name": "shop", "original_file_path": "macros/m.sql", "depends_on": node{"macros": []string{"macro.dbt.run_query"}}},
			"macro.dbt.run_query": node{"package_name": "dbt", "original_file_path": "macros/x.sql", "depends_on": node{"macros": []string{"macro.dbt.statement"}}},
		},
	})
	const stale = "target/manifest.json is stale: dbt compiled another text than this file has now"
	d.want(21,
		`macros/m.sql:1:1 dynamic_sql_unprovable note "{% macro m() %}"`,
		`models/a.sql:1:12 function_sleep "pg_sleep"`,
		`models/cte.sql:1:15 function_sleep "{{ ref('e') }}"`,
		`models/ctes.sql:1:36 function_sleep "{{ ref('e') }}"`,
		`models/fusion.sql:1:15 credential_relation "{{ x }}"`,
		`models/hidden.sql:1:1 dynamic_sql_unprovable suppressed "{% set r = run_query(drop()) %}"`,
		`models/if.sql:3:7 function_sleep "pg_sleep"`,
		`models/lie.sql:1:1 not_checked: target/manifest.json has a compiled text that cannot come from this file`,
		`models/macro.sql:1:8 function_file_access "{{ evil() }}"`,
		`models/new.sql:1:1 not_checked: target/manifest.json has no such query: it is older than the file, or dbt does not read the file`,
		`models/off.sql:1:8 dynamic_sql_unprovable note "{{ f() }}"`,
		`models/old.sql:1:15 credential_relation "{{ x }}"`,
		`models/other.sql:1:15 external_relation "{{ source('x', 'y') }}"`,
		`models/parsed.sql:1:8 dynamic_sql_unprovable note "{{ f() }}"`,
		`models/stale.sql:1:1 not_checked: `+stale,
		`models/stmt.sql:1:28 ddl_statement "drop table t"`,
		`models/two.sql:1:11 ddl_statement "{{ m() }}"`,
		`models/uses.sql:1:1 dynamic_sql_unprovable note: macro.shop.values, which it uses, runs SQL while dbt compiles; that SQL is not judged`,
		`models/yml.sql:1:1 write_statement: a hook that the project sets for it: VACUUM rewrites tables`,
		`snapshots/s.sql:2:38 function_sleep "pg_sleep"`,
		`snapshots/s.sql:4:20 not_checked: target/manifest.json has no such query: it is older than the file, or dbt does not read the file`,
	)
	if said := d.said.Load(); said != (sqlcheck.Known{Adapter: "postgres", Database: "warehouse"}) {
		t.Errorf("%+v", said)
	}
}

// TestDBTManifests: with a manifest that cannot be read, nothing is judged, and
// no manifest leads out of the project.
func TestDBTManifests(t *testing.T) {
	t.Parallel()
	good := `{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json"}, "nodes": {}`
	for text, want := range map[string]string{
		"":                      "it ends in the middle",
		good:                    "it ends in the middle",
		good + "} x":            "there is text after its end",
		good + `, "nodes": {}}`: "it is not JSON as dbt writes it: an object has a member twice",
		`{"nodes": []}`:         "it is not JSON as dbt writes it: an object is expected",
		`[]`:                    "it is not JSON as dbt writes it: an object is expected",
		`{"nodes": {}}`:         "its version is not supported: versions 4 and later are",
		`{"metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v3.json"}}`: "its version is not supported: versions 4 and later are",
		strings.Repeat(`{"nodes":`, 20_000): "it is not JSON as dbt writes it: invalid character '{' exceeded max depth",
	} {
		d := newDBT(t)
		d.write("models/a.sql", "select 1")
		d.write("target/manifest.json", text)
		d.want(0, "models/a.sql:1:1 not_checked: target/manifest.json of its dbt project cannot be read: "+want)
	}
	for _, link := range []string{"target/manifest.json", "target", "dbt_project.yml"} {
		d, outside := newDBT(t), newDBT(t)
		d.write("models/a.sql", "select 1 from {{ x }}")
		outside.manifest([]node{model("models/a.sql", "select 1 from {{ x }}", "select 1 from t")})
		_ = os.Mkdir(filepath.Join(d.dir, "target"), 0o755)
		path := filepath.Join(d.dir, filepath.FromSlash(link))
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside.dir, filepath.FromSlash(link)), path); err != nil {
			t.Fatal(err)
		}
		name := "target/manifest.json"
		if link == "dbt_project.yml" {
			name = link
		}
		d.want(0, "models/a.sql:1:1 not_checked: "+name+" of its dbt project cannot be read: path escapes from parent")
	}
	d := newDBT(t)
	d.write("models/a.sql", "select 1")
	d.write("target/manifest.json/x", "")
	d.want(0, "models/a.sql:1:1 not_checked: target/manifest.json of its dbt project cannot be read: it is not a regular file")
	d = newDBT(t)
	d.write("models/a.sql", "select 1")
	d.write("target/manifest.json", "")
	if err := os.Truncate(filepath.Join(d.dir, "target/manifest.json"), 257<<20); err != nil {
		t.Fatal(err)
	}
	d.want(0, "models/a.sql:1:1 not_checked: target/manifest.json of its dbt project cannot be read: it is larger than 256 MiB")
	d.write("dbt_project.yml", "name: [")
	d.want(0, "models/a.sql:1:1 not_checked: dbt_project.yml of its dbt project cannot be read: yaml: line 1: did not find expected node content")
}

// TestDBTPaths: exactly the folders that the project names have Jinja.
func TestDBTPaths(t *testing.T) {
	t.Parallel()
	d := newDBT(t)
	d.write("dbt_project.yml", "name: shop\nmodel-paths: [sql/models]\ntarget-path: out/dbt\npackages-install-path: ../..\nmacro-paths: ['{{ env_var(\"X\") }}']\n")
	d.write("sql/models/a.sql", "select {{ f() }}")
	d.write("models/a.sql", "select {{ f() }}")
	d.write("macros/a.sql", "{% macro f() %}{% endmacro %}")
	d.write("out/dbt/run/a.sql", "drop table t")
	d.write("inner/dbt_project.yml", "name: inner\n")
	d.write("inner/models/a.sql", "select {{ g() }}")
	d.want(3,
		`inner/models/a.sql:1:8 dynamic_sql_unprovable note "{{ g() }}"`,
		`macros/a.sql:1:1 dynamic_sql_unprovable note "{% macro f() %}"`,
		`models/a.sql:1:8 dynamic_sql_unprovable note "{{ f() }}"`,
		`sql/models/a.sql:1:8 dynamic_sql_unprovable note "{{ f() }}"`,
	)
}

// TestDBTStaged: what dbt generates is also left out with --staged.
func TestDBTStaged(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("shop/dbt_project.yml", "name: shop\n")
	r.write("shop/models/a.sql", "select {{ f() }}")
	r.write("shop/target/run/a.sql", "drop table t")
	r.git("add", "-A")
	for arg, want := range map[string]string{".": "shop/models/a.sql", "shop/target/run/a.sql": "shop/target/run/a.sql"} {
		inputs, err := sqlcheck.Staged(t.Context(), r.dir, []string{arg})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, in := range inputs {
			found = append(found, filepath.ToSlash(in.Path))
		}
		if diff := cmp.Diff([]string{want}, found); diff != "" {
			t.Error(diff)
		}
	}
}
