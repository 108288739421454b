package wiring

import (
	"fmt"
	"os"
	"time"

	"github.com/ktxhq/ktx/cmd/ktx/internal/cli/console"
	"github.com/ktxhq/ktx/cmd/ktx/internal/project"
	"github.com/ktxhq/ktx/research"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
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
	return s
}

// Configure makes the tools use the settings of p, which is the same project with
// another ktx.yaml. The connections are those of the gateway.
func (o *OpenProject) Configure(p *project.Project) {
	o.stores = storesOf(o.root, p, o.stores)
	o.Service.SetStores(o.stores)
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
	o.Service = research.New(o.Gateway, a.Logger(), o.stores)
	return func() error {
		if err := root.Close(); err != nil {
			return fmt.Errorf("close the project: %w", err)
		}
		return nil
	}, nil
}
