package tdsserver

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// isEnd reports whether err says that the request or its connection ended.
func isEnd(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok || errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, errHandler)
}

// set reads the rest of a SET statement: options and variables.
func (p *parser) set() (func(*env) error, error) {
	if p.peek().kind == kindVariable {
		return p.assign()
	}
	if p.take("TRANSACTION", "ISOLATION", "LEVEL") {
		for _, level := range [][]string{{"READ", "UNCOMMITTED"}, {"READ", "COMMITTED"}, {"REPEATABLE", "READ"}, {"SNAPSHOT"}, {"SERIALIZABLE"}} {
			if p.take(level...) {
				return setting("ISOLATION", strings.Join(level, " ")), nil
			}
		}
		return nil, p.syntax()
	}
	var names []string
	for {
		w := p.peek()
		if w.kind != kindName || w.quoted {
			return nil, p.syntax()
		}
		if _, ok := defaults[w.upper]; !ok || w.upper == "ISOLATION" {
			return nil, unknown("SET "+w.text, w.line)
		}
		names = append(names, w.upper)
		p.i++
		if !p.take(",") {
			break
		}
	}
	if d := defaults[names[0]]; d == "ON" || d == "OFF" {
		value := "ON"
		if !p.take("ON") {
			value = "OFF"
			if err := p.want("OFF"); err != nil {
				return nil, err
			}
		}
		for _, name := range names {
			if d := defaults[name]; d != "ON" && d != "OFF" {
				return nil, p.syntax()
			}
		}
		return func(e *env) error {
			for _, name := range names {
				e.s.options[name] = value
			}
			return nil
		}, nil
	}
	if len(names) > 1 {
		return nil, p.syntax()
	}
	return p.setValue(names[0])
}

func setting(name, value string) func(*env) error {
	return func(e *env) error {
		e.s.options[name] = value
		return nil
	}
}

// setLanguage sets the one language that is modelled, with its order of dates
// and its first day of the week (T-SQL reference, "SET LANGUAGE").
func setLanguage(e *env) error {
	for _, name := range []string{"LANGUAGE", "DATEFORMAT", "DATEFIRST"} {
		e.s.options[name] = defaults[name]
	}
	e.r.token(appendEnvText(nil, envLanguage, defaults["LANGUAGE"], defaults["LANGUAGE"]))
	return e.r.Info(&ServerError{Number: 5703, State: 1, Message: "Changed language setting to us_english.", Line: 1})
}

// setValue reads the value of an option that is not ON or OFF.
func (p *parser) setValue(name string) (func(*env) error, error) {
	switch name {
	case "DATEFORMAT", "LANGUAGE", "DEADLOCK_PRIORITY":
		w := p.peek()
		if w.kind != kindName && w.kind != kindString && w.kind != kindNString {
			break
		}
		p.i++
		allowed := map[string][]string{
			"DATEFORMAT":        {"mdy", "dmy", "ymd", "ydm", "myd", "dym"},
			"LANGUAGE":          {"us_english", "english"},
			"DEADLOCK_PRIORITY": {"low", "normal", "high"},
		}
		value := strings.ToLower(w.text)
		if !slices.Contains(allowed[name], value) {
			return nil, unknown("SET "+name+" "+w.text, w.line)
		}
		if name == "LANGUAGE" {
			return setLanguage, nil
		}
		return setting(name, value), nil
	}
	return p.withValue(func(e *env, v any) error {
		n, ok := v.(int64)
		if !ok {
			return unknown("SET "+name+" to a value that is no integer", 0)
		}
		if name == "TEXTSIZE" && (n == -1 || n == 0) {
			n = map[int64]int64{-1: 2147483647, 0: 4096}[n]
		}
		if n < -1 || n < 0 && name != "LOCK_TIMEOUT" {
			return unknown("SET "+name+" "+strconv.FormatInt(n, 10), 0)
		}
		e.s.options[name] = strconv.FormatInt(n, 10)
		return nil
	})
}

// withValue reads an expression, and returns a statement that uses its value.
func (p *parser) withValue(use func(*env, any) error) (func(*env) error, error) {
	value, err := p.expression()
	if err != nil {
		return nil, err
	}
	return func(e *env) error {
		v, err := value.eval(e)
		if err != nil {
			return err
		}
		return use(e, v)
	}, nil
}

// assign reads @x = expression.
func (p *parser) assign() (func(*env) error, error) {
	w := p.peek()
	t, ok := p.variables[strings.ToLower(w.text)]
	if !ok {
		return nil, undeclared(w)
	}
	p.i++
	if err := p.want("="); err != nil {
		return nil, err
	}
	return p.assignTo(strings.ToLower(w.text), t)
}

func undeclared(w *word) *ServerError {
	return &ServerError{Number: 137, State: 1, Class: 15, Line: w.line, Message: "Must declare the scalar variable \"" + w.text + "\"."}
}

// assignTo reads the expression that a variable is set to.
func (p *parser) assignTo(name string, t Type) (func(*env) error, error) {
	value, err := p.expression()
	if err != nil {
		return nil, err
	}
	cast, err := convert(value, t, false)
	if err != nil {
		return nil, err
	}
	return func(e *env) error {
		v, err := cast.eval(e)
		if err == nil {
			e.variables[name] = v
		}
		return err
	}, nil
}

// inOrder runs statements one after the other, up to the first that fails.
func inOrder(list []func(*env) error) func(*env) error {
	return func(e *env) error {
		for _, run := range list {
			if err := run(e); err != nil {
				return err
			}
		}
		return nil
	}
}

func (p *parser) declare() (func(*env) error, error) {
	var list []func(*env) error
	for {
		w := p.peek()
		if w.kind != kindVariable || strings.HasPrefix(w.text, "@@") {
			return nil, p.syntax()
		}
		p.i++
		p.take("AS")
		t, err := p.typeName()
		if err != nil {
			return nil, err
		}
		name := strings.ToLower(w.text)
		p.variables[name] = t
		run := func(e *env) error { e.variables[name] = nil; return nil }
		if p.take("=") {
			if run, err = p.assignTo(name, t); err != nil {
				return nil, err
			}
		}
		list = append(list, run)
		if !p.take(",") {
			break
		}
	}
	return inOrder(list), nil
}

// waitFor reads WAITFOR DELAY 'hh:mm:ss' (T-SQL reference, "WAITFOR").
func (p *parser) waitFor() (func(*env) error, error) {
	w := p.peek()
	if w.kind != kindString && w.kind != kindNString {
		return nil, p.syntax()
	}
	p.i++
	var at time.Time
	var err error
	for _, layout := range []string{"15:04:05.999", "15:04"} {
		if at, err = time.Parse(layout, w.text); err == nil {
			break
		}
	}
	if err != nil {
		return nil, &ServerError{Number: 148, State: 1, Class: 15, Line: w.line, Message: "Incorrect time syntax in time string '" + w.text + "' used with WAITFOR."}
	}
	d := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute + time.Duration(at.Second())*time.Second + time.Duration(at.Nanosecond())
	return func(e *env) error { return e.r.Sleep(d) }, nil
}

func (p *parser) print() (func(*env) error, error) {
	return p.withValue(func(e *env, v any) error {
		s, ok := v.(string)
		if !ok {
			return unknown("PRINT of what is no text", 0)
		}
		return e.r.Info(&ServerError{State: 1, Message: s, Line: 1})
	})
}

// throw reads THROW number, 'message', state (T-SQL reference, "THROW"). The
// error has class 16 and ends the batch.
func (p *parser) throw() (func(*env) error, error) {
	var parts [3]word
	for i := range parts {
		if i > 0 {
			if err := p.want(","); err != nil {
				return nil, err
			}
		}
		parts[i] = *p.peek()
		p.i++
	}
	number, err := strconv.Atoi(parts[0].text)
	state, notState := strconv.Atoi(parts[2].text)
	if err != nil || notState != nil || number < 50000 || state < 0 || state > 255 || parts[1].kind != kindString && parts[1].kind != kindNString {
		return nil, unknown("this THROW", parts[0].line)
	}
	return func(*env) error {
		return &ServerError{Number: int32(number), State: byte(state), Class: 16, Message: parts[1].text, Line: parts[0].line, ends: true}
	}, nil
}

// raise reads RAISERROR('message', severity, state).
func (p *parser) raise() (func(*env) error, error) {
	if err := p.want("("); err != nil {
		return nil, err
	}
	message := *p.peek()
	p.i++
	var numbers [2]int
	for i := range numbers {
		if err := p.want(","); err != nil {
			return nil, err
		}
		n, err := strconv.Atoi(p.peek().text)
		if err != nil || n < 0 || n > 25 {
			return nil, p.syntax()
		}
		numbers[i] = n
		p.i++
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	if message.kind != kindString && message.kind != kindNString || strings.Contains(message.text, "%") {
		return nil, unknown("this RAISERROR", message.line)
	}
	return func(e *env) error {
		err := &ServerError{Number: 50000, Class: byte(numbers[0]), State: byte(numbers[1]), Message: message.text, Line: message.line}
		if err.Class <= 10 {
			return e.r.Info(err)
		}
		return err
	}, nil
}

func (p *parser) use() (func(*env) error, error) {
	w := *p.peek()
	name, err := p.name()
	if err != nil {
		return nil, err
	}
	return func(e *env) error {
		if !e.s.c.s.has(name) {
			return &ServerError{Number: 911, State: 1, Class: 16, Line: w.line, Message: "Database '" + name + "' does not exist. Make sure that the name is entered correctly."}
		}
		e.r.token(appendEnvText(nil, envDatabase, name, e.s.database))
		e.s.database = name
		return e.r.Info(&ServerError{Number: 5701, State: 2, Message: "Changed database context to '" + name + "'.", Line: 1})
	}, nil
}
