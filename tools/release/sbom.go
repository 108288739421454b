package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"
)

// The types below are the part of CycloneDX 1.6 that the bill of materials uses.
type (
	bom struct {
		Schema       string          `json:"$schema"`
		Format       string          `json:"bomFormat"`
		SpecVersion  string          `json:"specVersion"`
		SerialNumber string          `json:"serialNumber"`
		Version      int             `json:"version"`
		Metadata     bomMetadata     `json:"metadata"`
		Components   []bomComponent  `json:"components"`
		Dependencies []bomDependency `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp string       `json:"timestamp"`
		Component bomComponent `json:"component"`
	}
	bomComponent struct {
		Type     string       `json:"type"`
		Ref      string       `json:"bom-ref"`
		Name     string       `json:"name"`
		Version  string       `json:"version,omitempty"`
		Hashes   []bomHash    `json:"hashes,omitempty"`
		Licences []bomLicence `json:"licenses,omitempty"`
		PURL     string       `json:"purl,omitempty"`
	}
	bomHash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	bomLicence struct {
		Licence struct {
			ID   string `json:"id,omitempty"`   // of SPDX
			Name string `json:"name,omitempty"` // of a licence that has none
		} `json:"license"`
	}
	bomDependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// materials writes the bill of materials: the programs with their checksums, every
// module that is linked into one of them, and the tables.
func (r *release) materials(context.Context) error {
	ours := "pkg:golang/github.com/ktxhq/ktx@v" + r.version.name
	out := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		SerialNumber: "urn:uuid:" + uuid(ours+"#"+r.version.commit),
		Metadata: bomMetadata{
			Timestamp: r.version.time.Format(time.RFC3339),
			Component: bomComponent{Type: "application", Ref: ours, Name: "ktx", Version: r.version.name, PURL: ours, Licences: bomLicences("Apache-2.0")},
		},
	}
	all := bomDependency{Ref: ours}
	for _, t := range r.targets {
		program, err := os.ReadFile(r.programs[t])
		if err != nil {
			return err
		}
		sum := sha256.Sum256(program)
		out.Components = append(out.Components, bomComponent{
			Type: "file", Ref: "program:" + t.String(), Name: fmt.Sprintf("%s (%s)", t.program(), t),
			Hashes: []bomHash{{"SHA-256", hex.EncodeToString(sum[:])}},
		})
	}
	for _, m := range r.modules {
		purl := "pkg:golang/" + strings.ToLower(m.path) + "@" + m.version
		if m.path == standardLibrary {
			purl = "pkg:golang/stdlib@" + strings.TrimPrefix(m.version, "go")
		}
		out.Components = append(out.Components, bomComponent{Type: "library", Ref: purl, Name: m.path, Version: m.version, PURL: purl, Licences: bomLicences(m.licences...)})
		all.DependsOn = append(all.DependsOn, purl)
	}
	for _, table := range []struct{ name, version string }{{wordnetName, wordnetVersion}, {gloveName, gloveVersion}} {
		var licence bomLicence
		licence.Licence.Name = table.name + " " + table.version + " license"
		ref := "data:" + table.name
		out.Components = append(out.Components, bomComponent{Type: "data", Ref: ref, Name: table.name, Version: table.version, Licences: []bomLicence{licence}})
		all.DependsOn = append(all.DependsOn, ref)
	}
	out.Dependencies = []bomDependency{all}
	text, err := marshal(out)
	if err != nil {
		return err
	}
	return r.write(r.materialsName(), text)
}

func (r *release) materialsName() string { return fmt.Sprintf("ktx_%s.cdx.json", r.version) }

func bomLicences(ids ...string) []bomLicence {
	var out []bomLicence
	for _, id := range ids { // all are SPDX identifiers
		var l bomLicence
		l.Licence.ID = id
		out = append(out, l)
	}
	return out
}

// uuid returns the UUID of a name, in the form of version 8 (RFC 9562, section 5.8).
func uuid(name string) string {
	sum := sha256.Sum256([]byte(name))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	h := hex.EncodeToString(sum[:16])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
