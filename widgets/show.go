package widgets

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"k8s.io/klog/v2"
)

// This file and livewire.go are the only ones that talk to the notebook.

// GoNB's library logs to stderr when its pipe breaks, and any word on stderr costs a student the points of a test cell.
func init() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}

// Show sends a view to the notebook, or prints its text where there is none. A view that cannot be rendered is drawn as an error and
// ends the cell.
func Show(v View) {
	if v == nil {
		fail(fmt.Errorf("nothing to show: the view is nil: %w", ErrRun))
	}
	slow, ok := v.(slowView)
	if !ok {
		out, err := v.Render()
		if err != nil {
			fail(err)
		}
		send(out)
		return
	}
	p := progress{began: time.Now()}
	out, err := slow.renderTelling(p.tell)
	if err != nil {
		p.fail(err)
	}
	p.send(out)
}

// Must returns v, or draws the error in the cell and ends it: no stack trace, nothing on stderr, and the cell counts as failed.
//
//	run := widgets.Must(fleet.Simulate(config))
func Must[T any](v T, err error) T {
	if err != nil {
		fail(err)
	}
	return v
}

// fail draws err and ends the program with status 1.
func fail(err error) { new(progress).fail(err) }

// patience is how long a cell waits for GoNB to take an output. It takes one within milliseconds unless the machine is very busy.
const patience = 30 * time.Second

// slowView is a view that may take seconds. It tells how far it is, from one goroutine at a time.
type slowView interface {
	View
	renderTelling(tell func(done, all int)) (Output, error)
}

// progress is the place in the notebook that shows how far a view is, and then the view itself: nothing is left of the bar.
type progress struct {
	began, last time.Time
	id          string // of the place, "" as long as the view has been quick
}

// A view that is done within soon shows no bar; later the bar moves no more often than each pace.
const soon, pace = 700 * time.Millisecond, 250 * time.Millisecond

func (p *progress) tell(done, all int) {
	now := time.Now()
	if !gonbui.IsNotebook || done == all || now.Sub(p.began) < soon || now.Sub(p.last) < pace {
		return
	}
	if p.last = now; p.id == "" {
		p.id = gonbui.UniqueId()
	}
	html, err := expand("progress", struct{ Done, All int }{done, all})
	if err != nil {
		return // a bar is not worth a view
	}
	p.send(Output{HTML: html, Text: fmt.Sprintf("%d of %d settings simulated\n", done, all)})
}

// fail draws err where the bar was and ends the program with status 1.
func (p *progress) fail(err error) {
	out, rerr := errorView(err).Render()
	if rerr != nil {
		out = Output{HTML: "", Text: err.Error() + "\n"}
	}
	p.send(out)
	os.Exit(1)
}

// send shows an output in a place of its own.
func send(out Output) { new(progress).send(out) }

// send puts HTML and text into one message, so that a front end shows the richest that it can. It returns when GoNB has taken the
// message: GoNB closes its end as soon as the cell's program ends, and drops what it has not read by then.
func (p *progress) send(out Output) {
	if !gonbui.IsNotebook {
		fmt.Print(out.Text)
		return
	}
	data := map[protocol.MIMEType]any{protocol.MIMETextPlain: out.Text}
	if out.HTML != "" {
		data[protocol.MIMETextHTML] = out.HTML
	}
	gonbui.SendData(&protocol.DisplayData{Data: data, DisplayID: p.id})
	flush(patience)
}

// flush waits until GoNB has taken everything, but never longer than limit.
func flush(limit time.Duration) { within(limit, gonbui.Sync) }

// within waits for work to end, but never longer than limit.
func within(limit time.Duration, work func()) {
	done := make(chan struct{})
	go func() {
		work()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(limit):
	}
}
