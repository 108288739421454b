package wiring

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/usage"
	"github.com/ktxhq/ktx/research/wiki"
)

// storesOf returns the stores of a project whose folder is root. It keeps what it
// can of the stores before, which hold indexes in memory. It opens no file.
func storesOf(root *os.Root, p *project.Project, before research.Stores) research.Stores {
	s := before
	if s.Catalog == nil {
		s.Catalog = catalog.NewStore(root, time.Now)
	}
	if s.Dictionary == nil {
		s.Dictionary = dictionary.NewStore(root)
	}
	if s.Semantic == nil {
		s.Semantic = semantic.NewStore(root, time.Now)
	}
	switch {
	case !p.Config.Search.Usage:
		s.Usage = nil
	case s.Usage == nil:
		s.Usage = usage.NewStore(root, time.Now)
	}
	analyzer := rank.NewAnalyzer(p.Config.Search.Abbreviations)
	again := s.Analyzer == nil || s.Analyzer.ID() != analyzer.ID()
	if again {
		s.Analyzer = analyzer
	}
	if again || s.Wiki.Owner() != p.Config.WikiUser() {
		s.Wiki = wiki.New(root, wiki.Options{User: p.Config.WikiUser(), Analyzer: s.Analyzer, Now: time.Now})
		s.Memory = memory.New(root, memory.Options{
			Wiki: s.Wiki, Committer: gitCommitter{dir: p.Dir, author: "ktx"}, Now: time.Now,
			Random: func() string { return rand.Text()[:12] },
		})
	}
	return s
}

// Configure makes the tools use the settings of p, which is the same project with
// another ktx.yaml. The connections are those of the gateway.
func (o *OpenProject) Configure(a *console.App, p *project.Project) {
	o.stores = storesOf(o.root, p, o.stores)
	o.reloadSkills(a, p)
	o.Service.SetStores(o.stores)
	o.reloadUpstreams(a, p)
}

// openService adds the service of the tools to an open project. The function that
// it returns closes the project's folder.
func (o *OpenProject) openService(a *console.App) (closing func() error, err error) {
	root, err := os.OpenRoot(o.Project.Dir)
	if err != nil {
		return nil, console.Failed("open the project: %w", err)
	}
	o.root = root
	o.stores = storesOf(root, o.Project, research.Stores{})
	if o.stores.Skills, err = o.skills.of(a, root, o.Project, o.stores.Analyzer); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	o.Service = research.New(o.Gateway, a.Logger(), o.stores)
	return func() error {
		if o.Upstream != nil {
			o.Upstream.Close()
		}
		if err := errors.Join(o.skills.close(), root.Close()); err != nil {
			return fmt.Errorf("close the project: %w", err)
		}
		return nil
	}, nil
}

// Wiki returns the pages of the project.
func (o *OpenProject) Wiki() *wiki.Store { return o.stores.Wiki }

// WithPages calls f with the pages of the project, without its gateway and its audit
// log. It is for completions.
func WithPages(a *console.App, f func(*wiki.Store) error) (err error) {
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
	return f(wiki.New(root, wiki.Options{User: p.Config.WikiUser(), Analyzer: rank.NewAnalyzer(nil), Now: time.Now}))
}
