// Act I in a browser, as people meet it: in JupyterLab at two base URLs, as a saved notebook that JupyterLab does not trust, and in a
// sandboxed frame of its own. What the cockpit shows is compared with what fleet computes for the same setting (expected/main.go).
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { dirname, join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  execute, isTrusted, newPage, openBrowser, openNotebook, outputOf, outputTexts, renderSandboxed, runAll, save, screenshot, setTheme, startLab,
} from './harness.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const actI = join(root, 'notebooks', 'source', 'fleet_orch', '1_fragmentation.ipynb')
const cells = { setup: 0, cockpit: 3, see: 4, compare: 10 } // code cells of Act I, from 0

const minute = 60_000, hour = 60 * minute
const arrival = 4.5 * hour // of the big job; the cockpit opens there
const instants = [0, 2 * hour, arrival, arrival + minute, 9 * hour, 12 * hour - 1]
const steps = [minute, 5 * minute, 15 * minute, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour]

let browser, expected
before(async () => {
  browser = await openBrowser()
  const run = await promisify(execFile)('go', ['run', './notebooks/tests/browser/expected', ...instants.map(String)], { cwd: root, maxBuffer: 1 << 26 })
  expected = JSON.parse(run.stdout)
})
after(() => browser?.close())

const expectedFor = (levers) => {
  const found = expected.find((s) => s.policy === levers.policy && s.defrag === levers.defrag && s.checkpoint_ms === levers.checkpoint &&
    s.preempt === (levers.preempt || levers.policy === 'Preemption'))
  assert.ok(found, `fleet computed nothing for ${JSON.stringify(levers)}`)
  return found
}

// Everything that the cockpit in a frame or an output shows now, read from the page in one go.
const shown = (cockpit) => cockpit.evaluate((host) => {
  const ui = host.shadowRoot
  const value = (selector) => Number(ui.querySelector(selector).dataset.value)
  const figures = [...ui.querySelectorAll('[data-badge]')].map((b) => ({ met: b.dataset.met === 'true', value: b.dataset.value, text: b.innerText }))
  return {
    badges: figures,
    cards: Object.fromEntries([...ui.querySelectorAll('[data-card][data-value]')].map((c) => [c.dataset.card, Number(c.dataset.value)])),
    shares: [...ui.querySelectorAll('[data-part]')].map((p) => Number(p.dataset.value)),
    counts: { working: value('[data-count=working]'), idle: value('[data-count=idle]'), failed: value('[data-count=failed]'),
      queued: value('[data-count=queued]'), hole: value('[data-count=hole]'), node: Number(ui.querySelector('[data-count=hole]').dataset.node), paused: !ui.querySelector('[data-count=paused]').hidden },
    printed: ['working', 'idle', 'failed'].map((k) => ui.querySelector(`[data-count=${k}] b`).innerText),
    time: Number(ui.querySelector('.map').dataset.time),
    log: [...ui.querySelectorAll('.log li')].map((li) => ({ id: Number(li.dataset.incident), at_ms: Number(li.dataset.at), text: li.querySelector('span').textContent })),
    preempt: { checked: ui.querySelector('[data-lever=preempt]').checked, disabled: ui.querySelector('[data-lever=preempt]').disabled },
    go: ui.querySelector('[data-out=code]').textContent,
  }
})

const near = (got, want, what) => assert.ok(Math.abs(got - want) <= 1e-9 * Math.max(1, Math.abs(want)), `${what}: ${got} is shown, fleet computes ${want}`)
const percent = (x) => `${(Math.round(x * 1000) / 10).toFixed(1)}\u00a0%`

// Asserts that the cockpit shows this setting's figures, and the fleet of this instant.
function assertShows(page, levers, at) {
  const want = expectedFor(levers), name = JSON.stringify(levers)
  const instant = want.instants.find((i) => i.at_ms === at)
  assert.deepEqual(page.badges.map((b) => b.met), want.met, `${name}: badges`)
  near(Number(page.badges[0].value), want.fragmentation, `${name}: fragmentation badge`)
  near(Number(page.badges[1].value), want.goodput, `${name}: goodput badge`)
  assert.ok(page.badges[0].text.includes(percent(want.fragmentation)), `${name}: ${page.badges[0].text}`)
  assert.ok(page.badges[1].text.includes(percent(want.goodput)), `${name}: ${page.badges[1].text}`)
  page.badges.forEach((b, i) => assert.match(b.text, want.met[i] ? /✓[\s\S]*met/i : /✗[\s\S]*missed/i, `${name}: a badge without sign and word: ${b.text}`))
  near(page.cards.goodput, want.goodput, `${name}: goodput card`)
  near(page.cards.mfu, want.mfu, `${name}: MFU card`)
  near(page.cards.wait, want.wait_ms / 1000, `${name}: wait card`)
  near(page.cards.tco, want.tco_usd_per_hour, `${name}: TCO card`)
  const all = want.parts_gpu_ms.reduce((a, b) => a + b)
  want.parts_gpu_ms.forEach((part, i) => near(page.shares[i], part / all, `${name}: part ${i}`))
  assert.deepEqual(page.counts, { working: instant.working, idle: instant.idle, failed: instant.failed, queued: instant.queued, hole: instant.hole_nodes, node: instant.hole_first_node, paused: instant.paused },
    `${name}: heatmap at ${at} ms`)
  assert.deepEqual(page.printed.map((n) => Number(n.replaceAll(',', ''))), [instant.working, instant.idle, instant.failed])
  assert.equal(instant.working + instant.idle + instant.failed, 10_000)
  assert.deepEqual(page.log, want.incidents, `${name}: log`)
}

// Finds the cockpit, waits until its script has started it, and moves its levers as a person would.
async function driver(scope) {
  const cockpit = scope.locator('[data-fleet-cockpit][data-ready=yes]').first()
  await cockpit.waitFor()
  const slider = cockpit.locator('[data-lever=checkpoint]')
  return {
    cockpit,
    policy: (name) => cockpit.locator('.choice label', { hasText: name }).click(),
    flip: (name) => cockpit.locator(`label.switch:has([data-lever=${name}])`).click(),
    slide: (key) => slider.press(key),
    // A range input takes a value from a script as from a drag.
    time: (ms) => cockpit.locator('[data-lever=time]').evaluate((el, ms) => { el.value = ms; el.dispatchEvent(new Event('input', { bubbles: true })) }, ms),
    shown: () => shown(cockpit),
  }
}

// Moves each lever, and after every move compares all that is shown.
async function moveEveryLever(scope) {
  const drive = await driver(scope)
  const at = { policy: 'FCFS', preempt: false, defrag: false, checkpoint: 3 * hour }
  let seen = await drive.shown()
  assert.equal(seen.time, arrival, 'the cockpit opens when the big job arrives')
  assertShows(seen, at, arrival)
  const check = async () => assertShows(await drive.shown(), at, arrival)

  await drive.policy('Best-Fit'); at.policy = 'Best-Fit'; await check()
  await drive.policy('Preemption'); at.policy = 'Preemption'; await check()
  seen = await drive.shown()
  assert.deepEqual(seen.preempt, { checked: true, disabled: true }, 'the policy Preemption implies the switch')
  assert.match(seen.go, /c\.Policy = fleet\.Preemption/)
  await drive.policy('FCFS'); at.policy = 'FCFS'; await check()
  await drive.flip('preempt'); at.preempt = true; await check()
  await drive.flip('preempt'); at.preempt = false; await check()
  await drive.flip('defrag'); at.defrag = true; await check()
  for (const checkpoint of steps.slice(5)) { await drive.slide('ArrowRight'); at.checkpoint = checkpoint; await check() }
  for (const checkpoint of steps.slice(0, 7).reverse()) { await drive.slide('ArrowLeft'); at.checkpoint = checkpoint; await check() }
  assert.match((await drive.shown()).go, /c\.Defrag = true\nc\.Checkpoint = (1 \* )?time\.Minute/)
  for (const checkpoint of steps.slice(1, 5)) { await drive.slide('ArrowRight'); at.checkpoint = checkpoint }
  await drive.flip('preempt'); at.preempt = true; await check()
  await drive.flip('preempt'); at.preempt = false
  for (const t of instants) {
    await drive.time(t)
    assertShows(await drive.shown(), at, t)
  }
  await drive.time(arrival)
  await drive.flip('defrag')
  return drive
}

for (const baseUrl of ['/', '/user/a/']) {
  test(`Act I in JupyterLab at ${baseUrl}${baseUrl === '/' ? '' : ' (H2)'}: every lever shows what fleet computes`, async (t) => {
    const lab = await startLab({ notebooks: { 'act1.ipynb': actI }, baseUrl })
    t.after(() => lab.stop())
    const page = await newPage(browser, { width: 1500, height: 1200 })
    t.after(() => page.close())
    await openNotebook(page, lab, 'act1.ipynb')
    await runAll(page)
    const drive = await moveEveryLever(await outputOf(page, cells.cockpit))
    if (baseUrl !== '/') {
      for (const theme of ['light', 'dark']) {
        await setTheme(page, theme)
        for (const [name, i] of Object.entries(cells)) await screenshot(await outputOf(page, i), `act1-${name}-${theme}`)
      }
      // The saved notebook keeps the limits of size, and reopens with live levers, for it is trusted here.
      await save(page)
      const saved = await lab.notebook('act1.ipynb')
      const size = (i) => JSON.stringify(saved.cells.filter((c) => c.cell_type === 'code')[i].outputs).length
      assert.ok(size(cells.cockpit) < 600_000, `the cockpit's output takes ${size(cells.cockpit)} bytes`)
      assert.ok(size(cells.setup) < 1_200_000, `Init's output takes ${size(cells.setup)} bytes`)
      await openNotebook(page, lab, 'act1.ipynb')
      const again = await driver(await outputOf(page, cells.cockpit))
      await again.policy('Best-Fit')
      assertShows(await again.shown(), { policy: 'Best-Fit', preempt: false, defrag: false, checkpoint: 3 * hour }, arrival)
    } else {
      await everySettingIsRight(t, drive)
    }
    assert.deepEqual(page.errors.filter((e) => !/favicon|Failed to load resource/.test(e)), [])
  })
}

// All 112 settings, and how long a lever takes to answer.
async function everySettingIsRight(t, drive) {
  let slowest = 0
  for (const policy of ['FCFS', 'Best-Fit', 'EASY', 'Preemption']) {
    for (const preempt of policy === 'Preemption' ? [true] : [false, true]) {
      for (const defrag of [false, true]) {
        for (const [k, checkpoint] of steps.entries()) {
          const took = await drive.cockpit.evaluate((host, [policy, preempt, defrag, place]) => {
            const ui = host.shadowRoot, set = (el, kind) => el.dispatchEvent(new Event(kind, { bubbles: true }))
            const radio = ui.querySelector(`[data-policy="${policy}"]`), tau = ui.querySelector('[data-lever=checkpoint]')
            for (const [name, on] of [['preempt', preempt], ['defrag', defrag]]) {
              const box = ui.querySelector(`[data-lever=${name}]`)
              if (!box.disabled && box.checked !== on) { box.checked = on; set(box, 'change') }
            }
            tau.value = place; set(tau, 'input')
            const began = performance.now()
            radio.checked = true; set(radio, 'change')
            return performance.now() - began
          }, [policy, preempt, defrag, Math.log(checkpoint / minute) / Math.log(24 * 60) * 1000])
          slowest = Math.max(slowest, took)
          // The switch keeps its own position under Preemption, where it is implied, so it is set again for each policy.
          if (policy !== 'Preemption') {
            await drive.cockpit.evaluate((host, on) => {
              const box = host.shadowRoot.querySelector('[data-lever=preempt]')
              if (box.checked !== on) { box.checked = on; box.dispatchEvent(new Event('change', { bubbles: true })) }
            }, preempt)
          }
          assertShows(await drive.shown(), { policy, preempt, defrag, checkpoint: steps[k] }, arrival)
        }
      }
    }
  }
  t.diagnostic(`112 settings; the slowest change of policy took ${slowest.toFixed(1)} ms in the page`)
}

test('Act I saved and opened untrusted (N12): picture and tables instead of levers', async (t) => {
  const saved = await execute(actI)
  const lab = await startLab({ notebooks: { 'saved.ipynb': saved } })
  t.after(() => lab.stop())
  const page = await newPage(browser, { width: 1400, height: 1200 })
  t.after(() => page.close())
  await openNotebook(page, lab, 'saved.ipynb')
  assert.equal(await isTrusted(page), false)
  for (const i of [cells.cockpit, cells.see]) {
    const output = await outputOf(page, i)
    const picture = output.locator('img').first()
    await picture.waitFor()
    const size = await picture.evaluate((img) => [img.naturalWidth, img.getBoundingClientRect().width, img.alt.length])
    assert.ok(size[0] > 100 && size[1] > 100 && size[2] > 10, `the picture of cell ${i} is ${size} (pixels, shown width, letters of its text)`)
    assert.equal(await output.locator('table').first().isVisible(), true)
  }
  const cockpit = await (await outputOf(page, cells.cockpit)).innerText()
  const want = expectedFor({ policy: 'FCFS', preempt: false, defrag: false, checkpoint: 3 * hour })
  for (const figure of ['Lab 08: The Fleet Orchestrator', 'Cloud Titan (Exaflop Scale)', percent(want.fragmentation), percent(want.goodput), '2,038', want.incidents[0].text]) {
    assert.ok(cockpit.includes(figure), `the static form lacks ${figure}`)
  }
  for (const [name, i] of Object.entries(cells)) await screenshot(await outputOf(page, i), `act1-${name}-untrusted`)
  for (const text of await outputTexts(page)) assert.doesNotMatch(text, /panic:|goroutine \d/)
})

test("Act I's outputs, each in a sandboxed frame, as in Colab: the levers move", async (t) => {
  const saved = await execute(actI)
  for (const dark of [false, true]) {
    const page = await newPage(browser, { width: 1100, height: 1200, dark })
    t.after(() => page.close())
    const frame = await renderSandboxed(page, saved, { dark, width: 1000 })
    const drive = await driver(frame(cells.cockpit))
    await drive.policy('Best-Fit')
    assertShows(await drive.shown(), { policy: 'Best-Fit', preempt: false, defrag: false, checkpoint: 3 * hour }, arrival)
    await drive.flip('defrag')
    await drive.slide('ArrowRight')
    assertShows(await drive.shown(), { policy: 'Best-Fit', preempt: false, defrag: true, checkpoint: 6 * hour }, arrival)
    await screenshot(page.locator(`iframe[data-cell="${cells.cockpit}"]`), `act1-cockpit-sandboxed-${dark ? 'dark' : 'light'}`)
    // The chart library went to a frame of its own: the curve falls back to its picture, and the page is not blank.
    const curve = frame(cells.see).locator('img, canvas').first()
    await curve.waitFor()
    await screenshot(page.locator(`iframe[data-cell="${cells.see}"]`), `act1-see-sandboxed-${dark ? 'dark' : 'light'}`)
    assert.deepEqual(page.errors, [])
  }
})
