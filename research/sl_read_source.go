package research

import (
	"context"

	"github.com/ktxhq/ktx/research/semantic/expr"
	"github.com/ktxhq/ktx/research/semantic/model"
	"github.com/ktxhq/ktx/research/semantic/plan"
)

// SLReadSourceInput is the input of sl_read_source.
type SLReadSourceInput struct {
	ConnectionID string `json:"connectionId"`
	SourceName   string `json:"sourceName"`
}

// SLSource is the answer of sl_read_source.
type SLSource struct {
	SourceName string          `json:"sourceName"`
	YAML       string          `json:"yaml"` // the file itself, or the resolved source if a scan wrote it
	Valid      bool            `json:"valid"`
	Problems   []model.Problem `json:"problems,omitempty"`
	Measures   []SLMeasureInfo `json:"measures,omitempty"`
}

// SLMeasureInfo names the dimensions that a measure can be asked by.
type SLMeasureInfo struct {
	Name       string   `json:"name"`
	Dimensions []string `json:"dimensions"`
	Omitted    int      `json:"omitted,omitempty"` // further dimensions
}

// maxSourceDimensions is how many dimensions of one measure are listed.
const maxSourceDimensions = 100

// SLReadSource returns a source of the semantic layer.
func (s *Service) SLReadSource(ctx context.Context, in SLReadSourceInput) (SLSource, error) {
	info, err := s.gateway.Connection(ctx, in.ConnectionID)
	if err != nil {
		return SLSource{}, err
	}
	found, err := s.semanticLayer(ctx, info)
	if err != nil {
		return SLSource{}, err
	}
	m := found.Model()
	if len(m.Sources) == 0 {
		return SLSource{}, noModel(info)
	}
	at, ok := m.Source(in.SourceName)
	if !ok {
		return SLSource{}, unknownSource(m, in.SourceName)
	}
	source := m.Sources[at]
	text, err := found.Text(at)
	if err != nil {
		return SLSource{}, err
	}
	out := SLSource{SourceName: source.Name, YAML: text, Valid: !source.Invalid}
	for _, p := range m.Problems {
		if p.Source == source.Name {
			out.Problems = append(out.Problems, p)
		}
	}
	for i, measure := range source.Measures {
		dimensions, refused := plan.Dimensions(m, expr.Measure{Node: at, Index: i}) // a source is the node of its own number
		if refused != nil {
			continue // the source has a problem that says why
		}
		item := SLMeasureInfo{Name: measure.Name, Dimensions: dimensions[:min(len(dimensions), maxSourceDimensions)]}
		item.Omitted = len(dimensions) - len(item.Dimensions)
		if item.Dimensions == nil {
			item.Dimensions = []string{}
		}
		out.Measures = append(out.Measures, item)
	}
	return out, nil
}
