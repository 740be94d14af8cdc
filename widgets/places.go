package widgets

import (
	_ "embed"
	"html/template"
	"strings"
)

// What scripts and styles need in order to hold in every place where an output is read: beside a changing theme, in a page that drops
// and brings back its outputs, without the means that a script needs, on paper, on a phone.

//go:embed follow.js
var followJS string

//go:embed excuse.js
var excuseJS string

//go:embed places.css
var placesCSS string

// script is a script of its own: nothing of it meets what else is on the page.
func script(parts ...string) template.JS {
	return template.JS("(() => {\n\"use strict\";\n" + followJS + excuseJS + strings.Join(parts, "") + "})();\n")
}
