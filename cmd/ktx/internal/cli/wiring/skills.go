package wiring

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/cmd/ktx/internal/setup"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/skills/litestore"
	"github.com/ktxhq/ktx/research/skills/ollama"
	"github.com/ktxhq/ktx/research/skills/pgstore"
)

// skillStores has the stores of skills that a process has made. A store stays open until
// the process ends, because calls may still use it after ktx.yaml is reloaded.
type skillStores struct {
	key    string // of the settings of store
	store  *skills.Store
	states []skills.State
}

// skillState is where the embedded store keeps its file.
func skillState(dir string) string { return filepath.Join(dir, ".ktx", "skills", "state.db") }

// of returns the store of a project: nil if it has never had the key skills. If the key
// was removed since the process started, the store has no skills, because the tools stay
// listed.
func (s *skillStores) of(a *console.App, root *os.Root, p *project.Project, analyzer *rank.Analyzer) (*skills.Store, error) {
	config := p.Config.Skills
	if config == nil {
		if s.key != "" {
			s.key = ""
			s.store = skills.NewStore(skills.Options{
				Catalog: skills.NewCatalog(skills.CatalogOptions{Analyzer: analyzer, Now: time.Now}), State: s.keep(litestore.New(skillState(p.Dir))),
			})
		}
		return s.store, nil
	}
	address := ""
	if config.Store.URL.Set() {
		var err error
		if address, err = config.Store.URL.Resolve(p.Environment(a.Lookup)); err != nil {
			return nil, console.AsUsage(fmt.Errorf("skills.store.url: %w", err))
		}
	}
	key := keyOf(p, address, analyzer)
	if s.store != nil && s.key == key {
		return s.store, nil
	}
	sources, err := skillSources(root, p)
	if err != nil {
		return nil, err
	}
	state := skills.State(litestore.New(skillState(p.Dir)))
	if address != "" {
		if state, err = pgstore.New(address, config.Store.TenantName()); err != nil {
			return nil, console.AsUsage(fmt.Errorf("skills.store.url: %w", err))
		}
	}
	var embedder skills.Embedder
	if e := p.Config.Embeddings.WithDefaults(); e.Provider == "ollama" {
		embedder = ollama.New(ollama.Options{URL: e.URL, Model: e.Model, Dimensions: e.Dimensions})
	}
	s.key, s.store = key, skills.NewStore(skills.Options{
		Catalog: skills.NewCatalog(skills.CatalogOptions{
			Sources: sources, Builtins: []skills.Builtin{{Name: setup.SkillName, Text: setup.SkillText()}},
			Analyzer: analyzer, Now: time.Now, Cache: root,
		}),
		State: s.keep(state), Embedder: embedder, Categories: config.Categories,
	})
	return s.store, nil
}

// reloadSkills applies another ktx.yaml to the skills. Clients read the list of tools once,
// so the tools of skills neither come nor go before the next start.
func (o *OpenProject) reloadSkills(a *console.App, p *project.Project) {
	switch {
	case o.stores.Skills == nil && p.Config.Skills != nil:
		a.Errorf("ktx: the block skills is new, which takes effect at the next start\n")
		return
	case o.skills.key != "" && p.Config.Skills == nil:
		a.Errorf("ktx: the block skills is gone: its tools find no skills from now on, and stay listed until the next start\n")
	}
	store, err := o.skills.of(a, o.root, p, o.stores.Analyzer)
	if err != nil {
		a.Errorf("ktx: %s; the present skills stay in force\n", console.EscapeControls(err.Error()))
		return
	}
	o.stores.Skills = store
}

func (s *skillStores) keep(state skills.State) skills.State {
	s.states = append(s.states, state)
	return state
}

// close closes what the stores opened.
func (s *skillStores) close() error {
	var all []error
	for _, state := range s.states {
		all = append(all, state.Close())
	}
	return errors.Join(all...)
}

// keyOf names the settings of a store.
func keyOf(p *project.Project, address string, analyzer *rank.Analyzer) string {
	text, err := json.Marshal([]any{p.Config.Skills, p.Config.Embeddings, address, analyzer.ID()})
	if err != nil { // no field of them fails
		text = []byte(err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// skillSources returns the folders of skills, in the order in which they count.
func skillSources(root *os.Root, p *project.Project) ([]skills.Source, error) {
	list := []skills.Source{{Name: "skills", Root: root, Folder: "skills", Optional: true}}
	for _, folder := range p.Config.Skills.Folders {
		path, err := project.SkillFolder(p.Dir, folder)
		if err != nil {
			return nil, console.Failed("find the folder %s of skills: %w", folder, err)
		}
		list = append(list, skills.Source{Name: filepath.ToSlash(filepath.Clean(folder)), Folder: path})
	}
	if p.Config.Skills.User {
		path, err := project.UserSkills()
		if err != nil {
			return nil, console.Failed("find the skills of the user: %w", err)
		}
		list = append(list, skills.Source{Name: "~/.agents/skills", Folder: path, Optional: true})
	}
	return list, nil
}

// Skills returns the skills of the project, or an error of usage if it has none
// configured.
func (o *OpenProject) Skills() (*skills.Store, error) {
	if o.stores.Skills == nil {
		return nil, console.Usage("%s does not turn skills on; add the line: skills: {}", o.Project.File)
	}
	return o.stores.Skills, nil
}

// Root is the folder of the project.
func (o *OpenProject) Root() *os.Root { return o.root }

// WithSkills calls f with the published skills of the project, without its gateway and
// its audit log. It is for completions.
func WithSkills(a *console.App, f func([]*skills.Skill) error) (err error) {
	dir, err := FindProject(a)
	if err != nil {
		return err
	}
	p, err := ReadProject(dir)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return console.Failed("open the project: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	stores := &skillStores{}
	store, err := stores.of(a, root, p, rank.NewAnalyzer(p.Config.Search.Abbreviations))
	if err != nil || store == nil {
		return err
	}
	defer func() { err = errors.Join(err, stores.close()) }()
	snapshot, err := store.Catalog().Snapshot()
	if err != nil {
		return err
	}
	return f(snapshot.Skills())
}
