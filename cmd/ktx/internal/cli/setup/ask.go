package setup

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
)

// askWhat asks for the clients when the flags name none. It asks for the scope of
// each client that has several scopes when the flags name no scope.
func (s *run) askWhat(chosen []*setup.Target) ([]*setup.Target, error) {
	if len(chosen) == 0 {
		var err error
		if chosen, err = s.askTargets(); err != nil {
			return nil, err
		}
	}
	if s.options.scope != "" {
		return chosen, nil
	}
	for _, t := range chosen {
		scopes := scopesOf(t)
		if len(scopes) == 1 {
			continue
		}
		err := s.prompt.Until(t.Name+": scope "+strings.Join(scopes, ", ")+"? ["+scopes[0]+"]", func(answer string) error {
			if answer == "" {
				answer = scopes[0]
			}
			if !slices.Contains(scopes, answer) {
				return console.Usage("unknown scope %q%s", answer, console.DidYouMean(answer, scopes))
			}
			s.scopes[t.Name] = setup.Scope(answer)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

// askTargets asks which clients to set up. It offers those that have the scope of
// the flags. The clients that are found on the machine are the default.
func (s *run) askTargets() ([]*setup.Target, error) {
	a := s.app
	var all []*setup.Target
	var names, found []string
	for _, t := range setup.Targets() {
		if _, ok := t.Place(setup.Scope(s.options.scope)); s.options.scope != "" && !ok {
			continue
		}
		all, names = append(all, t), append(names, t.Name)
		mark := ""
		if t.Found(s.machine) {
			found, mark = append(found, t.Name), "found here"
		}
		a.Errorf("%s\n", strings.TrimRight("  "+strconv.Itoa(len(all))+"  "+pad(t.Name, 16)+pad(t.Title, 20)+mark, " "))
	}
	question := "Which clients? Names or numbers, with commas between:"
	if len(found) > 0 {
		question = "Which clients? Names or numbers, with commas between [" + strings.Join(found, ",") + "]:"
	}
	var chosen []*setup.Target
	err := s.prompt.Until(question, func(answer string) error {
		words := strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' })
		if len(words) == 0 {
			words = found
		}
		chosen = nil
		for _, word := range words {
			i := slices.IndexFunc(all, func(t *setup.Target) bool { return t.Name == word })
			if n, err := strconv.Atoi(word); err == nil {
				i = n - 1
			}
			if i < 0 || i >= len(all) {
				return console.Usage("unknown client %q%s", word, console.DidYouMean(word, names))
			}
			if !slices.Contains(chosen, all[i]) {
				chosen = append(chosen, all[i])
			}
		}
		if len(chosen) == 0 {
			return errors.New("please name at least one")
		}
		return nil
	})
	return chosen, err
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-len(text), 1))
}

// askToken asks whether to write the reference to the token into each file that
// the project's members share. When it cannot ask, it keeps the client and adds a
// warning.
func (s *run) askToken(selected []setup.Selection) ([]setup.Selection, error) {
	if !s.server.Token || s.server.Stdio {
		return selected, nil
	}
	var out []setup.Selection
	for _, sel := range selected {
		if sel.Target.Shared(sel.Scope) && sel.Target.Reference != "" {
			about := sel.Target.Name + ": its file may be committed, and the server wants a token"
			if !s.asks {
				s.warnings = append(s.warnings, about+"; it gets the reference "+sel.Target.Reference+", never the token")
			} else {
				s.app.Errorf("%s\n", about)
				ok, err := s.prompt.Yes("Write the reference "+sel.Target.Reference+"? No leaves the client out.", true)
				if err != nil {
					return nil, err
				}
				if !ok {
					continue
				}
			}
		}
		out = append(out, sel)
	}
	return out, nil
}
