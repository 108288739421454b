package model

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/ktxhq/ktx/research/semantic/expr"
)

// The limits of a connection's folder. What is beyond them is a problem, never left out
// in silence.
const (
	maxFiles    = 10_000
	maxAuthored = 1 << 20   // bytes of a file that a person writes
	maxManifest = 8 << 20   // bytes of a file of _schema
	maxTotal    = 128 << 20 // bytes of all files
	maxValues   = 8 << 20   // values in all files
)

// manifestFolder holds what a scan writes.
const manifestFolder = "_schema"

// Folder is what the files of a connection say, each by itself: their YAML is read,
// their keys are checked, and their expressions are parsed. Models are made of it. It is
// immutable, and safe for concurrent use.
type Folder struct {
	documents []*document // those of the manifest first, each by name
	unread    []Problem   // files that were not looked at, and folders
	hash      string
}

// Hash is equal for equal names and contents of files.
func (f *Folder) Hash() string { return f.hash }

// Read reads the files of a connection, by their names in its folder with slashes. A
// content that is nil is that of a file that cannot be read. Nobody may change the
// contents later. What before says of files that are still the same is
// taken over; before may be nil.
func Read(contents map[string][]byte, before *Folder) *Folder {
	r := &folderReader{out: &Folder{}, before: map[string]*document{}}
	if before != nil {
		for _, d := range before.documents {
			r.before[d.name] = d
		}
	}
	var names [2][]string // of the manifest, and of people
	for name := range contents {
		switch dir, base := path.Split(name); {
		case !isFile(base):
		case dir == manifestFolder+"/":
			names[0] = append(names[0], name)
		case dir == "":
			names[1] = append(names[1], name)
		}
	}
	for i, list := range names {
		slices.Sort(list)
		for _, name := range r.first(list) {
			why := ""
			if contents[name] == nil {
				why = "the file cannot be read"
			}
			r.add(name, i == 0, contents[name], why)
		}
	}
	return r.read()
}

// readFolder reads the files of a folder.
func readFolder(fsys fs.FS) *Folder {
	r := &folderReader{out: &Folder{}}
	for _, dir := range []string{manifestFolder, "."} {
		list, err := fs.ReadDir(fsys, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.leaveOut("", dir, "the folder cannot be read: "+reason(err))
		}
		var names []string
		for _, e := range list {
			if isFile(e.Name()) {
				names = append(names, path.Join(dir, e.Name()))
			}
		}
		for _, name := range r.first(names) {
			manifest := dir == manifestFolder
			text, why := content(fsys, name, limitOf(manifest))
			r.add(name, manifest, text, why)
		}
	}
	return r.read()
}

// isFile reports whether a name is one of a file of sources.
func isFile(base string) bool {
	ext := path.Ext(base)
	return (ext == ".yaml" || ext == ".yml") && !strings.HasPrefix(base, ".")
}

func limitOf(manifest bool) int {
	if manifest {
		return maxManifest
	}
	return maxAuthored
}

// content reads one file; why is empty if that is possible.
func content(fsys fs.FS, name string, limit int) (text []byte, why string) {
	info, err := fs.Stat(fsys, name) // follows links, and a pipe would block
	switch {
	case err != nil:
		return nil, "the file cannot be read: " + reason(err)
	case !info.Mode().IsRegular():
		return nil, "it is not a regular file"
	case info.Size() > int64(limit):
		return nil, tooLarge(limit)
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, "the file cannot be read: " + reason(err)
	}
	defer func() { _ = f.Close() }()
	text, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, "the file cannot be read: " + reason(err)
	}
	return text, ""
}

func tooLarge(limit int) string { return fmt.Sprintf("the file is larger than %d bytes", limit) }

// reason writes an error of a file system without the path, which the problem has.
func reason(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

func stem(name string) string {
	base := path.Base(name)
	return strings.TrimSuffix(base, path.Ext(base))
}

// folderReader makes a [Folder].
type folderReader struct {
	out    *Folder
	before map[string]*document
	total  int // bytes of the files so far

	expressions atomic.Int64 // bytes of the expressions that were parsed
}

// leaveOut notes a file or a folder that is not read.
func (r *folderReader) leaveOut(source, name, why string) {
	r.out.unread = append(r.out.unread, Problem{Source: source, File: name, Message: why})
}

// first returns as many files of a folder as are read.
func (r *folderReader) first(names []string) []string {
	if len(names) > maxFiles {
		name := names[maxFiles]
		r.leaveOut(stem(name), name, fmt.Sprintf("the folder has more than %d files; this one and those after it are not read", maxFiles))
		names = names[:maxFiles]
	}
	return names
}

// add adds a file, with the reason why it cannot be read, if there is one.
func (r *folderReader) add(name string, manifest bool, text []byte, why string) {
	limit := limitOf(manifest)
	switch {
	case why != "":
	case len(text) > limit:
		why = tooLarge(limit)
	default:
		if r.total += len(text); r.total > maxTotal {
			why = fmt.Sprintf("the files of the connection are larger than %d bytes together", maxTotal)
		}
	}
	if b := r.before[name]; b != nil && why == "" && !b.left && bytes.Equal(b.text, text) {
		r.out.documents = append(r.out.documents, b)
		return
	}
	r.out.documents = append(r.out.documents, &document{name: name, manifest: manifest, text: text, why: why, left: why != ""})
}

// read parses the files that are new, side by side.
func (r *folderReader) read() *Folder {
	var list []*document
	for _, d := range r.out.documents {
		if !d.parsed {
			list = append(list, d)
		}
	}
	parse := func(d *document) {
		d.parse(&r.expressions)
		d.parsed = true
	}
	if workers := min(runtime.GOMAXPROCS(0), len(list)/4); workers < 2 {
		for _, d := range list {
			parse(d)
		}
	} else {
		var next atomic.Int64
		var group sync.WaitGroup
		for range workers {
			group.Go(func() {
				for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
					parse(list[i])
				}
			})
		}
		group.Wait()
	}
	values := 0
	h := sha256.New()
	for i, d := range r.out.documents {
		if values += d.values; values > maxValues && d.why == "" {
			left := *d // d may be a part of another folder
			left.why, left.line, left.left = fmt.Sprintf("the files of the connection have more than %d values together", maxValues), 0, true
			r.out.documents[i] = &left
		}
		var size [16]byte
		binary.BigEndian.PutUint64(size[:8], uint64(len(d.name)))
		binary.BigEndian.PutUint64(size[8:], uint64(len(d.text)))
		_, _ = h.Write(size[:])
		_, _ = h.Write([]byte(d.name))
		_, _ = h.Write(d.text)
	}
	r.out.hash = hex.EncodeToString(h.Sum(nil))
	return r.out
}

// document is one file. Nothing of it changes once it is parsed.
type document struct {
	name     string
	manifest bool
	text     []byte
	why      string // it cannot be read
	left     bool   // why is about other files too, or about the file system
	line     int
	v        *value // nil if the file is empty
	reader   *reader
	values   int
	parsed   bool
}

// parse reads the YAML of the file, checks its keys, and parses its expressions.
func (d *document) parse(expressions *atomic.Int64) {
	if d.why != "" {
		return
	}
	root, line, err := parse(d.text)
	if err != nil {
		d.why, d.line = err.Error(), line
		return
	}
	if root == nil {
		return
	}
	d.values = countNodes(root)
	d.reader = &reader{file: d.name, bad: map[*value]bool{}, expressions: expressions}
	object := manifestObject
	if !d.manifest {
		object = sourceObject
		d.reader.source = cmp.Or(scalarAt(root, "name"), stem(d.name))
	}
	d.v = d.reader.object(root, object, nil, "", 0, root.Line)
	d.reader.room, d.reader.expressions = nil, nil
}

func scalarAt(n *yaml.Node, key string) string {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if v := n.Content[i+1]; n.Content[i].Value == key && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
			return strings.TrimSpace(v.Value)
		}
	}
	return ""
}

// parsedExpression is what became of the text of an expression.
type parsedExpression struct {
	tree    *expr.Expr
	refused *expr.Error
}

// expression parses the text of a value ahead of [loader.parse], while other files are
// read. Beyond the limit for a connection it leaves that to the loader, which refuses it.
func (r *reader) expression(v *value) {
	if r.expressions.Add(int64(len(v.text))) > maxExpressions {
		return
	}
	tree, refused := expr.Parse(v.text)
	v.parsed = &parsedExpression{tree, refused}
}

// expression returns the tree of the value's text.
func (v *value) expression() (*expr.Expr, *expr.Error) {
	if v.parsed != nil {
		return v.parsed.tree, v.parsed.refused
	}
	return expr.Parse(v.text)
}
