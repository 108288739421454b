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

// ProfileFaults says what contradicts itself in the tables of the profiles.
func ProfileFaults() []string {
	var faults []string
	for _, p := range profiles {
		for name := range p.allowed {
			if p.denied.Names[name] != nil {
				faults = append(faults, p.name+" allows and refuses "+name)
			}
			if facts, listed := lookupFunction("", name); listed && facts.Class != functionAllowed {
				faults = append(faults, p.name+" allows "+name+", which PostgreSQL's table refuses")
			}
		}
		for name := range p.shared {
			if _, listed := lookupFunction("", name); !listed {
				faults = append(faults, p.name+" shares "+name+" with PostgreSQL, which does not have it")
			}
		}
		for name := range p.whole {
			if p.denied.Find(name) == nil {
				faults = append(faults, p.name+" does not refuse "+name)
			}
		}
		for name := range p.readable {
			if facts, system := systemRelation("", name); system && facts.known {
				faults = append(faults, p.name+" lists "+name+", which is PostgreSQL's")
			}
		}
	}
	return faults
}
