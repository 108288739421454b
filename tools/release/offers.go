package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
)

// offers writes the files that other package managers and the MCP registry read: a
// formula for Homebrew, a manifest for Scoop, an expression for nix, and server.json.
// The first three name the archives of the release by address and SHA-256, so they are
// written after the archives, and only by a run that made all of them.
func (r *release) offers(context.Context) error {
	server, err := fill("packaging/registry/server.json.tmpl", map[string]string{
		"Version": r.version.name, "Summary": summary, "Homepage": homepage, "NPM": npmName, "Registry": registryName, "Schema": registrySchema,
	})
	if err != nil {
		return err
	}
	if err := r.write("server.json", server); err != nil || len(r.targets) < len(targets) {
		return err
	}
	type archive struct{ Name, URL, Hex, SRI string }
	archives := make(map[string]archive)
	for _, t := range r.targets {
		name := r.archiveName(t)
		sum, err := r.sum(name)
		if err != nil {
			return err
		}
		raw, err := hex.DecodeString(sum)
		if err != nil || len(raw) != sha256.Size {
			return fmt.Errorf("%s: no SHA-256: %q", name, sum)
		}
		archives[t.os+"_"+t.arch] = archive{name, fmt.Sprintf("%s/releases/download/v%s/%s", homepage, r.version, name), sum, "sha256-" + base64.StdEncoding.EncodeToString(raw)}
	}
	values := map[string]any{"Version": r.version.name, "Summary": summary, "Homepage": homepage, "Archives": archives}
	for from, to := range map[string]string{
		"packaging/homebrew/ktx.rb.tmpl": "ktx.rb",
		"packaging/scoop/ktx.json.tmpl":  "ktx.json",
		"packaging/nix/ktx.nix.tmpl":     "ktx.nix",
	} {
		text, err := fill(from, values)
		if err != nil {
			return err
		}
		if err := r.write(to, text); err != nil {
			return err
		}
	}
	return nil
}

// registrySchema is the schema of server.json.
const registrySchema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
