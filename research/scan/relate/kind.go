package relate

import (
	"strings"

	"github.com/ktxhq/ktx/research/catalog"
)

// kind groups the types whose values can be compared without a cast.
type kind int

const (
	anything kind = iota // a type that is not known, or that holds any value
	integer
	fraction // a number with a fraction; whole ones can be compared with integers
	textual
	uniqueID
	moment
	boolean
	binary
	document // JSON, XML, arrays, geometry: never a key
)

// kindOf returns the kind of a column by its native type, and where that says
// nothing, by its normalized type and its dimension.
func kindOf(c *catalog.Column) kind {
	for _, name := range []string{c.NativeType, c.NormalizedType} {
		if k := kindOfType(name); k != anything {
			return k
		}
	}
	switch c.DimensionType {
	case catalog.DimensionNumber:
		return fraction
	case catalog.DimensionTime:
		return moment
	case catalog.DimensionBoolean:
		return boolean
	case catalog.DimensionString:
		if c.NativeType != "" {
			return textual
		}
	}
	return anything
}

// kindOfType returns the kind of a type by its name in any of the engines.
func kindOfType(name string) kind {
	name = strings.ToLower(strings.TrimSpace(name))
	base, arguments, _ := strings.Cut(name, "(")
	base = strings.TrimSpace(base)
	switch {
	case strings.HasSuffix(base, "[]"), hasAny(base, "json", "xml", "array", "struct", "geo", "point", "polygon", "vector", "hstore", "variant", "range"):
		return document
	case hasAny(base, "interval", "date", "time", "year"):
		return moment
	case hasAny(base, "bool"), base == "bit":
		return boolean
	case hasAny(base, "uuid", "uniqueidentifier"):
		return uniqueID
	case hasAny(base, "int", "serial", "rowversion"):
		return integer
	case hasAny(base, "number", "numeric", "decimal", "real", "double", "float", "money"), base == "dec":
		if base == "number" && arguments == "" {
			return integer
		}
		if _, scale, ok := strings.Cut(arguments, ","); arguments != "" && (!ok || strings.Trim(scale, " )") == "0") {
			return integer
		}
		return fraction
	case hasAny(base, "char", "text", "string", "clob", "enum", "citext", "sysname"), base == "name", base == "set":
		return textual
	case hasAny(base, "blob", "binary", "bytea", "bytes", "image"):
		return binary
	}
	return anything
}

func hasAny(s string, parts ...string) bool {
	for _, p := range parts {
		if strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// fits reports whether values of two kinds can be compared without a cast.
func (k kind) fits(other kind) bool {
	if k == anything || other == anything || k == other {
		return true
	}
	return k.numeric() && other.numeric()
}

func (k kind) numeric() bool { return k == integer || k == fraction }

// keyable reports whether keys have such values.
func (k kind) keyable() bool { return k != document && k != boolean }
