package widgets

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// This file is the wire between a Live cell and its page: GoNB's websocket, used in one direction only. Answers are display updates,
// because they are kept in the notebook, and because sending through the websocket makes GoNB wait for pages that are gone.

// sessionEnv is set by Jupyter's server for kernels that a page has started, and not by nbclient, nbconvert and nbgrader. Where it is
// missing nobody will answer, and asking would leave GoNB's script in the notebook.
const sessionEnv = "JPY_SESSION_NAME"

func listening() bool { return gonbui.IsNotebook && os.Getenv(sessionEnv) != "" }

// sendStill is the whole of a cell that never was live. Outside a notebook the hint would be of no use.
func sendStill(v Values, out Output) {
	f := viewOutput("", liveFrame{values: v, out: out})
	if gonbui.IsNotebook {
		hint := hintOutput()
		f.HTML, f.Text = hint.HTML+f.HTML, hint.Text+f.Text
	}
	send(f)
}

// sendTo puts an output in the place of the last one with this name, and does not wait.
func sendTo(place string, out Output) {
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: out.Text, protocol.MIMETextHTML: out.HTML}
	gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: place})
}

// listen passes on what the page says once ask has made GoNB call it: after the first view, since GoNB reads nothing while it waits for
// the page to answer. GoNB's own package for this writes to stderr when a value is not what it expects.
func listen(address string) (in chan message, ask func()) {
	in = make(chan message, 64)
	gonbui.OnCommValueUpdate = func(value *protocol.CommValue) {
		text, isText := value.Value.(string)
		var m message
		if value.Address != address || !isText || json.Unmarshal([]byte(text), &m) != nil {
			return
		}
		select {
		case in <- m:
		default: // a flood: the page says again what matters
		}
	}
	return in, func() {
		gonbui.SendData(&protocol.DisplayData{Data: map[protocol.MIMEType]any{
			protocol.MIMECommSubscribe: &protocol.CommSubscription{Address: address},
		}})
	}
}

// How long the last words of a cell may take to leave. GoNB reads nothing while it waits for a page, three seconds long.
const (
	farewell      = 2 * time.Second
	shortFarewell = 300 * time.Millisecond
)

// liveInNotebook is a Live cell in a notebook with a page, from its first view to what it leaves behind.
func liveInNotebook(v Values, f func(Values) (View, error), interrupt chan os.Signal) {
	key := gonbui.UniqueId()
	levers, view := "fleetlab_levers_"+key, "fleetlab_view_"+key
	out, err := leversOutput(key, v)
	if err != nil {
		fail(fmt.Errorf("levers: %w", err))
	}
	in, ask := listen("/fleetlab/live/" + key) // before the first word is sent, which starts the reader
	sendTo(levers, out)
	s := session{
		limits: liveLimits, came: time.Now(), retry: ask, compute: func(v Values) Output { return compute(f, v) },
		show: func(f liveFrame) { sendTo(view, viewOutput(key, f)) },
	}
	s.last.values = v
	first := make(chan Output, 1)
	go func() { first <- compute(f, v) }()
	why := wasInterrupted
	select {
	case s.last.out = <-first:
		s.show(s.last)
		s.retry()
		why = s.run(in, interrupt)
	case <-interrupt:
		s.last.out = interrupted()
	}
	limit := farewell
	if why == nobody {
		limit = shortFarewell
	}
	within(limit, func() {
		sendTo(levers, hintOutput())
		sendTo(view, viewOutput("", s.last))
		gonbui.Sync()
	})
}
