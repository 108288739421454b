package prove

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/corpus"
)

// classFile is one YAML file of the corpus.
type classFile struct {
	path  string
	cases []corpus.Case
}

// readClassFiles reads the class files of a dialect below dir.
func readClassFiles(dir, dialect string) ([]classFile, error) {
	var files []classFile
	for _, class := range corpus.Classes() {
		name := dialect + "/" + class.Name + ".yaml"
		path := filepath.Join(dir, filepath.FromSlash(name))
		doc, err := os.ReadFile(path) //nolint:gosec // the corpus that the caller names
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the corpus: %w", err)
		}
		cases, err := decodeClassFile(name, doc)
		if err != nil {
			return nil, err
		}
		files = append(files, classFile{path, cases})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read the corpus: %s has no cases of %s", dir, dialect)
	}
	return files, nil
}

func decodeClassFile(name string, doc []byte) ([]corpus.Case, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(doc, &node); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	plainDates(&node)
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return corpus.DecodeFile(name, text)
}

// plainDates makes an unquoted date a string.
func plainDates(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		plainDates(child)
	}
}
