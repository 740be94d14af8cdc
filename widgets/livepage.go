package widgets

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
)

//go:embed live.js
var liveJS string

//go:embed live.css
var liveCSS string

// This file is what a Live cell looks like: an output with the levers, and below it one with the view. The view is an output of its
// own, so that a new one leaves the levers and the hand on them alone, and the notebook always holds the last.

const liveHint = "These levers are not live now: the view below shows where they stood last. To take them, run this cell by itself in JupyterLab or " +
	"Notebook 7."

// leversOutput is the levers. Where no script runs, and before the page has reached the kernel, only the hint is there.
func leversOutput(key string, v Values) (Output, error) {
	type lever struct {
		Name   string   `json:"name"`
		Choice bool     `json:"choice"`
		Labels []string `json:"labels"`
		At     int      `json:"at"`
	}
	data := struct {
		Key    string  `json:"key"`
		Levers []lever `json:"levers"`
	}{Key: key}
	for i, k := range v.knobs {
		_, choice := v.steps[i][0].value.(string)
		l := lever{Name: k.name(), Choice: choice, At: v.at[i]}
		for _, s := range v.steps[i] {
			l.Labels = append(l.Labels, s.label)
		}
		data.Levers = append(data.Levers, l)
	}
	html, err := expand("live", struct {
		Theme     template.CSS
		Style     template.HTML
		Key, Hint string
		Data      any
		Script    template.JS
	}{template.CSS(themeCSS), template.HTML("<style>" + liveCSS + "</style>"), key, liveHint, data, template.JS("(() => {\n\"use strict\";\n" + liveJS + "})();\n")})
	return Output{HTML: html, Text: liveHint + "\n"}, err
}

// hintOutput is what the levers leave behind.
func hintOutput() Output {
	html, err := expand("livehint", struct {
		Theme template.CSS
		Hint  string
	}{template.CSS(themeCSS), liveHint})
	if err != nil {
		return Output{Text: liveHint + "\n"}
	}
	return Output{HTML: html, Text: liveHint + "\n"}
}

// viewOutput is a view under a line that says where the levers stand. With a key, the page finds it.
func viewOutput(key string, f liveFrame) Output {
	labels := f.values.labels()
	html, err := expand("liveview", struct {
		Key    string
		Seq    int
		At     string
		Heard  bool
		Levers []standing
		View   template.HTML
	}{key, f.seq, strings.Trim(fmt.Sprint(f.values.at), "[]"), f.heard, labels, template.HTML(f.out.HTML)})
	words := make([]string, len(labels))
	for i, l := range labels {
		words[i] = l.Name + " " + l.Label
	}
	text := strings.ReplaceAll("Levers: "+strings.Join(words, ", ")+"\n", nbsp, " ") + f.out.Text
	if err != nil {
		return Output{Text: text}
	}
	return Output{HTML: html, Text: text}
}

// errorOutput is what stands in place of a view that could not be computed.
func errorOutput(err error) Output {
	lines := errorText(err)
	html, xerr := expand("liveerror", lines)
	if xerr != nil {
		html = ""
	}
	return Output{HTML: html, Text: "No view for these values:\n  " + strings.Join(lines, "\n  ") + "\n"}
}
