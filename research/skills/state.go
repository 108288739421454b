package skills

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// State keeps what is known of skills besides their files. Both implementations give
// equal answers to equal calls. It must be safe for concurrent use.
type State interface {
	// Counts returns the uses and ratings of skills, by name. Skills without any are not
	// in it. If names is nil, all skills are asked for.
	Counts(ctx context.Context, names []string) (map[string]Counts, error)
	// Use counts one use of a skill.
	Use(ctx context.Context, name string) error
	// Rate keeps a rating. It replaces that of the same rater.
	Rate(ctx context.Context, r Rating) error
	// Ratings returns the ratings of a skill, the newest first, at most limit.
	Ratings(ctx context.Context, name string, limit int) ([]Rating, error)

	// Publish says which texts are published now. Nearest finds no others.
	Publish(ctx context.Context, model Model, texts []string) error
	// Missing returns those of the texts that have no vector of the model, in their
	// order.
	Missing(ctx context.Context, model Model, texts []string) ([]string, error)
	// Put keeps vectors of the model.
	Put(ctx context.Context, model Model, vectors []Vector) error
	// Vectors returns how many published texts have a vector of the model.
	Vectors(ctx context.Context, model Model) (int, error)
	// Vector returns the vector of a text, or nil.
	Vector(ctx context.Context, model Model, text string) ([]float32, error)
	// Nearest returns the published texts whose vectors are nearest, with equal
	// similarities by text, at most limit.
	Nearest(ctx context.Context, model Model, vector []float32, limit int) ([]Near, error)

	Close() error
}

// Model names what made a vector. Vectors of two models are never compared.
type Model struct {
	Name       string
	Dimensions int
}

// String is the model as people read it.
func (m Model) String() string { return fmt.Sprintf("%s (%d dimensions)", m.Name, m.Dimensions) }

// A Vector is what a model made of a text.
type Vector struct {
	Text   string // the hash of the text
	Values []float32
}

// Near is a text that is like another.
type Near struct {
	Text       string
	Similarity float64 // the cosine, with six decimals
}

// Similarity returns the cosine of two vectors of equal length with six decimals. It is 0
// if one of them has no direction.
func Similarity(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += float64(x * y)
		aa += float64(x * x)
		bb += float64(y * y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return math.Round(dot/math.Sqrt(aa*bb)*1e6) / 1e6
}

// Counts are the uses and the ratings of a skill.
type Counts struct {
	Uses  int
	Stars [5]int // how many ratings have 1 to 5 stars
}

// Ratings is how many ratings there are.
func (c Counts) Ratings() int {
	n := 0
	for _, k := range c.Stars {
		n += k
	}
	return n
}

// Average is the mean of the ratings times 100, or 0 without ratings.
func (c Counts) Average() int {
	n, sum := 0, 0
	for i, k := range c.Stars {
		n += k
		sum += (i + 1) * k
	}
	if n == 0 {
		return 0
	}
	return (200*sum + n) / (2 * n) // rounded
}

// ShowAverage writes an average as people read it: 450 is 4.5.
func ShowAverage(average int) string {
	text := strconv.Itoa(average/100) + "." + fmt.Sprintf("%02d", average%100)
	return strings.TrimSuffix(text, "0")
}

// Tier is the quality of a skill, by its ratings and uses.
type Tier string

// The tiers.
const (
	TierGold   Tier = "gold"   // an average of at least 4.0, and at least 10 uses
	TierSilver Tier = "silver" // 3.0 and 5 uses
	TierBronze Tier = "bronze" // 2.0 and a rating
	TierNone   Tier = ""
)

// Tier returns the quality tier.
func (c Counts) Tier() Tier {
	average := c.Average()
	switch {
	case average >= 400 && c.Uses >= 10:
		return TierGold
	case average >= 300 && c.Uses >= 5:
		return TierSilver
	case average >= 200:
		return TierBronze
	}
	return TierNone
}

// A Rating is what one person thinks of a skill.
type Rating struct {
	Skill   string
	Rater   string
	Stars   int // 1 to 5
	Comment string
	Time    time.Time // with seconds
}

// The limits of a rating.
const (
	MaxRater   = 200  // bytes
	MaxComment = 1000 // bytes
)

// Validate reports what is wrong with a rating.
func (r Rating) Validate() error {
	switch {
	case r.Stars < 1 || r.Stars > 5:
		return fmt.Errorf("%d stars: a rating has 1 to 5", r.Stars)
	case !ValidName(r.Skill):
		return fmt.Errorf("%s is no name of a skill", quoted(r.Skill))
	case r.Rater == "" || len(r.Rater) > MaxRater:
		return fmt.Errorf("the name of the rater has %d bytes; expected 1 to %d", len(r.Rater), MaxRater)
	case len(r.Comment) > MaxComment:
		return fmt.Errorf("the comment has %d bytes; at most %d are kept", len(r.Comment), MaxComment)
	}
	if c, _ := Hidden(r.Comment); c != 0 {
		return fmt.Errorf("the comment has the control character %U", c)
	}
	return nil
}

// Validate reports what is wrong with a vector of a model.
func (v Vector) Validate(m Model) error {
	if v.Text == "" || m.Name == "" || m.Dimensions < 1 || m.Dimensions > MaxDimensions {
		return fmt.Errorf("%s: a vector has a text and a model with 1 to %d dimensions", m, MaxDimensions)
	}
	if len(v.Values) != m.Dimensions {
		return fmt.Errorf("the vector has %d dimensions, and those of %s have %d", len(v.Values), m.Name, m.Dimensions)
	}
	any := false
	for _, x := range v.Values {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("a vector of %s has a value that is no number", m.Name)
		}
		any = any || x != 0
	}
	if !any {
		return fmt.Errorf("a vector of %s has zeros only", m.Name)
	}
	return nil
}

// MaxDimensions is how many dimensions a vector may have. PostgreSQL indexes no more.
const MaxDimensions = 2000
