package sqlguard

// Catalog is what a backend knows about its server, as plain data. The backend loads
// it with constant statements and passes it to [New]. A guard never queries a server.
type Catalog struct {
	// Major is the server's major version; 0 when unknown.
	Major int `json:"major"`
	// Product and Version identify the server for a [ServerDialect], such as
	// "mariadb" and "10.11.6". Other dialects ignore them.
	Product string `json:"product,omitempty"`
	Version string `json:"version,omitempty"`
	// SearchPath lists the schemas in which the session resolves unqualified
	// names, without the server's own schemas.
	SearchPath []string `json:"searchPath"`
	// Database is the name of the connected database, as the server spells it.
	Database string `json:"database"`
	// EngineDenies says that the backend's engine applies the rules that deny tables
	// and columns to all that a statement reads, also through views ([ReadRules]). The
	// guard then does not refuse a relation because it could be a view.
	EngineDenies bool `json:"engineDenies,omitempty"`
	// Extensions are the extensions that the database has. When it is nil, they are
	// not known, and the guard assumes all that were reviewed.
	Extensions []string `json:"extensions,omitempty"`
	// ExtensionSchemas are the schemas of these extensions, by the extension.
	ExtensionSchemas map[string]string `json:"extensionSchemas,omitempty"`
	// Closed are those of these extensions whose values cannot name a file or an address
	// that the server then reads.
	Closed []string `json:"closed,omitempty"`
	// Derived are the columns that the server computes from other columns of their
	// table. A rule that denies one of those denies them too.
	Derived []DerivedColumn `json:"derived,omitempty"`
	// RowFunctions are the names of functions that are not the server's own and can be
	// called with a row as their only argument. PostgreSQL reads row.f as f(row).
	RowFunctions []string `json:"rowFunctions,omitempty"`
	// Views are the views that the role may see. When it is nil, they are not known,
	// and a relation may be a view.
	Views []CatalogName `json:"views,omitempty"`
	// Objects are the objects of the database that are not the server's own. When
	// it is nil, the guard judges without them. With objects, the guard treats a
	// name that is neither in Objects nor built in as one that does not exist.
	Objects *Objects `json:"objects,omitempty"`
}

// Objects are the objects of the database, except those that every new database
// of the server has. They include objects of extensions, and objects that somebody
// created in the server's own schemas.
type Objects struct {
	Functions []CatalogFunction `json:"functions"`
	Operators []CatalogOperator `json:"operators"`
	Casts     []CatalogCast     `json:"casts"`
	Types     []CatalogType     `json:"types"`
	Relations []CatalogRelation `json:"relations"`
	// Orders lists the types whose values are sorted, grouped or compared by
	// user-defined functions.
	Orders []CatalogOrder `json:"orders,omitempty"`
	// FoldsNames says that names of relations and functions that differ only in the
	// case of their letters are the same name.
	FoldsNames bool `json:"foldsNames,omitempty"`
}

// DerivedColumn is a generated or computed column, and the columns of its table in
// its expression.
type DerivedColumn struct {
	Table  CatalogName `json:"table"`
	Column string      `json:"column"`
	From   []string    `json:"from"`
}

// CatalogName is the name of an object as the server stores it.
type CatalogName struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// CatalogFunction is one function, aggregate, window function or procedure. Each
// overload is an entry of its own.
type CatalogFunction struct {
	CatalogName
	Kind FunctionKind `json:"kind"`
	// Arguments are the types of the input arguments; a variadic argument has its
	// array type. A call may leave out the last arguments, at most Defaults of them.
	Arguments []CatalogName `json:"arguments"`
	Defaults  int           `json:"defaults,omitempty"`
	Variadic  bool          `json:"variadic,omitempty"`
	// DefaultValues has the expressions of those defaults, separated by commas.
	// They run when a call leaves the arguments out.
	DefaultValues string `json:"defaultValues,omitempty"`
	// Results are the types of the result and of the columns of a declared result
	// row. For an aggregate they include the types of its states.
	Results []CatalogName `json:"results,omitempty"`
	// Volatility is the volatility that its owner declared.
	Volatility      Volatility `json:"volatility"`
	Language        string     `json:"language"`
	SecurityDefiner bool       `json:"securityDefiner,omitempty"`
	// Settings are the settings that a call changes while it runs.
	Settings []string `json:"settings,omitempty"`
	// Body is the body of a function in language sql, else "". It is a list of
	// statements or, when the server parsed the body as it created the function,
	// the server's printed form: "RETURN expression" or "BEGIN ATOMIC statements
	// END".
	Body string `json:"body,omitempty"`
	// Runs are the functions that implement an aggregate.
	Runs []CatalogName `json:"runs,omitempty"`
	// Extension is the extension that the function belongs to, or "".
	Extension string `json:"extension,omitempty"`
}

// FunctionKind is the kind of a [CatalogFunction].
type FunctionKind string

// The kinds of functions.
const (
	FunctionPlain     FunctionKind = "function"
	FunctionAggregate FunctionKind = "aggregate"
	FunctionWindow    FunctionKind = "window"
	FunctionProcedure FunctionKind = "procedure"
)

// Volatility is what a function's owner declares about its effects. The zero value
// means volatile.
type Volatility string

// The volatilities.
const (
	VolatilityImmutable Volatility = "immutable"
	VolatilityStable    Volatility = "stable"
	VolatilityVolatile  Volatility = "volatile"
)

// CatalogOperator is one operator. Left or Right is empty when the operator has no
// such operand.
type CatalogOperator struct {
	CatalogName
	Left     CatalogName `json:"left"`
	Right    CatalogName `json:"right"`
	Function CatalogName `json:"function"`
	// Commutator and Negator are the operators that the server may run instead of
	// this one, for example a <> b for NOT (a = b). They are empty when there is
	// none.
	Commutator CatalogName `json:"commutator,omitzero"`
	Negator    CatalogName `json:"negator,omitzero"`
	Extension  string      `json:"extension,omitempty"`
}

// CatalogCast is one cast. Function is empty when the cast runs no function.
type CatalogCast struct {
	Source    CatalogName `json:"source"`
	Target    CatalogName `json:"target"`
	Function  CatalogName `json:"function"`
	Context   CastContext `json:"context"`
	Extension string      `json:"extension,omitempty"`
}

// CastContext says where a cast is applied.
type CastContext string

// The contexts of a cast.
const (
	CastExplicit   CastContext = "explicit"
	CastAssignment CastContext = "assignment"
	CastImplicit   CastContext = "implicit"
)

// CatalogType is one type. The catalogue does not list the row types of relations
// and the array types of other types.
type CatalogType struct {
	CatalogName
	Kind TypeKind `json:"kind"`
	// Base is the base type of a domain, or the subtype of a range. A multirange
	// has the kind range too, and its Base is its range. Checks are the expressions
	// of a domain's CHECK constraints, without NOT NULL.
	Base   CatalogName `json:"base"`
	Checks []string    `json:"checks,omitempty"`
	// Runs are the functions that a range uses (canonical, subtype_diff and those
	// of its operator class), without the server's own.
	Runs []CatalogName `json:"runs,omitempty"`
	// Columns are the attributes of a composite type.
	Columns   []CatalogColumn `json:"columns,omitempty"`
	Extension string          `json:"extension,omitempty"`
}

// TypeKind is the kind of a [CatalogType].
type TypeKind string

// The kinds of types.
const (
	TypeBase      TypeKind = "base"
	TypeComposite TypeKind = "composite"
	TypeDomain    TypeKind = "domain"
	TypeEnum      TypeKind = "enum"
	TypeRange     TypeKind = "range"
)

// CatalogRelation is one relation, such as a table or a view.
type CatalogRelation struct {
	CatalogName
	Kind    RelationKind    `json:"kind"`
	Columns []CatalogColumn `json:"columns"`
	// Definition is the query of a view or materialized view. A name without a
	// schema is looked up along the session's search path, or where
	// [HomeDialect.SearchFrom] says.
	Definition string `json:"definition,omitempty"`
	// Target is the relation for which a synonym stands.
	Target CatalogName `json:"target,omitzero"`
	// Children are the relations that a read of this one reads too: its partitions
	// and the tables that inherit from it, at every level.
	Children []CatalogName `json:"children,omitempty"`
	// Parts may run when a statement reads the relation or one of its parents,
	// although the statement does not name them.
	Parts     []CatalogPart `json:"parts,omitempty"`
	Extension string        `json:"extension,omitempty"`
}

// CatalogPart is a part of a relation that has expressions: an index, a
// constraint, a row security policy and the like. A server evaluates the constant
// parts of such expressions while it plans a query.
type CatalogPart struct {
	// Name is the part's name in messages, such as "the index orders_day".
	Name string `json:"name"`
	// Own says that only a read that names the relation itself runs this part, and
	// a read of a parent does not.
	Own bool `json:"own,omitempty"`
	// Runs are the functions that may run, without the server's own.
	Runs []CatalogRoutine `json:"runs,omitempty"`
	// Makes are the types whose values may be created or compared.
	Makes []CatalogName `json:"makes,omitempty"`
	// Expression is the expression that runs for rows of the relation, as the
	// server prints it.
	Expression string `json:"expression,omitempty"`
}

// CatalogRoutine identifies a function by its name and the types of its arguments.
// An empty name means an unknown function.
type CatalogRoutine struct {
	CatalogName
	Arguments []CatalogName `json:"arguments"`
}

// CatalogOrder lists the functions that sort, group or compare values of a type,
// without the server's own.
type CatalogOrder struct {
	Type CatalogName      `json:"type"`
	Runs []CatalogRoutine `json:"runs"`
}

// RelationKind is the kind of a [CatalogRelation].
type RelationKind string

// The kinds of relations.
const (
	RelationTable        RelationKind = "table"
	RelationPartitioned  RelationKind = "partitioned"
	RelationView         RelationKind = "view"
	RelationMaterialized RelationKind = "materialized"
	RelationForeign      RelationKind = "foreign"
	RelationSequence     RelationKind = "sequence"
	// RelationMerged shows rows of tables that the catalogue does not list.
	RelationMerged RelationKind = "merged"
	// RelationSynonym is another name of its Target.
	RelationSynonym RelationKind = "synonym"
)

// CatalogColumn is one column of a relation.
type CatalogColumn struct {
	Name string      `json:"name"`
	Type CatalogName `json:"type"`
}
