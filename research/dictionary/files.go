package dictionary

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// openFile opens a regular file of at most [maxFile] bytes.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, nil, fmt.Errorf("%w: it is no file, or longer than %d bytes", errDamaged, maxFile)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// readLimited reads a file of at most [maxFile] bytes.
func readLimited(root *os.Root, name string) ([]byte, error) {
	f, info, err := openFile(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, min(info.Size(), maxFile))
	if _, err := io.ReadFull(f, b); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%w: it ends too early", errDamaged)
		}
		return nil, err
	}
	return b, nil
}

// write writes a values file whole or not at all. Fill adds the body piece by
// piece; each piece is one or more columns.
func (w *Writer) write(name string, fill func(add func([]byte) error) error) (err error) {
	f, err := w.root.OpenFile(name+temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = w.root.Remove(name + temporary)
		}
	}()
	h := header{folding: folding(), perColumn: perColumnOf(w.perColumn)}
	out := bufio.NewWriterSize(f, 64<<10) // a scan has a file for each table
	if _, err := out.Write(h.append(nil)); err != nil {
		return err
	}
	err = fill(func(b []byte) error {
		h.sum = crc32.Update(h.sum, castagnoli, b)
		h.body += uint64(len(b))
		_, err := out.Write(b)
		return err
	})
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if _, err := f.WriteAt(h.append(nil), 0); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return w.root.Rename(name+temporary, name)
}
