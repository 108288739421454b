package postgres

// The tables' accessors, for the tests of this package.
var (
	LookupFunction    = lookupFunction
	OneArgumentDenied = oneArgumentDenied
	SystemRelation    = systemRelation
	SettingAllowed    = settingAllowed
	BuiltinOperator   = builtinOperator
	BuiltinType       = builtinType
	BuiltinTypeText   = builtinTypeText
)

type (
	FunctionFacts = functionFacts
	RelationFacts = relationFacts
)

// KnownTo reports whether a server of the major version has the function. The
// functions of an extension are known to every version, because they depend on what
// was installed. Major 0 means no server.
func (f functionFacts) KnownTo(major int) bool {
	return f.Extension != "" || f.majors.has(major)
}

// KnownTo reports whether a server of the major version has the relation. Major 0
// means no server. A relation of an extension is known to every version.
func (r relationFacts) KnownTo(major int) bool {
	return r.known && (r.majors == 0 || r.majors.has(major))
}

const (
	FunctionUnknown = functionUnknown
	FunctionDenied  = functionDenied
	FunctionChecked = functionChecked
	FunctionAllowed = functionAllowed

	OldestMajor = oldestMajor
	NewestMajor = newestMajor

	CheckNone           = checkNone
	CheckSettingName    = checkSettingName
	CheckTypeName       = checkTypeName
	CheckThreeArguments = checkThreeArguments
	CheckRepeat         = checkRepeat
	CheckPad            = checkPad
	CheckSeries         = checkSeries
	CheckSRID           = checkSRID
	CheckBand           = checkBand
	CheckTopology       = checkTopology
)

// FunctionRow is a row of the function table.
type FunctionRow struct {
	Name, Extension string
	Facts           FunctionFacts
	Listed          bool
	OneArgument     bool
}

// FunctionRows returns the function table.
func FunctionRows() []FunctionRow {
	var rows []FunctionRow
	for _, e := range functionTable {
		facts, listed := lookupFunction("", e.name)
		rows = append(rows, FunctionRow{e.name, e.extension, facts, listed, e.oneArgument})
	}
	return rows
}

// Tables returns the keys of the sorted tables in their order.
func Tables() map[string][]string {
	tables := map[string][]string{
		"settings":           settingTable[:],
		"operators":          operatorTable[:],
		"information_schema": informationSchemaFunctions[:],
	}
	for _, e := range functionTable {
		tables["functions"] = append(tables["functions"], e.name)
	}
	for _, e := range relationTable {
		tables["relations"] = append(tables["relations"], e.name+"\x00"+e.schema)
	}
	for _, e := range typeTable {
		tables["types"] = append(tables["types"], e.name)
	}
	for _, e := range typeSpellings {
		tables["spellings"] = append(tables["spellings"], e.spelling)
	}
	return tables
}
