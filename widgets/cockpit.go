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
	"slices"
	"sync"
	"time"

	"github.com/fleetlab/fleetlab/fleet"
)

// Cockpit is the dashboard of a run: badges, levers, ledger, heatmap and log. It simulates every setting of the levers around the
// run's own, and its levers switch among those results in the browser, without a kernel. It opens at the run's own setting, at the
// moment when the big job has just arrived, or when its training job has just lost its first node.
func Cockpit(run *fleet.Run) View { return cockpit{run} }

// cockpit is a view that may take a while, and tells how far it is.
type cockpit struct{ run *fleet.Run }

func (c cockpit) Render() (Output, error) { return c.renderTelling(func(int, int) {}) }

func (c cockpit) renderTelling(tell func(done, all int)) (Output, error) {
	if err := checkRun("the run of the cockpit", c.run); err != nil {
		return Output{}, err
	}
	g := gridOf(c.run.Config)
	results := make([]result, len(g.Settings))
	errs := make([]error, len(g.Settings))
	var mu sync.Mutex
	done := 0
	err := fleet.Sweep(g.configs(), func(i int, r *fleet.Run) {
		results[i], errs[i] = resultOf(r)
		mu.Lock()
		defer mu.Unlock()
		done++
		tell(done, len(g.Settings))
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return Output{}, fmt.Errorf("cockpit: %w", err)
	}
	return cockpitPage(c.run, &g, results)
}

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
	gaveUp    [][2]int64 // index of a job that ended for good without finishing, and when
}

func resultOf(r *fleet.Run) (result, error) {
	x := result{ledger: r.Ledger(), spans: packRun(r), incidents: r.Incidents, outages: r.Outages, pauses: r.Pauses}
	for job, q := range r.Queue {
		if q.GaveUp != fleet.Never {
			x.gaveUp = append(x.gaveUp, [2]int64{int64(job), millis(q.GaveUp)})
		}
	}
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
	Topology   fleet.Topology `json:"topology"`
	Horizon    int64          `json:"horizon"`
	Start      int64          `json:"start"` // where the scrubber stands at first
	Big        int            `json:"big"`
	Need       int            `json:"need"`    // nodes that the big job needs next to each other, 0 if it does not
	Replica    int            `json:"replica"` // GPUs of a replica of the big job, 0 if it is no training job
	Replicas   int            `json:"replicas"`
	Policies   []policyJSON   `json:"policies"`
	Switches   int            `json:"switches"` // positions of each switch: 2, or 1 if they stand still
	Preempt    bool           `json:"preempt"`  // then it stands so
	Defrag     bool           `json:"defrag"`
	Strategies []strategyJSON `json:"strategies"`
	Taus       []tauJSON      `json:"taus"`
	Index      []int          `json:"index"`
	Initial    int            `json:"initial"`
	Texts      []string       `json:"texts"`
	Outages    [][][4]int64   `json:"outages"` // node, start, end, GPUs as a mask
	Settings   []settingJSON  `json:"settings"`
}

type policyJSON struct {
	Name    string `json:"name"`
	Code    string `json:"code"`
	Implies bool   `json:"implies"`
	Only    int    `json:"only"`
}

type strategyJSON struct {
	Name string `json:"name"`
	Code string `json:"code"`
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
	Levers  [5]int     `json:"levers"` // policy, preempt, defrag, strategy, checkpoint
	Log     [][5]int64 `json:"log"`    // time, ID, node, job, index into Texts
	More    int        `json:"more"`   // incidents that are left out
	Outages int        `json:"outages"`
	Pauses  [][2]int64 `json:"pauses"`
	GaveUp  [][2]int64 `json:"gaveUp"` // job, time
	At      int        `json:"at"`     // offset of the spans
}

// The numbers of incidents that travel: of the run's own setting, and of each other one.
const mostOwn, mostOther = 2000, 150

// payloadOf gathers all settings. What several share is kept once.
func payloadOf(c *fleet.Config, g *grid, own *fleet.Run, results []result) (payload, []byte) {
	p, bin := leversOf(c, g, own), packJobs(c.Jobs)
	texts, outages, packed := map[string]int64{}, map[string]int{}, map[string]int{}
	for i, r := range results {
		s := g.Settings[i]
		x := settingJSON{
			Badges: r.badges, Ledger: r.cards, Levers: [5]int{s.Policy, s.Preempt, s.Defrag, s.Strategy, s.Tau},
			Log: [][5]int64{}, Pauses: [][2]int64{}, GaveUp: append([][2]int64{}, r.gaveUp...),
		}
		most := mostOther
		if i == g.Initial {
			most = mostOwn
		}
		x.More = max(0, len(r.incidents)-most)
		for _, in := range r.incidents[:len(r.incidents)-x.More] {
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

// leversOf is the part of the payload that all settings share.
func leversOf(c *fleet.Config, g *grid, own *fleet.Run) payload {
	p := payload{
		Topology: c.Topology, Horizon: millis(c.Horizon), Start: millis(momentOfTruth(own)), Big: c.Big, Switches: g.Switches, Preempt: c.Preempt,
		Defrag: c.Defrag, Index: g.Index, Initial: g.Initial, Need: needOf(c),
	}
	if j := bigJob(c); j != nil && j.Train != nil {
		p.Replicas, p.Replica = j.Train.DP, j.GPUs/j.Train.DP
	}
	for _, l := range g.Policies {
		p.Policies = append(p.Policies, policyJSON{l.Name, l.Code, l.Implies, l.Only})
	}
	for _, s := range g.Strategies {
		p.Strategies = append(p.Strategies, strategyJSON{s.Name, s.Code})
	}
	for _, tau := range g.Taus {
		p.Taus = append(p.Taus, tauJSON{millis(tau), place(tau), interval(tau), durationCode(tau)})
	}
	return p
}

// share is the number of a list of outages in p.Outages: the same faults strike whatever the levers.
func (p *payload) share(known map[string]int, outages []fleet.Outage) int {
	list := make([][4]int64, len(outages))
	for i, o := range outages {
		list[i] = [4]int64{int64(o.Node), millis(o.Start), millis(o.End), int64(o.Mask)}
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
	p, bin := payloadOf(c, g, run, results)
	data, err := p.compress(bin)
	if err != nil {
		return Output{}, err
	}
	ui, err := expand("cockpit.html", struct {
		GPUs     string
		Grid     *grid
		Ticks    []tick
		Big      int
		Training bool
		Stranded bool
		Need     string
		Horizon  int64
		FreeRows []int
		Own      [2]string // the switches, where they stand still
	}{
		count(int64(c.Topology.GPUs())), g, ticks(g.Taus), c.Big, p.Replicas > 0, strands(c), needText(c), p.Horizon, upTo(c.Topology.GPUsPerNode),
		[2]string{onOff(bit(c.Preempt)), onOff(bit(c.Defrag))},
	})
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
		template.HTML("<style>" + figuresCSS + cockpitCSS + placesCSS + "</style>" + ui), template.HTML(data),
		script(codecJS, heatmapJS, cockpitJS),
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

// strands tells whether GPUs may be held without being of use.
func strands(c *fleet.Config) bool {
	return slices.ContainsFunc(c.Jobs, func(j fleet.Job) bool {
		return j.Train != nil || j.GPUs > c.Topology.GPUsPerNode && j.GPUs%c.Topology.GPUsPerNode != 0
	})
}

// needOf is the number of nodes that the big job needs next to each other, 0 if it does not.
func needOf(c *fleet.Config) int {
	if j := bigJob(c); j != nil && j.Locality == fleet.Contiguous && !j.Prefer {
		return c.Topology.NodesFor(j.GPUs)
	}
	return 0
}

func needText(c *fleet.Config) string {
	if needOf(c) > 0 {
		return count(int64(bigJob(c).GPUs))
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

// momentOfTruth is the instant at which a cockpit opens: when the big job has just arrived; if that is a training job, when the first
// hardware fails; else the middle of the run.
func momentOfTruth(r *fleet.Run) time.Duration {
	switch j := bigJob(&r.Config); {
	case j == nil:
		return r.Config.Horizon / 2
	case j.Train != nil && len(r.Outages) > 0:
		return r.Outages[0].Start
	default:
		return j.Arrival
	}
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
