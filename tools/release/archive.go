package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive.
type file struct {
	name    string // with slashes
	data    []byte
	program bool // may be executed
	owner   int  // user and group, 0 for root
	dir     bool // a directory, which is otherwise implied
}

func (f file) mode() int64 {
	if f.program || f.dir {
		return 0o755
	}
	return 0o644
}

// archives writes an archive for each target: .zip for windows, otherwise .tar.gz.
func (r *release) archives(context.Context) error {
	for _, t := range r.targets {
		program, err := os.ReadFile(r.programs[t])
		if err != nil {
			return err
		}
		files := append([]file{{name: t.program(), data: program, program: true}}, r.shared...)
		pack := tarGz
		if t.os == "windows" {
			pack = zipped
		}
		data, err := pack(files, "", r.version.time)
		if err != nil {
			return err
		}
		if err := r.write(r.archiveName(t), data); err != nil {
			return err
		}
	}
	return nil
}

// archiveName is the name of a target's archive.
func (r *release) archiveName(t target) string {
	suffix := ".tar.gz"
	if t.os == "windows" {
		suffix = ".zip"
	}
	return fmt.Sprintf("ktx_%s_%s_%s%s", r.version, t.os, t.arch, suffix)
}

// tarGz packs files, each with the given prefix and time, in the order of their names.
func tarGz(files []file, prefix string, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	if err := writeTar(zw, files, prefix, at); err != nil {
		return nil, err
	}
	err := zw.Close()
	return out.Bytes(), err
}

func writeTar(w io.Writer, files []file, prefix string, at time.Time) error {
	tw := tar.NewWriter(w)
	for _, f := range sorted(files) {
		h := &tar.Header{Name: prefix + f.name, Mode: f.mode(), Size: int64(len(f.data)), ModTime: at, Uid: f.owner, Gid: f.owner, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if f.dir {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if err := tw.WriteHeader(h); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := tw.Write(f.data); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return tw.Close()
}

// zipped is tarGz for a zip file.
func zipped(files []file, prefix string, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	zw := zip.NewWriter(&out)
	for _, f := range sorted(files) {
		h := &zip.FileHeader{Name: prefix + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(os.FileMode(f.mode())) //nolint:gosec // 0644 or 0755
		w, err := zw.CreateHeader(h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	err := zw.Close()
	return out.Bytes(), err
}

func sorted(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(path.Clean(a.name), path.Clean(b.name)) })
}

// checksumFile lists the SHA-256 of every other file of the release, as sha256sum -c
// reads it.
const checksumFile = "checksums.txt"

func (r *release) checksums(context.Context) error {
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return err
	}
	var out strings.Builder
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			return fmt.Errorf("%s is not a file", entry.Name())
		}
		sum, err := r.sum(entry.Name())
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "%s  %s\n", sum, entry.Name())
	}
	return r.write(checksumFile, []byte(out.String()))
}

// sum returns the SHA-256 of a file of the release.
func (r *release) sum(name string) (string, error) {
	data, err := os.ReadFile(r.result("%s", name))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
