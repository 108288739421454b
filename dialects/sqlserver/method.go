package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// xmlMethods are the methods of the type xml. Their arguments are string
// literals, and their names are in lower case. Reference: xml Data Type
// Methods.
var xmlMethods = map[string]int{"value": 2, "query": 1, "exist": 1, "nodes": 1}

// clrMethods are the methods of the types geometry, geography and hierarchyid.
// Their names are case-sensitive. Reference: Spatial types - geometry and
// geography (Transact-SQL), hierarchyid data type method reference.
var clrMethods = lexical.Set(`
	STArea STAsBinary STAsText STBoundary STBuffer STCentroid STContains STConvexHull STCrosses STCurveN STCurveToLine
	STDifference STDimension STDisjoint STDistance STEndpoint STEndPoint STEnvelope STEquals STExteriorRing STGeometryN
	STGeometryType STInteriorRingN STIntersection STIntersects STIsClosed STIsEmpty STIsRing STIsSimple STIsValid
	STLength STNumCurves STNumGeometries STNumInteriorRing STNumPoints STOverlaps STPointN STPointOnSurface STRelate
	STStartPoint STSymDifference STTouches STUnion STWithin
	AsBinaryZM AsGml AsTextZM BufferWithCurves BufferWithTolerance CurveToLineWithTolerance EnvelopeAngle EnvelopeCenter
	Filter InstanceOf IsNull IsValidDetailed MakeValid MinDbCompatibilityLevel NumRings Reduce ReorientObject RingN
	ShortestLineTo ToString HasZ HasM
	GetAncestor GetDescendant GetLevel GetReparentedValue IsDescendantOf`)

// commonSchemas are schemas of every database. If the name before a method is one of these,
// it is not a column.
var commonSchemas = map[string]bool{"sys": true, "information_schema": true, "dbo": true, "guest": true}

// clrProperties are the properties of the same types.
var clrProperties = lexical.Set("STSrid STX STY Lat Long Z M HasZ HasM IsNull")

// clrStatics are the static methods of the same types, by type. A property is
// called without brackets.
var clrStatics = map[string]map[string]bool{
	"geometry": lexical.Set(`STGeomFromText STPointFromText STLineFromText STPolyFromText STMPointFromText STMLineFromText
		STMPolyFromText STGeomCollFromText STGeomFromWKB STPointFromWKB STLineFromWKB STPolyFromWKB STMPointFromWKB
		STMLineFromWKB STMPolyFromWKB STGeomCollFromWKB GeomFromGml Parse Point Null STAsText
		CollectionAggregate ConvexHullAggregate EnvelopeAggregate UnionAggregate`),
	"geography": lexical.Set(`STGeomFromText STPointFromText STLineFromText STPolyFromText STMPointFromText STMLineFromText
		STMPolyFromText STGeomCollFromText STGeomFromWKB STPointFromWKB STLineFromWKB STPolyFromWKB STMPointFromWKB
		STMLineFromWKB STMPolyFromWKB STGeomCollFromWKB GeomFromGml Parse Point Null
		CollectionAggregate ConvexHullAggregate EnvelopeAggregate UnionAggregate`),
	"hierarchyid": lexical.Set("GetRoot Parse"),
}

// allowedMethod reports whether a method is on a list.
func allowedMethod(method string) bool { return xmlMethods[method] > 0 || clrMethods[method] }

// method reads .name(…) or .name behind an operand: a method or property of its
// value. Reference: xml Data Type Methods; Spatial types; hierarchyid data type
// method reference.
func (p *parser) method() {
	p.next()
	t := p.tok
	m := p.simpleName("the name of a method")
	if p.err != nil {
		return
	}
	call := sqlguard.Call{Name: m.text, Notation: sqlguard.NotationAttribute, Span: spanOf(t)}
	if p.mark() != '(' {
		if clrProperties[m.text] {
			call.Builtin, call.Ruling.Allowed = true, true
		} else {
			call.Ruling.Reason = "not on the list of properties of the server's own types"
		}
		p.stmt.Calls = append(p.stmt.Calls, call)
		return
	}
	p.stmt.Calls = append(p.stmt.Calls, call)
	p.methodCall(m.text, len(p.stmt.Calls)-1)
}

// qualifiedCall reads the call of a.b(…) and longer names: a method of the
// column a, or a function of the schema a. Reference: xml Data Type Methods;
// User-Defined Functions.
func (p *parser) qualifiedCall(n *name) {
	m := n.last()
	owner := n.parts[n.n-2]
	switch {
	case n.n <= 3 && skeleton(owner.text) == "$partition":
		p.stmt.Calls = append(p.stmt.Calls, sqlguard.Call{Name: "$partition", Notation: sqlguard.NotationCall, Span: n.at, Builtin: true, Ruling: sqlguard.Ruling{Allowed: true}})
		p.arguments()
		return
	case !allowedMethod(m.text) && m.text != "modify" || owner.text == "" || commonSchemas[skeleton(owner.text)] || n.n > 5:
		p.systemCall(n)
		p.arguments()
		return
	}
	column := *n
	column.n--
	column.at = sqlguard.Span{Start: n.at.Start, End: owner.at.End}
	p.column(&column)
	p.stmt.Calls = append(p.stmt.Calls, sqlguard.Call{Name: m.text, Notation: sqlguard.NotationAttribute, Span: n.at})
	at := len(p.stmt.Calls) - 1
	of := methodCall{call: at, scope: p.scope, schema: owner.text}
	if n.n > 2 && !clrProperties[owner.text] {
		of.table = n.parts[n.n-3].text
	}
	p.methods = append(p.methods, of)
	p.methodCall(m.text, at)
}

// systemCall states the call of a function of a schema. Reference: System
// functions (Transact-SQL).
func (p *parser) systemCall(n *name) {
	if n.n == 2 && skeleton(n.parts[0].text) == "sys" {
		if fn := systemFunctions[lexical.Lower(n.last().text)]; fn != nil {
			p.call(n, fn)
			return
		}
	}
	p.call(n, nil)
}

// methodCall reads the arguments of a method and rules on its call. Reference:
// xml Data Type Methods.
func (p *parser) methodCall(method string, at int) {
	literals := p.literalArguments()
	p.arguments()
	if p.err != nil {
		return
	}
	call := &p.stmt.Calls[at]
	switch {
	case method == "modify":
		call.Builtin = true
		call.Ruling = sqlguard.Ruling{Code: sqlguard.CodeFunctionSideEffect, Reason: "changes the value that it is called on"}
	case xmlMethods[method] > 0:
		if len(literals) != xmlMethods[method] {
			call.Ruling.Reason = "the arguments of this method are string literals, so it is a user-defined function"
			return
		}
		call.Builtin, call.Ruling.Allowed = true, true
		p.xquery(literals[0], call.Span)
		if method == "value" {
			p.valueType(literals[1], call.Span)
		}
	case clrMethods[method]:
		call.Builtin, call.Ruling.Allowed = true, true
	default:
		call.Ruling.Reason = "not on the list of methods of the server's own types"
	}
}

// literalArguments returns the string literals in the brackets that open here, or
// nil if the brackets contain anything else.
func (p *parser) literalArguments() []string {
	var out []string
	for i := 1; i < 6; i += 2 {
		t := p.peek(i)
		if t.kind != sqlguard.TokenString {
			return nil
		}
		out = append(out, decodeString(p.sql[t.start:t.end]))
		switch p.markOf(i + 1) {
		case ')':
			return out
		case ',':
		default:
			return nil
		}
	}
	return nil
}

// xquery looks for what an XQuery text reads of the statement around it.
// Reference: sql:column() Function (XQuery), sql:variable() Function (XQuery).
func (p *parser) xquery(text string, at sqlguard.Span) {
	if strings.Contains(text, "column") {
		p.allColumns(at)
	}
	if strings.Contains(text, "variable") && strings.Contains(text, "sql:") {
		p.effect(sqlguard.CodeParameterNotAllowed, at, "sql:variable reads a variable, which has no value here")
	}
}

// valueType states the type that value() converts to, which is the text of a
// literal. Reference: value() Method (xml Data Type).
func (p *parser) valueType(text string, at sqlguard.Span) {
	base, _, _ := strings.Cut(text, "(")
	base = lexical.Lower(strings.Trim(strings.TrimSpace(base), "[]\""))
	if builtinTypes[base] {
		p.builtinType(base, at)
		return
	}
	p.userType(&name{parts: [maxParts]part{{text: strings.TrimSpace(text)}}, n: 1, at: at})
}

// static reads type::Method(…) or type::Property. Reference: Invoking static
// methods of CLR user-defined types; Spatial types, hierarchyid.
func (p *parser) static(n *name) {
	p.next()
	t := p.tok
	m := p.simpleName("the name of a static method")
	if p.err != nil {
		return
	}
	typ := lexical.Lower(n.last().text)
	call := sqlguard.Call{Schema: n.String(), Name: m.text, Notation: sqlguard.NotationCall, Span: sqlguard.Span{Start: n.at.Start, End: t.end}}
	switch {
	case (n.n == 1 || n.n == 2 && lexical.Lower(n.parts[0].text) == "sys") && clrStatics[typ][m.text]:
		call.Schema, call.Builtin, call.Ruling.Allowed = typ, true, true
	case builtinTypes[lexical.Lower(m.text)]:
		call.Ruling.Reason = "casts are written CAST (x AS " + m.text + ") in Transact-SQL"
	default:
		call.Ruling.Reason = "not on the list of static methods of the server's own types"
	}
	p.stmt.Calls = append(p.stmt.Calls, call)
	if p.mark() == '(' {
		p.arguments()
	}
}
