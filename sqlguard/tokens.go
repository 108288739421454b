package sqlguard

import "sync"

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
	TokenTerminator                         // a separator of statements
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

// tokenDialect is a Dialect that splits a text once and can reuse a list of tokens.
type tokenDialect interface {
	Dialect
	// LexInto is Lex, with a list of length 0 to append to.
	LexInto(list []Token, text string) Tokens
	// AnalyzeTokens is like Analyze, with the tokens of sql. It keeps none of them.
	AnalyzeTokens(sql string, tokens []Token) ([]Statement, error)
}

func (g *Guard) lex(sql string, room []Token) Tokens {
	if g.tokens != nil {
		return g.tokens.LexInto(room[:0], sql)
	}
	return g.dialect.Lex(sql)
}

// WithTokens calls use with the tokens of text, which it must not keep.
func WithTokens(d Dialect, text string, use func(Tokens)) {
	t, ok := d.(tokenDialect)
	if !ok {
		use(d.Lex(text))
		return
	}
	room := borrowTokens()
	tokens := t.LexInto(*room, text)
	use(tokens)
	returnTokens(room, tokens.List)
}

// tokenRoom holds lists of tokens for reuse.
var tokenRoom sync.Pool

// borrowTokens returns a list, never nil, to append to.
func borrowTokens() *[]Token {
	room, ok := tokenRoom.Get().(*[]Token)
	if !ok {
		list := make([]Token, 0, 128)
		room = &list
	}
	return room
}

// returnTokens returns a borrowed list for reuse. The caller must not use it
// afterwards.
func returnTokens(room *[]Token, list []Token) {
	if cap(list) > 1<<14 {
		return // a list for a large text is not kept
	}
	if cap(list) > cap(*room) {
		*room = list[:0]
	}
	tokenRoom.Put(room)
}

// Split returns the spans of the statements of text, as [Tokens.Statements]
// does.
func Split(d Dialect, text string) []Span { return d.Lex(text).Statements() }

// Statements returns the spans of the statements of the text. The dialect's
// terminators separate statements and are not in the spans. A client command has its
// own span. Pieces with only white space and comments are left out.
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
		case TokenClientCommand: // it gets its own span, so that the rest can be read
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
