package sqlserver

import (
	"strings"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// builtinTypes are the data types of the server's own. Reference: Data types
// (Transact-SQL), Data type synonyms (Transact-SQL).
var builtinTypes = lexical.Set(`
	bigint binary bit char character cursor date datetime datetime2 datetimeoffset dec decimal double float geography
	geometry hierarchyid image int integer json money national nchar ntext numeric nvarchar real rowversion
	smalldatetime smallint smallmoney sql_variant sysname text time timestamp tinyint uniqueidentifier varbinary varchar
	vector xml`)

// dataType reads the name of a type with its parameters. Reference: Data types
// (Transact-SQL), Data type synonyms (Transact-SQL).
//
//	[schema.]name [(max | n [, m])] | xml [([CONTENT | DOCUMENT] collection)]
func (p *parser) dataType() {
	start := p.tok
	switch {
	case p.isAny("national", "double"):
		first := p.tok.word.text
		p.next()
		switch {
		case first == "double":
			p.accept("precision")
		case p.atName(): // NATIONAL CHARACTER, NATIONAL TEXT
			p.next()
		default:
			p.fail("CHARACTER, CHAR or TEXT")
			return
		}
		p.accept("varying")
		p.typeParameters()
		p.builtinType(first, spanOf(start))
		return
	case p.is("cursor"), p.is("table"):
		p.fail("a type that a value can be converted to")
		return
	}
	n := p.multiName("a data type")
	if p.err != nil {
		return
	}
	base := lexical.Lower(n.last().text)
	builtin := builtinTypes[base] && (n.n == 1 || n.n == 2 && lexical.Lower(n.parts[0].text) == "sys")
	if builtin && !n.last().quoted && (base == "char" || base == "character" || base == "binary" || base == "nchar") {
		p.accept("varying")
	}
	if builtin && base == "xml" && p.mark() == '(' {
		p.xmlCollection()
	} else {
		p.typeParameters()
	}
	if builtin {
		p.builtinType(base, n.at)
		return
	}
	p.userType(&n)
}

// typeParameters reads (max), (n), (n, m) or (n, float16). Reference: Data
// types (Transact-SQL).
func (p *parser) typeParameters() {
	if !p.acceptMark('(') {
		return
	}
	if !p.accept("max") {
		p.integer("a length")
		if p.acceptMark(',') && p.tok.kind == sqlguard.TokenNumber {
			p.next()
		} else if strings.HasPrefix(lexical.Lower(p.text()), "float") {
			p.next()
		}
	}
	p.expectMark(')')
}

// xmlCollection reads ([CONTENT | DOCUMENT] name). Reference: xml
// (Transact-SQL).
func (p *parser) xmlCollection() {
	p.next()
	if p.isAny("content", "document") && p.markOf(1) != ')' && p.markOf(1) != '.' {
		p.next()
	}
	p.multiName("the name of a schema collection")
	p.expectMark(')')
}

// builtinType states a cast to a type of the server's own, once.
func (f *facts) builtinType(name string, at sqlguard.Span) {
	for _, t := range f.stmt.Types[:min(len(f.stmt.Types), 16)] {
		if t.Builtin && t.Name == name {
			return
		}
	}
	f.stmt.Types = append(f.stmt.Types, sqlguard.Type{Name: name, Span: at, Builtin: true})
}

// userType states a cast to a type that is not the server's own. Such a type
// can run code of its owner: an assembly's, or that of a rule.
func (f *facts) userType(n *name) {
	f.stmt.Types = append(f.stmt.Types, sqlguard.Type{Schema: strings.Join(n.qualifier(1), "."), Name: n.last().text, Span: n.at})
}
