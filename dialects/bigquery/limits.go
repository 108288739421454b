package bigquery

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqlc-dev/zetajones/ast"

	"github.com/ktxhq/ktx/dialects/internal/lexical"
	"github.com/ktxhq/ktx/sqlguard"
)

// This file bounds what the tables of the guard's meter cannot say: what the variables of
// WITH(…) multiply, and functions whose work depends on the value of one argument.

// literalLimits says how large a literal may be that is an argument of a function. Another
// expression in its place is refused. The size of a text is its length, and that of an
// array its largest element.
var literalLimits = map[string][]literalLimit{
	"st_buffer": {{at: 2, name: "num_seg_quarter_circle", most: 1000}},
	"ml.ngrams": {{at: 1, name: "range", most: 16}, {at: 2, name: "separator", most: 16}},

	"approx_quantiles":              {{at: 1, most: mostSteps}},
	"kll_quantiles.extract_int64":   {{at: 1, most: mostSteps}},
	"kll_quantiles.extract_float64": {{at: 1, most: mostSteps}},
	"kll_quantiles.merge_int64":     {{at: 1, most: mostSteps}},
	"kll_quantiles.merge_float64":   {{at: 1, most: mostSteps}},
}

type literalLimit struct {
	at   int // position
	name string
	most float64
}

// leastStep is the smallest step of a series whose ends are no literals, and mostSteps how
// many a series has at most whose ends are literals. 8 bytes each are DefaultMaxConstant.
const (
	leastStep = 1
	mostSteps = sqlguard.DefaultMaxConstant / 8
)

// positional are functions whose arguments the guard's meter knows by their position.
var positional = lexical.Set("repeat lpad rpad replace regexp_replace generate_array generate_timestamp_array generate_date_array approx_quantiles array_to_string")

// jsonPaths are functions in which every second argument is a path. An element of an array
// that a path counts to is made with all before it.
var jsonPaths = lexical.Set("json_set json_array_insert json_array_append")

// longestIndex is how many digits an index of such a path may have.
const longestIndex = 3

// limits refuses a call whose work depends on an argument beyond its limits.
func (w *walker) limits(name string, n *ast.FunctionCall) {
	refuse := func(what string) {
		w.effect(sqlguard.Finding{Code: sqlguard.CodeInputTooLarge, Message: what, Span: w.at})
	}
	if positional[name] && slices.ContainsFunc(n.Args, func(arg ast.Node) bool { _, named := arg.(*ast.NamedArgument); return named }) {
		refuse("write the arguments of " + strings.ToUpper(name) + " without their names")
	}
	for _, limit := range literalLimits[name] {
		if arg := argument(n.Args, limit.at, limit.name); arg != nil {
			if size, ok := w.literalSize(arg); !ok || size > limit.most {
				refuse("write argument " + strconv.Itoa(limit.at+1) + " of " + strings.ToUpper(name) + " as a literal of at most " + strconv.FormatFloat(limit.most, 'f', -1, 64))
			}
		}
	}
	switch name {
	case "lpad", "rpad":
		if w.recursive {
			if length := argument(n.Args, 1, ""); length != nil {
				if _, ok := w.literalSize(length); !ok {
					refuse("write the length of " + strings.ToUpper(name) + " in a recursive query as a number")
				}
			}
		}
	case "generate_array":
		if !w.fewSteps(n.Args) {
			refuse("write the step of GENERATE_ARRAY as a whole number, or all its arguments as literals with fewer than " + strconv.Itoa(mostSteps) + " steps")
		}
	case "generate_timestamp_array":
		for _, arg := range n.Args {
			if !w.plainTime(arg) {
				refuse("write the ends of GENERATE_TIMESTAMP_ARRAY as literals, columns, CURRENT_TIMESTAMP(), or one of these with TIMESTAMP_ADD, _SUB or _TRUNC, and its interval as a literal")
				break
			}
		}
	case "format":
		if slices.ContainsFunc(n.Args, w.escapes) {
			refuse("write the characters of the format of FORMAT themselves, not their codes behind a backslash")
		}
	case "to_json_string":
		if pretty := argument(n.Args, 1, "pretty_print"); pretty != nil {
			if b, ok := pretty.(*ast.BooleanLiteral); !ok || !strings.EqualFold(b.Image, "false") {
				w.pretty = true
			}
		}
	case "parse_json":
		w.deep = true
	}
	if jsonPaths[name] {
		for i := 1; i < len(n.Args); i += 2 {
			if _, named := n.Args[i].(*ast.NamedArgument); !named && !w.shortPath(n.Args[i]) {
				refuse("write each path of " + strings.ToUpper(name) + " as a literal whose indexes have at most " + strconv.Itoa(longestIndex) + " digits")
				break
			}
		}
	}
}

// argument returns the argument of that position or name, or nil.
func argument(args []ast.Node, at int, name string) ast.Node {
	for i, arg := range args {
		switch arg := arg.(type) {
		case *ast.NamedArgument:
			if strings.EqualFold(arg.Name.Name, name) {
				return arg.Value
			}
		default:
			if i == at {
				return arg
			}
		}
	}
	return nil
}

// literalSize returns how large a literal is, and false when it is none.
func (w *walker) literalSize(n ast.Node) (float64, bool) {
	switch n := n.(type) {
	case *ast.IntLiteral:
		size, err := strconv.ParseInt(n.Image, 0, 64)
		return float64(size), err == nil
	case *ast.FloatLiteral:
		size, err := strconv.ParseFloat(n.Image, 64)
		return size, err == nil
	case *ast.UnaryExpression:
		size, ok := w.literalSize(n.Operand)
		if n.Op == "-" {
			size = -size
		}
		return size, ok && (n.Op == "-" || n.Op == "+")
	case *ast.StringLiteral:
		return float64(n.End() - n.Pos()), true
	case *ast.ArrayConstructor:
		most := 0.0
		for _, element := range n.Elements {
			size, ok := w.literalSize(element)
			if !ok {
				return 0, false
			}
			most = max(most, size)
		}
		return most, true
	default:
		return 0, false
	}
}

// fewSteps reports whether a series has about as many elements as its ends are large.
func (w *walker) fewSteps(args []ast.Node) bool {
	if len(args) < 3 {
		return true
	}
	step, ok := w.literalSize(args[2])
	if !ok {
		return false
	}
	if step >= leastStep || step <= -leastStep {
		return true
	}
	first, ok1 := w.literalSize(args[0])
	last, ok2 := w.literalSize(args[1])
	return ok1 && ok2 && step != 0 && (last-first)/step < mostSteps
}

// plainTime reports whether the meter sees how late or early a time can be, or how long an
// interval is.
func (w *walker) plainTime(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.PathExpression:
		return true
	case *ast.StringLiteral:
		return !w.escapes(n)
	case *ast.DateOrTimeLiteral:
		return !w.escapes(n.Value)
	case *ast.IntervalExpr:
		if text, ok := n.Value.(*ast.StringLiteral); ok {
			return !w.escapes(text)
		}
		_, ok := w.literalSize(n.Value)
		return ok
	case *ast.FunctionCall:
		name := n.Function.Names[len(n.Function.Names)-1].Name
		if name = lexical.Lower(name); name == "current_timestamp" || name == "current_date" {
			return true
		}
		switch name {
		case "timestamp", "timestamp_add", "timestamp_sub", "timestamp_trunc", "date_add", "date_sub", "date_trunc":
			return len(n.Args) > 0 && w.plainTime(n.Args[0]) && (len(n.Args) == 1 || w.plainTime(n.Args[1]))
		}
	}
	return false
}

// escapes reports whether a literal has a character as its code.
func (w *walker) escapes(n ast.Node) bool {
	text, ok := n.(*ast.StringLiteral)
	if !ok || text.Pos() < 0 || text.End() > len(w.sql) {
		return false
	}
	for _, part := range text.Components {
		image := part.Image
		if strings.ContainsAny(image[:strings.IndexAny(image, `'"`)+1], "rR") {
			continue
		}
		for i := 0; i+1 < len(image); i++ {
			if image[i] != '\\' {
				continue
			}
			if i++; strings.IndexByte("xXuU01234567", image[i]) >= 0 {
				return true
			}
		}
	}
	return false
}

// shortPath reports whether a path is a literal without large indexes.
func (w *walker) shortPath(n ast.Node) bool {
	text, ok := n.(*ast.StringLiteral)
	if !ok || w.escapes(n) {
		return false
	}
	digits := 0
	for _, part := range text.Components {
		for _, c := range []byte(part.Image) {
			if !isDigit(c) {
				digits = 0
			} else if digits++; digits > longestIndex {
				return false
			}
		}
	}
	return true
}

// variable is a name of WITH(…), with how often what it stands for has others of them in it.
type variable struct {
	name   string // folded
	weight int
	up     *variable
}

// mostWeight is how often one expression may stand in the place of a name of WITH(…), of
// which the guard's meter knows nothing.
const mostWeight = 16

// withExpression visits WITH(a AS x, y). Its names may not be arguments of functions that
// make more of them, and not multiply each other.
func (w *walker) withExpression(n *ast.WithExpression) {
	if w.recursive {
		w.effect(sqlguard.Finding{Code: sqlguard.CodeInputTooLarge, Message: "WITH(…) in a recursive query can multiply with each step: name the values in a sub-query", Span: w.at})
	}
	outer, weight := w.variables, w.weight
	var columns []*ast.SelectColumn
	if n.Variables != nil {
		columns = n.Variables.Columns
	}
	for _, c := range columns {
		w.weight = 0
		w.node(c)
		if c.Alias != nil && c.Alias.Identifier != nil {
			w.variables = &variable{lexical.Lower(c.Alias.Identifier.Name), max(w.weight, 1), w.variables}
		}
	}
	w.weight = 0
	w.node(n.Expr)
	w.variables, w.weight = outer, weight+max(w.weight, 1)
}

// refers notes that a path may be a name of WITH(…).
func (w *walker) refers(path *ast.PathExpression) {
	if w.variables == nil || len(path.Names) == 0 {
		return
	}
	name := lexical.Lower(path.Names[0].Name)
	for v := w.variables; v != nil; v = v.up {
		if v.name != name {
			continue
		}
		w.weight += v.weight
		if w.grows || w.weight > mostWeight {
			w.effect(sqlguard.Finding{Code: sqlguard.CodeInputTooLarge, Message: "the names of WITH(…) can multiply what they stand for: name the values in a sub-query", Span: w.at})
			w.weight = 0 // told once
		}
		return
	}
}

// grown reports whether a function makes more of its arguments than they are.
func grown(name string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	kind, makes := growth.Makers[name]
	return makes && kind != sqlguard.MakesSum && !numbers[kind] || growth.Costly[name]
}
