package postgres

import "github.com/ktxhq/ktx/sqlguard"

// NodeTable is the table of node kinds.
var NodeTable = nodeTable

// NodeNames are the kinds of the generated walker.
var NodeNames = nodeNames[1:]

// Classes of node, as a test sees them.
const (
	NodeRefused       = nodeRefused
	NodePlain         = nodePlain
	NodeJudged        = nodeJudged
	NodeStatement     = nodeStatement
	NodeOpenStatement = nodeOpenStatement
	NodePart          = nodePart
	NodeInternal      = nodeInternal
)

// Class returns the class of the rule.
func (r nodeRule) Class() nodeClass { return r.class }

// Statement returns the verb and the code of a rule for a statement.
func (r nodeRule) Statement() (sqlguard.Verb, sqlguard.Code) { return r.verb, r.code }

// JudgedKinds are the kinds for which the generator found a judge.
func JudgedKinds() []string {
	names := make([]string, 0, len(judgedKinds))
	for _, k := range judgedKinds {
		names = append(names, nodeNames[k])
	}
	return names
}

// WalkNode walks one node as the root of a statement. open says that the walk is inside
// a statement other than a read.
func WalkNode(n *node, open bool) sqlguard.Statement {
	var st sqlguard.Statement
	w := walker{st: &st, refused: open}
	w.node(n)
	return st
}

// RowFunctions are the names for which rowFunction holds.
func RowFunctions() []string { return rowFunctions[:] }

// RowResults are the functions that can return a row.
var RowResults = rowResults[:]

// Instead are the functions of other servers with what to write instead.
func Instead() map[string]string { return wording.Functions }
