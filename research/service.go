package research

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/ktxhq/ktx/execution"
	"github.com/ktxhq/ktx/research/catalog"
	"github.com/ktxhq/ktx/research/dictionary"
	"github.com/ktxhq/ktx/research/memory"
	"github.com/ktxhq/ktx/research/rank"
	"github.com/ktxhq/ktx/research/semantic"
	"github.com/ktxhq/ktx/research/skills"
	"github.com/ktxhq/ktx/research/upstream"
	"github.com/ktxhq/ktx/research/usage"
	"github.com/ktxhq/ktx/research/wiki"
)

// Service holds what the tools need. It is safe for concurrent use.
type Service struct {
	gateway *execution.Gateway
	logger  *slog.Logger
	stores  atomic.Pointer[Stores]
	warned  sync.Map // by connection, the identity of the snapshot whose warnings are logged
	indexes indexes
	named   atomic.Pointer[mentionIndex]
	used    usedSlots

	draining atomic.Bool // the server is about to stop
}

// Stores are what the tools read and write besides databases. A tool whose store
// is nil is not listed. The wiring of ktx sets all of them.
type Stores struct {
	Catalog    *catalog.Store    // the tables that scans found
	Dictionary *dictionary.Store // the values of columns
	Wiki       *wiki.Store       // the pages
	Memory     *memory.Store     // what agents hand in
	Semantic   *semantic.Store   // the models
	// Analyzer reads texts and questions for discover_data. The wiki has the same.
	Analyzer *rank.Analyzer
	// Usage has the counts of ktx usage build. It is nil unless search.usage is true.
	Usage *usage.Store
	// Skills are the skills. It is nil unless ktx.yaml has the key skills.
	Skills *skills.Store
	// Upstream are other MCP servers. It is nil unless ktx.yaml has the block upstreams.
	Upstream *upstream.Manager
}

// New returns a service that runs statements through gateway. The logger gets
// panics of tools.
func New(gateway *execution.Gateway, logger *slog.Logger, stores Stores) *Service {
	s := &Service{gateway: gateway, logger: logger}
	s.SetStores(stores)
	return s
}

// SetStores replaces the stores. Calls that run keep those that they began with.
// A server lists the tools of the stores that it was made with, so a store that is
// set must stay set.
func (s *Service) SetStores(stores Stores) { s.stores.Store(&stores) }

// A tool that needs a store has one of these conditions in the registry.

func hasCatalog(s *Service) bool { return s.stores.Load().Catalog != nil }

func hasDictionary(s *Service) bool { return hasCatalog(s) && s.stores.Load().Dictionary != nil }

func hasWiki(s *Service) bool { return s.stores.Load().Wiki != nil }

func hasMemory(s *Service) bool { return s.stores.Load().Memory != nil }

func hasSkills(s *Service) bool { return s.stores.Load().Skills != nil }
