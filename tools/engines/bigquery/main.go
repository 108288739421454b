// Command bigquery of this module says what a text is to GoogleSQL, the parser and the
// analyzer of BigQuery. Tests ask it. It is a module of its own because a compiler needs
// minutes and gigabytes for it.
//
// A request is a line and the bytes that it announces:
//
//	p LENGTH    what a text is to the parser
//	a LENGTH    which columns it reads, of the tables of catalog.go
//
// An answer is one line of JSON. The process ends with its standard input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"

	"github.com/goccy/go-googlesql"
)

// answer is what a text is.
type answer struct {
	// Error is why it cannot be read, or "".
	Error string `json:"error,omitempty"`
	// Statements are the kinds of its statements.
	Statements []string `json:"statements,omitempty"`
	// Tables are the paths of FROM, TABLE and functions of FROM.
	Tables [][]string `json:"tables,omitempty"`
	// Calls are the names of functions.
	Calls [][]string `json:"calls,omitempty"`
	// Names are the aliases, and the names of common table expressions.
	Names []string `json:"names,omitempty"`
	// Others are the kinds of parts that no query may have here.
	Others []string `json:"others,omitempty"`
	// Columns are those that it reads, as table.column.
	Columns []string `json:"columns,omitempty"`
}

var errorMessages = &googlesql.ErrorMessageOptions{Mode: googlesql.ErrorMessageModeErrorMessageOneLine, Stability: googlesql.ErrorMessageStabilityProduction}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	if err := googlesql.Init(); err != nil {
		return err
	}
	language, err := newLanguage()
	if err != nil {
		return err
	}
	options, err := googlesql.NewParserOptions()
	if err != nil {
		return err
	}
	if err := options.SetLanguageOptions(language); err != nil {
		return err
	}
	var reads *analyzer
	r := bufio.NewReader(in)
	encoder := json.NewEncoder(out)
	for n := 1; ; n++ {
		var kind string
		var length int
		if _, err := fmt.Fscanf(r, "%1s %d\n", &kind, &length); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(r, text); err != nil {
			return err
		}
		var a answer
		if kind == "a" {
			if reads == nil {
				if reads, err = newAnalyzer(); err != nil {
					return err
				}
			}
			a = reads.analyze(string(text))
		} else {
			a = parse(string(text), options)
		}
		if err := encoder.Encode(a); err != nil {
			return err
		}
		if n%500 == 0 {
			runtime.GC() // the trees are freed by finalizers, outside of Go's memory
		}
	}
}

const (
	featurePrefix = "LanguageFeatureFeature"
	lastFeature   = 20_000
)

// without are features that take something away, or that BigQuery does not have.
var without = regexp.MustCompile("Disallow|Disable|SlashPaths|Legacy|Spanner|Buggy|Enforce|BracedProtoConstructors|TestIdeally|LateralColumnReferences")

// newLanguage returns all of GoogleSQL, with the words reserved that BigQuery reserves. The
// library empties it when it is given to options.
func newLanguage() (*googlesql.LanguageOptions, error) {
	language, err := googlesql.NewLanguageOptions()
	if err != nil {
		return nil, err
	}
	if err := language.SetProductMode(googlesql.ProductModeProductExternal); err != nil {
		return nil, err
	}
	// The library's own call for all features switches none on.
	for feature := range googlesql.LanguageFeature(lastFeature) {
		if name := feature.String(); !strings.HasPrefix(name, featurePrefix) || without.MatchString(name) {
			continue
		}
		if err := language.EnableLanguageFeature(feature); err != nil {
			return nil, err
		}
	}
	if err := language.SetSupportsAllStatementKinds(); err != nil {
		return nil, err
	}
	for _, word := range []string{"QUALIFY", "MATCH_RECOGNIZE"} {
		if err := language.EnableReservableKeyword(word, true); err != nil {
			return nil, err
		}
	}
	return language, nil
}

// parse reads a text as a script.
func parse(text string, options *googlesql.ParserOptions) (a answer) {
	output, err := googlesql.ParseScript(text, options, errorMessages)
	if err != nil {
		return answer{Error: err.Error()}
	}
	defer func() {
		if err != nil {
			a = answer{Error: "the tree cannot be read: " + err.Error()}
		}
		runtime.KeepAlive(output)
	}()
	script, err := output.Script()
	if err != nil {
		return a
	}
	list, err := script.StatementListNode()
	if err != nil {
		return a
	}
	count, err := list.NumChildren()
	if err != nil {
		return a
	}
	for i := range count {
		var statement googlesql.ASTStatementNode
		if statement, err = list.StatementList(i); err != nil {
			return a
		}
		var kind string
		if kind, err = statement.GetNodeKindString(); err != nil {
			return a
		}
		a.Statements = append(a.Statements, kind)
	}
	err = a.walk(script)
	return a
}

// walk adds what the nodes below one say. The library's own search for nodes of some kinds
// returns others.
func (a *answer) walk(node googlesql.ASTNode) error {
	if err := a.add(node); err != nil {
		return err
	}
	count, err := node.NumChildren()
	if err != nil {
		return err
	}
	for i := range count {
		child, err := node.Child(i)
		if err == nil {
			err = a.walk(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds what one node says.
func (a *answer) add(node googlesql.ASTNode) error {
	var path *googlesql.ASTPathExpression
	var err error
	to := &a.Tables
	switch node := node.(type) {
	case *googlesql.ASTTablePathExpression:
		path, err = node.PathExpr()
	case *googlesql.ASTTableClause:
		path, err = node.TablePath()
	case *googlesql.ASTTVF:
		to = &a.Calls
		path, err = node.Name()
	case *googlesql.ASTFunctionCall:
		to = &a.Calls
		path, err = node.Function()
	case *googlesql.ASTAlias:
		return a.named(node.Identifier())
	case *googlesql.ASTAliasedQuery:
		return a.named(node.Alias())
	// The guard refuses these wherever they stand.
	case *googlesql.ASTSystemVariableExpr, *googlesql.ASTParameterExpr, *googlesql.ASTModelClause, *googlesql.ASTConnectionClause, *googlesql.ASTWithConnectionClause,
		*googlesql.ASTLockMode, *googlesql.ASTHint, *googlesql.ASTPipeExportData, *googlesql.ASTPipeInsert, *googlesql.ASTPipeCreateTable, *googlesql.ASTPipeFork,
		*googlesql.ASTPipeTee, *googlesql.ASTPipeIf, *googlesql.ASTPipeLog, *googlesql.ASTPipeDescribe, *googlesql.ASTPipeStaticDescribe, *googlesql.ASTGqlQuery,
		*googlesql.ASTGraphTableQuery:
		kind, err := node.GetNodeKindString()
		a.Others = append(a.Others, kind)
		return err
	default:
		return nil
	}
	if err != nil || path == nil {
		return err
	}
	names, err := path.ToIdentifierVector()
	*to = append(*to, names)
	return err
}

func (a *answer) named(id *googlesql.ASTIdentifier, err error) error {
	if err != nil {
		return err
	}
	name, err := id.GetAsString()
	a.Names = append(a.Names, name)
	return err
}
