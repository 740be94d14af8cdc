// The outputs of Act I in the places where people read them: Notebook 7, exported and stripped pages, pages without scripts or network,
// on paper, on a phone, in high contrast, by keyboard and by screen reader. JupyterLab itself, base URLs, untrusted notebooks and
// sandboxed frames are in cockpit.test.mjs.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { inflateSync } from 'node:zlib'
import { execute, newPage, openBrowser, openNotebook, outputOf, runAll, runCell, save, screenshot, startLab } from './harness.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const actI = join(root, 'notebooks', 'source', 'fleet_orch', '1_fragmentation.ipynb')
const stories = join(root, 'artifacts', 'storybook')
const cells = { setup: 0, cockpit: 3, see: 4 } // code cells of Act I, from 0
const run = promisify(execFile)

let browser, folder, act, axe, storybook
before(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  browser = await openBrowser()
  folder = await mkdtemp(join(tmpdir(), 'fleetlab places '))
  // A cached test writes no pages, so it must not be cached.
  const library = join(root, '.cache', 'echarts-5.6.0', 'echarts.common.min.js')
  const pages = run('go', ['test', './widgets', '-run', 'Storybook', '-count=1'], { cwd: root, env: { ...process.env, FLEETLAB_ECHARTS: library } })
  const source = JSON.parse(await readFile(actI, 'utf8')), codes = source.cells.filter((c) => c.cell_type === 'code')
  source.cells = source.cells.slice(0, source.cells.indexOf(codes[cells.see]) + 1) // what comes after is long work that no place needs
  ;[act] = await Promise.all([execute(source), pages])
  storybook = (await readdir(stories)).filter((name) => /-(light|dark)\.html$/.test(name))
})
after(async () => {
  await browser?.close()
  if (folder) await rm(folder, { recursive: true, force: true })
})

// html is what the outputs of some code cells of Act I put into a page.
const html = (...which) => which.map((i) => act.cells.filter((c) => c.cell_type === 'code')[i].outputs
  .map((o) => [o.data?.['text/html'] ?? ''].flat().join('')).join('\n')).join('\n')
const doc = (body, head = '') => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Act I</title>${head}</head><body>${body}</body></html>`
const noScripts = (text) => text.replace(/<script[\s\S]*?<\/script>/g, '')

// open shows a page that may ask nothing of the network. init is run before the page's own scripts.
async function open(t, content, { init, ...options } = {}) {
  const page = await newPage(browser, options)
  t.after(() => page.close())
  page.asked = []
  await page.route(/^(?!file:|data:|blob:)/, (route) => { page.asked.push(route.request().url()); return route.abort() })
  if (init) await page.addInitScript(init)
  if (content.startsWith('file:')) await page.goto(content, { waitUntil: 'load' })
  else {
    const file = join(folder, `${Math.random().toString(36).slice(2)}.html`)
    await writeFile(file, content)
    await page.goto(pathToFileURL(file).href, { waitUntil: 'load' })
  }
  return page
}

async function ready(scope, nth = 0) {
  const cockpit = scope.locator('[data-fleet-cockpit][data-ready=yes]').nth(nth)
  await cockpit.waitFor()
  return cockpit
}

const badges = (cockpit) => cockpit.locator('[data-zone="Z1.badges"]').innerText()
const policy = (cockpit, name) => cockpit.locator(`[data-lever=policy][data-policy="${name}"]`).check({ force: true })

// leversMove asserts that moving levers changes figures.
async function leversMove(cockpit) {
  const seen = new Set([await badges(cockpit)])
  await policy(cockpit, 'Best-Fit')
  seen.add(await badges(cockpit))
  await cockpit.locator('[data-lever=defrag]').check({ force: true })
  seen.add(await badges(cockpit))
  await cockpit.locator('[data-lever=checkpoint]').press('ArrowLeft')
  seen.add(await badges(cockpit))
  assert.equal(seen.size, 4, 'a lever did not change the badges')
}

// staysStatic asserts that pictures and tables can be seen.
async function staysStatic(page, figures = ['Fragmentation', 'Goodput', 'Consequence log', 'TCO']) {
  const picture = page.locator('img').first()
  await picture.waitFor()
  const [natural, shown] = await picture.evaluate((img) => [img.naturalWidth, img.getBoundingClientRect().width])
  assert.ok(natural > 100 && shown > 100, `a picture of ${natural} pixels is ${shown} wide`)
  assert.equal(await page.locator('table').first().isVisible(), true)
  const text = await page.locator('body').innerText()
  for (const figure of figures) assert.ok(text.includes(figure), `${figure} is not in sight`)
}

// counts what is held on the page that outlives an output. Only these scripts ask about high contrast.
const counting = () => {
  const held = window.held = { media: 0, themes: 0 }, proto = MediaQueryList.prototype, observers = new Set()
  const { addEventListener, removeEventListener } = proto, { observe, disconnect } = MutationObserver.prototype
  proto.addEventListener = function (...a) { if (/forced-colors/.test(this.media)) held.media++; return addEventListener.apply(this, a) }
  proto.removeEventListener = function (...a) { if (/forced-colors/.test(this.media)) held.media--; return removeEventListener.apply(this, a) }
  const count = () => { held.themes = observers.size }
  MutationObserver.prototype.observe = function (...a) { observers.add(this); count(); return observe.apply(this, a) }
  MutationObserver.prototype.disconnect = function () { observers.delete(this); count(); return disconnect.apply(this) }
}
const held = (page) => page.evaluate(() => ({ ...window.held }))
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))))

test('Notebook 7 and JupyterLab: levers move; a cell run again has one cockpit, and the old one lets go; a reopened notebook is alive', async (t) => {
  const code = act.cells.filter((c) => c.cell_type === 'code').slice(0, 4).map((c) => ({ ...c, outputs: [], execution_count: null }))
  const lab = await startLab({ notebooks: { 'short.ipynb': { ...act, cells: code } } })
  t.after(() => lab.stop())
  const page = await newPage(browser, { width: 1300, height: 1000 })
  t.after(() => page.close())
  await page.addInitScript(counting)
  await openNotebook(page, lab, 'short.ipynb', { classic: true })
  await runAll(page)
  await leversMove(await ready(await outputOf(page, cells.cockpit)))
  await screenshot(page, 'places-notebook7')
  assert.equal((await held(page)).media, 1)
  for (let i = 0; i < 2; i++) await runCell(page, cells.cockpit)
  await ready(await outputOf(page, cells.cockpit))
  assert.equal(await page.locator('[data-fleet-cockpit]').count(), 1)
  await page.waitForFunction(() => window.held.media === 1)
  await leversMove(await ready(page))
  await page.evaluate(() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs').then(() => null))
  await page.waitForFunction(() => window.held.media === 0)
  await runCell(page, cells.cockpit)
  await save(page)
  await openNotebook(page, lab, 'short.ipynb') // by the same server, in JupyterLab
  await leversMove(await ready(await outputOf(page, cells.cockpit)))
  // Notebook 7 stumbles over settings (a schema) when it starts; nothing of ours has one.
  assert.deepEqual(page.errors.filter((e) => !/favicon|Failed to load resource|reading 'schema'/.test(e)), [])
})

test('an output that leaves the page lets go of it, follows again when it is back, and can be forgotten', async (t) => {
  const page = await open(t, doc(html(cells.setup, cells.cockpit, cells.see)), { init: counting })
  await ready(page)
  await page.locator('[data-fleet-chart][data-ready=yes]').waitFor()
  const counted = await held(page)
  assert.deepEqual(counted, { media: 2, themes: 2 })
  await page.evaluate(() => {
    window.away = [...document.querySelectorAll('[data-fleet-cockpit], [data-fleet-chart]')].map((el) => [el, el.parentNode])
    for (const [el] of window.away) el.remove()
  })
  await settled(page)
  assert.deepEqual(await held(page), { media: 0, themes: 0 })
  await page.evaluate(() => { for (const [el, parent] of window.away) parent.append(el) })
  await settled(page)
  assert.deepEqual(await held(page), { media: 2, themes: 2 })
  const picture = () => page.locator('.map').evaluate((map) => map.toDataURL().length + map.toDataURL().slice(-4000))
  const light = await picture()
  await page.evaluate(() => document.documentElement.setAttribute('theme', 'dark'))
  await settled(page)
  assert.notEqual(await picture(), light, 'the heatmap does not follow the theme any more')
  await leversMove(await ready(page))
})

test('nothing on the page holds an output that is gone: the browser can free it', async (t) => {
  const page = await open(t, doc(html(cells.setup, cells.cockpit, cells.see)))
  await page.waitForFunction(() => document.querySelectorAll('[data-ready=yes]').length === 2)
  // A click would do, but the browser remembers where the last one was.
  await page.evaluate(() => document.querySelector('[data-fleet-cockpit]').shadowRoot.querySelector('[data-policy="Best-Fit"]').click())
  await settled(page)
  await page.evaluate(() => {
    const all = [...document.querySelectorAll('[data-ready]')]
    window.gone = all.map((el) => new WeakRef(el))
    for (const el of all) el.remove()
  })
  await settled(page)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('HeapProfiler.collectGarbage')
  assert.deepEqual(await page.evaluate(() => window.gone.map((ref) => ref.deref() === undefined)), [true, true], 'an output that is gone is still held')
})

test('exported by nbconvert, opened as a file without network: levers move, charts are drawn', async (t) => {
  const file = join(folder, 'act1.ipynb')
  await writeFile(file, JSON.stringify(act))
  await run(join(root, '.venv', 'bin', 'python'), ['-m', 'jupyter', 'nbconvert', '--to', 'html', file], { env: { ...process.env, HOME: folder } })
  const exported = pathToFileURL(join(folder, 'act1.html')).href
  const page = await open(t, exported, { width: 1200 })
  await leversMove(await ready(page))
  await page.locator('[data-fleet-chart][data-ready=yes] [data-fleet=chart] svg').first().waitFor()
  await screenshot(await ready(page), 'places-exported')

  await t.test('printed: light, whole, with figures', async (t) => {
    const page = await open(t, exported, { width: 1200, dark: true })
    const cockpit = await ready(page)
    const shown = await badges(cockpit)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await settled(page)
    await screenshot(cockpit, 'places-print')
    const ground = await cockpit.evaluate((el) => getComputedStyle(el).backgroundColor)
    assert.equal(ground, 'rgb(255, 255, 255)')
    const log = cockpit.locator('[data-zone="Z4.log"] ol')
    assert.ok(await log.evaluate((el) => el.scrollHeight <= el.clientHeight + 1), 'the log is cut off')
    for (const dead of await cockpit.locator('[data-act], input[type=range]').all()) assert.equal(await dead.isVisible(), false)
    const pdf = await page.pdf({ format: 'A4', printBackground: false })
    await writeFile(join(root, 'artifacts', 'places-print.pdf'), pdf)
    const text = pdfText(pdf).replace(/\s/g, '')
    const incident = (await log.locator('li').last().innerText()).replace(/\s/g, '')
    for (const figure of [...shown.match(/[\d.]+\s*%/g), 'FleetOrchestrator', 'Goodput', 'TCO', incident]) {
      assert.ok(text.includes(figure.replace(/\s/g, '')), `${figure} is not on paper`)
    }
  })
})

// pdfText reads the text of a PDF of Chromium's, whose fonts say which letters their glyphs are.
function pdfText(pdf) {
  const text = pdf.toString('latin1'), objects = new Map()
  for (const [, id, body] of text.matchAll(/(\d+) 0 obj\b([\s\S]*?)endobj/g)) objects.set(id, body)
  const stream = (body) => {
    const begin = /stream\r?\n/.exec(body)
    if (!begin) return ''
    const bytes = Buffer.from(body.slice(begin.index + begin[0].length, body.lastIndexOf('endstream')), 'latin1')
    try { return /FlateDecode/.test(body.slice(0, begin.index)) ? inflateSync(bytes).toString('latin1') : bytes.toString('latin1') } catch { return '' }
  }
  const letters = (hex) => hex.match(/.{4}/g).map((u) => String.fromCharCode(parseInt(u, 16))).join('')
  const fonts = new Map()
  for (const [id, body] of objects) {
    const map = /\/ToUnicode (\d+) 0 R/.exec(body), glyphs = new Map()
    if (!map) continue
    const table = stream(objects.get(map[1]))
    for (const [, block] of table.matchAll(/beginbfchar([\s\S]*?)endbfchar/g)) {
      for (const [, from, to] of block.matchAll(/<(\w+)> <(\w+)>/g)) glyphs.set(parseInt(from, 16), letters(to))
    }
    for (const [, block] of table.matchAll(/beginbfrange([\s\S]*?)endbfrange/g)) {
      for (const [, from, to, first] of block.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
        for (let g = parseInt(from, 16), u = parseInt(first, 16); g <= parseInt(to, 16); g++, u++) glyphs.set(g, String.fromCharCode(u))
      }
    }
    fonts.set(id, glyphs)
  }
  let out = ''
  for (const body of objects.values()) {
    const content = stream(body)
    if (!/\bTf\b/.test(content)) continue
    let glyphs = new Map()
    for (const [, font, hex] of content.matchAll(/\/F(\d+) [\d.]+ Tf|<([\da-fA-F]+)>/g)) {
      if (font) glyphs = fonts.get(font) ?? new Map()
      else out += hex.match(/.{1,4}/g).map((g) => glyphs.get(parseInt(g, 16)) ?? '').join('')
    }
    out += '\n'
  }
  return out
}

test('nbviewer, without scripts, styles and ids: picture and tables', async (t) => {
  const stripped = noScripts(html(cells.setup, cells.cockpit, cells.see)).replace(/<style[\s\S]*?<\/style>/g, '').replace(/ (id|name|data-[\w-]+)="[^"]*"/g, '')
  await staysStatic(await open(t, doc(stripped)))
})

test('a strict content security policy: picture and tables', async (t) => {
  const csp = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">`
  const page = await open(t, doc(html(cells.setup, cells.cockpit, cells.see), csp))
  await staysStatic(page)
  assert.equal(await page.locator('[data-ready]').count(), 0)
})

test('no network at all: charts draw, for Init carries the library', async (t) => {
  const page = await open(t, doc(html(cells.setup, cells.see)))
  await page.locator('[data-fleet-chart][data-ready=yes] [data-fleet=chart] svg').waitFor()
  assert.deepEqual(page.asked, [])
  assert.deepEqual(page.errors, [])
})

test('without Init, or with a library that fails: the picture stays', async (t) => {
  const page = await open(t, doc(html(cells.see)))
  await staysStatic(page, ['Idle GPUs'])
  const broken = await open(t, doc(html(cells.see)), { init: () => { window.echarts = { init() { throw new Error('no room') } } } })
  await broken.locator('[data-fleet=why]', { hasText: 'no room' }).waitFor()
  await staysStatic(broken, ['Idle GPUs', 'set levers()'])
})

test('two cockpits on one page do not meet', async (t) => {
  const page = await open(t, doc(html(cells.cockpit) + html(cells.cockpit)))
  const [first, second] = [await ready(page, 0), await ready(page, 1)]
  const before = await badges(first)
  await leversMove(second)
  assert.equal(await badges(first), before)
  await leversMove(first)
})

describe('a script that cannot run says why, and picture and tables stay (N14)', () => {
  const data = /(data-fleet="data">)([^<]*)/
  const broken = {
    'data cut short': { edit: (h) => h.replace(data, (_, tag, d) => tag + d.slice(0, d.length >> 1)) },
    'data with a wrong letter': { edit: (h) => h.replace(data, (_, tag, d) => tag + d.slice(0, 5000) + (d[5000] === 'A' ? 'BBBB' : 'AAAA') + d.slice(5004)) },
    'no data': { edit: (h) => h.replace(data, '$1') },
    'data that is no base64': { edit: (h) => h.replace(data, '$1%%%') },
    'a lever that never renders': { edit: (h) => h.replaceAll('data-lever="defrag"', 'data-lever="gone"'), why: /defrag/ },
    'no DecompressionStream': { init: () => { delete window.DecompressionStream }, why: /DecompressionStream/ },
    'no shadow tree': { init: () => { Element.prototype.attachShadow = () => { throw new Error('no shadow trees here') } }, why: /no shadow trees/ },
  }
  for (const [name, { edit = (h) => h, init, why = /./ }] of Object.entries(broken)) {
    test(name, async (t) => {
      const page = await open(t, doc(edit(html(cells.cockpit))), { init })
      const line = page.locator('[data-fleet=why]')
      await line.waitFor()
      assert.match(await line.innerText(), why)
      await staysStatic(page, ['set levers()', 'Fragmentation', 'Goodput', 'Consequence log'])
      assert.equal(await page.locator('[data-lever]').count(), 0, 'levers that do nothing are left')
      assert.deepEqual(page.errors, [])
    })
  }
})

test('by keyboard alone: Tab reaches everything, arrows move levers, Enter opens cards, arrows walk the heatmap', async (t) => {
  const page = await open(t, doc(html(cells.cockpit)), { width: 1200 })
  const cockpit = await ready(page)
  const focused = () => cockpit.evaluate((host) => {
    const el = host.shadowRoot.activeElement, d = el?.dataset
    if (!el) return ''
    return d.lever ?? d.act ?? el.closest('summary')?.parentElement.dataset.card ?? (el.matches('.map') ? 'map' : el.closest('[data-zone="Z4.log"]') ? 'log' : el.localName)
  })
  const stops = new Set()
  const to = async (what) => {
    for (let i = 0; i < 80; i++) {
      if (await focused() === what) return
      await page.keyboard.press('Tab')
      stops.add(await focused())
    }
    assert.fail(`Tab does not reach ${what}; it reaches ${[...stops].join(', ')}`)
  }
  await to('policy')
  let before = await badges(cockpit)
  await page.keyboard.press('ArrowRight')
  assert.notEqual(await badges(cockpit), before)
  await to('checkpoint')
  before = await badges(cockpit)
  await page.keyboard.press('ArrowLeft')
  assert.notEqual(await badges(cockpit), before)
  for (const name of ['preempt', 'defrag']) {
    await to(name)
    await page.keyboard.press('Space')
    assert.equal(await cockpit.locator(`[data-lever=${name}]`).isChecked(), true)
  }
  const cards = await cockpit.locator('[data-card] > summary').evaluateAll((all) => all.map((s) => s.parentElement.dataset.card))
  assert.ok(cards.length >= 4)
  for (const card of cards) {
    await to(card)
    await page.keyboard.press('Enter')
    assert.equal(await cockpit.locator(`[data-card="${card}"]`).first().evaluate((d) => d.open), true, `Enter does not open ${card}`)
  }
  await to('map')
  const inspector = cockpit.locator('[data-zone="Z3.inspector"]')
  for (const key of ['Home', 'ArrowRight', 'PageDown']) {
    before = await inspector.innerText()
    await page.keyboard.press(key)
    assert.notEqual(await inspector.innerText(), before, `${key} does not move in the heatmap`)
  }
  await page.keyboard.press('Escape')
  await to('time')
  before = await cockpit.locator('.map').getAttribute('data-time')
  await page.keyboard.press('ArrowRight')
  assert.notEqual(await cockpit.locator('.map').getAttribute('data-time'), before)
  for (const name of ['copy', 'play', 'log']) await to(name)
})

test('reduced motion: nothing glides', async (t) => {
  const page = await open(t, doc(html(cells.cockpit)))
  await page.emulateMedia({ reducedMotion: 'reduce' })
  const cockpit = await ready(page)
  assert.equal(await cockpit.locator('[data-lever=defrag]').evaluate((el) => getComputedStyle(el, '::after').transitionDuration), '0s')
  await cockpit.locator('[data-act=play]').click()
  const moves = await cockpit.locator('.map').evaluate((map) => new Promise((done) => {
    let n = 0
    new MutationObserver((all) => { n += all.length }).observe(map, { attributes: true, attributeFilter: ['data-time'] })
    setTimeout(() => done(n), 1200)
  }))
  assert.ok(moves >= 1 && moves <= 3, `${moves} frames in 1.2 s`)
})

test('high contrast: heatmap, badges and chosen levers stay readable', async (t) => {
  for (const dark of [false, true]) {
    const page = await open(t, doc(html(cells.setup, cells.cockpit, cells.see), `<style>body { background: Canvas }</style>`), { width: 1200, dark })
    await page.emulateMedia({ forcedColors: 'active', colorScheme: dark ? 'dark' : 'light' })
    const cockpit = await ready(page)
    await settled(page)
    const inks = await cockpit.locator('.map').evaluate((map) => {
      const pixels = map.getContext('2d').getImageData(0, 0, map.width, map.height).data, all = new Map()
      for (let i = 0; i < pixels.length; i += 4) {
        const key = pixels.slice(i, i + 3).join()
        all.set(key, (all.get(key) ?? 0) + 1)
      }
      return [...all].filter(([, n]) => n > 50).length
    })
    assert.ok(inks >= 5, `the heatmap has ${inks} colours`)
    const grounds = await cockpit.locator('[data-lever=policy] + span').evaluateAll((all) => all.map((el) => getComputedStyle(el).backgroundColor))
    assert.equal(new Set(grounds).size, 2, 'the chosen policy looks like the others')
    const [ink, ground] = await cockpit.locator('[data-badge]').first().evaluate((el) => [getComputedStyle(el).color, getComputedStyle(el).backgroundColor])
    assert.notEqual(ink, ground)
    await screenshot(page, `places-contrast-${dark ? 'dark' : 'light'}`)
  }
})

// narrow asserts that a phone's page does not move sideways and that fingers can hit what is there.
async function narrow(page, name) {
  await page.setViewportSize({ width: 360, height: 800 })
  await settled(page)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(wide <= 360, `${name} is ${wide} px wide on a phone of 360`)
  const small = await page.evaluate(() => [document, ...[...document.querySelectorAll('*')].map((el) => el.shadowRoot).filter(Boolean)]
    .flatMap((tree) => [...tree.querySelectorAll('button, input, summary, select, a[href]')])
    .map((el) => [el, el.getBoundingClientRect()])
    .filter(([, box]) => box.width && (box.height < 23.9 || box.width < 23.9))
    .map(([el, box]) => `${el.outerHTML.slice(0, 70)} ${Math.round(box.width)}×${Math.round(box.height)}`))
  assert.deepEqual(small, [], `${name}: too small for a finger`)
}

// accessible asserts that axe finds nothing serious. In the dark only colours are looked at: all else is the same as in the light.
async function accessible(page, name) {
  const rules = name.includes('-dark') ? { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
    : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  await page.evaluate(axe)
  const found = await page.evaluate(async (runOnly) => (await window.axe.run(document, { resultTypes: ['violations'], runOnly })).violations
    .filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => `${n.target.flat().join(' ')} ${n.any[0]?.message ?? ''}`).join(' | ')}`), rules)
  assert.deepEqual(found, [], name)
}

test('the storybook: readable by all (axe) and on a phone, alive and static, light and dark', async (t) => {
  assert.ok(storybook.length >= 24, `${storybook.length} pages`)
  const page = await open(t, doc('')), problems = []
  const check = async (file, name) => {
    await page.setViewportSize({ width: 1100, height: 900 })
    await page.goto(pathToFileURL(file).href)
    await page.waitForFunction(() => [...document.querySelectorAll('[data-fleet-cockpit], [data-fleet-chart]')]
      .every((el) => !el.querySelector('script') || /yes|failed|static/.test(el.dataset.ready)))
    await page.evaluate(() => { // what is closed is read too
      for (const tree of [document, ...[...document.querySelectorAll('[data-ready]')].map((el) => el.shadowRoot).filter(Boolean)]) {
        for (const d of tree.querySelectorAll('details')) d.open = true
      }
    })
    for (const holds of name.includes('-dark') ? [accessible] : [accessible, narrow]) await holds(page, name).catch((err) => problems.push(`${name}: ${err.message}`))
  }
  for (const name of storybook) {
    await check(join(stories, name), name)
    const text = await readFile(join(stories, name), 'utf8')
    if (!text.includes('class="fleet-static"')) continue
    const still = join(folder, name)
    await writeFile(still, noScripts(text))
    await check(still, `${name}, static`)
  }
  assert.deepEqual(problems, [])
})
