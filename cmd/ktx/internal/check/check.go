package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ktxhq/ktx/cmd/ktx/internal/report"
	"github.com/ktxhq/ktx/sqlguard"
)

// maxFile bounds one file.
const maxFile = 64 << 20

// large is the size from which files are judged one at a time, so that the
// memory for their tokens is needed once.
const large = 4 << 20

// Chooser settles which guard judges a file. text is the file without a byte
// order mark. Without a guard the reason is a finding of the file.
type Chooser func(path, text string) (*sqlguard.Guard, *sqlguard.Finding)

// Checker judges files.
type Checker struct {
	Stdin  io.Reader
	Choose Chooser
	// Whole keeps every verdict. Otherwise statements are only counted, and of
	// those that may not run the findings are kept.
	Whole bool
	// OnFile, when set, is called after each file, from several goroutines.
	OnFile func()

	alone sync.Mutex // held for a large file
}

// Run judges inputs, several at a time, and returns them in order, together
// with the texts of those that have findings. The error is that of ctx.
func (c *Checker) Run(ctx context.Context, inputs []Input) ([]report.File, []string, error) {
	files := make([]report.File, len(inputs))
	texts := make([]string, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(inputs)) {
		wg.Go(func() {
			for i := range next {
				files[i], texts[i] = c.one(ctx, inputs[i])
				if c.OnFile != nil {
					c.OnFile()
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer wg.Wait()
		defer close(next)
		for i := range inputs {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	select {
	case <-done:
	case <-ctx.Done(): // a pipe may be waited for
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, fmt.Errorf("check files: %w", err)
	}
	return files, texts, nil
}

// one judges one file. A fault of a reader is a finding, as everything is that
// keeps a file from being judged.
func (c *Checker) one(ctx context.Context, in Input) (file report.File, text string) {
	blank := report.File{Path: filepath.ToSlash(in.Path), Statements: []report.Statement{}, Findings: []sqlguard.Finding{}}
	if in.Stdin {
		blank.Path = in.Path
	}
	file = blank
	defer func() {
		if r := recover(); r != nil {
			file = blank
			file.Findings = append(file.Findings, notChecked("the reader of this dialect met a fault of its own"))
		}
		if len(file.Findings) == 0 && file.Refused == 0 {
			text = "" // nothing in it will be shown
		}
	}()
	if in.Problem != "" {
		file.Findings = append(file.Findings, notChecked(in.Problem))
		return file, ""
	}
	text, err := c.read(in)
	if err != nil {
		file.Findings = append(file.Findings, notChecked(err.Error()))
		return file, ""
	}
	if len(text) >= large {
		c.alone.Lock()
		defer c.alone.Unlock()
	}
	c.judge(ctx, in, text, &file)
	return file, text
}

// judge asks the guard about every statement of text. All positions lie in the
// file as it is; a byte order mark counts in spans and not in columns.
func (c *Checker) judge(ctx context.Context, in Input, text string, file *report.File) {
	body := strings.TrimPrefix(text, report.ByteOrderMark) // an encoding mark, not SQL
	shift := len(text) - len(body)
	guard, problem := c.Choose(in.Path, body)
	if problem != nil {
		problem.Line, problem.Column = 1, 1
		problem.Span = sqlguard.Span{Start: shift, End: shift}
		file.Findings = append(file.Findings, *problem)
		return
	}
	file.Dialect = guard.Dialect().Name()
	lines := lineIndex{text: body}
	all := splitter{guard.Dialect(), window, maxStatement}
	done := all.split(body, func(span sqlguard.Span) bool {
		if batchEnd(file.Dialect, body, span) {
			return ctx.Err() == nil
		}
		file.Judged++
		v := guard.Check(body[span.Start:span.End])
		if v.Allowed && !c.Whole {
			return ctx.Err() == nil
		}
		if !v.Allowed {
			file.Refused++
		}
		v.Findings = slices.Clone(v.Findings) // the guard keeps its own
		for i := range v.Findings {
			f := &v.Findings[i]
			f.Line, f.Column = lines.position(f.Span.Start + span.Start)
			f.Span.Start += span.Start + shift
			f.Span.End += span.Start + shift
		}
		if c.Whole {
			file.Statements = append(file.Statements, report.Statement{Span: sqlguard.Span{Start: span.Start + shift, End: span.End + shift}, Verdict: v})
		} else {
			file.Refusals = append(file.Refusals, v.Findings...)
		}
		return ctx.Err() == nil
	})
	if done < len(body) {
		f := notChecked("a statement longer than 8 MiB begins here; it and what follows were not checked")
		f.Line, f.Column = lines.position(done)
		f.Span = sqlguard.Span{Start: done + shift, End: done + shift}
		file.Findings = append(file.Findings, f)
	}
}

func notChecked(reason string) sqlguard.Finding {
	return sqlguard.Finding{Code: sqlguard.CodeNotChecked, Message: reason, Line: 1, Column: 1}
}

var errTooLarge = errors.New("the file is larger than 64 MiB")

func (c *Checker) read(in Input) (string, error) {
	r := c.Stdin
	if !in.Stdin {
		f, err := os.Open(in.Path)
		if err != nil {
			return "", errors.New(unreadable(err))
		}
		defer func() { _ = f.Close() }()
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > maxFile {
			return "", errTooLarge
		}
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return "", errors.New(unreadable(err))
	case len(text) > maxFile:
		return "", errTooLarge
	case utf8.Valid(text):
		return string(text), nil
	case len(text) > 1 && (text[0] == 0xff && text[1] == 0xfe || text[0] == 0xfe && text[1] == 0xff):
		return "", errors.New("the file is UTF-16, not UTF-8")
	default:
		return "", fmt.Errorf("the file is not UTF-8: byte %d begins no character", invalidAt(text))
	}
}

// invalidAt returns the offset of the first byte that begins no character.
func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}
