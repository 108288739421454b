package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The types below are the part of the OCI image format (opencontainers/image-spec
// v1.1) that the image uses.
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *platform         `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	imageIndex struct {
		SchemaVersion int               `json:"schemaVersion"`
		MediaType     string            `json:"mediaType"`
		Manifests     []descriptor      `json:"manifests"`
		Annotations   map[string]string `json:"annotations,omitempty"`
	}
	imageManifest struct {
		SchemaVersion int               `json:"schemaVersion"`
		MediaType     string            `json:"mediaType"`
		Config        descriptor        `json:"config"`
		Layers        []descriptor      `json:"layers"`
		Annotations   map[string]string `json:"annotations,omitempty"`
	}
	imageConfig struct {
		Created      string          `json:"created"`
		Architecture string          `json:"architecture"`
		OS           string          `json:"os"`
		Config       containerConfig `json:"config"`
		RootFS       struct {
			Type    string   `json:"type"`
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	containerConfig struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts"`
		Env          []string            `json:"Env"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		Volumes      map[string]struct{} `json:"Volumes"`
		WorkingDir   string              `json:"WorkingDir"`
		Labels       map[string]string   `json:"Labels"`
		StopSignal   string              `json:"StopSignal"`
		Healthcheck  healthcheck         `json:"Healthcheck"` // an extension that Docker reads
	}
	healthcheck struct {
		Test        []string      `json:"Test"`
		Interval    time.Duration `json:"Interval"`
		Timeout     time.Duration `json:"Timeout"`
		StartPeriod time.Duration `json:"StartPeriod"`
		Retries     int           `json:"Retries"`
	}
)

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// imageUser is the user that ktx runs as in a container.
const imageUser = 65532

// image writes the container image for all Linux targets as an OCI layout in a tar
// file: docker load, podman load and skopeo copy oci-archive: read it. It has what the
// Dockerfile makes, from the program of the release.
func (r *release) image(context.Context) error {
	blobs := make(map[string][]byte)
	add := func(mediaType string, data []byte) descriptor {
		sum := sha256.Sum256(data)
		digest := hex.EncodeToString(sum[:])
		blobs[digest] = data
		return descriptor{MediaType: mediaType, Digest: "sha256:" + digest, Size: len(data)}
	}
	labels := map[string]string{
		"org.opencontainers.image.title": "ktx", "org.opencontainers.image.description": summary, "org.opencontainers.image.url": homepage,
		"org.opencontainers.image.source": homepage, "org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.version": r.version.name,
		"org.opencontainers.image.revision": r.version.commit, "org.opencontainers.image.created": r.version.time.Format(time.RFC3339),
		"io.modelcontextprotocol.server.name": registryName,
	}
	all := imageIndex{SchemaVersion: 2, MediaType: indexType, Annotations: labels}
	for _, t := range r.targets {
		if t.os != "linux" {
			continue
		}
		manifest, err := r.imageOf(t, labels, add)
		if err != nil {
			return err
		}
		manifest.Platform = &platform{t.arch, t.os}
		all.Manifests = append(all.Manifests, manifest)
	}
	if len(all.Manifests) == 0 {
		return nil
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	index := add(indexType, text)
	index.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.version.name, "io.containerd.image.name": "ghcr.io/ktxhq/ktx:" + r.version.name}
	text, err = json.Marshal(imageIndex{SchemaVersion: 2, MediaType: indexType, Manifests: []descriptor{index}})
	if err != nil {
		return err
	}
	files := []file{{name: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {name: "index.json", data: text}, {name: "blobs", dir: true}, {name: "blobs/sha256", dir: true}}
	for digest, data := range blobs {
		files = append(files, file{name: "blobs/sha256/" + digest, data: data})
	}
	var out bytes.Buffer
	if err := writeTar(&out, files, "", r.version.time); err != nil {
		return err
	}
	return r.write(r.imageName(), out.Bytes())
}

func (r *release) imageName() string { return fmt.Sprintf("ktx_%s_image.tar", r.version) }

// imageOf adds the image for one target and returns its manifest.
func (r *release) imageOf(t target, labels map[string]string, add func(string, []byte) descriptor) (descriptor, error) {
	program, err := os.ReadFile(r.programs[t])
	if err != nil {
		return descriptor{}, err
	}
	files := []file{
		{name: "etc", dir: true},
		{name: "etc/ssl", dir: true},
		{name: "etc/ssl/certs", dir: true},
		{name: "etc/ssl/certs/ca-certificates.crt", data: roots()},
		{name: "project", dir: true, owner: imageUser},
		{name: "project/.ktx", dir: true, owner: imageUser},
		{name: "tmp", dir: true, owner: imageUser},
		{name: "usr", dir: true},
		{name: "usr/local", dir: true},
		{name: "usr/local/bin", dir: true},
		{name: "usr/local/bin/ktx", data: program, program: true},
		{name: "usr/share", dir: true},
		{name: "usr/share/doc", dir: true},
		{name: "usr/share/doc/ktx", dir: true},
		{name: "usr/share/doc/ktx/LICENSE", data: r.shared[0].data},
		{name: "usr/share/doc/ktx/" + noticesFile, data: r.notices},
	}
	var plain, packed bytes.Buffer
	if err := writeTar(&plain, files, "", r.version.time); err != nil {
		return descriptor{}, err
	}
	zw := gzip.NewWriter(&packed)
	if _, err := zw.Write(plain.Bytes()); err != nil {
		return descriptor{}, err
	}
	if err := zw.Close(); err != nil {
		return descriptor{}, err
	}
	layer := add(layerType, packed.Bytes())

	config := imageConfig{Created: r.version.time.Format(time.RFC3339), Architecture: t.arch, OS: t.os, Config: containerConfig{
		User: fmt.Sprintf("%d:%d", imageUser, imageUser), ExposedPorts: map[string]struct{}{"7878/tcp": {}}, Env: []string{"PATH=/usr/local/bin"},
		Entrypoint: []string{"/usr/local/bin/ktx"}, Cmd: []string{"mcp", "start", "--foreground", "--host", "0.0.0.0"},
		Volumes: map[string]struct{}{"/project/.ktx": {}}, WorkingDir: "/project", Labels: labels, StopSignal: "SIGTERM",
		Healthcheck: healthcheck{[]string{"CMD", "/usr/local/bin/ktx", "mcp", "status"}, 30 * time.Second, 5 * time.Second, 10 * time.Second, 3},
	}}
	sum := sha256.Sum256(plain.Bytes())
	config.RootFS.Type, config.RootFS.DiffIDs = "layers", []string{"sha256:" + hex.EncodeToString(sum[:])}
	text, err := json.Marshal(config)
	if err != nil {
		return descriptor{}, err
	}
	text, err = json.Marshal(imageManifest{SchemaVersion: 2, MediaType: manifestType, Config: add(configType, text), Layers: []descriptor{layer}, Annotations: labels})
	if err != nil {
		return descriptor{}, err
	}
	return add(manifestType, text), nil
}

// roots returns the certificates that a program trusts, those of Mozilla. It leaves
// out those that Mozilla trusts only in part, which a file of certificates cannot say.
func roots() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		out.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
	}
	return out.Bytes()
}
