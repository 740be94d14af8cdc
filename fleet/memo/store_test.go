package memo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func decide(act, what string) func(*Memo) error {
	return func(m *Memo) error {
		m.Act(act).Decision = what
		return nil
	}
}

func mustUpdate(t *testing.T, path string, change func(*Memo) error) *Memo {
	t.Helper()
	m, err := Update(path, change)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func mustLoad(t *testing.T, path string) *Memo {
	t.Helper()
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func content(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestSavesAreKeptWithABackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memo.json")
	if m := mustLoad(t, path); m.Saves != 0 || len(m.Entries)+len(m.Notices) != 0 {
		t.Errorf("where there is no file: %+v", m)
	}
	mustUpdate(t, path, decide("Act I", "kill"))
	first := content(t, path)
	mustUpdate(t, path, decide("Act II", "12 min"))
	m := mustLoad(t, path)
	if m.Saves != 2 || m.Act("Act I").Decision != "kill" || m.Act("Act II").Decision != "12 min" || len(m.Notices) > 0 {
		t.Errorf("%+v", m)
	}
	if content(t, path+".bak") != first {
		t.Error("the backup is not what was there before")
	}
	if _, err := os.Stat(path + ".tmp"); err == nil {
		t.Error("a temporary file stays behind")
	}
	if m = mustUpdate(t, path, decide("Act II", "12 min")); m.Saves != 2 || content(t, path+".bak") != first {
		t.Error("a save that changes nothing counts, or moves the backup")
	}
	before := content(t, path)
	own := errors.New("no")
	if _, err := Update(path, func(m *Memo) error { m.Entries = nil; return own }); !errors.Is(err, own) || content(t, path) != before {
		t.Errorf("a change that fails: %v", err)
	}
}

// A change that panics, as an answer that is not implemented does, saves nothing and gives the lock back.
func TestAPanicGivesTheLockBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memo.json")
	func() {
		defer func() { _ = recover() }()
		_, _ = Update(path, func(*Memo) error { panic("not implemented") })
	}()
	unlock, err := lock(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(path); err == nil {
		t.Error("something was saved")
	}
}

// N13: a directory that can't be written to. Tests may run as root, whom permissions don't bind; a folder that is a file, one
// that is not there and the kernel's own bind everybody.
func TestN13ReadOnlyDirectoryIsAClearError(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "file", "")
	for path, want := range map[string]string{
		"file/memo.json":            "not a directory",
		"nowhere/memo.json":         "no such file or directory",
		"/proc/self/task/memo.json": "",
		"":                          "must be the name of a file",
	} {
		m, err := Update(path, decide("Act I", "kill"))
		if m != nil || !errors.Is(err, ErrStore) {
			t.Fatalf("%q: %+v, %v", path, m, err)
		}
		text := err.Error()
		if !strings.Contains(text, want) || path != "" && (!strings.Contains(text, path+": NOT saved") || !strings.Contains(text, "make the folder "+filepath.Dir(path)+" writable")) {
			t.Errorf("%q: %v", path, err)
		}
	}
	abs, _ := filepath.Abs("file/memo.json")
	if _, err := Update(abs, decide("Act I", "kill")); err == nil || !strings.HasPrefix(err.Error(), "file/memo.json: NOT saved") {
		t.Errorf("an absolute path: %v", err)
	}
	if err := os.Mkdir("sealed", 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		if _, err := Update("sealed/memo.json", decide("Act I", "kill")); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("a sealed folder: %v", err)
		}
	}
}

// N13: a disk that refuses the new version at the last step leaves the old one whole.
func TestN13AFailedWriteLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memo.json")
	mustUpdate(t, path, decide("Act I", "kill"))
	before := content(t, path)
	if err := os.Mkdir(path+".tmp", 0o755); err != nil { // stands in the way of the temporary file
		t.Fatal(err)
	}
	if _, err := Update(path, decide("Act I", "migrate")); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "NOT saved") {
		t.Errorf("error %v", err)
	}
	if content(t, path) != before {
		t.Error("the memo has changed")
	}
}

// N13: whatever has become of the file, it is kept, the backup is used, and the reader is told.
func TestN13DamagedFilesAreKeptAndTheBackupIsUsed(t *testing.T) {
	whole := `{"version":1,"saves":1,"entries":[{"act":"Act I","decision":"kill"}]}`
	for name, damage := range map[string]string{
		"truncated": whole[:40], "empty": "", "blank": " \n", "no JSON": "<<<<<<< HEAD\n" + whole, "twice": whole + whole, "an array": "[]", "null": "null",
		"no version": `{"entries":[]}`, "a field that is not known": `{"version":1,"saves":1,"entries":[],"mark":5}`, "two of an act": `{"version":1,"saves":1,"entries":[{"act":"A"},{"act":"A"}]}`,
		"zeros": strings.Repeat("\x00", 70),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			mustUpdate(t, "memo.json", decide("Act I", "kill"))
			mustUpdate(t, "memo.json", decide("Act II", "12 min"))
			put(t, "memo.json", damage)

			m := mustLoad(t, "memo.json")
			if m.Act("Act I").Decision != "kill" || len(m.Notices) != 1 || !strings.Contains(m.Notices[0], "memo.json is damaged") || !strings.Contains(m.Notices[0], "memo.json.bak is used") {
				t.Errorf("loaded %+v", m)
			}
			if content(t, "memo.json") != damage {
				t.Error("Load has changed the file")
			}
			m = mustUpdate(t, "memo.json", decide("Act III", "drop"))
			if len(m.Notices) != 2 || !strings.Contains(m.Notices[1], "kept as memo.json.broken-1") || content(t, "memo.json.broken-1") != damage {
				t.Errorf("notices %q", m.Notices)
			}
			if m = mustLoad(t, "memo.json"); m.Act("Act I").Decision != "kill" || m.Act("Act III").Decision != "drop" || len(m.Notices) > 0 {
				t.Errorf("after the save: %+v", m)
			}
			put(t, "memo.json", damage) // again, and the backup too: nothing is overwritten
			put(t, "memo.json.bak", damage)
			m = mustUpdate(t, "memo.json", decide("Act I", "migrate"))
			if len(m.Notices) != 3 || !strings.Contains(m.Notices[0], "starts empty") {
				t.Errorf("notices %q", m.Notices)
			}
			for _, kept := range []string{"memo.json.broken-1", "memo.json.broken-2", "memo.json.bak.broken-1"} {
				if content(t, kept) != damage {
					t.Errorf("%s is lost", kept)
				}
			}
		})
	}
}

func TestN13AFileThatIsGoneComesBackFromItsBackup(t *testing.T) {
	t.Chdir(t.TempDir())
	mustUpdate(t, "memo.json", decide("Act I", "kill"))
	mustUpdate(t, "memo.json", decide("Act II", "12 min"))
	if err := os.Remove("memo.json"); err != nil {
		t.Fatal(err)
	}
	m := mustLoad(t, "memo.json")
	if m.Act("Act I").Decision != "kill" || len(m.Notices) != 1 || !strings.Contains(m.Notices[0], "memo.json is missing") {
		t.Errorf("%+v", m)
	}
}

func TestN13DamagedWithoutABackupStartsEmptyAndSaysSo(t *testing.T) {
	t.Chdir(t.TempDir())
	put(t, "memo.json", `{"version":1,"sav`)
	m := mustUpdate(t, "memo.json", decide("Act I", "kill"))
	if len(m.Notices) != 2 || !strings.Contains(m.Notices[0], "starts empty") || content(t, "memo.json.broken-1") != `{"version":1,"sav` {
		t.Errorf("%+v", m)
	}
}

func TestANewerMemoIsRefusedAndNotTouched(t *testing.T) {
	t.Chdir(t.TempDir())
	const newer = `{"version":2,"saves":"many","rounds":[1,2]}`
	put(t, "memo.json", newer)
	_, lerr := Load("memo.json")
	_, uerr := Update("memo.json", decide("Act I", "kill"))
	for _, err := range []error{lerr, uerr} {
		if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "memo.json: format version 2: must be at most 1") {
			t.Errorf("error %v", err)
		}
	}
	put(t, "memo.json.bak", newer)
	put(t, "memo.json", "{")
	if _, err := Update("memo.json", decide("Act I", "kill")); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer backup: %v", err)
	}
	if content(t, "memo.json") != "{" || content(t, "memo.json.bak") != newer {
		t.Error("something was written")
	}
}

func TestAHugeFileIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memo.json")
	put(t, path, strings.Repeat(" ", maxFile+1))
	if _, err := Load(path); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "so it is no memo") {
		t.Errorf("error %v", err)
	}
}

func TestSaveRefusesWhatWasSavedElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memo.json")
	mine := mustLoad(t, path)
	mine.Act("Act I").Decision = "kill"
	if err := Save(path, mine); err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, path, decide("Act II", "12 min"))
	mine.Act("Act I").Decision = "migrate"
	if err := Save(path, mine); !errors.Is(err, ErrStore) || !strings.Contains(err.Error(), "saved elsewhere") {
		t.Errorf("error %v", err)
	}
	if m := mustLoad(t, path); m.Act("Act II").Decision != "12 min" || m.Act("Act I").Decision != "kill" {
		t.Errorf("%+v", m)
	}
}

// writes is how often each of several writers saves.
const writes = 50

// cite saves figures one by one, each under a name of its own.
func cite(path, writer string) error {
	for i := range writes {
		if _, err := Update(path, func(m *Memo) error {
			m.Act(writer).Cite(Figure{Name: fmt.Sprint(i), Value: float64(i)})
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func checkCited(t *testing.T, path string, writers ...string) {
	t.Helper()
	m := mustLoad(t, path)
	for _, w := range writers {
		if n := len(m.Act(w).Figures); n != writes {
			t.Errorf("%s: %d figures, want %d", w, n, writes)
		}
	}
	if m.Saves != writes*len(writers) || len(m.Notices) > 0 {
		t.Errorf("%d saves, notices %q", m.Saves, m.Notices)
	}
	old, err := decode([]byte(content(t, path+".bak")))
	if err != nil || old.Saves != m.Saves-1 {
		t.Errorf("the backup: %+v, %v", old, err)
	}
}

// N13: two notebooks are two processes. Meanwhile a third reads, and never sees half a file.
func TestN13TwoProcessesLoseNothing(t *testing.T) {
	if path := os.Getenv("MEMO_PATH"); path != "" {
		if err := cite(path, os.Getenv("MEMO_WRITER")); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := filepath.Join(t.TempDir(), "memo.json")
	var wg sync.WaitGroup
	for _, w := range []string{"one", "two"} {
		wg.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestN13TwoProcessesLoseNothing$")
			cmd.Env = append(os.Environ(), "MEMO_PATH="+path, "MEMO_WRITER="+w)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", w, err, out)
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for reading := true; reading; {
		select {
		case <-done:
			reading = false
		default:
			if m, err := Load(path); err != nil || len(m.Notices) > 0 {
				t.Errorf("a reader meets %+v, %v", m, err)
				reading = false
			}
		}
	}
	<-done
	checkCited(t, path, "one", "two")
}

// N13: the same inside one process, with the system's locks and on a file system that has none.
func TestN13TwoGoroutinesLoseNothing(t *testing.T) {
	for name, f := range map[string]func(*os.File) (bool, error){
		"flock": tryFlock, "no locks": func(*os.File) (bool, error) { return false, errors.ErrUnsupported },
	} {
		t.Run(name, func(t *testing.T) {
			flock = f
			defer func() { flock = tryFlock }()
			path := filepath.Join(t.TempDir(), "memo.json")
			var wg sync.WaitGroup
			for _, w := range []string{"one", "two"} {
				wg.Go(func() {
					if err := cite(path, w); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			checkCited(t, path, "one", "two")
		})
	}
}

// A lock that is never given back is waited for so long and no longer; the error says what to do.
func TestAWaitForTheLockEnds(t *testing.T) {
	t.Chdir(t.TempDir())
	unlock, err := lock("memo.json", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock("memo.json", 3); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "interrupt the cell") {
		t.Errorf("error %v", err)
	}
	unlock()
	flock = func(*os.File) (bool, error) { return false, errors.ErrUnsupported }
	defer func() { flock = tryFlock }()
	put(t, "memo.json.busy", "")
	if _, err := lock("memo.json", 3); !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "delete memo.json.busy") {
		t.Errorf("error %v", err)
	}
}

// A memo behind a symbolic link, as homes in hubs have them, is written where it is.
func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	mustUpdate(t, "memo.json", decide("Act I", "kill"))
	if err := os.Symlink("memo.json", "link.json"); err != nil {
		t.Skip(err)
	}
	mustUpdate(t, "link.json", decide("Act I", "migrate"))
	if m := mustLoad(t, "memo.json"); m.Act("Act I").Decision != "migrate" {
		t.Errorf("%+v", m)
	}
}
