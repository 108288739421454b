package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ktxhq/ktx/dialects/clickhouse"
	"github.com/ktxhq/ktx/execution/executiontest/chengine"
	"github.com/ktxhq/ktx/sqlguard"
)

// argument is a kind of argument for a function of ClickHouse. {n} in sql stands for its
// number or its length.
type argument struct {
	name, sql string
	// unit is how many bytes a value has for each n, as the guard counts it; 0 for a number.
	unit float64
}

// grows reports whether the argument has a length or a magnitude.
func (a argument) grows() bool { return strings.Contains(a.sql, "{n}") }

func (a argument) text(n int) string { return strings.ReplaceAll(a.sql, "{n}", strconv.Itoa(n)) }

// chArguments are the arguments that are tried, by a pattern of what the documentation of
// the engine says of an argument. An argument without documentation may be any of them.
var chArguments = []struct {
	says *regexp.Regexp
	argument
}{
	{regexp.MustCompile(`(?i)lambda|function`), argument{"lambda", "x -> x", 0}},
	{regexp.MustCompile(`(?i)lambda|function`), argument{"lambda of two", "(x, y) -> y", 0}},
	{regexp.MustCompile(`(?i)lambda|function`), argument{"condition", "x -> 1", 0}},
	{regexp.MustCompile(`(?i)array|any`), argument{"numbers", "range({n})", 8}},
	{regexp.MustCompile(`(?i)array|any`), argument{"texts", "arrayMap(x -> 'ab', range({n}))", 8}},
	{regexp.MustCompile(`(?i)array`), argument{"arrays", "arrayMap(x -> [1, 2], range({n}))", 8}},
	{regexp.MustCompile(`(?i)array|polygon|ring|line|point`), argument{"points", "arrayMap(x -> (toFloat64(x), 1.), range({n}))", 16}},
	{regexp.MustCompile(`(?i)polygon`), argument{"polygons", "[arrayMap(x -> (toFloat64(x), x % 2), range({n}))]", 16}},
	{regexp.MustCompile(`(?i)tuple|array`), argument{"pairs", "arrayMap(x -> ('a', x), range({n}))", 8}},
	{regexp.MustCompile(`(?i)int|uint|float|decimal|number|numeric|any`), argument{"number", "{n}", 0}},
	{regexp.MustCompile(`(?i)float|decimal|number|numeric`), argument{"fraction", "{n}.5", 0}},
	{regexp.MustCompile(`(?i)string|any`), argument{"text", "repeat('a', {n})", 1}},
	{regexp.MustCompile(`(?i)string`), argument{"digits", "repeat('1', {n})", 1}},
	{regexp.MustCompile(`(?i)string`), argument{"words", "repeat('a,b ', {n})", 4}},
	{regexp.MustCompile(`(?i)string`), argument{"signs", "repeat('<&''\"\\\\', {n})", 5}},
	{regexp.MustCompile(`(?i)string`), argument{"letter", "'a'", 0}},
	{regexp.MustCompile(`(?i)string`), argument{"replacement", "'{0}abcdefgh'", 0}},
	{regexp.MustCompile(`(?i)string`), argument{"empty", "''", 0}},
	{regexp.MustCompile(`(?i)string`), argument{"JSON", "concat('{\"a\":[', repeat('1,', {n}), '1]}')", 2}},
	{regexp.MustCompile(`(?i)string`), argument{"address", "concat('http://a.b/c?d=', repeat('&e=f', {n}))", 4}},
	{regexp.MustCompile(`(?i)string`), argument{"format", "repeat('%Y', {n})", 2}},
	{regexp.MustCompile(`(?i)string`), argument{"zone", "'UTC'", 0}},
	{regexp.MustCompile(`(?i)string`), argument{"unit", "'day'", 0}},
	{regexp.MustCompile(`(?i)string`), argument{"type", "'String'", 0}},
	{regexp.MustCompile(`(?i)string`), argument{"aggregate", "'groupArray'", 0}},
	{regexp.MustCompile(`(?i)fixedstring`), argument{"fixed text", "toFixedString('abcd', 4)", 4}},
	{regexp.MustCompile(`(?i)date|any`), argument{"day", "toDate('2020-01-01')", 0}},
	{regexp.MustCompile(`(?i)datetime`), argument{"time", "toDateTime('2020-01-01 00:00:00', 'UTC')", 0}},
	{regexp.MustCompile(`(?i)datetime64`), argument{"precise time", "toDateTime64('2020-01-01 00:00:00', 3, 'UTC')", 0}},
	{regexp.MustCompile(`(?i)interval`), argument{"interval", "toIntervalDay({n})", 0}},
	{regexp.MustCompile(`(?i)map|any`), argument{"map", "mapFromArrays(range({n}), range({n}))", 16}},
	{regexp.MustCompile(`(?i)map`), argument{"map of texts", "mapFromArrays(arrayMap(x -> toString(x), range({n})), range({n}))", 16}},
	{regexp.MustCompile(`(?i)tuple|any`), argument{"tuple", "({n}, 2)", 0}},
	{regexp.MustCompile(`(?i)tuple|point`), argument{"point", "(0.5, 0.5)", 0}},
	{regexp.MustCompile(`(?i)uint64|index`), argument{"cell", "toUInt64(599119489002373119)", 0}},
	{regexp.MustCompile(`(?i)string|json|path`), argument{"path", "'$.a'", 0}},
	{regexp.MustCompile(`(?i)json|dynamic|variant`), argument{"JSON value", "CAST('{\"a\": [1,2,3]}', 'JSON')", 0}},
	{regexp.MustCompile(`(?i)geometry|string`), argument{"shape", "'POLYGON((0 0,1 0,1 1,0 0))'", 0}},
	{regexp.MustCompile(`(?i)uuid`), argument{"UUID", "toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0')", 0}},
	{regexp.MustCompile(`(?i)ipv4`), argument{"IPv4", "toIPv4('10.0.0.1')", 0}},
	{regexp.MustCompile(`(?i)ipv6`), argument{"IPv6", "toIPv6('::1')", 0}},
	{regexp.MustCompile(`(?i)aggregatefunction|bitmap`), argument{"bitmap", "bitmapBuild(range({n}))", 8}},
	{regexp.MustCompile(`(?i)aggregatefunction`), argument{"state", "arrayReduce('sumState', range({n}))", 8}},
}

const (
	smallest, small, large = 4, 64, 1024
	maxArguments           = 6
	maxCalls               = 30 // of one function that are measured
	maxTried               = 1500
	maxEach                = 700 // with one number of arguments
)

// chFunction is a function with what the engine documents of it.
type chFunction struct {
	name, alias, arguments, examples string
}

// growthOfCall is what a call makes.
type growthOfCall struct {
	call   string  // with the names of its arguments
	counts float64 // bytes for each 1 that a number grows
	bytes  float64 // bytes for each byte that an argument grows
	bends  float64 // how much more that is for longer arguments
	joint  float64 // bytes for each byte of the arguments when all of them grow
	number float64 // the value for each 1 or byte, of a number
	cost   float64 // the exponent by which the time of the call grows with its arguments
	isText bool    // the value is no number, or not always
}

var (
	errWrongNumber = errors.New("wrong number of arguments")
	errSlow        = errors.New("the call did not end in time")
)

// patience is how long a call may take. The engine is told to end it after a part of that.
const patience = 15 * time.Second

// measureClickHouse calls each function of the engine with arguments of many kinds, and
// prints how what they make grows.
func measureClickHouse(pattern, out string, costs bool) error {
	p, found := &chProbe{}, chFound{}
	if err := p.start(); err != nil {
		return err
	}
	defer p.stop()
	match, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	if costs {
		return p.costs(match, out)
	}
	list, err := p.session.Query("SELECT base64Encode(name), base64Encode(alias_to), base64Encode(arguments), base64Encode(examples) FROM system.functions WHERE origin = 'System' AND (NOT is_aggregate OR alias_to != '') ORDER BY name", "TSVRaw")
	if err != nil {
		return err
	}
	done, err := found.resume(out)
	if err != nil {
		return err
	}
	measured, failed := 0, 0
	for line := range strings.Lines(list) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range fields {
			if fields[i], err = decode64(fields[i]); err != nil {
				return err
			}
		}
		f := chFunction{fields[0], fields[1], fields[2], fields[3]}
		if done[f.name] {
			continue
		}
		if f.alias != "" {
			found["functionAliases"] = append(found["functionAliases"], f.name+"="+f.alias)
			continue
		}
		if unmeasured.MatchString(f.name) || !match.MatchString(f.name) {
			continue
		}
		p.slow, p.costly = false, false
		results := p.measure(f)
		found.sort(f.name, results)
		if p.costly { // a candidate for -costs
			_, _ = fmt.Fprintf(os.Stdout, "%-40s is costly\n", f.name)
		}
		if p.slow {
			found["measuredSlow"] = append(found["measuredSlow"], f.name)
			_, _ = fmt.Fprintf(os.Stdout, "%-40s a call did not end in time\n", f.name)
		}
		if err := found.note(out, f.name); err != nil {
			return err
		}
		if len(results) == 0 {
			failed++
			_, _ = fmt.Fprintf(os.Stdout, "%-40s no call was found\n", f.name)
			continue
		}
		measured++
		for _, r := range worst(results) {
			_, _ = fmt.Fprintf(os.Stdout, "%-40s counts %8.2f bytes %8.2f bends %8.2f joint %8.2f number %8.2g cost %5.2f text %t  %s\n", f.name, r.counts, r.bytes, r.bends, r.joint, r.number, r.cost, r.isText, r.call)
		}
	}
	aggregates, err := p.aggregates(match, found, out)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(os.Stdout, "%d functions and %d aggregates measured, %d functions without a call that works, %d calls\n", measured, aggregates, failed, p.calls)
	if out == "" {
		return nil
	}
	version, err := p.session.Query("SELECT version()", "TSVRaw")
	if err != nil {
		return err
	}
	text, err := found.table(strings.TrimSpace(version))
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, sealed(text), 0o644); err != nil { //nolint:gosec // a source file
		return err
	}
	return os.Remove(progress(out))
}

// chFound are the functions by what they make, and under the key "done" those that were
// measured before one that is measured now.
type chFound map[string][]string

// progress is the file beside the table that a run leaves which does not end. A run takes
// hours; the next one goes on from there.
func progress(out string) string { return out + ".progress" }

// resume reads what a run before has found, and returns the functions that it measured.
func (f chFound) resume(out string) (done map[string]bool, err error) {
	done = map[string]bool{}
	if out == "" {
		return done, nil
	}
	text, err := os.ReadFile(progress(out))
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	for _, name := range f["done"] {
		done[name] = true
	}
	for _, pair := range f["functionAliases"] {
		name, _, _ := strings.Cut(pair, "=")
		done[name] = true
	}
	return done, err
}

// note writes down that a function was measured.
func (f chFound) note(out, name string) error {
	f["done"] = append(f["done"], name)
	if out == "" {
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return os.WriteFile(progress(out), text, 0o644) //nolint:gosec // a list of names
}

// chKinds are the lists of the table, with what is said of each.
var chKinds = [][2]string{
	{"measuredCounts", "made more bytes for a larger number"},
	{"measuredProducts", "made more than their arguments together when more than one of them was longer"},
	{"measuredManyfold", "made more than one and a half times their arguments"},
	{"measuredRows", "are aggregates that made more for more rows"},
	{"measuredLarge", "returned numbers larger than their arguments"},
	{"measuredValues", "returned numbers no larger than their arguments"},
	{"functionAliases", "are other names of functions"},
	{"measuredSlow", "computed on for more than ten seconds after the end of the time that they had"},
	{"unmeasured", "could not be called with any of the arguments that were tried, nor as in their examples"},
}

// sort puts a function into the lists.
func (f chFound) sort(name string, results []growthOfCall) {
	var most growthOfCall
	for _, r := range results {
		most.counts, most.bytes, most.joint = max(most.counts, r.counts), max(most.bytes, r.bytes), max(most.joint, r.joint)
		most.number, most.isText = max(most.number, r.number), most.isText || r.isText
	}
	var kind string
	switch {
	case len(results) == 0:
		kind = "unmeasured"
	case most.counts > 0.3:
		kind = "measuredCounts"
	case most.joint > 2*most.bytes+3:
		kind = "measuredProducts"
	case most.bytes > 1.5:
		kind = "measuredManyfold"
	case most.isText:
		return
	case most.number > 1.1:
		kind = "measuredLarge"
	default:
		kind = "measuredValues"
	}
	f[kind] = append(f[kind], name)
}

// table writes the Go source of the lists.
func (f chFound) table(version string) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by go run ./tools/growth -engine clickhouse; DO NOT EDIT.\n\npackage clickhouse\n\n// The functions of ClickHouse %s by what they made in calls that grew. The rest made\n// texts or lists that are no longer than their arguments.\nconst (\n", version)
	for _, kind := range chKinds {
		fmt.Fprintf(&b, "// %s %s.\n%s = `", kind[0], kind[1], kind[0])
		column := 200
		for _, name := range f[kind[0]] {
			if column += len(name) + 1; column > 140 {
				b.WriteString("\n\t")
				column = len(name)
			} else {
				b.WriteString(" ")
			}
			b.WriteString(name)
		}
		b.WriteString("`\n\n")
	}
	b.WriteString(")\n")
	return format.Source(b.Bytes())
}

// chAggregated are arguments and parameters of aggregates, as far as they are read from rows.
var (
	chAggregated = []string{
		"number", "number, number", "toString(number)", "toString(number), number", "number, toString(number)", "[number, number + 1]", "[number], [number]",
		"map(number, number)", "toDateTime(number), number", "toFloat64(number)", "sumState(number)", "(toFloat64(number), 1.)", "number, number, number",
		"number % 2", "number, number % 2", "number, number, number, number", "toFloat64(number), toFloat64(number % 3), toFloat64(number % 5)", "",
		"toDateTime64(number, 3), toFloat64(number)", "groupBitmapState(number)", "toDate(number), toDate(number + 2)", "(number, number)",
	}
	chParameters = []string{"", "(3)", "(10, 2)", "(0.5)", "(2, 3, 1)", "('a')", "(0, 100, 10, 10)", "(100)", "(0.1, 0.9)", "(0., 1., 2)", "('JSONEachRow')", "([1, 2])"}
)

// aggregates measures aggregates over rows.
func (p *chProbe) aggregates(match *regexp.Regexp, found chFound, out string) (measured int, err error) {
	list, err := p.session.Query("SELECT name FROM system.functions WHERE origin = 'System' AND is_aggregate AND alias_to = '' ORDER BY name", "TSVRaw")
	if err != nil {
		return 0, err
	}
	for name := range strings.FieldsSeq(list) {
		if unmeasured.MatchString(name) || !match.MatchString(name) {
			continue
		}
		if slices.Contains(found["done"], name) {
			continue
		}
		p.slow = false
		var results []growthOfCall
		for _, parameters := range chParameters {
			for _, args := range chAggregated {
				r := growthOfCall{call: parameters + "(" + args + ")"}
				over := func(rows int) (float64, float64, bool) {
					text := fmt.Sprintf("(SELECT %s%s FROM (SELECT number FROM numbers(%d)))", name, r.call, rows)
					size, number, err := p.ask(text)
					return size, number, err == nil
				}
				from, _, ok := over(small)
				to, value, ok2 := over(large)
				if !ok || !ok2 {
					continue
				}
				r.isText, r.bytes, r.number = p.isText, (to-from)/(large-small), value/large
				results = append(results, r)
			}
		}
		if len(results) == 0 {
			found.sort(name, nil)
			_, _ = fmt.Fprintf(os.Stdout, "%-40s no call was found\n", name)
			if err := found.note(out, name); err != nil {
				return 0, err
			}
			continue
		}
		measured++
		for _, r := range worst(results) {
			_, _ = fmt.Fprintf(os.Stdout, "%-40s for each row: bytes %8.2f number %8.2g text %t  %s\n", name, r.bytes, r.number, r.isText, r.call)
		}
		if slices.ContainsFunc(results, func(r growthOfCall) bool { return r.bytes > 0.5 }) {
			found["measuredRows"] = append(found["measuredRows"], name)
		} else {
			found.sort(name, results)
		}
		if err := found.note(out, name); err != nil {
			return 0, err
		}
	}
	return measured, nil
}

// unmeasured are functions that wait, end the engine, ask others, or compute without any limit of
// time: cells of a map grow with the square or the power of a number.
var unmeasured = regexp.MustCompile(`^(sleep|sleepEachRow|trap|aggThrow|file|filesystem.*|ai[A-Z].*|reverseDNSQuery|catboostEvaluate|__.*|throwIf|logTrace|serverUUID|dict.*|joinGet.*|h3kRing|h3HexRing|h3ToChildren|h3Line|h3PolygonToCells.*)$`)

// decode64 decodes what the engine encoded, so that no text has tabs or line ends.
func decode64(text string) (string, error) {
	out, err := base64.StdEncoding.DecodeString(text)
	return string(out), err
}

var numericType = regexp.MustCompile(`^(Nullable\()?(U?Int|Float|BFloat|Decimal|Bool)[^ ]*$`)

type chProbe struct {
	engine  *chengine.Engine
	session *chengine.Session
	clock   func() (time.Duration, error) // the processor time of the engine
	slow    bool                          // a call of the function did not end in time
	costly  bool                          // its time grows faster than its arguments
	calls   int
	isText  bool // the last value was no number
}

// start starts an engine and opens a session.
func (p *chProbe) start() (err error) {
	if p.engine, err = chengine.New(chengine.Config{}); err != nil {
		return err
	}
	if p.session, err = p.engine.Open(); err != nil {
		return err
	}
	p.clock = cpuOf(p.engine.Pid())
	for _, s := range []string{"max_execution_time = 3", "max_memory_usage = 2000000000", "max_result_rows = 100000", "allow_experimental_nlp_functions = 1", "allow_suspicious_low_cardinality_types = 1"} {
		if _, err := p.session.Query("SET "+s, "TSV"); err != nil {
			return err
		}
	}
	return nil
}

// stop ends the engine.
func (p *chProbe) stop() {
	p.session.Close()
	p.engine.Stop()
}

// query runs a statement. When it does not end in time, another engine takes the place of
// the one that runs it.
func (p *chProbe) query(sql string) (text string, err error) {
	if p.slow {
		return "", errSlow
	}
	done := make(chan struct{})
	session := p.session
	go func() {
		defer close(done)
		text, err = session.Query(sql, "TSVRaw")
	}()
	select {
	case <-done:
		return text, err
	case <-time.After(patience):
		p.slow = true
		p.stop()
		<-done
		if err := p.start(); err != nil {
			return "", err
		}
		return "", errSlow
	}
}

// ask returns how many bytes an expression has and its value as a number.
func (p *chProbe) ask(expression string) (bytes, number float64, err error) {
	p.isText = true
	p.calls++
	text, err := p.query("SELECT byteSize(" + expression + " AS x), toFloat64OrZero(toString(x)), toTypeName(x)")
	if err != nil {
		if e, ok := errors.AsType[*chengine.Error](err); ok && (e.Code == "42" || e.Code == "34" || e.Code == "35") {
			return 0, 0, errWrongNumber
		}
		return 0, 0, err
	}
	fields := strings.SplitN(strings.TrimSpace(text), "\t", 3)
	if len(fields) < 3 {
		return 0, 0, fmt.Errorf("%q", text)
	}
	if bytes, err = strconv.ParseFloat(fields[0], 64); err != nil {
		return 0, 0, err
	}
	number, err = strconv.ParseFloat(fields[1], 64)
	p.isText = !numericType.MatchString(fields[2])
	if p.isText || math.IsInf(number, 0) || math.IsNaN(number) {
		number = 0
	}
	return bytes, math.Abs(number), err
}

// measure tries calls, and measures those that work.
func (p *chProbe) measure(f chFunction) (results []growthOfCall) {
	most := len(f.documented())
	if most == 0 {
		most = 2
	}
	most = min(most, maxArguments)
	tried := 0
	for arity := range most + 1 {
		kinds := make([][]argument, arity)
		product := 1
		for i := range kinds {
			kinds[i] = argumentsFor(f, i)
			product *= len(kinds[i])
		}
		chosen := make([]int, arity)
		wrong := 0 // at the beginning
		for at := 0; at < min(product, maxEach) && tried < maxTried && wrong < 12; at++ {
			rest := at
			if product > maxEach {
				rest = at * 7919 % product // a prime, so that each argument varies
			}
			for i := range chosen {
				chosen[i] = rest % len(kinds[i])
				rest /= len(kinds[i])
			}
			args := make([]argument, arity)
			for i, c := range chosen {
				args[i] = kinds[i][c]
			}
			tried++
			if _, _, err := p.ask(f.call(args, smallest, -1, smallest)); err != nil {
				if errors.Is(err, errWrongNumber) && wrong == at {
					wrong++
				}
				continue
			}
			if len(results) < maxCalls {
				results = append(results, p.grow(f, args))
				if !p.costly {
					results[len(results)-1].cost = p.cost(f, args)
				}
			}
		}
	}
	for _, c := range f.exampleCalls() {
		if _, _, err := p.ask(c.with(-1, 1)); err == nil && len(results) < 2*maxCalls {
			results = append(results, p.growExample(c))
		}
	}
	return results
}

// exampleCall is a call in the documentation of the engine. Each of its literals can be made
// larger.
type exampleCall struct {
	text  string
	parts []literalPart
}

// literalPart is a number, a text or a list in a call.
type literalPart struct {
	start, end int
	kind       sqlguard.TokenKind
}

// with writes the call with a part that is n times as large.
func (c *exampleCall) with(part, n int) string {
	if part < 0 {
		return c.text
	}
	at := c.parts[part]
	text := c.text[at.start:at.end]
	switch at.kind { //nolint:exhaustive // the others are no literals
	case sqlguard.TokenNumber:
		text = strconv.Itoa(n)
	case sqlguard.TokenString:
		text = fmt.Sprintf("repeat(%s, %d)", text, n)
	default:
		text = fmt.Sprintf("arrayFlatten([%s])", strings.TrimSuffix(strings.Repeat(text+",", n), ","))
	}
	return c.text[:at.start] + text + c.text[at.end:]
}

// unit is how many bytes a part has for each n, or 0 for a number.
func (l literalPart) unit() float64 {
	if l.kind == sqlguard.TokenNumber {
		return 0
	}
	return float64(max(l.end-l.start-2, 1))
}

var sqlBlock = regexp.MustCompile("(?s)```sql[^\n]*\n(.*?)```")

// exampleCalls returns the calls of a function in its examples.
func (f chFunction) exampleCalls() (out []exampleCall) {
	for _, block := range sqlBlock.FindAllStringSubmatch(f.examples, -1) {
		sql := block[1]
		sqlguard.WithTokens(clickhouse.Dialect{}, sql, func(tokens sqlguard.Tokens) {
			list := tokens.List
			for i := 0; i+1 < len(list); i++ {
				if !strings.EqualFold(list[i].Text(sql), f.name) || list[i+1].Text(sql) != "(" {
					continue
				}
				start, depth := list[i].Start, 0
				c := exampleCall{}
				for _, t := range list[i:] {
					switch t.Kind { //nolint:exhaustive // the others belong to the call
					case sqlguard.TokenOpen:
						if depth++; t.Text(sql) == "[" {
							c.parts = append(c.parts, literalPart{t.Start - start, 0, t.Kind})
						}
					case sqlguard.TokenClose:
						depth--
						for j := range slices.Backward(c.parts) {
							if t.Text(sql) == "]" && c.parts[j].kind == sqlguard.TokenOpen && c.parts[j].end == 0 {
								c.parts[j].end = t.End - start
								break
							}
						}
					case sqlguard.TokenNumber, sqlguard.TokenString:
						c.parts = append(c.parts, literalPart{t.Start - start, t.End - start, t.Kind})
					}
					if depth == 0 && t.Kind == sqlguard.TokenClose {
						c.text = sql[start:t.End]
						out = append(out, c)
						break
					}
				}
			}
		})
	}
	return out
}

// growExample measures a call of the documentation.
func (p *chProbe) growExample(c exampleCall) growthOfCall {
	r := growthOfCall{call: strings.Join(strings.Fields(c.text), " ")}
	base, number, err := p.ask(c.text)
	r.isText = p.isText
	if err != nil {
		return r
	}
	if n := largestNumber(c.text); number > n {
		r.number = number / max(n, 1)
	}
	for i, part := range c.parts {
		from, _, err := p.ask(c.with(i, small))
		to, value, err2 := p.ask(c.with(i, 16*small))
		if err != nil || err2 != nil {
			continue
		}
		const more = 15 * small
		if part.unit() == 0 {
			r.counts = max(r.counts, (to-from)/more)
		} else {
			r.bytes = max(r.bytes, (to-from)/more/part.unit())
			first := (from - base) / (small - 1) / part.unit()
			r.bends = max(r.bends, (to-from)/more/part.unit()/max(first, 1))
		}
		r.number = max(r.number, value/(16*small)/max(part.unit(), 1))
	}
	return r
}

var digits = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

func largestNumber(text string) (most float64) {
	for _, d := range digits.FindAllString(text, -1) {
		if n, err := strconv.ParseFloat(d, 64); err == nil {
			most = max(most, n)
		}
	}
	return most
}

// argumentsFor returns the arguments that the documentation lets an argument be.
func argumentsFor(f chFunction, i int) (out []argument) {
	entries := f.documented()
	for _, a := range chArguments {
		if i >= len(entries) || a.says.MatchString(entries[i]) || a.name == "number" || a.name == "letter" {
			out = append(out, a.argument)
		}
	}
	return out
}

// documented returns what the documentation says of each argument.
func (f chFunction) documented() (entries []string) {
	for _, e := range startOfArgument.Split(f.arguments, -1) {
		if strings.TrimSpace(e) != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

var startOfArgument = regexp.MustCompile(`(?m)^ ?- `)

// call writes a call with arguments of length n, or of another one for the one at.
func (f chFunction) call(args []argument, n, at, other int) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.text(n)
		if i == at {
			texts[i] = a.text(other)
		}
	}
	return f.name + "(" + strings.Join(texts, ", ") + ")"
}

// grow measures a call that works.
func (p *chProbe) grow(f chFunction, args []argument) growthOfCall {
	r := growthOfCall{}
	names := make([]string, len(args))
	for i, a := range args {
		names[i] = a.name
	}
	r.call = strings.Join(names, ", ")
	with := func(n, at, other int) (float64, float64, bool) {
		bytes, number, err := p.ask(f.call(args, n, at, other))
		return bytes, number, err == nil
	}
	base, _, ok := with(smallest, -1, 0)
	r.isText = p.isText
	if !ok {
		return r
	}
	for i, a := range args {
		if !a.grows() {
			continue
		}
		from, _, ok := with(smallest, i, small)
		to, value, ok2 := with(smallest, i, large)
		if !ok || !ok2 {
			continue
		}
		if a.unit == 0 {
			r.counts = max(r.counts, (to-from)/(large-small))
		} else {
			r.bytes = max(r.bytes, (to-from)/(large-small)/a.unit)
			first := (from - base) / (small - smallest) / a.unit
			r.bends = max(r.bends, (to-from)/(large-small)/a.unit/max(first, 1))
		}
		r.number = max(r.number, value/large/max(a.unit, 1))
	}
	const together = 256
	total := 0.0
	for _, a := range args {
		if a.grows() {
			total += max(a.unit, 1) * together
		}
	}
	if all, _, ok := with(together, -1, 0); ok && total > 0 {
		r.joint = all / total
	}
	return r
}

// cost returns the exponent by which the time of a call grows with its arguments, all of
// which grow, or 0 when it is short. From superlinear on the function is costly, and when
// the call does not end in time.
func (p *chProbe) cost(f chFunction, args []argument) float64 {
	texts := make([]string, len(args))
	call := func(length int) (time.Duration, bool) {
		for i, a := range args {
			texts[i] = a.text(smallest)
			if a.unit > 0 {
				texts[i] = a.text(int(float64(length) / a.unit))
			}
		}
		took, err := p.time("SELECT ignore(" + f.name + "(" + strings.Join(texts, ", ") + "))")
		return took, err == nil
	}
	if !slices.ContainsFunc(args, func(a argument) bool { return a.unit > 0 }) {
		return 0
	}
	const long, longer = 16 << 10, 64 << 10
	least := 0.0
	for range 3 { // what disturbs the clock once does not count
		from, ok := call(long)
		to, ok2 := call(longer)
		if p.costly {
			return 2
		}
		if !ok || !ok2 || to < 4*shortest {
			return 0
		}
		exponent := math.Log2(to.Seconds()/max(from, shortest).Seconds()) / 2
		if least == 0 || exponent < least {
			least = exponent
		}
		if least < superlinear {
			return least
		}
	}
	p.costly = true
	return least
}

// errTimeout is the code of an error of the engine when a call did not end in time.
const errTimeout = "159"

// time runs a statement and returns the processor time that it took. A statement that does
// not end in time makes its function costly, but not slow.
func (p *chProbe) time(sql string) (time.Duration, error) {
	slow := p.slow
	start, err := p.clock()
	if err != nil {
		return 0, err
	}
	_, err = p.query(sql)
	if e, ok := errors.AsType[*chengine.Error](err); p.slow && !slow || ok && e.Code == errTimeout {
		p.slow, p.costly = slow, true
	}
	if err != nil {
		return 0, err
	}
	end, err := p.clock()
	return end - start, err
}

// costs measures functions with arguments that are hard for them, and writes those whose time
// grows faster than the arguments.
func (p *chProbe) costs(match *regexp.Regexp, out string) error {
	ask := func(_ context.Context, text string) (string, error) {
		_, err := p.time(text)
		return "", err
	}
	clock := func() (time.Duration, error) { return p.clock() } // of the engine that runs now
	found := map[string]bool{}
	for _, c := range candidates["clickhouse"] {
		if !match.MatchString(c.name) {
			continue
		}
		p.slow, p.costly = false, false
		r := measure(context.Background(), ask, clock, c, time.Second)
		_, _ = fmt.Fprintf(os.Stdout, "%-40s %5.2f %12s %s\n", r.name, r.exponent, r.atShare, r.fault)
		found[c.name] = found[c.name] || p.costly || r.exponent >= superlinear
	}
	if out == "" {
		return nil
	}
	version, err := p.session.Query("SELECT version()", "TSVRaw")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code generated by go run ./tools/growth -engine clickhouse -costs; DO NOT EDIT.\n\npackage clickhouse\n\n"+
		"// costlyFunctions took longer than their arguments grew, on ClickHouse %s.\nconst costlyFunctions = `", strings.TrimSpace(version))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if found[name] {
			fmt.Fprintf(&b, "\n\t%s", name)
		}
	}
	b.WriteString("`\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(out, sealed(text), 0o644) //nolint:gosec // a source file
}

// worst keeps, of the calls of a function, those that make most in some way.
func worst(results []growthOfCall) (out []growthOfCall) {
	for _, of := range []func(growthOfCall) float64{
		func(r growthOfCall) float64 { return r.counts },
		func(r growthOfCall) float64 { return r.bytes },
		func(r growthOfCall) float64 { return r.bends },
		func(r growthOfCall) float64 { return r.joint },
		func(r growthOfCall) float64 { return r.number },
		func(r growthOfCall) float64 { return r.cost },
		func(r growthOfCall) float64 { return map[bool]float64{true: 1}[r.isText] },
	} {
		most := results[0]
		for _, r := range results {
			if of(r) > of(most) {
				most = r
			}
		}
		if !slices.Contains(out, most) {
			out = append(out, most)
		}
	}
	return out
}
