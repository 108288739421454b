package sqlguard

// Catalog is what a backend knows of its server, as plain data. It is loaded
// with constant texts and handed to [New]; a guard never asks a server.
type Catalog struct {
	// Major is the server's major version; 0 when unknown.
	Major int `json:"major"`
	// Product and Version say which of the servers that a [ServerDialect]
	// reads this is, such as "mariadb" and "10.11.6". Other dialects take no
	// note of them.
	Product string `json:"product,omitempty"`
	Version string `json:"version,omitempty"`
	// SearchPath lists the schemas in which the session resolves unqualified
	// names, the server's own schemas left out.
	SearchPath []string `json:"searchPath"`
	// Database is the name of the connected database, as the server spells it.
	Database string `json:"database"`
	// Objects are the objects of the database that are not the server's own;
	// nil where the guard judges without them. With objects, a name that is
	// neither there nor built in does not exist.
	Objects *Objects `json:"objects,omitempty"`
}

// Objects are what the database holds beside the objects that the server was
// made with. Objects of extensions are among them, and so are those that
// somebody made in the server's own schemas.
type Objects struct {
	Functions []CatalogFunction `json:"functions"`
	Operators []CatalogOperator `json:"operators"`
	Casts     []CatalogCast     `json:"casts"`
	Types     []CatalogType     `json:"types"`
	Relations []CatalogRelation `json:"relations"`
	// Orders are how values of a type are sorted, grouped and compared where
	// functions that somebody made do so.
	Orders []CatalogOrder `json:"orders,omitempty"`
}

// CatalogName is the name of an object as the server stores it.
type CatalogName struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// CatalogFunction is one function, aggregate, window function or procedure;
// each overload is one.
type CatalogFunction struct {
	CatalogName
	Kind FunctionKind `json:"kind"`
	// Arguments are the types of the input arguments, the variadic one by its
	// array type. The last Defaults of them may be left out of a call.
	Arguments []CatalogName `json:"arguments"`
	Defaults  int           `json:"defaults,omitempty"`
	Variadic  bool          `json:"variadic,omitempty"`
	// DefaultValues are the expressions of those defaults, one text with
	// commas between them. They run where a call leaves the arguments out.
	DefaultValues string `json:"defaultValues,omitempty"`
	// Results are the types of what it returns: of the result, and of the
	// columns of a row that it declares; of an aggregate, of its states too.
	Results []CatalogName `json:"results,omitempty"`
	// Volatility is what its owner declared.
	Volatility      Volatility `json:"volatility"`
	Language        string     `json:"language"`
	SecurityDefiner bool       `json:"securityDefiner,omitempty"`
	// Settings are the settings that a call changes for its time.
	Settings []string `json:"settings,omitempty"`
	// Body is the SQL text of a function of language sql, else "": statements,
	// or as the server prints a body that it parsed when it was made, which is
	// "RETURN expression" or "BEGIN ATOMIC statements END".
	Body string `json:"body,omitempty"`
	// Runs are the functions that an aggregate is made of.
	Runs []CatalogName `json:"runs,omitempty"`
	// Extension is the extension that it belongs to, or "".
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

// Volatility is what a function's owner declares of its effects. The zero
// value stands for volatile.
type Volatility string

// The volatilities.
const (
	VolatilityImmutable Volatility = "immutable"
	VolatilityStable    Volatility = "stable"
	VolatilityVolatile  Volatility = "volatile"
)

// CatalogOperator is one operator. Left or Right is empty where it has no
// such operand.
type CatalogOperator struct {
	CatalogName
	Left     CatalogName `json:"left"`
	Right    CatalogName `json:"right"`
	Function CatalogName `json:"function"`
	// Commutator and Negator are the operators that the server may run in its
	// place, NOT (a = b) as a <> b; empty where there is none.
	Commutator CatalogName `json:"commutator,omitzero"`
	Negator    CatalogName `json:"negator,omitzero"`
	Extension  string      `json:"extension,omitempty"`
}

// CatalogCast is one cast. Function is empty where none runs.
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

// CatalogType is one type. The row types of relations and the array types of
// other types are left out.
type CatalogType struct {
	CatalogName
	Kind TypeKind `json:"kind"`
	// Base is the type under a domain, or the subtype of a range; of a
	// multirange, which is of kind range too, it is its range. Checks are the
	// texts of a domain's CHECK constraints, its NOT NULL left out.
	Base   CatalogName `json:"base"`
	Checks []string    `json:"checks,omitempty"`
	// Runs are the functions that a range is made with (canonical,
	// subtype_diff and those of its operator class), the server's own left out.
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

// CatalogRelation is one table, view or the like.
type CatalogRelation struct {
	CatalogName
	Kind    RelationKind    `json:"kind"`
	Columns []CatalogColumn `json:"columns"`
	// Definition is the query of a view or materialized view, with the names
	// that the session's search path does not resolve qualified.
	Definition string `json:"definition,omitempty"`
	// Children are the relations that a read of this one reads too: its
	// partitions and the tables that inherit from it, with theirs.
	Children []CatalogName `json:"children,omitempty"`
	// Parts are what a read of the relation, or of one that it is a child of,
	// may run although no text names it.
	Parts     []CatalogPart `json:"parts,omitempty"`
	Extension string        `json:"extension,omitempty"`
}

// CatalogPart is something that belongs to a relation and computes: an index, a
// constraint, a row security policy and the like. A server evaluates the constant
// parts of such expressions while it plans.
type CatalogPart struct {
	// Name is how messages call it, such as "the index orders_day".
	Name string `json:"name"`
	// Own says that only a read that names the relation itself runs it.
	Own bool `json:"own,omitempty"`
	// Runs are the functions that may run, the server's own left out.
	Runs []CatalogRoutine `json:"runs,omitempty"`
	// Makes are the types of which a value may be made or compared.
	Makes []CatalogName `json:"makes,omitempty"`
	// Expression is what runs for rows of the relation, as the server prints it.
	Expression string `json:"expression,omitempty"`
}

// CatalogRoutine names one of the functions that may share a name. One without a
// name is one that nothing is known of.
type CatalogRoutine struct {
	CatalogName
	Arguments []CatalogName `json:"arguments"`
}

// CatalogOrder is what sorts, groups or compares values of a type, the server's
// own functions left out.
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
)

// CatalogColumn is one column of a relation.
type CatalogColumn struct {
	Name string      `json:"name"`
	Type CatalogName `json:"type"`
}
