package casefile

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/corpus"
)

// maxNumber is the last number that a class of one dialect can give to a case.
const maxNumber = 9999

// NextID returns the id of the next case of a dialect and a class. It is one
// more than the highest number in the cases of this build and in the texts,
// which are the history of the corpus and the class file: a number that was
// given once is never given again.
func NextID(d corpus.Dialect, class corpus.Class, texts ...[]byte) (string, error) {
	prefix := OwnPrefix + d.Code + "-" + class.Code + "-"
	given := bytes.Join(texts, []byte("\n"))
	for _, c := range corpus.Cases() {
		given = append(given, "\n"+c.ID...)
	}
	last := 0
	for _, m := range regexp.MustCompile(regexp.QuoteMeta(prefix)+`([0-9]{4})`).FindAllSubmatch(given, -1) {
		if number, err := strconv.Atoi(string(m[1])); err == nil {
			last = max(last, number)
		}
	}
	if last >= maxNumber {
		return "", fmt.Errorf("%s has no numbers left", prefix)
	}
	return fmt.Sprintf("%s%04d", prefix, last+1), nil
}

// Append returns the content of a class file with a case that must be refused,
// and its benign twin, at its end. Everything before them stays as it is, byte
// for byte. Append reads the result again, and returns an error unless the old
// cases are what they were and the new ones are own and twin.
func Append(name string, content []byte, own, twin corpus.Case) ([]byte, error) {
	block, err := block(own, twin)
	if err != nil {
		return nil, err
	}
	text := bytes.Clone(content)
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	before := &File{}
	if !bytes.HasSuffix(text, []byte("\ncases:\n")) { // it holds cases already
		before = Parse(name, content)
		if err := before.Err(); err != nil {
			return nil, fmt.Errorf("it has a mistake: %w", err)
		}
		text = append(text, '\n')
	}
	if bytes.Contains(content, []byte("\r\n")) {
		return nil, errors.New("its lines end with CR LF; cases end their lines with LF")
	}
	text = append(text, block...)
	after := Parse(name, text)
	if err := after.Err(); err != nil {
		return nil, fmt.Errorf("nothing can be appended, since it does not end with its list of cases: %w", err)
	}
	want, err := json.Marshal(append(slices.Clone(before.Cases), own, twin))
	if err != nil {
		return nil, err
	}
	if got, err := json.Marshal(after.Cases); err != nil || !bytes.Equal(got, want) {
		return nil, errors.New("nothing can be appended: the cases would not be those that are meant")
	}
	return text, nil
}

// block returns a case and its twin as the items of a list in YAML.
func block(ownCase, twinCase corpus.Case) ([]byte, error) {
	own, twin := pairs{}, pairs{}
	own.add("id", scalar(ownCase.ID)).add("title", scalar(ownCase.Title))
	twin.add("id", scalar(twinCase.ID)).add("title", scalar(twinCase.Title))
	if ownCase.Flavour != "" {
		own.add("flavour", scalar(ownCase.Flavour))
		twin.add("flavour", scalar(twinCase.Flavour))
	}
	refs := pairs{}
	refs.add("cwe", sequence(ownCase.Refs.CWE))
	if len(ownCase.Refs.CVE) > 0 {
		refs.add("cve", sequence(ownCase.Refs.CVE))
	}
	if len(ownCase.Refs.URLs) > 0 {
		refs.add("urls", sequence(ownCase.Refs.URLs))
	}
	effect := pairs{}
	effect.add("kind", scalar(ownCase.Effect.Kind))
	version := &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: ownCase.Since}
	own.add(statementField(ownCase.SQL)).add("expect", scalar("reject")).add("codes", sequence(ownCase.Codes)).add("effect", effect.node(yaml.FlowStyle)).
		add("refs", refs.node(yaml.FlowStyle)).add("benign_twin", scalar(ownCase.BenignTwin)).add("since", version)
	twin.add(statementField(twinCase.SQL)).add("expect", scalar("allow")).add("since", version)
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{own.node(0), twin.node(0)}}
	top := pairs{}
	top.add("cases", list)
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(top.node(0)), e.Close()); err != nil {
		return nil, fmt.Errorf("write case: %w", err)
	}
	_, block, _ := bytes.Cut(b.Bytes(), []byte("\n"))
	return block, nil
}

// pairs is a YAML mapping in the making.
type pairs struct{ content []*yaml.Node }

func (p *pairs) add(name string, value *yaml.Node) *pairs {
	p.content = append(p.content, scalar(name), value)
	return p
}

func (p *pairs) node(style yaml.Style) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Style: style, Content: p.content}
}

// scalar is a text, in whichever style holds it.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func sequence(values []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		n.Content = append(n.Content, scalar(v))
	}
	return n
}

// statementField is the field that holds a statement.
func statementField(sql string) (string, *yaml.Node) {
	if !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		return "sql_b64", scalar(base64.StdEncoding.EncodeToString([]byte(sql)))
	}
	if strings.ContainsFunc(sql, func(r rune) bool { return r < ' ' && r != '\n' || r > '~' }) {
		return "sql", &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: sql}
	}
	return "sql", scalar(sql)
}
