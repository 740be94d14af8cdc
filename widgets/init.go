package widgets

import (
	"fmt"
	"html/template"
	"os"
	"strings"
)

// The chart library that go-echarts writes its options for.
const (
	echartsVersion = "5.6.0"
	echartsURL     = "https://cdn.jsdelivr.net/npm/echarts@" + echartsVersion + "/dist/echarts.common.min.js"
	echartsSRI     = "sha384-3BB1i9RyL6QcTzTUKkG9tAu4MkqwQcZG1wUsaGFVqEOS64SE18ARmIFlWzVBKJS4"
	echartsMost    = 1_150_000 // bytes that an output may carry
)

// EChartsEnv names the environment variable with the file of the chart library.
const EChartsEnv = "FLEETLAB_ECHARTS"

// Init carries the chart library into the notebook, once: the other outputs reuse it. The library comes from the file that
// FLEETLAB_ECHARTS names, so that no network is needed; without one the browser fetches it from a CDN. Where it is missing
// altogether, every chart keeps its static picture.
func Init() View {
	return view(func() (Output, error) {
		lib := echartsFile()
		html, err := expand("init", struct {
			Library          template.JS
			Carried          bool
			Version, URL, ID string
		}{template.JS(lib), lib != "", echartsVersion, echartsURL, echartsSRI})
		from := "fetched from a CDN when a chart needs it"
		if lib != "" {
			from = "carried by this output, no network needed"
		}
		return Output{HTML: html, Text: fmt.Sprintf("Lab 08 is ready. Charts: ECharts %s, %s.\n", echartsVersion, from)}, err
	})
}

// echartsFile is the library's text, or "" where there is none that an output could carry.
func echartsFile() string {
	name := os.Getenv(EChartsEnv)
	if name == "" {
		return ""
	}
	text, err := os.ReadFile(name)
	lib := string(text)
	if err != nil || len(lib) == 0 || len(lib) > echartsMost || strings.Contains(strings.ToLower(lib), "</script") || strings.Contains(lib, "<!--") {
		return ""
	}
	return lib
}
