package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// keySize is the length of the HMAC key in bytes.
const keySize = 32

// loadKey returns the key of the directory. When there is none, it writes have,
// or random bytes when have is nil. The caller holds the lock, so that
// processes which start together use the same key. loadKey never replaces an
// existing key and refuses one of another length.
func (s *store) loadKey(have []byte) ([]byte, error) {
	key, err := s.readKey()
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if key = have; key == nil {
		key = make([]byte, keySize)
		if _, err := rand.Read(key); err != nil {
			return nil, err
		}
	}
	temp, err := s.temporary(keyName, key, true)
	if err == nil {
		err = s.publish(temp, keyName)
	}
	if err = errors.Join(err, ignoreMissing(s.root.Remove(temp)), s.syncNew()); err != nil {
		return nil, err
	}
	return s.readKey()
}

// syncNew flushes the directory, and its name in the parent directory.
func (s *store) syncNew() error {
	above, err := os.OpenRoot(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	return errors.Join(syncDir(s.root), syncDir(above), above.Close())
}

// publish gives temp the name name unless name exists. It makes a hard link,
// which never replaces a file, or renames when the file system has no links.
func (s *store) publish(temp, name string) error {
	err := s.root.Link(temp, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if _, statErr := s.root.Lstat(name); !errors.Is(statErr, fs.ErrNotExist) {
		return errors.Join(err, statErr)
	}
	return s.root.Rename(temp, name)
}

func (s *store) readKey() ([]byte, error) {
	f, err := s.open(keyName, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	key, err := io.ReadAll(io.LimitReader(f, keySize+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if len(key) != keySize {
		return nil, fmt.Errorf("the key file does not hold %d bytes", keySize)
	}
	return key, nil
}

// digest returns the hexadecimal HMAC-SHA256 of raw under key.
func digest(key []byte, raw string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(raw))
	return hex.EncodeToString(mac.Sum(nil))
}
