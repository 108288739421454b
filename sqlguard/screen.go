package sqlguard

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// screenLimits bound what reaches a parser. They are part of a guard's ID.
type screenLimits struct {
	Bytes  int
	Tokens int
	Depth  int // brackets, CASE and sub-queries
	Chain  int // operators and similar links in one stretch of one bracket level
	Parts  int // set operations
	Joins  int // joins that a server plans together
	CTEs   int // common table expressions
}

const (
	maxTokens = 50_000
	maxDepth  = 256
	maxChain  = 2_000
	// A server may plan a statement with many joins or common table expressions
	// for minutes, and some servers do not end it meanwhile. tools/growth measures
	// how long: with these numbers, PostgreSQL needs about 5 seconds and MariaDB
	// and SQLite need less, or refuse the statement themselves. A chain of 300
	// expressions overflows the stack of SQLite.
	maxJoins = 100
	maxCTEs  = 150
	// Scanners in C read a run of operator characters again for every
	// operator or comment that begins in it: 64 KiB of /**/ take seconds.
	maxOperatorRun = 4096
)

// limitsFor derives the limits from the maximum length of a statement and the stack
// size of a thread. Parsers in C recurse once per link of a left-deep chain: about
// 2,900 links crash the process with a stack of 1 MiB, and 680 with 256 KiB. Below
// 2 MiB the limit is 200 links per 128 KiB. An unknown stack size counts as 1 MiB.
func limitsFor(maxBytes int, stack uint64) screenLimits {
	if stack == 0 {
		stack = 1 << 20
	}
	chain := maxChain
	if stack < 2<<20 {
		chain = int(stack / (128 << 10) * 200)
	}
	chain = min(chain, maxChain)
	return screenLimits{Bytes: maxBytes, Tokens: maxTokens, Depth: maxDepth, Chain: chain, Parts: chain, Joins: maxJoins, CTEs: maxCTEs}
}

// screen judges bytes and tokens before any parser sees the statement. It is linear
// and never recursive. It adds its findings to v and reports whether the statement may
// reach the parser. It appends the tokens to room. The tokens are nil when it refused
// the statement before it split it.
func (g *Guard) screen(sql string, room []Token, v *Verdict) (Tokens, bool) {
	return g.screenWithin(sql, room, v, g.limits)
}

func (g *Guard) screenWithin(sql string, room []Token, v *Verdict, limits screenLimits) (Tokens, bool) {
	if len(sql) > limits.Bytes {
		v.add(CodeInputTooLarge, Span{0, len(sql)}, fmt.Sprintf("the statement is %d bytes long; the limit is %d", len(sql), limits.Bytes))
		return Tokens{}, false
	}
	if at, what := rawFault(sql); what != "" {
		v.add(CodeInvalidCharacters, Span{at, at + 1}, what)
		return Tokens{}, false
	}
	tokens := g.lex(sql, room)
	s := screening{sql: sql, v: v, limits: limits, verticalTab: tokens.VerticalTab}
	s.characters(tokens.List)
	s.shape(tokens.List)
	return tokens, len(v.Findings) == 0
}

// rawFault finds bytes that no statement may contain, not even in a literal.
func rawFault(sql string) (at int, what string) {
	if strings.HasPrefix(sql, "\uFEFF") {
		return 0, "the text begins with a byte order mark (U+FEFF)"
	}
	if i := strings.IndexByte(sql, 0); i >= 0 {
		return i, "the text contains a NUL character: parsers stop there, and servers may read on"
	}
	if utf8.ValidString(sql) {
		return 0, ""
	}
	for i := 0; i < len(sql); {
		r, n := utf8.DecodeRuneInString(sql[i:])
		if r == utf8.RuneError && n == 1 {
			return i, fmt.Sprintf("the text is not valid UTF-8 at byte %d", i)
		}
		i += n
	}
	return 0, ""
}

type screening struct {
	sql         string
	v           *Verdict
	limits      screenLimits
	verticalTab bool
	reported    int // invalid characters reported
}

// characters looks at every character outside of literals and quoted names.
func (s *screening) characters(tokens []Token) {
	from := 0
	for _, t := range tokens {
		if t.Kind == TokenString || t.Kind == TokenQuotedName || t.Kind == TokenQuotedText {
			s.stretch(from, t.Start)
			from = t.End
		}
	}
	s.stretch(from, len(s.sql))
}

func (s *screening) stretch(from, to int) {
	run := 0
	for i := from; i < to; {
		c := s.sql[i]
		if c >= 0x20 && c < 0x7f || c == '\n' || c == '\t' {
			i++
			if !operatorByte[c] {
				run = 0
				continue
			}
			if run++; run == maxOperatorRun+1 {
				s.v.add(CodeInputTooLarge, Span{i - run, i}, fmt.Sprintf("more than %d operator characters in a row", maxOperatorRun))
			}
			continue
		}
		run = 0
		n, bad := 1, true
		switch {
		case c == '\f':
			bad = false
		case c == '\v':
			bad = !s.verticalTab
		case c == '\r':
			bad = i+1 >= len(s.sql) || s.sql[i+1] != '\n'
		case c >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRuneInString(s.sql[i:])
			bad = hiddenRune(r)
		}
		if bad && s.reported < 10 {
			s.reported++
			r, _ := utf8.DecodeRuneInString(s.sql[i:])
			s.v.add(CodeInvalidCharacters, Span{i, i + n}, fmt.Sprintf("character U+%04X (%s) outside of a string literal", r, hiddenName(r)))
		}
		i += n
	}
}

// operatorByte marks the characters of operators and of comment markers.
var operatorByte = func() (set [256]bool) {
	for _, c := range []byte("~!@#^&|`?+-*/%<>=:") {
		set[c] = true
	}
	return set
}()

// hiddenRune reports whether a character beyond ASCII is a control, a space,
// invisible, or changes the direction of text (Unicode 16, general categories
// Cc, Zs, Zl, Zp, and the bidirectional and zero-width ones of Cf).
func hiddenRune(r rune) bool {
	switch {
	case r >= 0x80 && r <= 0xA0, r == 0xAD, r == 0x034F, r == 0x061C, r == 0x115F, r == 0x1160, r == 0x1680,
		r == 0x17B4, r == 0x17B5, r >= 0x180B && r <= 0x180F, r >= 0x2000 && r <= 0x200F, r >= 0x2028 && r <= 0x202F,
		r >= 0x205F && r <= 0x206F, r == 0x2800, r == 0x3000, r == 0x3164, r == 0xFEFF, r == 0xFFA0,
		r >= 0xFFF0 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	default:
		return false
	}
}

func hiddenName(r rune) string {
	switch {
	case r == '\r':
		return "carriage return without line feed"
	case r < 0x20 || r >= 0x7f && r < 0xA0:
		return "control character"
	case r == 0x61C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069:
		return "changes the direction of text"
	case r == 0xA0 || r == 0x1680 || r >= 0x2000 && r <= 0x200A || r == 0x2028 || r == 0x2029 || r == 0x202F || r == 0x205F || r == 0x3000:
		return "space that is not ASCII"
	default:
		return "invisible"
	}
}

// level is one bracket or CASE that is open.
type level struct {
	isCase  bool
	between int // number of BETWEEN whose AND was not read yet

	// A parser recurses along the longest path of links. A link is an operator, a
	// join or a set operation. A stretch is a run of operators that no comma or
	// clause keyword ends, and an arm is one operand of a set operation. Stretches
	// do not lengthen each other's path, and arms do not either. A closed level
	// lengthens the path of the stretch around it.
	chain  int // links in the current stretch
	below  int // links on the longest path through the levels that closed in it
	peak   int // the most links of any earlier stretch in the arm
	joins  int // joins of the arm
	arms   int // the most links of any earlier arm
	setOps int

	// The joins that a server plans together: those of one SELECT, with the ones in
	// brackets inside it.
	inFrom  bool
	planned int // of the SELECT read so far
	most    int // of any earlier SELECT of the same set operation
}

// together returns the most joins that are planned together in the level.
func (l *level) together() int { return max(l.most, l.planned) }

// links returns the longest path of links through the part of the level read so far.
func (l *level) links() int { return l.setOps + max(l.arms, l.arm()) }

func (l *level) arm() int { return l.joins + max(l.peak, l.chain+l.below) }

// stretch ends the current stretch.
func (l *level) stretch() { l.peak, l.chain, l.below = max(l.peak, l.chain+l.below), 0, 0 }

// setOp ends the current arm.
func (l *level) setOp() {
	l.arms, l.joins, l.peak, l.chain, l.below = max(l.arms, l.arm()), 0, 0, 0, 0
	l.setOps++
	l.most, l.planned, l.inFrom = l.together(), 0, false
}

// shape measures depth, chains and counts.
func (s *screening) shape(tokens []Token) {
	var (
		levels   = make([]level, 1, 16)
		count    int
		ctes     int
		setOps   int
		previous = Token{Kind: TokenTerminator}
	)
	report := func(code Code, t Token, message string) { // each code once
		if !slices.ContainsFunc(s.v.Findings, func(f Finding) bool { return f.Code == code }) {
			s.v.add(code, Span{t.Start, t.End}, message)
		}
	}
	// closeLevel ends the innermost level. Its links lengthen the path of the
	// stretch around it.
	closeLevel := func() {
		links, joins := levels[len(levels)-1].links(), levels[len(levels)-1].together()
		levels = levels[:len(levels)-1]
		top := &levels[len(levels)-1]
		top.below = max(top.below, links)
		top.planned += joins
	}
	for i, t := range tokens {
		if t.Kind == TokenComment {
			count++
			continue
		}
		count++
		top := &levels[len(levels)-1]
		switch t.Kind { //nolint:exhaustive // names and literals are not links
		case TokenExecutableComment:
			report(CodeExecutableComment, t, "a comment starts with a mark that makes some servers run its content")
		case TokenClientCommand:
			report(CodeClientCommand, t, "this is a command of a command line client, not SQL")
		case TokenOpen:
			levels = append(levels, level{})
		case TokenClose:
			for len(levels) > 1 && levels[len(levels)-1].isCase { // "AS case" names an alias and opened no CASE
				closeLevel()
			}
			if len(levels) > 1 {
				closeLevel()
			}
			levels[len(levels)-1].chain++ // subscripts and calls in a row are links too
		case TokenComma, TokenTerminator:
			top.stretch()
			top.between = 0
			if top.inFrom {
				top.planned++
			}
		case TokenOperator, TokenParameter, TokenInvalid, TokenUnterminated, TokenDot:
			top.chain++
		case TokenWord:
			if previous.Kind == TokenDot {
				break // a name, whatever it spells
			}
			switch classify(t.Text(s.sql)) {
			case wordPlain:
			case wordLink:
				top.chain++
				if strings.EqualFold(t.Text(s.sql), "between") {
					top.between++
				}
			case wordAnd:
				if top.between > 0 {
					top.between--
					top.chain++
				} else {
					top.stretch()
				}
			case wordBreak:
				top.stretch()
				top.inFrom = top.inFrom && joinsOn(t.Text(s.sql))
			case wordFrom:
				// IS DISTINCT FROM is an operator, FROM a clause.
				if previous.Kind == TokenWord && strings.EqualFold(previous.Text(s.sql), "distinct") {
					top.chain++
				} else {
					top.stretch()
					top.inFrom = true
				}
			case wordJoin:
				top.planned++
				top.joins++
				top.stretch()
			case wordSetOp:
				setOps++
				top.setOp()
			case wordCase:
				if previous.Kind != TokenWord || !strings.EqualFold(previous.Text(s.sql), "as") {
					levels = append(levels, level{isCase: true})
				}
			case wordWhen:
				if top.isCase {
					top.stretch()
				}
			case wordEnd:
				if top.isCase {
					closeLevel()
				}
			case wordAs:
				if opensCTE(tokens[i+1:], s.sql) {
					ctes++
				}
			}
		default:
		}
		if len(levels)-1 > s.limits.Depth {
			report(CodeNestingTooDeep, t, fmt.Sprintf("brackets, CASE and sub-queries are nested more than %d deep here", s.limits.Depth))
			// The rest of the statement cannot be read safely.
			break
		}
		if levels[len(levels)-1].links() > s.limits.Chain {
			report(CodeNestingTooDeep, t, fmt.Sprintf("more than %d operators, joins and set operations are nested in each other here", s.limits.Chain))
		}
		previous = t
	}
	for len(levels) > 1 {
		closeLevel()
	}
	for _, part := range []struct {
		n, limit int
		what     string
	}{
		{levels[0].together(), s.limits.Joins, "joins"},
		{setOps, s.limits.Parts, "set operations"},
		{ctes, s.limits.CTEs, "common table expressions"},
	} {
		if part.n > part.limit {
			report(CodeNestingTooDeep, Token{End: len(s.sql)}, fmt.Sprintf("%d %s; the limit is %d", part.n, part.what, part.limit))
		}
	}
	if count > s.limits.Tokens {
		s.v.add(CodeInputTooLarge, Span{0, len(s.sql)}, fmt.Sprintf("%d tokens; the limit is %d", count, s.limits.Tokens))
	}
}

// joinsOn reports whether a word that ends a stretch belongs to a join.
func joinsOn(word string) bool {
	return strings.EqualFold(word, "on") || strings.EqualFold(word, "using") || strings.EqualFold(word, "or")
}

// opensCTE reports whether the tokens after AS open the query of a common
// table expression: "(" or [NOT] MATERIALIZED.
func opensCTE(rest []Token, sql string) bool {
	for _, t := range rest {
		switch t.Kind { //nolint:exhaustive // no other kind opens a query
		case TokenComment:
			continue
		case TokenOpen:
			return true
		case TokenWord:
			word := t.Text(sql)
			return strings.EqualFold(word, "not") || strings.EqualFold(word, "materialized")
		default:
			return false
		}
	}
	return false
}

type wordClass uint8

const (
	wordPlain wordClass = iota
	wordLink            // works like an operator
	wordAnd             // AND: ends a stretch, unless it belongs to BETWEEN
	wordBreak           // ends a stretch
	wordFrom
	wordJoin
	wordSetOp
	wordCase
	wordWhen
	wordEnd
	wordAs
)

// classify returns what an unquoted word means for the length of chains. It switches
// on the lower-case word in a fixed buffer, so it allocates nothing.
func classify(word string) wordClass {
	var buf [12]byte
	if len(word) > len(buf) || len(word) < 2 {
		return wordPlain
	}
	for i := range len(word) {
		c := word[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	switch string(buf[:len(word)]) {
	case "is", "not", "null", "isnull", "notnull", "collate", "at", "time", "zone", "local",
		"like", "ilike", "similar", "glob", "regexp", "rlike", "match", "sounds", "member",
		"between", "in", "distinct", "overlaps", "escape", "div", "mod", "xor",
		"any", "all", "some", "exists", "unknown", "document", "normalized", "json", "operator",
		"binary", "uescape", "of", "to", "interval", "array", "row", "symmetric", "asymmetric", "prior":
		return wordLink
	case "and":
		return wordAnd
	case "or", "select", "where", "group", "having", "order", "limit", "on", "using":
		// Words that are reserved everywhere: a column cannot have such a
		// name unquoted, so that no expression can end its stretch early.
		return wordBreak
	case "from":
		return wordFrom
	case "join":
		return wordJoin
	case "union", "intersect", "except", "minus":
		return wordSetOp
	case "case":
		return wordCase
	case "when", "then", "else":
		return wordWhen
	case "end":
		return wordEnd
	case "as":
		return wordAs
	default:
		return wordPlain
	}
}
