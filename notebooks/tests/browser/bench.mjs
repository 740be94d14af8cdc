// How fast the cockpit answers in Chromium, against the limits of the lab: a lever in less than 50 ms, and 30 frames a second while
// a run of 16,896 GPUs plays. Run it with make bench; it needs the storybook, which go test ./widgets -run Storybook writes.
// It prints figures and fails nothing: they depend on the machine, and a busy one says little.
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { newPage, openBrowser } from './harness.mjs'

const storybook = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'artifacts', 'storybook')
const limit = { leverMs: 50, frames: 30 }
const stories = { cockpit: 'Act I, 10,000 GPUs', 'cockpit-gamble': 'Act II, 16,896 GPUs', 'cockpit-rescale': 'Act III, 16,384 GPUs' }

// Moves every lever that there is to every position, once cold and then in random order, each after a pause as a person makes one. A time
// runs from the event until the page has been painted.
const levers = (host) => new Promise((done) => {
  const ui = host.shadowRoot, moves = []
  for (const name of ['policy', 'strategy']) {
    for (const r of ui.querySelectorAll(`[data-lever=${name}]`)) moves.push(() => { r.checked = true; r.dispatchEvent(new Event('change', { bubbles: true })) })
  }
  for (const name of ['preempt', 'defrag']) {
    const box = ui.querySelector(`[data-lever=${name}]`)
    if (box) moves.push(() => { if (!box.disabled) { box.checked = !box.checked; box.dispatchEvent(new Event('change', { bubbles: true })) } })
  }
  const tau = ui.querySelector('[data-lever=checkpoint]')
  for (const value of [0, 400, 700, 1000, 560]) moves.push(() => { tau.value = value; tau.dispatchEvent(new Event('input', { bubbles: true })) })
  const times = []
  let seed = 1
  const next = () => {
    if (times.length === 120) return done(times.slice(20)) // the first ones find the code not yet compiled
    seed = seed * 48271 % 2147483647
    const began = performance.now()
    moves[seed % moves.length]()
    const script = performance.now() - began
    requestAnimationFrame(() => setTimeout(() => {
      times.push([script, performance.now() - began])
      setTimeout(next, 120)
    }))
  }
  next()
})

const play = (host) => new Promise((done) => {
  const ui = host.shadowRoot, frames = []
  ui.querySelector('[data-act=play]').click()
  let last = performance.now()
  const tick = (now) => {
    frames.push(now - last)
    last = now
    if (frames.length < 240) return requestAnimationFrame(tick)
    ui.querySelector('[data-act=play]').click()
    done(frames.slice(10))
  }
  requestAnimationFrame(tick)
})

const at = (list, p) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * p))]
const against = (ok) => (ok ? '✓' : '✗')

const browser = await openBrowser()
for (const [story, name] of Object.entries(stories)) {
  const file = join(storybook, `${story}-light.html`)
  if (!existsSync(file)) {
    console.log(`${name}: no storybook; run go test ./widgets -run Storybook first`)
    continue
  }
  const page = await newPage(browser, { width: 1200, height: 1000 })
  await page.goto(pathToFileURL(file).href)
  const cockpit = page.locator('[data-fleet-cockpit][data-ready=yes]')
  await cockpit.waitFor()
  const times = await cockpit.evaluate(levers), script = times.map((t) => t[0]), painted = times.map((t) => t[1])
  const frames = await cockpit.evaluate(play), fps = 1000 * frames.length / frames.reduce((a, b) => a + b)
  console.log(`${name}: a lever answers in ${at(script, 0.5).toFixed(1)} ms (95 %: ${at(script, 0.95).toFixed(1)}, slowest ${at(script, 1).toFixed(1)}), ` +
    `painted after ${at(painted, 0.5).toFixed(1)} (95 %: ${at(painted, 0.95).toFixed(1)}); limit ${limit.leverMs} ms ${against(at(script, 0.95) < limit.leverMs)}; ` +
    `playing ${fps.toFixed(1)} frames a second, slowest frame ${at(frames, 1).toFixed(0)} ms; limit ${limit.frames} ${against(fps >= limit.frames)}`)
  await page.close()
}
await browser.close()
