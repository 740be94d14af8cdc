// follow draws again whenever the size of element or the theme changes, as long as root is in the document. rest, if given, is called
// when it has left.
//
// A front end drops an output when its cell runs again or is cleared, and tells nobody. JupyterLab also takes outputs out of the page
// while they are scrolled far away, and puts them back. What is hung on the page (theme, media) would keep a dropped output alive for
// ever, so it is let go of when root has left, and taken up again when root is back. How that is noticed: the size of an element
// changes to nothing when it leaves the page, and back when it returns. The observer of the size itself belongs to the element and
// goes with it.
function follow(root, element, redraw, rest) {
  const media = ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"].map((q) => matchMedia(q));
  const themes = new MutationObserver(changed);
  let following = false;

  function takeUp() {
    following = true;
    for (const el of [document.documentElement, document.body]) if (el) themes.observe(el, { attributes: true });
    for (const m of media) m.addEventListener("change", changed);
  }

  function letGo() {
    following = false;
    themes.disconnect();
    for (const m of media) m.removeEventListener("change", changed);
    rest?.();
  }

  function changed() {
    if (!root.isConnected) {
      if (following) letGo();
      return;
    }
    if (!following) takeUp();
    redraw();
  }

  takeUp();
  new ResizeObserver(changed).observe(element);
}
