package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
)

// mcpBundle is a file that Claude Desktop installs with a double click, for one system.
type mcpBundle struct {
	name     string // in the name of the file
	platform string // as the manifest calls it
	targets  []target
}

// mcpBundles lists them. The manifest cannot name processors: the one for macOS has a
// program for both, and the one for Windows runs on arm64 by emulation.
var mcpBundles = []mcpBundle{
	{"macos", "darwin", []target{{"darwin", "amd64"}, {"darwin", "arm64"}}},
	{"windows", "win32", []target{{"windows", "amd64"}}},
	{"linux_amd64", "linux", []target{{"linux", "amd64"}}},
	{"linux_arm64", "linux", []target{{"linux", "arm64"}}},
}

// writeBundles writes the bundles of which this run built all programs.
func (r *release) writeBundles(context.Context) error {
	for _, b := range mcpBundles {
		var programs [][]byte
		for _, t := range b.targets {
			path, ok := r.programs[t]
			if !ok {
				break
			}
			program, err := os.ReadFile(path) //nolint:gosec // go build wrote it just now
			if err != nil {
				return err
			}
			programs = append(programs, program)
		}
		if len(programs) < len(b.targets) {
			continue
		}
		program := programs[0]
		if len(programs) > 1 {
			var err error
			if program, err = universal(programs); err != nil {
				return err
			}
		}
		name := b.targets[0].program()
		manifest, err := fill("packaging/mcpb/manifest.json.tmpl", map[string]string{
			"Version": r.version.name, "Summary": summary, "Homepage": homepage, "Program": "server/" + name, "Platform": b.platform,
		})
		if err != nil {
			return err
		}
		data, err := zipped([]file{
			{name: "manifest.json", data: manifest},
			{name: "server/" + name, data: program, program: true},
			{name: "LICENSE", data: r.shared[0].data},
			{name: noticesFile, data: r.notices},
		}, "", r.version.time)
		if err != nil {
			return err
		}
		if err := r.write(fmt.Sprintf("ktx_%s_%s.mcpb", r.version, b.name), data); err != nil {
			return err
		}
	}
	return nil
}

// universal joins Mach-O programs for several processors into one file, each at a
// multiple of 16 KiB, as macOS wants it (mach-o/fat.h).
func universal(programs [][]byte) ([]byte, error) {
	const align = 14
	var header, body bytes.Buffer
	words := []uint32{0xcafebabe, uint32(len(programs))} //nolint:gosec // there are two
	offset := 1 << align
	for _, p := range programs {
		if len(p) < 12 || binary.LittleEndian.Uint32(p) != 0xfeedfacf {
			return nil, fmt.Errorf("a program for macOS is no 64-bit Mach-O file")
		}
		body.Write(make([]byte, offset-(1<<align)-body.Len()))
		body.Write(p)
		words = append(words, binary.LittleEndian.Uint32(p[4:]), binary.LittleEndian.Uint32(p[8:]), uint32(offset), uint32(len(p)), align) //nolint:gosec // far below 4 GiB
		offset = (offset + len(p) + 1<<align - 1) &^ (1<<align - 1)
	}
	for _, w := range words {
		header.Write(binary.BigEndian.AppendUint32(nil, w))
	}
	header.Write(make([]byte, 1<<align-header.Len()))
	return append(header.Bytes(), body.Bytes()...), nil
}
