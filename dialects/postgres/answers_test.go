package postgres_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/ktxhq/ktx/dialects/postgres"
	"github.com/ktxhq/ktx/sqlguard"
)

// The differential test runs this package's tests in the other build, with these
// variables: the path of a file with one statement in JSON on each line, and the path
// of the file for the answers.
const (
	questionsEnv = "KTX_TEST_QUESTIONS"
	answersEnv   = "KTX_TEST_ANSWERS"
)

// answer is everything that a build says about a statement.
type answer struct {
	Code    sqlguard.Code
	Verdict sqlguard.Verdict
	Facts   []sqlguard.Statement
}

// ask returns the answer of this build in JSON. It leaves out the name and the syntax
// messages of the parser, which differ between the builds.
func ask(g *sqlguard.Guard, sql string) (string, error) {
	a := answer{Verdict: g.Check(sql)}
	a.Code = a.Verdict.Code
	a.Verdict.Parser = ""
	if a.Code == sqlguard.CodeParseError {
		a.Verdict = sqlguard.Verdict{}
	} else if a.Verdict.Statements > 0 {
		// The screen accepted it, so it is safe to parse.
		facts, err := postgres.Dialect{}.Analyze(sql)
		if err != nil {
			return "", err
		}
		a.Facts = facts
	}
	text, err := json.Marshal(a)
	return string(text), err
}

// TestAnswers answers the questions of the differential test; see questionsEnv.
func TestAnswers(t *testing.T) {
	from, to := os.Getenv(questionsEnv), os.Getenv(answersEnv)
	if from == "" || to == "" {
		t.Skip("only the differential test asks")
	}
	questions, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = questions.Close() }()
	answers, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answers.Close() }()
	g := guard(t)
	in, out := json.NewDecoder(bufio.NewReader(questions)), bufio.NewWriter(answers)
	for {
		var sql string
		if err := in.Decode(&sql); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := ask(g, sql)
		if err != nil {
			t.Fatalf("%q: %v", sql, err)
		}
		if _, err := out.WriteString(text + "\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}
