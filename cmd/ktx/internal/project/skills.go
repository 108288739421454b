package project

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Skills says where skills come from, and where their state is kept.
type Skills struct {
	Folders    []string          `yaml:"folders" doc:"Folders besides skills, each with one folder for each skill; relative to the project, ~/ is the home folder."`
	User       bool              `yaml:"user" doc:"Also serve the skills of the user who runs ktx, in ~/.agents/skills; default false."`
	Categories map[string]string `yaml:"categories" doc:"Texts that agents get with each skill of a category, by category."`
	Store      SkillStore        `yaml:"store" doc:"A PostgreSQL database with pgvector for uses, ratings and vectors of a team, instead of .ktx/skills/state.db."`
}

// SkillStore is the database of a team's uses, ratings and vectors.
type SkillStore struct {
	URL    Secret `yaml:"url" doc:"The address: env:NAME, file:/path, or the URL itself."`
	Tenant string `yaml:"tenant" doc:"Whose skills these are, for a database that several catalogues share; default default."`
}

// Embeddings says how texts get vectors.
type Embeddings struct {
	Provider   string `yaml:"provider" doc:"Who makes vectors; default none." enum:"none,ollama"`
	URL        string `yaml:"url" doc:"Address of the server; default http://localhost:11434."`
	Model      string `yaml:"model" doc:"Model; default nomic-embed-text."`
	Dimensions int    `yaml:"dimensions" doc:"Dimensions of its vectors; default 768." min:"1" max:"2000"`
}

// The defaults of the embeddings.
const (
	DefaultEmbeddingURL        = "http://localhost:11434"
	DefaultEmbeddingModel      = "nomic-embed-text"
	DefaultEmbeddingDimensions = 768
)

// WithDefaults returns the settings with the defaults for those that are not set.
func (e Embeddings) WithDefaults() Embeddings {
	e.Provider = cmp.Or(e.Provider, "none")
	e.URL = strings.TrimRight(cmp.Or(e.URL, DefaultEmbeddingURL), "/")
	e.Model = cmp.Or(e.Model, DefaultEmbeddingModel)
	e.Dimensions = cmp.Or(e.Dimensions, DefaultEmbeddingDimensions)
	return e
}

// TenantName is the tenant, or the default.
func (s SkillStore) TenantName() string { return cmp.Or(s.Tenant, "default") }

// UserSkills is the folder of the user's skills.
func UserSkills() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".agents", "skills"), nil
}

// SkillFolder returns the path of a folder of skills as ktx.yaml has it.
func SkillFolder(projectDir, folder string) (string, error) {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder), nil
	}
	return filepath.Join(projectDir, folder), nil
}

// postgresDimensions are those of the column in the database of a team.
const postgresDimensions = 768

// skills checks the blocks skills and embeddings.
func (c checker) skills(config *Config) {
	e := config.Embeddings.WithDefaults()
	if u, err := url.Parse(e.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		c.fault([]string{"embeddings", "url"}, "it is no http:// or https:// address")
	} else if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		c.fault([]string{"embeddings", "url"}, "it may not have a user, a query or a fragment")
	}
	s := config.Skills
	if s == nil {
		return
	}
	for i, folder := range s.Folders {
		at := []string{"skills", "folders", index(i)}
		switch clean := filepath.Clean(folder); {
		case strings.TrimSpace(folder) == "":
			c.fault(at, "the folder is empty")
		case clean == "skills":
			c.fault(at, "the folder skills of the project is read anyway")
		case slices.ContainsFunc(s.Folders[:i], func(other string) bool { return filepath.Clean(other) == clean }):
			c.fault(at, "the folder is given twice")
		}
	}
	for category := range s.Categories {
		if strings.TrimSpace(category) == "" {
			c.fault([]string{"skills", "categories"}, "the name of a category is empty")
		}
	}
	if s.Store.Tenant != "" && !s.Store.URL.Set() {
		c.fault([]string{"skills", "store", "tenant"}, "it needs url")
	}
	if len(s.Store.Tenant) > 200 {
		c.fault([]string{"skills", "store", "tenant"}, "it has more than 200 bytes")
	}
	if s.Store.URL.Set() && e.Provider != "none" && e.Dimensions != postgresDimensions {
		c.fault([]string{"embeddings", "dimensions"}, "the database of skills.store keeps vectors with %d dimensions", postgresDimensions)
	}
}
