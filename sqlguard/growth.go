package sqlguard

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// DefaultMaxConstant is how many bytes a value may have that a statement makes from
// constants alone, unless [Policy.MaxConstant] says otherwise.
const DefaultMaxConstant = 1 << 20

// costlyShare is which part of that an argument of a function may have whose cost
// grows faster than its arguments.
const costlyShare = 16

// Growth says what the functions of a dialect make from their arguments. Names are in
// lower case, without a schema.
type Growth struct {
	// Makers are functions whose value may be longer than their arguments.
	Makers map[string]Maker
	// Costly are functions whose cost grows faster than the length of an argument.
	// CostlyOperators are the operators of which the same is true.
	Costly          map[string]bool
	CostlyOperators map[string]bool
	// Plus says that + joins texts. Recurses says that a common table expression can read
	// itself without the word RECURSIVE.
	Plus, Recurses bool
	// PlusLists says that + joins two lists, and that no other arithmetic has lists. Joins are
	// functions that put their arguments together and whose names do not say so.
	PlusLists bool
	Joins     map[string]bool
	// Quotes says that the text of a list, a row or a document hides quotes and backslashes of
	// the texts in it, each by another character. Holders are parts of the names of functions
	// that put values into such a value, or make it of a text.
	Quotes  bool
	Holders []string
	// Adapts says that what a step of a recursive query makes becomes of the type with which the
	// query begins, which can make a text of a list.
	Adapts bool
	// Hiding are the letters behind % in a format that make such a text of any value.
	Hiding string
	// Collates says that a collation decides what equals the text that a function of
	// the kind MakesReplaceText replaces.
	Collates bool
	// Methods says that x.f(y) can call f with x as its first argument, that a.b can be a
	// field of the structure a, and that #1 and COLUMNS(…) are columns.
	Methods bool
	// Strict says that a function which no table knows can make any number.
	Strict bool
	// Unsigned says that operators on bits make a number without a sign, which is huge for a
	// negative one, and that a date is the number of its digits.
	Unsigned bool
	// Pipes says that |> passes the rows of a query on to the next operator.
	Pipes bool
	// Rereads says that the server computes a common table expression again for each
	// reference to it, so that a chain of them can multiply the work.
	Rereads bool
	// Aliases says that every expression can have a name behind AS, which stands for the
	// expression before and behind it, that a list follows the lambda that reads it, that
	// an aggregate can have parameters in brackets of their own, and that a backslash
	// hides characters of a text.
	Aliases bool
	// Combinators can follow the name of an aggregate, and Kinds are what those make that
	// change it. Their names have a case.
	Combinators []string
	Kinds       map[string]Maker
	// Fixed are the aggregates, in lower case, whose states do not grow with rows.
	Fixed map[string]bool
	// Tops is how many values an aggregate of the kind MakesTop has.
	Tops float64
	// Columns are the columns of functions and relations that count rows, and Endless
	// the relations, with a schema, that have as many rows as a query reads.
	Columns map[string]string
	Endless map[string]bool
	// Materializes says that Rereads holds only for those that are NOT MATERIALIZED, and
	// without MATERIALIZED for those of a statement with a LIMIT.
	Materializes bool

	collect sync.Once
	named   map[string]maker // the functions that make something long, or cost much
}

// lambdas reports whether -> makes a lambda.
func (g *Growth) lambdas() bool { return g.Methods || g.Aliases }

// kind returns what a function makes, by its name as the tables have it and as the text
// has it.
func (g *Growth) kind(fn, text string) (kind Maker, made bool) {
	if kind, made = g.Makers[fn]; made || len(g.Combinators) == 0 {
		return kind, made
	}
	rest := strings.Trim(text, "\"`")
	for range maxCombinators {
		last := slices.IndexFunc(g.Combinators, func(c string) bool { return len(rest) > len(c) && strings.HasSuffix(rest, c) })
		if last < 0 {
			break
		}
		rest = strings.TrimSuffix(rest, g.Combinators[last])
		if k, ok := g.Kinds[g.Combinators[last]]; ok && (!made || k > kind) {
			kind, made = k, true
		}
		base, ok := g.Makers[strings.ToLower(rest)]
		if made && kind == MakesAll && g.Fixed[strings.ToLower(rest)] {
			return MakesValue, true
		}
		if ok {
			if !made {
				kind = base
			}
			return kind, true
		}
	}
	return kind, made
}

// maxCombinators is how many combinators the name of an aggregate may have.
const maxCombinators = 8

// maxReads is how often a statement may read common table expressions on such a server,
// counting what they read themselves. MariaDB 10.11 plans 512 reads in 0.2 seconds, 4096
// in 3 seconds, and each step more doubles that.
const maxReads = 1000

// Maker says how large the value of a function is.
type Maker uint8

// The kinds of maker. A text argument counts with its length, a numeric one with its
// magnitude.
const (
	MakesSum         Maker = iota // the arguments together: what a function makes that is in no table
	MakesRepeat                   // the first argument, as often as the second says
	MakesPad                      // as many characters as the second argument says
	MakesCount                    // as many bytes as the first argument says
	MakesFill                     // the first argument, as often as the product of the second says
	MakesFourfold                 // four times its arguments
	MakesTwelvefold               // twelve times its arguments
	MakesBits                     // 64 times its arguments
	MakesInflated                 // what a compressed text has
	MakesReplace                  // the first argument with the third in place of each of its parts
	MakesReplaceText              // the first argument with the third in place of each second one in it, which is no pattern
	MakesFormat                   // its arguments, padded as the numbers among them and in the format say
	MakesRows                     // a row for each number up to the largest of its arguments
	MakesSeries                   // the same, and outside of FROM a list with as many numbers
	MakesDays                     // the same, and without an interval a day for each day between two dates
	MakesResize                   // as many elements as the second argument says, each like the third
	MakesEach                     // a list with what a lambda makes of each element
	MakesReduced                  // what a lambda makes of all elements, one after the other
	MakesJoined                   // the elements of a list, with the second argument between them
	MakesChain                    // the other arguments, with the first between them
	MakesBins                     // as many numbers as the third argument says
	MakesSquare                   // its first argument, each part indented as deep as it is nested
	MakesAll                      // its argument once for each row
	MakesLength                   // a number: the length of its argument
	MakesIndex                    // a number: the place of an element in a list, whose first place a number among the arguments says
	MakesLarge                    // a number that may have any size
	MakesPower                    // a number: the first argument to the power of the second
	MakesSmall                    // a number of at most a million, or a short text
	MakesTotal                    // a number: the sum of its argument over all rows
	MakesNumber                   // a number: how many rows there are
	MakesColumns                  // columns of the relations of FROM
	MakesValue                    // a number that is no larger than the arguments together
	MakesTimes                    // a number: the product of its arguments
	MakesShift                    // a number: the first argument, doubled as often as the second says
	MakesRest                     // a number: what is left of the first argument after dividing by the second
	MakesDay                      // a day
	MakesMoment                   // a time
	MakesSpan                     // a number: how many units, which the first argument names, lie between two times
)

// The kinds of maker that are like a kind above.
const (
	MakesManyfold Maker = 100 + iota // sixteen times its arguments
	MakesScaled                      // sixteen times its arguments, as often as a number among them says
	MakesProduct                     // its arguments, each as often as all others together are long
	MakesCast                        // the first argument as a type, which a text names
	MakesUnrolled                    // a row for each element of its argument
	MakesNumbers                     // as many rows as the only or the second argument says
	MakesRandom                      // rows without end, with texts as long as its arguments say
	MakesHeld                        // its arguments, among which are no digits of one number
	MakesCopies                      // as many elements as the first argument says, each like the second
	MakesSome                        // its argument once for each row, up to as many as a parameter says
	MakesTop                         // the same; without a parameter as many as the growth of the dialect says
	MakesKeys                        // as many numbers as the largest of its arguments, also in a list, says
	MakesSlots                       // as many times as the second argument has of the third
	MakesText                        // its arguments as one text, which hides characters of those that are no texts
	MakesRing                        // the cells of a map around another one, up to as many steps as the second argument says
	MakesCells                       // the cells of a map within another one: seven times as many for each step
	MakesBox                         // the cells of a map between two places: 32 times as many for each step
)

// long reports whether a function of the kind makes a text, a list or rows.
func (k Maker) long() bool { return k < MakesLength || k >= MakesManyfold }

// counts reports whether a function of the kind says how long its argument is.
func (k Maker) counts() bool { return k == MakesLength || k == MakesIndex }

// repeats reports whether a function of the kind can make a text that is longer than twice its
// arguments.
func (k Maker) repeats() bool {
	switch k { //nolint:exhaustive // the others are no longer, or not by themselves
	case MakesTwelvefold, MakesBits, MakesRepeat, MakesFourfold, MakesReplace, MakesReplaceText, MakesEach, MakesReduced:
		return true
	default:
		return false
	}
}

// holds reports whether a value of the kind has numbers, and no digits of one.
func (k Maker) holds() bool {
	switch k { //nolint:exhaustive // the others make texts
	case MakesEach, MakesSeries, MakesHeld, MakesUnrolled, MakesCast, MakesCopies, MakesTop, MakesSome:
		return true
	default:
		return false
	}
}

// growthOf returns the tables of a dialect, or nil when it has none.
func growthOf(d Dialect) *Growth {
	if d, ok := d.(interface{ Growth() *Growth }); ok {
		return d.Growth()
	}
	return nil
}

// measure refuses a statement that makes a long value from constants, or gives one to
// a function whose cost grows faster than its arguments. The bounds are coarse: every
// operator counts as the one that makes most, and a name counts as the largest value
// that the statement gives to that name. So a bound may be too high; it is too low
// only where a value comes from data, or from a function that no table has.
func (g *Guard) measure(sql string, tokens []Token, v *Verdict) {
	if g.growth == nil {
		return
	}
	m := meter{growth: g.growth, sql: sql, v: v, most: float64(DefaultMaxConstant), unrolled: 1}
	if g.policy.MaxConstant > 0 {
		m.most = float64(g.policy.MaxConstant)
	}
	if g.growth.concerns(sql, tokens, m.most) {
		m.statement(tokens)
	}
}

// statement measures all tokens.
func (m *meter) statement(tokens []Token) {
	m.read(tokens)
	for i := range m.tokens {
		if m.escapedCall(i) {
			m.v.add(CodeFunctionNotAllowed, Span{Start: m.tokens[i-3].Start, End: m.tokens[i-3].End}, "the name of the function has an escape character of its own (UESCAPE); write the name plainly")
			return
		}
	}
	if m.growth.Aliases {
		m.define()
	}
	m.query(0, len(m.tokens))
	if len(m.reads) > 0 {
		m.readsIn(m.body(), len(m.tokens))
	}
}

// escapedCall reports whether the bracket at i follows a name with UESCAPE, which the
// tables do not read.
func (m *meter) escapedCall(i int) bool {
	return m.tokens[i].Kind == TokenOpen && i >= 3 && m.word(i-2) == "uescape" && m.tokens[i-3].Kind == TokenQuotedName
}

// body returns where the query after the common table expressions begins.
func (m *meter) body() int {
	for i := 0; i < len(m.tokens); i++ {
		switch {
		case m.tokens[i].Kind == TokenOpen:
			i = m.closing(i, len(m.tokens))
		case m.word(i) == "select", m.word(i) == "from": // which can come first
			return i
		}
	}
	return 0
}

// concerns reports whether a statement has functions of the tables that can make more than
// most bytes of what stands in it, joins texts often enough to make a long one, or has queries
// that could double what others give. Most statements have nothing of that, so it compares as
// few texts as it can.
func (g *Growth) concerns(sql string, tokens []Token, most float64) bool {
	const manyQueries, queries, manyTokens, fewAliases, fewJoins = 12, 2, 300, 8, 8
	joins, selects, aliases, commas, calls, numbers, constants := 0, 0, 0, 0, 0, 0, 0
	factor, squares, costly := 1.0, 0, false // of the functions of the tables
	common, names := 0, 0                    // words WITH and queries behind AS, and names in all
	var before Token                         // the last one that is no comment
	for i, t := range tokens {
		switch t.Kind { //nolint:exhaustive // the others make nothing
		case TokenComment, TokenExecutableComment:
			continue
		case TokenQuotedName:
			names++
		case TokenWord:
			names++
			word := sql[t.Start:t.End]
			switch len(word) {
			case len("as"):
				if g.Aliases && strings.EqualFold(word, "as") {
					aliases++
				}
			case len("with"):
				if (g.Rereads || g.Recurses) && strings.EqualFold(word, "with") {
					if g.Recurses {
						return true
					}
					common++
				}
			case len("apply"):
				if g.Aliases && strings.EqualFold(word, "apply") {
					return true
				}
			case len("select"):
				if strings.EqualFold(word, "select") {
					selects++
				}
			case len("uescape"):
				if strings.EqualFold(word, "uescape") {
					return true
				}
			case len("recursive"):
				if strings.EqualFold(word, "recursive") {
					return true
				}
			}
			if aliases > fewAliases || selects >= manyQueries || selects >= queries && len(tokens) > manyTokens {
				return true
			}
		case TokenString, TokenQuotedText:
			constants += t.End - t.Start
		case TokenNumber:
			numbers++
		case TokenComma:
			commas++
		case TokenOpen:
			calls++
			if before.Kind != TokenWord && before.Kind != TokenQuotedName && before.Kind != TokenQuotedText {
				break
			}
			if common > 0 && before.Kind == TokenWord {
				if word := before.Text(sql); strings.EqualFold(word, "as") || strings.EqualFold(word, "materialized") {
					common++
				}
			}
			kind, made, slow := g.long(before.Text(sql), before.Kind == TokenWord)
			costly = costly || slow
			if n := before.End - before.Start; g.Quotes && (n == len("cast") || n == len("try_cast")) && isCast(strings.ToLower(before.Text(sql))) {
				factor *= 2
			}
			if !made {
				break
			}
			switch f := kind.factor(); {
			case kind == MakesCast && g.castsPlainly(sql, tokens[i:]):
			case kind == MakesReplace, kind == MakesReplaceText, kind == MakesJoined:
				squares++
			case f == 0:
				return true
			default:
				factor *= f
			}
		case TokenOperator:
			switch text := sql[t.Start:t.End]; {
			case text == "||" || g.Plus && text == "+":
				if joins++; joins > fewJoins {
					return true
				}
			case g.Quotes && (text == "::" || text == "->>" || text == "#>>"):
				factor *= 2
			}
		}
		before = t
	}
	// Common table expressions that each read the one before are read most often when all have
	// the same share of the names.
	if common > 0 && power(float64(names)/float64(common)+1, float64(common)) > maxReads {
		return true
	}
	levels := selects
	if g.lambdas() { // each expression can read the one before it
		levels += calls
	}
	if factor > 1 || squares > 0 || costly {
		size := float64(max(constants, 1)+numberSize*(numbers+calls)) * factor
		for range squares {
			size = min(size*size, boundless)
		}
		return spreads(levels, joins+commas, size, most/costlyShare)
	}
	const least, share = 8, 4 // the bytes of a number, and the part of the limit from which a value is measured
	return spreads(levels, joins+commas, float64(max(constants, least)), DefaultMaxConstant/share)
}

// factor is how many times as long as its arguments the value of a function can be, whatever
// the numbers among them are; 0 when that is not so simple.
func (k Maker) factor() float64 {
	switch k { //nolint:exhaustive // the others depend on more
	case MakesSum, MakesHeld, MakesUnrolled:
		return 1
	case MakesText:
		return 2
	case MakesFourfold:
		return 4
	case MakesTwelvefold:
		return 12
	case MakesManyfold:
		return 16
	case MakesBits:
		return 64
	default:
		return 0
	}
}

// castsPlainly reports whether the bracket with which the tokens begin ends in AS and the name
// of a type without arguments, which makes no value longer.
func (g *Growth) castsPlainly(sql string, tokens []Token) bool {
	depth := 0
	for i, t := range tokens {
		switch t.Kind { //nolint:exhaustive // only brackets nest
		case TokenOpen:
			depth++
		case TokenClose:
			if depth--; depth == 0 {
				return i > 2 && tokens[i-1].Kind == TokenWord && tokens[i-2].Kind == TokenWord && strings.EqualFold(tokens[i-2].Text(sql), "as")
			}
		}
	}
	return false
}

// spreads reports whether so many levels of expressions, of which each has the one before it
// several times, can make more than most bytes of size: row(a, a), or [a, a]. All together
// have so many parts.
func spreads(levels, parts int, size, most float64) bool {
	for range levels {
		if size *= 1 + float64(parts)/float64(levels); size > most {
			return true
		}
	}
	return size > most
}

// maker is what the tables have of a function.
type maker struct {
	kind         Maker
	made, costly bool
}

// long returns what a function makes when that is something long, and whether it costs much,
// by its name as the text has it.
func (g *Growth) long(text string, plain bool) (kind Maker, made, costly bool) {
	g.collect.Do(func() {
		g.named = map[string]maker{}
		for name, kind := range g.Makers {
			if kind.long() {
				g.named[name] = maker{kind: kind, made: true}
			}
		}
		for name := range g.Costly {
			m := g.named[name]
			m.costly = true
			g.named[name] = m
		}
	})
	var b [40]byte
	if !plain || len(text) > len(b) || len(g.Combinators) > 0 {
		name := callName(text)
		if m, known := g.named[name]; known {
			return m.kind, m.made, m.costly
		}
		kind, made := g.kind(name, text)
		return kind, made && kind.long(), false
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			m := g.named[strings.ToLower(text)]
			return m.kind, m.made, m.costly
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		}
		b[i] = c
	}
	m := g.named[string(b[:len(text)])]
	return m.kind, m.made, m.costly
}

// callName returns the name of a function as the tables have it.
func callName(text string) string {
	if len(text) > 3 && strings.EqualFold(text[:2], "u&") {
		text = unescape(text[2:])
	}
	if n := len(text); n >= 2 && strings.ContainsRune("\"`[", rune(text[0])) {
		text = text[1 : n-1]
		if strings.Contains(text, `\`) {
			text = unslash(text)
		}
	}
	return strings.ToLower(text)
}

// unescape decodes the escapes of a name such as U&"\0061".
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		from, digits := i+1, 4
		if from < len(text) && text[from] == '+' {
			from, digits = from+1, 6
		}
		if text[i] == '\\' && from+digits <= len(text) {
			if n, err := strconv.ParseUint(text[from:from+digits], 16, 32); err == nil {
				b.WriteRune(rune(n)) //nolint:gosec // at most six hexadecimal digits
				i = from + digits - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// unslash decodes the escapes of a name such as `\x61`.
func unslash(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if text[i]|0x20 == 'x' && i+2 < len(text) {
				if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
					b.WriteByte(byte(n))
					i += 2
					continue
				}
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// meter measures one statement.
type meter struct {
	growth  *Growth
	sql     string
	tokens  []Token
	words   []string // the words in lower case, "" for other tokens
	roles   []role   // what the words are in the grammar
	closes  []int32  // of brackets that open
	depths  []int32  // how many brackets are open before a token
	v       *Verdict
	names   map[string]amount  // what the statement gives names to
	wholes  map[string]amount  // the rows of the relations to which it gives names
	commons map[string][]int   // where the common table expressions are named
	tables  map[string]bool    // the names that stand for tables of the database alone
	mutual  bool               // some of them may read each other
	all     amount             // the largest of these
	bare    amount             // what a query has in columns whose names the statement does not tell
	width   int                // how many columns the query has
	heads   []string           // the names of the columns that its first list says
	other   amount             // what the relations have in such columns
	reads   map[string]float64 // how often reading a common table expression reads others and itself
	source  amount             // what the relations of the query's FROM have, whole all their columns together
	recurs  bool               // the query is a part of a recursive one
	reading float64            // how many rows an aggregate reads
	most    float64
	told    bool

	defined  map[string][]*definition // what stands behind AS
	starts   map[int]*definition
	aliasAt  map[int]bool           // the tokens behind AS
	counted  map[string]*definition // of the name the largest
	given    int                    // how many of the arguments are parameters
	twice    int                    // how many lambdas were measured twice
	unrolled float64                // how many rows the query has for each of FROM
}

func (m *meter) text(i int) string { return m.tokens[i].Text(m.sql) }

// read takes the tokens, without comments, with their words in lower case and the
// brackets that belong together.
func (m *meter) read(tokens []Token) {
	m.tokens = tokens
	if slices.ContainsFunc(tokens, isComment) {
		m.tokens = slices.DeleteFunc(slices.Clone(tokens), isComment)
	}
	m.words, m.roles, m.closes = make([]string, len(m.tokens)), make([]role, len(m.tokens)), make([]int32, len(m.tokens))
	m.depths = make([]int32, len(m.tokens))
	var open []int
	for i, t := range m.tokens {
		m.depths[i] = int32(len(open)) //nolint:gosec // the screen bounds the number of tokens
		switch t.Kind {                //nolint:exhaustive // the others are not looked up
		case TokenWord:
			m.words[i], m.roles[i] = lowered(t.Text(m.sql))
		case TokenOpen:
			m.closes[i] = int32(len(m.tokens)) //nolint:gosec // the screen bounds the number of tokens
			open = append(open, i)
		case TokenClose:
			if n := len(open); n > 0 {
				m.closes[open[n-1]], open = int32(i), open[:n-1]
			}
		}
	}
}

func isComment(t Token) bool { return t.Kind == TokenComment || t.Kind == TokenExecutableComment }

// role says what a word is in the grammar.
type role uint8

const (
	clauseRole     role = 1 << iota // it begins a part of a query
	expressionRole                  // a bracket behind it is no list of arguments
)

// isClause reports whether the word at i begins a part of a query.
func (m *meter) isClause(i int) bool {
	return i >= 0 && i < len(m.roles) && m.roles[i]&clauseRole != 0
}

// isExpressionWord reports whether a bracket behind the word at i is no list of arguments.
func (m *meter) isExpressionWord(i int) bool {
	return i >= 0 && i < len(m.roles) && m.roles[i]&expressionRole != 0
}

// lowered returns a word in lower case, and its role. Those that most statements have are not
// made anew.
func lowered(text string) (string, role) {
	var b [16]byte
	if len(text) > len(b) {
		return strings.ToLower(text), 0
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			return strings.ToLower(text), 0
		case c >= 'A' && c <= 'Z':
			c |= 0x20
		}
		b[i] = c
	}
	if known, ok := commonWords[string(b[:len(text)])]; ok {
		return known.text, known.role
	}
	return strings.ToLower(text), 0
}

// commonWord is a word of SQL.
type commonWord struct {
	text string
	role role
}

// commonWords are words of SQL and of the tables, by themselves.
var commonWords = func() map[string]commonWord {
	out := map[string]commonWord{}
	for word := range strings.FieldsSeq("null join left inner end partition desc asc count sum avg min max coalesce round recursive using on " + expressionWords) {
		out[word] = commonWord{text: word}
	}
	for word := range maps.Keys(clauses) {
		out[word] = commonWord{word, clauseRole}
	}
	for word := range strings.FieldsSeq(expressionWords) {
		out[word] = commonWord{word, out[word].role | expressionRole}
	}
	return out
}()

// word returns the word at i in lower case, or "".
func (m *meter) word(i int) string {
	if i < 0 || i >= len(m.words) {
		return ""
	}
	return m.words[i]
}

// name returns the name at i as the tables have it.
func (m *meter) name(i int) string {
	if m.tokens[i].Kind == TokenWord {
		return m.words[i]
	}
	return callName(m.tokens[i].Text(m.sql))
}

func (m *meter) isName(i int) bool {
	if i < 0 || i >= len(m.tokens) {
		return false
	}
	k := m.tokens[i].Kind
	return k == TokenWord || k == TokenQuotedName || k == TokenQuotedText
}

// closing returns the index of the bracket that closes the one at open, or end.
func (m *meter) closing(open, end int) int { return min(int(m.closes[open]), end) }

// opening returns the bracket that the one at i closes, or start when that is before it.
func (m *meter) opening(i, start int) int {
	for depth := 0; i > start; i-- {
		switch m.tokens[i].Kind { //nolint:exhaustive // only brackets nest
		case TokenClose:
			depth++
		case TokenOpen:
			depth--
		}
		if depth == 0 {
			break
		}
	}
	return i
}

// tell adds a finding, once for a statement: the parts of a large value are large too.
func (m *meter) tell(start, end int, message string) { m.refuse(start, end, message, smallerHint) }

// refuse is tell with another hint.
func (m *meter) refuse(start, end int, message, hint string) {
	if m.told || start >= len(m.tokens) {
		return
	}
	m.told = true
	for _, f := range m.v.Findings {
		if f.Span.Start >= m.tokens[start].Start && f.Span.Start < m.tokens[min(end, len(m.tokens))-1].End {
			return // the statement is refused for what stands here
		}
	}
	span := Span{m.tokens[start].Start, m.tokens[min(end, len(m.tokens))-1].End}
	m.v.add(CodeInputTooLarge, span, message)
	m.v.Findings[len(m.v.Findings)-1].Hint = hint
}

// smallerHint is for a statement that is refused only for the size of what it makes.
const smallerHint = "use a smaller number, or read the value from a table"

// materializedHint is onceHint for a server that computes those with MATERIALIZED once.
const materializedHint = "write AS MATERIALIZED (…), so that each common table expression is computed once"

// onceHint is for common table expressions that are read too often.
const onceHint = "let each common table expression read the one before it once: a window function or GROUP BY often replaces the second read"
