package sqlserver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ktxhq/ktx/dialects/sqlserver"
	"github.com/ktxhq/ktx/sqlguard"
)

// TestFunctionTables checks that every function has its page of the reference, and that the
// tables spell names as they are looked up.
func TestFunctionTables(t *testing.T) {
	own, system := sqlserver.Pages()
	if len(own) < 320 {
		t.Errorf("only %d functions", len(own))
	}
	for _, pages := range []map[string]string{own, system} {
		for name, page := range pages {
			if page == "" || name != strings.ToLower(name) {
				t.Errorf("%s: page %q", name, page)
			}
		}
	}
	for name, target := range sqlserver.ODBCFunctions {
		if !sqlserver.FunctionListed(target) {
			t.Errorf("{fn %s} means %s, which is in no table", name, target)
		}
	}
}

// contents are the functions in the table of contents of the reference's
// section Functions, and those that SQL Server 2022 and 2025 added.
const contents = `
	approx_count_distinct avg checksum_agg count count_big grouping grouping_id max min stdev stdevp sum var varp cume_dist
	first_value lag last_value lead percentile_cont percentile_disc percent_rank collationproperty tertiary_weights cast
	convert parse try_cast try_convert try_parse asymkey_id asymkeyproperty certproperty cert_id crypt_gen_random
	decryptbyasymkey decryptbycert decryptbykey decryptbykeyautoasymkey decryptbykeyautocert decryptbypassphrase
	encryptbyasymkey encryptbycert encryptbykey encryptbypassphrase hashbytes is_objectsigned key_guid key_id key_name
	signbyasymkey signbycert symkeyproperty verifysignedbycert verifysignedbyasymkey cursor_status datalength
	ident_current ident_incr ident_seed identity sql_variant_property current_timestamp dateadd datediff datediff_big
	datefromparts datename datepart datetime2fromparts datetimefromparts datetimeoffsetfromparts day eomonth getdate
	getutcdate isdate month smalldatetimefromparts switchoffset sysdatetime sysdatetimeoffset sysutcdatetime
	timefromparts todatetimeoffset year isjson json_value json_query json_modify abs acos asin atan atn2 ceiling cos cot
	degrees exp floor log log10 pi power radians rand round sign sin sqrt square tan choose iif app_name applock_mode
	applock_test assemblyproperty col_length col_name columnproperty database_principal_id databasepropertyex db_id
	db_name file_id file_idex file_name filegroup_id filegroup_name filegroupproperty fileproperty
	fulltextcatalogproperty fulltextserviceproperty index_col indexkey_property indexproperty object_definition
	object_id object_name object_schema_name objectproperty objectpropertyex original_db_name parsename schema_id
	schema_name scope_identity serverproperty stats_date type_id type_name typeproperty version dense_rank ntile rank
	row_number publishingservername opendatasource openjson openquery openrowset openxml certencoded certprivatekey
	current_user has_dbaccess has_perms_by_name is_member is_rolemember is_srvrolemember loginproperty original_login
	permissions pwdencrypt pwdcompare session_user sessionproperty suser_id suser_name suser_sid suser_sname system_user
	user user_id user_name ascii char charindex concat concat_ws difference format left len lower ltrim nchar patindex
	quotename replace replicate reverse right rtrim soundex space str string_agg string_escape string_split stuff
	substring translate trim unicode upper binary_checksum checksum compress connectionproperty context_info
	current_request_id current_transaction_id decompress error_line error_message error_number error_procedure
	error_severity error_state formatmessage get_filestream_transaction_context getansinull host_id host_name isnull
	isnumeric min_active_rowversion newid newsequentialid rowcount_big session_context session_id xact_state textptr
	textvalid columns_updated eventdata trigger_nestlevel update coalesce nullif contains freetext containstable
	freetexttable generate_series greatest least date_bucket datetrunc bit_count get_bit left_shift right_shift set_bit
	json_array json_object json_path_exists json_arrayagg json_objectagg json_contains approx_percentile_cont
	approx_percentile_disc current_timezone current_timezone_id current_date base64_encode base64_decode unistr product
	regexp_like regexp_replace regexp_substr regexp_instr regexp_count regexp_matches regexp_split_to_table
	edit_distance edit_distance_similarity jaro_winkler_distance jaro_winkler_similarity vector_distance vector_norm
	vector_normalize vectorproperty vector_search ai_generate_embeddings ai_generate_chunks predict changetable`

// TestContentsOfTheReference checks that every function of the reference is in a table.
func TestContentsOfTheReference(t *testing.T) {
	for name := range strings.FieldsSeq(contents) {
		if !sqlserver.FunctionListed(name) {
			t.Errorf("%s is in no table", name)
		}
	}
}

// dangerous are functions that must never be listed as harmless, from the
// reference and from the contract of the guard.
const dangerous = `openrowset openquery opendatasource openxml loginproperty pwdcompare pwdencrypt certprivatekey certencoded
	encryptbykey decryptbykey decryptbykeyautocert encryptbycert decryptbycert decryptbyasymkey decryptbypassphrase
	signbycert signbyasymkey ai_generate_embeddings ai_generate_chunks ai_generate_response predict
	get_filestream_transaction_context filetablerootpath getpathlocator textptr applock_test applock_mode newsequentialid
	identity eventdata columns_updated update cursor_status publishingservername xp_cmdshell sp_executesql fn_dblog
	fn_trace_gettable fn_xe_file_target_read_file fn_get_audit_file fn_get_sql dm_exec_sql_text dm_os_file_exists
	dm_db_stats_histogram`

func TestDangerousFunctionsAreNotAllowed(t *testing.T) {
	allowed := sqlserver.AllowedFunctions()
	g := newGuard(t)
	for name := range strings.FieldsSeq(dangerous) {
		if slices.Contains(allowed, name) {
			t.Errorf("%s is listed as harmless", name)
		}
		for _, sql := range []string{
			"SELECT " + name + "(1)", "SELECT [" + name + "](1)", `SELECT "` + strings.ToUpper(name) + `"(1)`, "SELECT * FROM " + name + "(1) AS x",
			"SELECT sys." + name + "(1)", "SELECT dbo." + name + "(1)", "SELECT * FROM sys." + name + "(1) AS x", "SELECT {fn " + name + "(1)}",
			"SELECT * FROM t CROSS APPLY " + name + "(1) AS x", "SELECT * FROM ::" + name + "(1)",
		} {
			if v := g.Check(sql); v.Allowed {
				t.Errorf("%s is allowed", sql)
			}
		}
	}
}

// TestPolicyCannotAllowBuiltins checks that functions.allow does not apply to the server's
// own functions, and applies to user-defined functions.
func TestPolicyCannotAllowBuiltins(t *testing.T) {
	policy := sqlguard.DefaultPolicy()
	policy.Functions.Allow = []string{"dbo.*", "sys.*", "app.total*"}
	policy.SearchPath = []string{"dbo"}
	g, err := sqlguard.New(sqlserver.Dialect{}, policy, nil)
	if err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]sqlguard.Code{
		"SELECT dbo.f(1)":                                       "",
		"SELECT f(1)":                                           "",
		"SELECT app.total_of(1)":                                "",
		"SELECT other.f(1)":                                     sqlguard.CodeFunctionNotAllowed,
		"SELECT db.dbo.f(1)":                                    sqlguard.CodeFunctionNotAllowed,
		"SELECT dbo.xp_cmdshell('x')":                           sqlguard.CodeFunctionSideEffect,
		"SELECT LOGINPROPERTY('sa', 'x')":                       sqlguard.CodeFunctionAdmin,
		"SELECT * FROM OPENQUERY(s, 'x')":                       sqlguard.CodeFunctionNetworkAccess,
		"SELECT * FROM sys.fn_dblog(NULL, NULL)":                sqlguard.CodeFunctionAdmin,
		"SELECT * FROM fn_dblog(NULL, NULL)":                    sqlguard.CodeFunctionAdmin,
		"SELECT * FROM sys.fn_get_audit_file('x', NULL, NULL)":  sqlguard.CodeFunctionFileAccess,
		"SELECT sys.fn_anything(1)":                             sqlguard.CodeFunctionNotAllowed,
		"SELECT * FROM t CROSS APPLY sys.dm_exec_sql_text(h) x": sqlguard.CodeFunctionAdmin,
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s: %q, want %q: %v", sql, v.Code, want, v.Findings)
		}
	}
}

// TestMethods distinguishes methods of columns from functions of schemas.
func TestMethods(t *testing.T) {
	g := newGuard(t)
	for sql, want := range map[string]sqlguard.Code{
		"SELECT c.value('(/a)[1]', 'int') FROM t":                                               "",
		"SELECT t.c.value('(/a)[1]', 'int') FROM t":                                             "",
		"SELECT s.t.c.value('(/a)[1]', 'int') FROM s.t":                                         "",
		"SELECT c.query('/a').value('.', 'int') FROM t":                                         "",
		"SELECT (SELECT c FROM t FOR XML PATH(''), TYPE).value('.', 'nvarchar(max)')":           "",
		"SELECT n.c.value('.', 'int') FROM t CROSS APPLY t.x.nodes('/a') AS n(c)":               "",
		"SELECT n.c.value('.', 'int') FROM t OUTER APPLY x.nodes('/a') n(c)":                    "",
		"SELECT n.c.exist('.') FROM (SELECT CAST(x AS xml) FROM t).nodes('/a') AS n(c)":         "",
		"SELECT CAST(x AS xml).value('.', 'int') FROM t":                                        "",
		"SELECT x.STArea() FROM t":                                                              "",
		"SELECT t.x.STBuffer(1).STArea() FROM t":                                                "",
		"SELECT x.GetLevel() FROM t":                                                            "",
		"SELECT hierarchyid::GetRoot().GetDescendant(NULL, NULL)":                               "",
		"SELECT sys.geography::Point(1, 2, 3)":                                                  "",
		"SELECT geography::[Null]":                                                              "",
		"SELECT a.Lat, b.Long FROM t":                                                           "",
		"SELECT c.Value('(/a)[1]', 'int') FROM t":                                               sqlguard.CodeFunctionNotAllowed,
		"SELECT c.value('(/a)[1]') FROM t":                                                      sqlguard.CodeFunctionNotAllowed,
		"SELECT c.value(1, 2) FROM t":                                                           sqlguard.CodeFunctionNotAllowed,
		"SELECT c.query(q) FROM t":                                                              sqlguard.CodeFunctionNotAllowed,
		"SELECT s.value('a', 'b') FROM s.t":                                                     sqlguard.CodeFunctionNotAllowed,
		"SELECT s.STArea() FROM S.t":                                                            sqlguard.CodeFunctionNotAllowed,
		"SELECT dbo.value('a', 'b') FROM t":                                                     sqlguard.CodeFunctionNotAllowed,
		"SELECT db.DBO.query('a') FROM t":                                                       sqlguard.CodeFunctionNotAllowed,
		"SELECT sys.value('a', 'b') FROM t":                                                     sqlguard.CodeFunctionNotAllowed,
		"SELECT c.modify('insert x') FROM t":                                                    sqlguard.CodeFunctionSideEffect,
		"SELECT c.query('/a').modify('x') FROM t":                                               sqlguard.CodeFunctionSideEffect,
		"SELECT c.starea() FROM t":                                                              sqlguard.CodeFunctionNotAllowed,
		"SELECT geography::Parse('x').Write('y')":                                               sqlguard.CodeFunctionNotAllowed,
		"SELECT mytype::Parse('x')":                                                             sqlguard.CodeFunctionNotAllowed,
		"SELECT dbo.geography::Parse('x')":                                                      sqlguard.CodeFunctionNotAllowed,
		"SELECT c.query('sql:variable(\"@x\")') FROM t":                                         sqlguard.CodeParameterNotAllowed,
		"SELECT n.c.value('.', 'int') FROM t CROSS APPLY t.x.nodes(t.path) AS n(c)":             sqlguard.CodeFunctionNotAllowed,
		"SELECT n.c.value('.', 'int') FROM t CROSS APPLY dbo.x.modify('/a') AS n(c)":            sqlguard.CodeFunctionSideEffect,
		"SELECT * FROM t CROSS APPLY dbo.nodes('/a') AS n(c) JOIN dbo.u ON 1 = 1":               sqlguard.CodeFunctionNotAllowed,
		"SELECT (a).NoSuchProperty FROM t":                                                      sqlguard.CodeFunctionNotAllowed,
		"SELECT * FROM (SELECT app.STArea()) AS q (c)":                                          sqlguard.CodeFunctionNotAllowed,
		"WITH q (c) AS (SELECT app.STArea()) SELECT * FROM q":                                   sqlguard.CodeFunctionNotAllowed,
		"SELECT * FROM t, (SELECT x.STArea() AS a) AS q":                                        sqlguard.CodeFunctionNotAllowed,
		"SELECT * FROM t, ((SELECT 1 AS a) UNION SELECT x.STArea()) AS q":                       sqlguard.CodeFunctionNotAllowed,
		"SELECT (SELECT 1 FROM t), app.STArea()":                                                sqlguard.CodeFunctionNotAllowed,
		"SELECT (SELECT 1 FROM app), app.x.STArea() FROM t":                                     sqlguard.CodeFunctionNotAllowed,
		"SELECT (SELECT x.STArea()) FROM t":                                                     "",
		"SELECT * FROM t CROSS APPLY (SELECT x.STArea() AS a) AS q":                             "",
		"SELECT id FROM t ORDER BY x.STArea()":                                                  "",
		"SELECT id FROM t UNION SELECT id FROM u ORDER BY x.STArea()":                           "",
		"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM (SELECT x.STArea() AS a) AS q)":           "",
		"SELECT id FROM t WHERE 1 = (SELECT t.x.STArea())":                                      "",
		"SELECT app.STArea()":                                                                   sqlguard.CodeFunctionNotAllowed,
		"SELECT * FROM app.nodes('/a') AS n(c)":                                                 sqlguard.CodeFunctionNotAllowed,
		"SELECT db.app.STArea() FROM t":                                                         sqlguard.CodeFunctionNotAllowed,
		"SELECT 1 FROM t CROSS APPLY db.app.nodes('/a') n(c)":                                   sqlguard.CodeFunctionNotAllowed,
		"SELECT t.x.Lat.ToString() FROM t":                                                      "",
		"SELECT d.x.value('.', 'int') FROM (SELECT CAST('<a/>' AS xml)) AS d(x)":                "",
		"SELECT x.value('.', 'int') FROM (VALUES (CAST('<a/>' AS xml))) AS d(x)":                "",
		"WITH c AS (SELECT CAST('<a/>' AS xml) x) SELECT c.x.value('.', 'int') FROM c":          "",
		"SELECT j.x.query('/a') FROM OPENJSON('{}') WITH (x xml) AS j":                          "",
		"SELECT p.x.query('/a') FROM t PIVOT (MAX(a) FOR b IN (x)) AS p":                        "",
		"SELECT {fn DAYNAME(a)}, {fn HOUR(a)}, {fn WEEK(a)}, {fn REPEAT('a', 3)} FROM t":        "",
		"SELECT {fn REPEAT('a', 1000000000)}":                                                   sqlguard.CodeFunctionNotAllowed,
		"SELECT {fn SPACE(1000000000)}":                                                         sqlguard.CodeFunctionNotAllowed,
		"SELECT $PARTITION.pf(a) FROM t":                                                        "",
		"SELECT db.$PARTITION.pf(a) FROM t":                                                     "",
		"SELECT TRIM(LEADING 'x' FROM a), TRIM('x' FROM a), TRIM(a), TRIM(trailing) FROM t":     "",
		"SELECT {fn LCASE(a)}, {fn TIMESTAMPADD(SQL_TSI_DAY, 1, b)}, {fn EXTRACT(YEAR FROM b)}": "",
	} {
		if v := g.Check(sql); v.Code != want {
			t.Errorf("%s: %q, want %q: %v", sql, v.Code, want, v.Findings)
		}
	}
}

// TestForeignFunctions checks that the refusal of another language's function names the
// replacement in Transact-SQL, and that Transact-SQL has no function of the same name.
func TestForeignFunctions(t *testing.T) {
	g := newGuard(t)
	for name, instead := range sqlserver.ForeignFunctions {
		if sqlserver.FunctionListed(name) || sqlserver.ReservedWord(name) {
			t.Errorf("%s is not foreign", name)
		}
		v := g.Check("SELECT " + strings.ToUpper(name) + "(a) FROM t")
		if v.Allowed || !strings.Contains(v.Findings[0].Hint, instead) {
			t.Errorf("%s: %v", name, v.Findings)
		}
	}
}
