// Proves the harness on a small notebook: a cell that prints, and one whose HTML is enhanced by a script.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  execute, isTrusted, newPage, openBrowser, openNotebook, outputOf, outputTexts, renderSandboxed, runAll, runCell, save, screenshot,
  setTheme, startLab,
} from './harness.mjs'

const cell = (id, source) => ({ id, cell_type: 'code', metadata: {}, execution_count: null, outputs: [], source })
const html = '<p class=\\"probe\\">still</p><script>document.currentScript.parentElement.querySelector(\\".probe\\").textContent = \\"alive\\"</script>'
const notebook = {
  nbformat: 4,
  nbformat_minor: 5,
  metadata: { kernelspec: { name: 'gonb', language: 'go', display_name: 'Go (gonb)' } },
  cells: [
    cell('a', 'import "fmt"\n%%\nfmt.Println("six times seven:", 6*7)'),
    { id: 'b', cell_type: 'markdown', metadata: {}, source: '# Between' },
    cell('c', `%noautoget\nimport "github.com/janpfeifer/gonb/gonbui"\n%%\ngonbui.DisplayHTML("${html}")`),
  ],
}

let browser
before(async () => { browser = await openBrowser() })
after(() => browser?.close())

for (const baseUrl of ['/', '/user/a/']) {
  test(`runs a notebook in JupyterLab at ${baseUrl}`, async (t) => {
    const lab = await startLab({ notebooks: { 'deep/probe.ipynb': notebook }, baseUrl })
    t.after(() => lab.stop())
    const page = await newPage(browser)
    t.after(() => page.close())

    await openNotebook(page, lab, 'deep/probe.ipynb')
    await runAll(page)
    assert.match((await outputTexts(page))[0], /six times seven: 42/)
    assert.equal(await (await outputOf(page, 0)).locator('pre').innerText(), 'six times seven: 42\n')
    assert.equal(await (await outputOf(page, 1)).locator('.probe').innerText(), 'alive')
    await runCell(page, 0)

    for (const theme of ['light', 'dark']) {
      await setTheme(page, theme)
      await screenshot(page, `harness-${theme}`)
    }
    await save(page)
    assert.match(JSON.stringify((await lab.notebook('deep/probe.ipynb')).cells[0].outputs), /42/)
    assert.ok(await isTrusted(page), 'a notebook that was run here is trusted')
  })
}

test('a failing cell ends runAll with its message, or is awaited', async (t) => {
  const lab = await startLab({ notebooks: { 'broken.ipynb': { ...notebook, cells: [cell('a', '%%\npanic("on purpose")'), cell('b', '%%\nprintln(1)')] } } })
  t.after(() => lab.stop())
  const page = await newPage(browser)
  t.after(() => page.close())
  await openNotebook(page, lab, 'broken.ipynb')
  await assert.rejects(runAll(page), /code cell 0 failed: .*on purpose/s)
  await runAll(page, { allowErrors: true })
  assert.match((await outputTexts(page))[0], /on purpose/)
})

test('opens a saved notebook untrusted, and its outputs without scripts in JupyterLab, with scripts in a sandboxed frame', async (t) => {
  const saved = await execute(notebook)
  const lab = await startLab({ notebooks: { 'saved.ipynb': saved } })
  t.after(() => lab.stop())
  const page = await newPage(browser)
  t.after(() => page.close())
  await openNotebook(page, lab, 'saved.ipynb')
  assert.equal(await isTrusted(page), false)
  assert.equal(await (await outputOf(page, 1)).locator('.probe').innerText(), 'still')

  const frame = await renderSandboxed(page, saved)
  assert.equal(await frame(1).locator('.probe').innerText(), 'alive')
  await assert.rejects(page.frames()[1].evaluate(() => window.parent.document.title), /cross-origin|SecurityError/)
})
