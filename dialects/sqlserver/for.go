package sqlserver

// forClause reads FOR at the end of a query. Reference: SELECT - FOR Clause
// (Transact-SQL), FOR XML, FOR JSON.
func (p *parser) forClause() {
	start := p.tok.start
	p.next()
	switch {
	case p.accept("xml"):
		p.forXML()
	case p.accept("json"):
		p.forJSON()
	case p.accept("browse"):
		// The result also gets the columns of the keys.
		p.allColumns(p.since(start))
	case p.accept("update"):
		if p.accept("of") {
			p.list(func() { p.multiName("the name of a column") })
		}
		p.forbid("for update", p.since(start))
	case p.acceptAll("read", "only"):
	default:
		p.fail("XML or JSON")
	}
}

// forXML reads the mode of FOR XML and its directives. Reference: FOR XML (SQL
// Server).
//
//	RAW [('n')] | AUTO | EXPLICIT | PATH [('n')] [, directive] …
func (p *parser) forXML() {
	switch {
	case p.accept("raw"), p.accept("path"):
		p.optionalLiteral()
	case p.accept("auto"), p.accept("explicit"):
	default:
		p.fail("RAW, AUTO, EXPLICIT or PATH")
	}
	for p.acceptMark(',') {
		switch {
		case p.accept("binary"):
			p.expect("base64")
		case p.accept("type"), p.accept("xmldata"):
		case p.accept("root"), p.accept("xmlschema"):
			p.optionalLiteral()
		case p.accept("elements"):
			if !p.accept("xsinil") {
				p.accept("absent")
			}
		default:
			p.fail("BINARY BASE64, TYPE, ROOT, ELEMENTS, XMLDATA or XMLSCHEMA")
		}
	}
}

// forJSON reads the mode of FOR JSON and its directives. Reference: Format query
// results as JSON with FOR JSON.
func (p *parser) forJSON() {
	if !p.accept("path") {
		p.expect("auto")
	}
	for p.acceptMark(',') {
		switch {
		case p.accept("root"):
			p.optionalLiteral()
		case p.accept("include_null_values"), p.accept("without_array_wrapper"):
		default:
			p.fail("ROOT, INCLUDE_NULL_VALUES or WITHOUT_ARRAY_WRAPPER")
		}
	}
}

// optionalLiteral reads ('text') if it comes next. Reference: FOR XML (SQL
// Server), "ElementName"; FOR JSON.
func (p *parser) optionalLiteral() {
	if p.acceptMark('(') {
		p.stringLiteral("a name in quotes")
		p.expectMark(')')
	}
}
