// excuse brings the static picture and tables of an output back, above them a line that says why there is nothing to move, and that
// everything can be done without it.
function excuse(root, error, what) {
  const line = document.createElement("p"), why = error instanceof Error ? error.message : String(error);
  root.dataset.ready = "failed";
  root.dataset.error = String(error);
  // A shadow tree cannot be taken away again, but it can show what is outside.
  if (root.shadowRoot) root.shadowRoot.replaceChildren(document.createElement("slot"));
  line.dataset.fleet = "why";
  line.setAttribute("role", "status");
  line.textContent = "✗ " + what + " cannot be shown here (" + why + "). Picture and tables below show the run, and everything can be " +
    "done from code: set levers() and run the cell again.";
  root.querySelector(".fleet-static").before(line);
}

// mustHave finds out whether every lever is there: a lab that lacks one cannot be finished with the levers.
function mustHave(root, levers) {
  if (!root.shadowRoot) return;
  const missing = levers.filter((name) => !root.shadowRoot.querySelector("[data-lever=" + name + "]"));
  if (missing.length) throw new Error("missing: " + missing.join(", "));
}
