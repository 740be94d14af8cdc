package memo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrStore is wrapped by the error of a memo that could not be read or saved. The text names the file and says what to do.
var ErrStore = errors.New("memo not kept")

// ErrNewer is wrapped by the error of a memo that a newer version of the lab has written.
var ErrNewer = errors.New("memo is of a newer version")

// maxFile is the size of the largest file that is taken for a memo.
const maxFile = 4 << 20

// Load reads a memo and changes nothing on the disk. There is an empty memo where there is no file. If the file can't be read as a memo,
// or is gone while its backup is there, the backup is returned with a notice that says so.
func Load(path string) (*Memo, error) {
	m, _, err := load(resolve(path))
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Save puts a whole memo in the place of what is there, unless that has been saved by somebody else since m was loaded. To change a part,
// use Update.
func Save(path string, m *Memo) error {
	if m == nil {
		return fmt.Errorf("memo nil: must be one that Load or Update returned: %w", ErrMemo)
	}
	saved, err := Update(path, func(now *Memo) error {
		if now.Saves != m.Saves {
			return fmt.Errorf("%s: Saves %d: must be %d, as in the file: it was saved elsewhere after you loaded it; load it again, or use memo.Update: %w",
				shown(path), m.Saves, now.Saves, ErrStore)
		}
		*now = *m
		return nil
	})
	if err == nil {
		*m = *saved
	}
	return err
}

// Update changes a memo: it waits for its turn, reads the newest version, calls change and saves the result, which it returns. Whoever else
// saves at the same time comes before or after, so nothing is lost. If change returns an error nothing is saved, and if it changes nothing neither: a cell
// that is run twice does not push the version before out of the backup.
//
// What was there before stays as path.bak. A file that can't be read as a memo is kept as path.broken-1 (-2, …), and a notice in the
// result says so.
func Update(path string, change func(m *Memo) error) (*Memo, error) {
	if change == nil {
		return nil, fmt.Errorf("change nil: must be a function: %w", ErrMemo)
	}
	if path == "" {
		return nil, fmt.Errorf("path %q: must be the name of a file, such as memo.json: %w", path, ErrStore)
	}
	path = resolve(path)
	unlock, err := lock(path, tries)
	if err != nil {
		return nil, notSaved(path, err)
	}
	defer unlock() // also when change panics, as an answer that is not implemented does
	m, found, err := load(path)
	if err != nil {
		return nil, err
	}
	before, err := indented(m)
	if err != nil {
		return nil, err
	}
	if err := change(m); err != nil {
		return nil, err
	}
	m.Version = Version
	if after, err := indented(m); err == nil && found.good != nil && bytes.Equal(before, after) {
		return m, nil
	}
	m.Saves++
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := write(path, m, found); err != nil {
		return nil, notSaved(path, err)
	}
	return m, nil
}

// found is what load met on the disk.
type found struct {
	good         []byte // the file, if it is a memo
	broken       []byte // the file, if it is none
	brokenBackup []byte // the backup, if it was needed and is no memo
}

// load reads the file, or else its backup.
func load(path string) (*Memo, found, error) {
	raw, err := read(path)
	if errors.Is(err, fs.ErrNotExist) && exists(path+".bak") {
		raw, err = read(path) // whoever saves at the same time writes the file before its first backup
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return nil, found{}, notRead(path, err)
	}
	var f found
	why := fmt.Sprintf("%s is missing", shown(path))
	if !missing {
		m, err := decode(raw)
		if err == nil {
			return m, found{good: raw}, nil
		}
		if errors.Is(err, ErrNewer) {
			return nil, found{}, fmt.Errorf("%s: %w", shown(path), err)
		}
		f.broken = raw
		why = fmt.Sprintf("%s is damaged (%v)", shown(path), trimmed(err))
	}
	backup := path + ".bak"
	rawBackup, err := read(backup)
	switch {
	case errors.Is(err, fs.ErrNotExist) && missing:
		return &Memo{Version: Version}, f, nil
	case errors.Is(err, fs.ErrNotExist):
		return &Memo{Version: Version, Notices: []string{why + " and there is no backup: this memo starts empty. A save keeps the damaged file under another name."}}, f, nil
	case err != nil:
		return nil, found{}, notRead(backup, err)
	}
	m, err := decode(rawBackup)
	switch {
	case errors.Is(err, ErrNewer):
		return nil, found{}, fmt.Errorf("%s: %w", shown(backup), err)
	case err != nil:
		f.brokenBackup = rawBackup
		m = &Memo{Version: Version, Notices: []string{why + ", and so is its backup: this memo starts empty. A save keeps the damaged files under other names."}}
	case missing:
		m.Notices = []string{fmt.Sprintf("%s: its backup %s is used, in which the last save may be lacking. To start afresh, delete both.", why, shown(backup))}
	default:
		m.Notices = []string{fmt.Sprintf("%s: its backup %s is used, in which the last save may be lacking. A save keeps the damaged file under another name.", why, shown(backup))}
	}
	return m, f, nil
}

// read is os.ReadFile for files of a sane size.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes, so it is no memo; move it away", maxFile)
	}
	return raw, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// decode reads one memo. Fields that this version does not know are an error: the next save would drop them.
func decode(raw []byte) (*Memo, error) {
	var head struct {
		Version int `json:"version"`
	}
	if json.Unmarshal(raw, &head) == nil && head.Version > Version {
		return nil, fmt.Errorf("format version %d: must be at most %d. Nothing has been changed; update the lab to read it: %w", head.Version, Version, ErrNewer)
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, fmt.Errorf("it is empty: %w", ErrMemo)
	}
	m := new(Memo)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrMemo)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after its end: %w", ErrMemo)
	}
	return m, m.Validate()
}

// write keeps what is to be kept and puts m in place. At every instant the file at path is a whole one.
func write(path string, m *Memo, f found) error {
	raw, err := indented(m)
	if err != nil {
		return err
	}
	for _, old := range []struct {
		name string
		raw  []byte
	}{{path, f.broken}, {path + ".bak", f.brokenBackup}} {
		if old.raw == nil {
			continue
		}
		aside, err := keepAside(old.name, old.raw)
		if err != nil {
			return err
		}
		m.Notices = append(m.Notices, fmt.Sprintf("The damaged %s is kept as %s.", shown(old.name), shown(aside)))
	}
	if f.good != nil {
		if err := replace(path+".bak", f.good); err != nil {
			return err
		}
	}
	return replace(path, raw)
}

// keepAside writes a copy of something damaged under a name that is free.
func keepAside(path string, raw []byte) (aside string, err error) {
	for n := 1; n <= 1000; n++ {
		aside = fmt.Sprintf("%s.broken-%d", path, n)
		f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return aside, fill(f, raw)
	}
	return "", fmt.Errorf("there are 1000 damaged copies beside it already: move them away")
}

// replace puts a file in the place of another in one step: whoever reads at the same time, or after a power cut, has the old or the new one.
// The name of the temporary file needs no random part, for the one with the lock is alone.
func replace(path string, raw []byte) error {
	temp := path + ".tmp"
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if err := fill(f, raw); err != nil {
		_ = os.Remove(temp)
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // the new name has to reach the disk too, where a file system lets us ask for it
		_ = dir.Sync()
		dir.Close()
	}
	return nil
}

// fill writes, brings it to the disk and closes.
func fill(f *os.File, raw []byte) error {
	_, err := f.Write(raw)
	return errors.Join(err, f.Sync(), f.Close())
}

// resolve follows symbolic links, so that a rename does not put a file in the place of a link.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// shown is a path as a student knows it: from the folder of the notebook, if it is in there.
func shown(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func notSaved(path string, err error) error {
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("%s: NOT saved: %w", shown(path), err)
	}
	folder := filepath.Dir(shown(path))
	return fmt.Errorf("%s: NOT saved (%w): make the folder %s writable, or give memo.Update a path in a folder that is; then run this cell again: %w", shown(path), cause(err), folder, ErrStore)
}

func notRead(path string, err error) error {
	return fmt.Errorf("%s: can't be read (%w): mend that, or give another path; then run this cell again: %w", shown(path), cause(err), ErrStore)
}

// cause is an error without the path, which the message names already.
func cause(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}

// trimmed is an error without the sentinel and on one line.
func trimmed(err error) string {
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), ": "+ErrMemo.Error(), ""), "\n", "; ")
}
