package sqlguard

// Dialect reads one SQL dialect. It states facts, and a [Guard] judges them.
//
// A Dialect is stateless and safe for concurrent use. It never opens a
// connection. dialects/ADDING.md lists what an implementation must provide.
//
// A dialect may have these methods, which state more facts about its servers:
//
//   - FoldsNames() bool: names that differ only in the case of ASCII letters are
//     the same name, quoted or not. Without this method, a rule that allows a name
//     matches only the exact spelling.
//   - SchemasAreDatabases() bool: the server has no schemas inside a database, so
//     a schema in a name is a database. A name then lies outside of the connection
//     unless its schema is the connection's own database or in [Policy.Databases].
//   - NamesHaveDatabases() bool: statements commonly write the database in the name of a
//     relation. Without a connection, whose own database is not known, such a name then
//     lies outside only if a rule allows some relations: it could be one of another database.
//   - FoldName(name string) string: a form that is equal for all names that the
//     server may treat as the same. A rule that denies a name denies all names with
//     the same form.
//   - SystemSchema() string: the schema of a system relation whose name has no
//     schema.
//   - SourceColumns(schema, name string) []string: the columns of a system relation that
//     hold the source text of views, routines and triggers. A guard refuses them.
//   - ValueColumns(schema, name string) []string: the columns of a system relation that
//     show values from rows of tables. A guard with rules of access refuses them.
//   - Growth() *Growth: what its functions make from constants. Without this method a
//     guard does not bound that.
//   - Reword(sql string, tokens []Token, f Finding) Finding: the finding with a message and
//     a hint that say what to write instead on these servers.
//   - Reveals() []Revealed: the members of the groups that a policy can reveal.
//   - LexInto and AnalyzeTokens, always both: like Lex and Analyze, but
//     AnalyzeTokens gets the tokens and does not have to split the statement again.
type Dialect interface {
	// Name is the dialect's name, such as "postgres".
	Name() string
	// Version names the parser, its version and the grammar's version.
	Version() string
	// Session lists the settings that the server's session must have for the
	// parser to be right. A backend sets them, reads them back, and refuses to run
	// a statement when one differs.
	Session() []Setting
	// Lex splits text into tokens in linear time, without recursion. It
	// never fails. Characters that it cannot read become TokenInvalid or
	// TokenUnterminated.
	Lex(text string) Tokens
	// Analyze parses sql and returns every statement of it. The error is a
	// *SyntaxError when the text does not parse; any other error is a bug in
	// the dialect. Unknown kinds of statement keep the zero Verb.
	Analyze(sql string) ([]Statement, error)
}

// ServerDialect is a Dialect whose language depends on the server's product or
// version.
type ServerDialect interface {
	Dialect
	// ForServer returns the dialect for that server. For an unknown server it
	// returns the strictest one.
	ForServer(product, version string) Dialect
}

// Setting is one assumption about the server's session.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SyntaxError says where and why a statement does not parse.
type SyntaxError struct {
	Message string
	Offset  int // byte offset into the text
}

// Error returns the parser's message.
func (e *SyntaxError) Error() string { return e.Message }

// Verb is the kind of a statement. The zero value is unknown and refused.
type Verb string

// The verbs that read. A guard refuses every other verb. A dialect still sets it, so
// that the verdict can name it.
const (
	VerbSelect   Verb = "select"
	VerbValues   Verb = "values"
	VerbTable    Verb = "table"
	VerbShow     Verb = "show"
	VerbExplain  Verb = "explain"
	VerbDescribe Verb = "describe"
	VerbPragma   Verb = "pragma"
)

func (v Verb) reads() bool {
	switch v {
	case VerbSelect, VerbValues, VerbTable, VerbShow, VerbExplain, VerbDescribe, VerbPragma:
		return true
	default:
		return false
	}
}

// Statement has the facts that a dialect found in one statement.
type Statement struct {
	Verb Verb
	Span Span
	// Effects are the constructs that no policy permits.
	Effects []Finding
	// Relations are the tables, views and table functions that the statement
	// reads or writes, without the names of common table expressions.
	Relations []Relation
	// Calls are the functions that the statement calls, in every notation,
	// including operators that are not built in.
	Calls []Call
	// Types are the types named in casts, each once.
	Types []Type
	// Settings are the server settings read by name.
	Settings []SettingRead
	// Columns are the output names that the statement shows, none of them if a star
	// stands for some.
	Columns []string
	// ColumnRefs are the columns that the statement mentions.
	ColumnRefs []ColumnRef
	// Executes is set for EXPLAIN that runs its statement (EXPLAIN ANALYZE).
	Executes bool
	// Plan says that the statement shows the plan of a query, and that the server writes
	// values into plans that it read from rows.
	Plan bool
	// Collects says that the statement may put a value into an array or a row. The
	// server then reads literals beside it as values of the same type.
	Collects bool
	// Serializes says that a function of the server may cast its arguments to one
	// of the types of [ObjectDialect.QuietCasts].
	Serializes bool
}

// Ruling is the decision of a dialect's own tables on a name. The zero value
// refuses.
type Ruling struct {
	Allowed bool
	Code    Code   // why it refuses; the guard has a default for each kind of name
	Reason  string // one clause for the message, such as "reads files of the server"
	// Reveal is the group that admits the name when the policy reveals it, and Samples
	// says that it shows values of tables.
	Reveal  Group
	Samples bool
	// Ruled says that only a policy with rules on schemas, tables or columns refuses the
	// name, because it shows rows of other relations.
	Ruled bool
	// Excess says that the name is refused only for how much the literals of this call
	// ask for.
	Excess bool
}

// Access says what a statement does to a relation.
type Access string

// The kinds of access.
const (
	AccessRead  Access = "read"
	AccessWrite Access = "write"
)

// Relation is one mention of a relation, such as a table or a view.
type Relation struct {
	Database string // "" when not written
	Schema   string // "" when not written
	Name     string
	Alias    string // the alias it has here, else ""
	Access   Access
	Span     Span
	// System says that the name belongs to the server's own schemas. The Ruling
	// then comes from the dialect's allowlist. For relations of users the Ruling
	// allows, and the connection's policy decides.
	System bool
	Ruling Ruling
	// Prefix says that Name ends with a star, and stands for every relation of the schema
	// whose name begins with what is before it.
	Prefix bool
	// Source says that the statement shows the relation's source text if it is a view.
	Source bool
}

// Notation says how a function is called.
type Notation string

// The notations of a call.
const (
	NotationCall      Notation = "call"      // f(x)
	NotationColumn    Notation = "column"    // x.f
	NotationAttribute Notation = "attribute" // (x).f
	NotationOperator  Notation = "operator"  // a OPERATOR(s.op) b
)

// Call is one call of a function. Names are decoded and folded as the server
// resolves them.
type Call struct {
	Schema   string // "" when not written
	Name     string
	Notation Notation
	Span     Span
	Ruling   Ruling
	// Builtin says that the server itself (or a reviewed extension) owns the
	// name, so that a policy cannot allow it by that bare name.
	Builtin bool
	// Possible says that the statement calls the function only if a row has no
	// column of that name. Only a rule that denies the function refuses it.
	Possible bool
	// Majors is a bit set of the server's major versions that know the name
	// (bit n for major n); 0 when the name does not depend on the version.
	Majors uint64
	// Extension is the reviewed extension that owns a Builtin name, or "" when the
	// server owns it. A name with the schema of an extension is not Builtin, and may
	// have an Extension: the one that has a function of that name.
	Extension string
	// Told says that a Builtin name passes only if the server told that it has the
	// Extension.
	Told bool
	// Opens is the extension by whose values the function can be made to read a file
	// or an address, or "". The call passes where the server told that it permits no
	// such value ([Catalog.Closed]), or does not have the extension.
	Opens string
	// Member is the ruling on this call if it resolves to a function of a reviewed
	// extension, in any schema.
	Member Ruling
	// Arguments is the number of arguments or operands, or -1 when the statement
	// does not show it. A dialect without overloaded functions may leave it at 0
	// where it does not set the fields below.
	Arguments int
	// Only [ObjectDialect.AnalyzeObjects] sets the fields below.
	//
	// Typed has a bit for each argument that has a type, that is, for each that is
	// not an untyped literal; the first argument is bit 0. Scalar has a bit for
	// each of these that is not an anonymous row either. The call can only mean a
	// function that takes the types of these arguments, or types to which they are
	// cast implicitly.
	Typed, Scalar uint64
	// Syntax says that the construct is part of the grammar, so that the server
	// does not look up a function of this name.
	Syntax bool
}

// Type is a type named by a statement.
type Type struct {
	Schema  string
	Name    string
	Span    Span
	Builtin bool // the server's own type: a cast to it runs no user-defined code
	// Extension says that Builtin holds if the type belongs to a reviewed
	// extension.
	Extension bool
}

// SettingRead is a server setting read by SHOW, current_setting or the like.
type SettingRead struct {
	Name   string // "" when it is computed
	Span   Span
	Ruling Ruling
}

// ColumnRef is one mention of a column. Star means all columns of the relation
// that Qualifier names, or of every relation in scope when Qualifier is empty: *,
// t.*, NATURAL joins, TABLE t and alias lists that rename columns.
type ColumnRef struct {
	Qualifier []string
	Name      string
	Star      bool
	Span      Span
	// Alias says that the server may take the name for another column of the
	// relation, such as _rowid for the primary key.
	Alias bool
	// Element says that another name follows, as in name.x, so that Name is a column
	// only if x is an element of it, and never a whole row.
	Element bool
	// Bare says that the value goes unchanged into the result or its order: no
	// function, operator or literal combines with it. Only an [ObjectDialect] sets
	// it.
	Bare bool
}
