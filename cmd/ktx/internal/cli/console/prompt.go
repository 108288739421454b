package console

import (
	"bufio"
	"errors"
	"io"
	"strings"
)

// Prompt asks on standard error and reads lines from standard input.
type Prompt struct {
	app *App
	in  *bufio.Reader
}

// NewPrompt returns the prompt of a run. There must be only one, because it reads ahead.
func NewPrompt(a *App) *Prompt { return &Prompt{a, bufio.NewReader(a.In)} }

// Until repeats the question until accept takes the answer. It returns an error at
// the end of the input or after an interrupt.
func (p *Prompt) Until(question string, accept func(answer string) error) error {
	for {
		p.app.Errorf("%s ", question)
		line, err := p.in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return Failed("the input ended; nothing was changed")
		}
		if err != nil {
			return err
		}
		if err = accept(strings.TrimSpace(line)); err == nil {
			return nil
		}
		p.app.Errorf("%s\n", EscapeControls(err.Error()))
	}
}

// Yes asks a question that the user answers with yes or no.
func (p *Prompt) Yes(question string, byDefault bool) (yes bool, err error) {
	question += map[bool]string{true: " [Y/n]", false: " [y/N]"}[byDefault]
	err = p.Until(question, func(answer string) error {
		switch strings.ToLower(answer) {
		case "":
			yes = byDefault
		case "y", "yes":
			yes = true
		case "n", "no":
			yes = false
		default:
			return errors.New("please answer y or n")
		}
		return nil
	})
	return yes, err
}
