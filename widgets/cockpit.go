package widgets

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"html/template"
	"math"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Cockpit is the dashboard of a run: badges, levers, ledger, heatmap and log. It simulates every setting of the levers around the
// run's own, and its levers switch among those results in the browser, without a kernel. It opens at the run's own setting, at the
// moment when the big job has just arrived.
func Cockpit(run *fleet.Run) View {
	return view(func() (Output, error) {
		if err := checkRun("the run of the cockpit", run); err != nil {
			return Output{}, err
		}
		if err := drawable(&run.Config); err != nil {
			return Output{}, err
		}
		g := gridOf(run.Config)
		results := make([]result, len(g.Settings))
		errs := make([]error, len(g.Settings))
		err := fleet.Sweep(g.configs(), func(i int, r *fleet.Run) { results[i], errs[i] = resultOf(r) })
		if err != nil {
			return Output{}, fmt.Errorf("cockpit: %w", err)
		}
		for _, err := range errs {
			if err != nil {
				return Output{}, fmt.Errorf("cockpit: %w", err)
			}
		}
		return cockpitPage(run, &g, results)
	})
}

// drawable tells why the cockpit cannot replay the runs of a configuration, if it cannot: the browser knows gangs on consecutive
// nodes and nodes that fail as a whole.
func drawable(c *fleet.Config) error {
	for _, j := range c.Jobs {
		if j.Train != nil || j.GPUs > c.Topology.GPUsPerNode && (j.Locality != fleet.Contiguous || j.Prefer) {
			return fmt.Errorf("cockpit: job %d may have nodes that are not consecutive: %w", j.ID, ErrNotDrawn)
		}
	}
	for i, f := range c.Faults {
		if f.Scope == fleet.OneGPU {
			return fmt.Errorf("cockpit: fault %d takes down one GPU of node %d: %w", i, f.Node, ErrNotDrawn)
		}
	}
	return nil
}

// ErrNotDrawn is wrapped where a view has no picture for what a run holds.
var ErrNotDrawn = errors.New("not drawn by this view")

// result is what is kept of one setting's run.
type result struct {
	figures   figures
	ledger    fleet.Ledger
	badges    string // HTML
	cards     string // HTML
	spans     []byte // see packRun
	incidents []fleet.Incident
	outages   []fleet.Outage
	pauses    []fleet.Interval
}

func resultOf(r *fleet.Run) (result, error) {
	x := result{ledger: r.Ledger(), spans: packRun(r), incidents: r.Incidents, outages: r.Outages, pauses: r.Pauses}
	x.figures = figuresOf(&r.Config, x.ledger)
	var err error
	if x.badges, err = expand("badges", x.figures); err != nil {
		return x, err
	}
	x.cards, err = expand("ledger", x.figures)
	return x, err
}

// payload is what cockpit.js reads. Times are in milliseconds.
type payload struct {
	Topology fleet.Topology `json:"topology"`
	Horizon  int64          `json:"horizon"`
	Start    int64          `json:"start"` // where the scrubber stands at first
	Big      int            `json:"big"`
	Need     int            `json:"need"` // nodes that the big job needs
	Policies []policyJSON   `json:"policies"`
	Taus     []tauJSON      `json:"taus"`
	Index    []int          `json:"index"`
	Initial  int            `json:"initial"`
	Texts    []string       `json:"texts"`
	Outages  [][][3]int64   `json:"outages"` // node, start, end
	Settings []settingJSON  `json:"settings"`
}

type policyJSON struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Implies bool   `json:"implies"`
	Only    int    `json:"only"`
}

type tauJSON struct {
	Millis int64   `json:"ms"`
	Place  float64 `json:"place"` // on the slider, 0 to 1000
	Name   string  `json:"name"`
	Code   string  `json:"code"`
}

type settingJSON struct {
	Badges  string     `json:"badges"`
	Ledger  string     `json:"ledger"`
	Levers  [4]int     `json:"levers"`
	Log     [][5]int64 `json:"log"` // time, ID, node, job, index into Texts
	Outages int        `json:"outages"`
	Pauses  [][2]int64 `json:"pauses"`
	At      int        `json:"at"` // offset of the spans
}

// payloadOf gathers all settings. What several share is kept once.
func payloadOf(c *fleet.Config, g *grid, results []result) (payload, []byte) {
	bin := packJobs(c.Jobs)
	p := payload{
		Topology: c.Topology, Horizon: millis(c.Horizon), Start: millis(momentOfTruth(c)), Big: c.Big, Index: g.Index, Initial: g.Initial,
	}
	if j := bigJob(c); j != nil {
		p.Need = c.Topology.NodesFor(j.GPUs)
	}
	for _, l := range g.Policies {
		p.Policies = append(p.Policies, policyJSON{l.Name, l.Code, l.Implies, l.Only})
	}
	for _, tau := range g.Taus {
		p.Taus = append(p.Taus, tauJSON{millis(tau), place(tau), interval(tau), durationCode(tau)})
	}
	texts, outages, packed := map[string]int64{}, map[string]int{}, map[string]int{}
	for i, r := range results {
		s := g.Settings[i]
		x := settingJSON{
			Badges: r.badges, Ledger: r.cards, Levers: [4]int{s.Policy, s.Preempt, s.Defrag, s.Tau},
			Log: [][5]int64{}, Pauses: [][2]int64{},
		}
		for _, in := range r.incidents {
			n, known := texts[in.Text]
			if !known {
				n = int64(len(p.Texts))
				texts[in.Text] = n
				p.Texts = append(p.Texts, in.Text)
			}
			x.Log = append(x.Log, [5]int64{millis(in.At), int64(in.ID), int64(in.Node), int64(in.Job), n})
		}
		for _, q := range r.pauses {
			x.Pauses = append(x.Pauses, [2]int64{millis(q.Start), millis(q.End)})
		}
		x.Outages = p.share(outages, r.outages)
		at, known := packed[string(r.spans)] // settings that come to the same are many
		if !known {
			at = len(bin)
			packed[string(r.spans)] = at
			bin = append(bin, r.spans...)
		}
		x.At = at
		p.Settings = append(p.Settings, x)
	}
	return p, bin
}

// share is the number of a list of outages in p.Outages: the same faults strike whatever the levers.
func (p *payload) share(known map[string]int, outages []fleet.Outage) int {
	list := make([][3]int64, len(outages))
	for i, o := range outages {
		list[i] = [3]int64{int64(o.Node), millis(o.Start), millis(o.End)}
	}
	key := fmt.Sprint(list)
	n, ok := known[key]
	if !ok {
		n = len(p.Outages)
		known[key] = n
		p.Outages = append(p.Outages, list)
	}
	return n
}

// compress is the length of the payload's JSON as four bytes, the JSON and the binary part, through gzip and base64.
func (p payload) compress(bin []byte) (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("payload: %w", err)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return "", fmt.Errorf("payload: %w", err)
	}
	for _, part := range [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text, bin} {
		if _, err := z.Write(part); err != nil {
			return "", fmt.Errorf("payload: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("payload: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// cockpitPage puts the output together.
func cockpitPage(run *fleet.Run, g *grid, results []result) (Output, error) {
	c := &run.Config
	p, bin := payloadOf(c, g, results)
	data, err := p.compress(bin)
	if err != nil {
		return Output{}, err
	}
	ui, err := expand("cockpit.html", struct {
		GPUs     string
		Policies []lever
		Ticks    []tick
		Big      int
		Need     string
		Horizon  int64
		FreeRows []int
	}{count(int64(c.Topology.GPUs())), g.Policies, ticks(g.Taus), c.Big, needText(c), p.Horizon, upTo(c.Topology.GPUsPerNode)})
	if err != nil {
		return Output{}, err
	}
	static, err := staticOf(run, g, results)
	if err != nil {
		return Output{}, err
	}
	key := fnv.New64a()
	key.Write([]byte(data))
	html, err := expand("cockpit", struct {
		Key    string
		Theme  template.CSS
		Static staticTwin
		UI     template.HTML
		Data   template.HTML
		Script template.JS
	}{
		fmt.Sprintf("%016x", key.Sum64()), template.CSS(themeCSS), static,
		template.HTML("<style>" + figuresCSS + cockpitCSS + "</style>" + ui), template.HTML(data),
		template.JS("(() => {\n\"use strict\";\n" + codecJS + cockpitJS + "})();\n"),
	})
	return Output{HTML: html, Text: static.text()}, err
}

// upTo is 0, 1, … n.
func upTo(n int) []int {
	out := make([]int, n+1)
	for i := range out {
		out[i] = i
	}
	return out
}

func needText(c *fleet.Config) string {
	if j := bigJob(c); j != nil {
		return count(int64(j.GPUs))
	}
	return ""
}

// bigJob is the watched job, or nil if none arrives before the horizon.
func bigJob(c *fleet.Config) *fleet.Job {
	for i := range c.Jobs {
		if c.Big != 0 && c.Jobs[i].ID == c.Big && c.Jobs[i].Arrival < c.Horizon {
			return &c.Jobs[i]
		}
	}
	return nil
}

// momentOfTruth is the instant at which a cockpit opens: when the big job has just arrived, or the middle of the run.
func momentOfTruth(c *fleet.Config) time.Duration {
	if j := bigJob(c); j != nil && j.Arrival < c.Horizon {
		return j.Arrival
	}
	return c.Horizon / 2
}

// place is where an interval stands on the logarithmic slider: 0 for 1 min, 1000 for 24 h.
func place(tau time.Duration) float64 {
	x := 1000 * math.Log(tau.Minutes()) / math.Log((24 * time.Hour).Minutes())
	return math.Round(x*10) / 10
}

// interval writes a checkpoint interval in the units of the scale: 24 h, not 1 d.
func interval(tau time.Duration) string {
	if tau%time.Hour == 0 {
		return fmt.Sprintf("%d%sh", tau/time.Hour, nbsp)
	}
	if tau%time.Minute == 0 && tau < time.Hour {
		return fmt.Sprintf("%d%smin", tau/time.Minute, nbsp)
	}
	return duration(tau)
}

// tick is a mark under the slider.
type tick struct {
	Left string
	Name string
}

func ticks(taus []time.Duration) []tick {
	out := make([]tick, len(taus))
	for i, tau := range taus {
		out[i].Left = fmt.Sprintf("%.1f%%", place(tau)/10)
		switch tau {
		case time.Minute:
			out[i].Name = "1 min"
		case time.Hour, 24 * time.Hour:
			out[i].Name = fmt.Sprintf("%d h", tau/time.Hour)
		}
	}
	return out
}

// durationCode is the Go expression for d.
func durationCode(d time.Duration) string {
	units := []struct {
		size time.Duration
		name string
	}{
		{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"},
		{time.Millisecond, "time.Millisecond"},
	}
	for _, u := range units {
		if d == u.size {
			return u.name
		}
		if d%u.size == 0 {
			return fmt.Sprintf("%d * %s", d/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d", d)
}
