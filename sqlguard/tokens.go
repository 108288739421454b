package sqlguard

// TokenKind says what a token is. The zero value is a character that starts
// no token of the dialect.
type TokenKind uint8

// The kinds of token. White space is not a token.
const (
	TokenInvalid           TokenKind = iota // no token of the dialect starts here
	TokenWord                               // unquoted identifier or keyword
	TokenQuotedName                         // quoted identifier, quotes included
	TokenQuotedText                         // a quoted name that the engine may also read as a string (SQLite "x")
	TokenString                             // string, bit or binary literal with its prefix and quotes
	TokenNumber                             // numeric literal
	TokenOperator                           // one operator, such as ||, ::, -> or =
	TokenOpen                               // ( [ or {
	TokenClose                              // ) ] or }
	TokenComma                              // ,
	TokenDot                                // .
	TokenTerminator                         // a separator of statements at this place
	TokenParameter                          // an unbound parameter marker
	TokenComment                            // ordinary comment, hint comments included
	TokenExecutableComment                  // a comment that some server executes
	TokenClientCommand                      // a command of a command line client, not SQL
	TokenUnterminated                       // a literal, quoted name or comment that never ends
)

// Token is one token of a text, as byte offsets.
type Token struct {
	Kind       TokenKind
	Start, End int
}

// Text returns the token's bytes in sql, the text that was lexed.
func (t Token) Text(sql string) string { return sql[t.Start:t.End] }

// Tokens is what [Dialect.Lex] returns: the tokens in order, without overlap.
type Tokens struct {
	List []Token
	// VerticalTab says that VT is white space to this dialect's server.
	VerticalTab bool
}

// Split returns the spans of the statements of text, as [Tokens.Statements]
// does.
func Split(d Dialect, text string) []Span { return d.Lex(text).Statements() }

// Statements returns the spans of the statements of the text, as separated by
// the dialect's terminators, without the terminators; a client command is a
// piece of its own. Pieces of nothing but white space and comments are left
// out.
func (t Tokens) Statements() []Span {
	var (
		spans []Span
		start = -1
		end   int
	)
	flush := func() {
		if start >= 0 {
			spans = append(spans, Span{start, end})
		}
		start = -1
	}
	for _, t := range t.List {
		switch t.Kind { //nolint:exhaustive // every other kind is part of a statement
		case TokenTerminator:
			flush()
		case TokenClientCommand: // a piece of its own, so that the rest can be read
			flush()
			spans = append(spans, Span{t.Start, t.End})
		case TokenComment:
		default:
			if start < 0 {
				start = t.Start
			}
			end = t.End
		}
	}
	flush()
	return spans
}
