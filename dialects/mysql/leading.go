package mysql

import (
	"strings"

	"github.com/ktxhq/ktx/sqlguard"
)

// leadingRule is the ruling on statements by their first word. The second word
// refines it.
type leadingRule struct {
	code   sqlguard.Code
	does   string
	second map[string]sqlguard.Code
}

var privileged = map[string]sqlguard.Code{
	"user": sqlguard.CodePrivilegeStatement, "role": sqlguard.CodePrivilegeStatement,
	"password": sqlguard.CodePrivilegeStatement, "default": sqlguard.CodePrivilegeStatement,
}

// leadingRules are the statements that are refused by their first words, for
// statements that neither parser reads (Reference Manual, chapter 15, and
// MariaDB's Knowledge Base, SQL Statements).
var leadingRules = map[string]leadingRule{
	"insert":      {code: sqlguard.CodeWriteStatement, does: "writes rows"},
	"replace":     {code: sqlguard.CodeWriteStatement, does: "writes rows"},
	"update":      {code: sqlguard.CodeWriteStatement, does: "changes rows"},
	"delete":      {code: sqlguard.CodeWriteStatement, does: "removes rows"},
	"truncate":    {code: sqlguard.CodeWriteStatement, does: "removes all rows, and commits"},
	"load":        {code: sqlguard.CodeWriteStatement, does: "writes what it reads from a file"},
	"import":      {code: sqlguard.CodeDDLStatement, does: "makes tables of files"},
	"binlog":      {code: sqlguard.CodeWriteStatement, does: "applies changes"},
	"create":      {code: sqlguard.CodeDDLStatement, does: "changes the schema", second: privileged},
	"alter":       {code: sqlguard.CodeDDLStatement, does: "changes the schema", second: privileged},
	"drop":        {code: sqlguard.CodeDDLStatement, does: "changes the schema", second: privileged},
	"rename":      {code: sqlguard.CodeDDLStatement, does: "changes the schema", second: privileged},
	"grant":       {code: sqlguard.CodePrivilegeStatement, does: "gives rights"},
	"revoke":      {code: sqlguard.CodePrivilegeStatement, does: "takes rights"},
	"set":         {code: sqlguard.CodeSessionChange, does: "changes the session or the server", second: privileged},
	"use":         {code: sqlguard.CodeSessionChange, does: "changes the database of the session"},
	"handler":     {code: sqlguard.CodeSessionChange, does: "works with a cursor of the session"},
	"begin":       {code: sqlguard.CodeTransactionControl, does: "starts a transaction or a block", second: map[string]sqlguard.Code{"not": sqlguard.CodeProceduralBlock}},
	"start":       {code: sqlguard.CodeStatementNotAllowed, does: "starts replication or a transaction", second: map[string]sqlguard.Code{"transaction": sqlguard.CodeTransactionControl}},
	"stop":        {code: sqlguard.CodeStatementNotAllowed, does: "stops replication"},
	"commit":      {code: sqlguard.CodeTransactionControl, does: "ends the transaction"},
	"rollback":    {code: sqlguard.CodeTransactionControl, does: "ends the transaction"},
	"savepoint":   {code: sqlguard.CodeTransactionControl, does: "marks a place of the transaction"},
	"release":     {code: sqlguard.CodeTransactionControl, does: "belongs to transactions"},
	"xa":          {code: sqlguard.CodeTransactionControl, does: "controls a distributed transaction"},
	"lock":        {code: sqlguard.CodeLockingClause, does: "locks, and commits"},
	"unlock":      {code: sqlguard.CodeTransactionControl, does: "ends locks, and commits"},
	"call":        {code: sqlguard.CodeProcedureCall, does: "runs a stored procedure"},
	"do":          {code: sqlguard.CodeProcedureCall, does: "runs expressions for their effects"},
	"prepare":     {code: sqlguard.CodeDynamicSQL, does: "makes a statement of a text"},
	"execute":     {code: sqlguard.CodeDynamicSQL, does: "runs SQL from a string"},
	"deallocate":  {code: sqlguard.CodeDynamicSQL, does: "belongs to prepared texts"},
	"if":          {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"while":       {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"loop":        {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"repeat":      {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"for":         {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"case":        {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"declare":     {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"open":        {code: sqlguard.CodeProceduralBlock, does: "works with a cursor of a stored program"},
	"fetch":       {code: sqlguard.CodeProceduralBlock, does: "works with a cursor of a stored program"},
	"close":       {code: sqlguard.CodeProceduralBlock, does: "works with a cursor of a stored program"},
	"leave":       {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"iterate":     {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"return":      {code: sqlguard.CodeProceduralBlock, does: "is only valid in the body of a stored program"},
	"signal":      {code: sqlguard.CodeProceduralBlock, does: "raises a condition"},
	"resignal":    {code: sqlguard.CodeProceduralBlock, does: "raises a condition"},
	"get":         {code: sqlguard.CodeSessionChange, does: "assigns variables"},
	"kill":        {code: sqlguard.CodeStatementNotAllowed, does: "ends a session or its statement"},
	"shutdown":    {code: sqlguard.CodeStatementNotAllowed, does: "ends the server"},
	"restart":     {code: sqlguard.CodeStatementNotAllowed, does: "restarts the server"},
	"flush":       {code: sqlguard.CodeStatementNotAllowed, does: "administers the server"},
	"reset":       {code: sqlguard.CodeStatementNotAllowed, does: "administers the server"},
	"purge":       {code: sqlguard.CodeStatementNotAllowed, does: "removes logs of the server"},
	"change":      {code: sqlguard.CodeStatementNotAllowed, does: "changes replication"},
	"clone":       {code: sqlguard.CodeStatementNotAllowed, does: "copies the server's data"},
	"install":     {code: sqlguard.CodeStatementNotAllowed, does: "loads code into the server"},
	"uninstall":   {code: sqlguard.CodeStatementNotAllowed, does: "removes code from the server"},
	"cache":       {code: sqlguard.CodeStatementNotAllowed, does: "administers the server"},
	"analyze":     {code: sqlguard.CodeStatementNotAllowed, does: "writes statistics of tables, or runs a statement"},
	"optimize":    {code: sqlguard.CodeStatementNotAllowed, does: "rewrites tables"},
	"repair":      {code: sqlguard.CodeStatementNotAllowed, does: "rewrites tables"},
	"check":       {code: sqlguard.CodeStatementNotAllowed, does: "marks tables as damaged or whole"},
	"checksum":    {code: sqlguard.CodeStatementNotAllowed, does: "reads whole tables under locks"},
	"backup":      {code: sqlguard.CodeStatementNotAllowed, does: "administers the server"},
	"help":        {code: sqlguard.CodeStatementNotAllowed, does: "reads tables of the server's own"},
	"show":        {code: sqlguard.CodeStatementNotAllowed, does: "in this form is not on the list of permitted forms"},
	"explain":     {code: sqlguard.CodeStatementNotAllowed, does: "explains queries and tables only"},
	"describe":    {code: sqlguard.CodeStatementNotAllowed, does: "describes queries and tables only"},
	"desc":        {code: sqlguard.CodeStatementNotAllowed, does: "describes queries and tables only"},
	"batch":       {code: sqlguard.CodeWriteStatement, does: "writes rows"},
	"concurrency": {code: sqlguard.CodeStatementNotAllowed, does: "administers the server"},
}

// refuseByName refuses a statement that no parser reads by its first words, and
// reports whether it could. Statements that read have none of these.
func (w *walker) refuseByName() bool {
	first := 0
	for first < len(w.items) && w.kind(first) == sqlguard.TokenOpen {
		first++
	}
	if first >= len(w.items) || w.items[first].class&classAny == 0 {
		return false
	}
	word := foldName(w.items[first].text)
	if word == "with" {
		// Find the statement after the common table expressions.
		for depth := 0; first < len(w.items)-1 && (depth > 0 || !w.writes(first)); first++ {
			switch w.kind(first) { //nolint:exhaustive // others open nothing
			case sqlguard.TokenOpen:
				depth++
			case sqlguard.TokenClose:
				depth--
			}
		}
		word = foldName(w.items[first].text)
	}
	rule, ok := leadingRules[word]
	switch word {
	case "show", "explain", "describe", "desc":
		// A word follows that no parser here accepts after it.
		ok = ok && first == 0 && len(w.items) > 1 && w.items[1].class&classAny != 0 && !w.word(1, "select") && !w.word(1, "with")
	}
	if !ok || w.kind(first+1) == sqlguard.TokenOpen && word != "call" {
		return false
	}
	code := rule.code
	if first+1 < len(w.items) {
		if c, ok := rule.second[foldName(w.items[first+1].text)]; ok && w.items[first+1].class&classAny != 0 {
			code = c
		}
	}
	w.st.Verb = sqlguard.Verb(word)
	w.refuse(code, w.st.Span, strings.ToUpper(word)+" "+rule.does)
	return true
}

// writes reports whether an item begins a statement that writes rows.
func (w *walker) writes(i int) bool {
	return w.word(i, "insert") || w.word(i, "update") || w.word(i, "delete") || w.word(i, "replace")
}

// forbiddenWords are words that no read contains, however a parser reads them:
// the first word of each is reserved in both servers.
var forbiddenWords = []struct {
	words []string
	code  sqlguard.Code
	does  string
}{
	{[]string{"into"}, sqlguard.CodeSelectInto, "INTO stores the rows of the query"},
	{[]string{"for", "update"}, sqlguard.CodeLockingClause, "FOR UPDATE locks the rows that the query reads"},
	{[]string{"for", "share"}, sqlguard.CodeLockingClause, "FOR SHARE locks the rows that the query reads"},
	{[]string{"lock", "in", "share"}, sqlguard.CodeLockingClause, "LOCK IN SHARE MODE locks the rows that the query reads"},
	{[]string{"procedure", "analyse"}, sqlguard.CodeProcedureCall, "PROCEDURE passes the rows to a procedure of the server"},
	{[]string{"next", "value", "for"}, sqlguard.CodeFunctionSideEffect, "NEXT VALUE FOR advances a sequence"},
	{[]string{"previous", "value", "for"}, sqlguard.CodeFunctionSideEffect, "PREVIOUS VALUE FOR reads the sequences of the session"},
}

// forbiddenHashes are the hashes of their first words.
var forbiddenHashes = func() []uint64 {
	hashes := make([]uint64, len(forbiddenWords))
	for i := range forbiddenWords {
		hashes[i] = foldedHash(forbiddenWords[i].words[0])
	}
	return hashes
}()

// refuseByWords refuses the words of forbiddenWords, and reports whether the statement has
// any of them.
func (w *walker) refuseByWords() bool {
	before := len(w.st.Effects)
	for i := range forbiddenWords {
		f := &forbiddenWords[i]
		for at := w.firstOf(f.words[0], forbiddenHashes[i]); at >= 0; at = w.after(at, f.words[0]) {
			if w.kind(at-1) == sqlguard.TokenDot || !w.follow(at, f.words) {
				continue
			}
			w.refuse(f.code, sqlguard.Span{Start: w.items[at].Start, End: w.items[at+len(f.words)-1].End}, f.does)
			break
		}
	}
	if len(w.st.Effects) == before {
		return false
	}
	if w.st.Verb == "" {
		w.st.Verb = sqlguard.VerbSelect
	}
	return true
}
