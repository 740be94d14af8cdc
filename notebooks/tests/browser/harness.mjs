// Drives the project's own JupyterLab in Chromium, for the tests in *.test.mjs (run by make test, or
// `node --test notebooks/tests/browser/` after `make setup` and `npm ci` in this folder).
//
//   const lab = await startLab({ notebooks: { 'x.ipynb': path or notebook object }, baseUrl: '/user/a/' })
//       A JupyterLab of its own: a temporary folder with copies of the notebooks, a free port, a token, fresh Jupyter folders.
//       lab.url, lab.folder, lab.log() (what the server printed), lab.notebook('x.ipynb') (the saved file, parsed), await lab.stop()
//   const browser = await openBrowser()          Chromium; close it with browser.close()
//   const page = await newPage(browser, { width: 1280, height: 900, dark: false })
//       page.errors lists what the page threw and logged as errors. `dark` sets the system's preference, not JupyterLab's theme.
//   await openNotebook(page, lab, 'x.ipynb', { classic: false })
//       Opens it in a clean workspace of JupyterLab, or in Notebook 7, and waits for its kernel.
//   await runAll(page, { allowErrors: false })   runs all cells; returns when each code cell has run and the kernel is idle.
//       JupyterLab stops at a cell that fails: then runAll throws its message, or returns if errors are allowed.
//   await runCell(page, i)                       runs code cell i (from 0) and waits for it
//   const output = await outputOf(page, i)       locator of the output area of code cell i, scrolled into view
//   await outputTexts(page)                      the text of each code cell's outputs, from JupyterLab's model (not from the DOM)
//   await save(page)                             saves the notebook
//   await isTrusted(page)                        whether JupyterLab trusts all cells (scripts run only then)
//   await setTheme(page, 'dark' or 'light')      JupyterLab's own theme
//   await screenshot(pageOrLocator, 'name')      into artifacts/name.png
//   await execute(path or notebook, { allowErrors })   runs it headless with nbclient; returns the notebook with outputs.
//       Given to startLab this is an untrusted notebook, as one from git, nbgitpuller or a grader.
//   const frame = await renderSandboxed(page, notebook, { dark, width })
//       Shows each code cell's outputs in <iframe sandbox="allow-scripts" srcdoc>, one frame per cell, as Colab does;
//       frame(i) is the frame locator of code cell i. Nothing is shared between frames, and there is no kernel.
//
// Code cells are counted from 0 and markdown cells are not counted.

import { spawn, execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile, copyFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { existsSync, rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const python = join(root, '.venv', 'bin', 'python')
const artifacts = join(root, 'artifacts')
const runTimeoutMs = 120_000

const browserFlags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
]

// Folders in which Jupyter and the kernel find nothing of the user's, and leave nothing.
async function apart() {
  const home = await mkdtemp(join(tmpdir(), 'fleetlab home '))
  const path = [dirname(python), process.env.PATH].join(delimiter) // nbgrader finds its own programs there
  const env = { ...process.env, HOME: home, PATH: path, JUPYTER_PREFER_ENV_PATH: '1' }
  const folders = {
    JUPYTER_CONFIG_DIR: 'config', JUPYTER_DATA_DIR: 'data', JUPYTER_RUNTIME_DIR: 'runtime', IPYTHONDIR: 'ipython',
    JUPYTERLAB_SETTINGS_DIR: 'settings', JUPYTERLAB_WORKSPACES_DIR: 'workspaces',
  }
  for (const [name, folder] of Object.entries(folders)) {
    env[name] = join(home, folder)
    await mkdir(env[name])
  }
  return { home, env }
}

async function writeNotebook(target, source) {
  await mkdir(dirname(target), { recursive: true })
  if (typeof source === 'string') await copyFile(source, target)
  else await writeFile(target, JSON.stringify(source))
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

export async function startLab({ notebooks = {}, baseUrl = '/' } = {}) {
  if (!existsSync(python)) throw new Error('there is no .venv: run make setup first')
  const { home, env } = await apart()
  const folder = await mkdtemp(join(tmpdir(), 'fleetlab lab '))
  for (const [name, source] of Object.entries(notebooks)) await writeNotebook(join(folder, name), source)

  const [port, token] = [await freePort(), 'fleetlab-test']
  const server = spawn(python, [
    '-m', 'jupyterlab', '--no-browser', '--allow-root', `--ServerApp.root_dir=${folder}`, '--ServerApp.ip=127.0.0.1',
    `--ServerApp.port=${port}`, '--ServerApp.port_retries=0', `--ServerApp.base_url=${baseUrl}`,
    `--IdentityProvider.token=${token}`, '--LabApp.expose_app_in_browser=True',
    '--JupyterNotebookApp.expose_app_in_browser=True',
  ], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  server.stdout.on('data', (data) => { printed += data })
  server.stderr.on('data', (data) => { printed += data })
  const killServer = () => { try { process.kill(-server.pid, 'SIGKILL') } catch { /* it has ended */ } }
  process.once('exit', killServer)

  const lab = {
    url: `http://127.0.0.1:${port}${baseUrl}`,
    token,
    folder,
    log: () => printed,
    notebook: async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')),
    stop: async () => {
      if (server.exitCode === null && server.signalCode === null) {
        server.kill('SIGTERM') // the server ends its kernels first
        await Promise.race([once(server, 'exit'), new Promise((done) => setTimeout(done, 15_000).unref())])
      }
      killServer()
      process.removeListener('exit', killServer)
      for (const made of [home, folder]) await rm(made, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
  const until = Date.now() + 60_000
  for (;;) {
    const answer = await fetch(`${lab.url}api/status?token=${token}`).catch(() => null)
    if (answer?.ok) return lab
    if (Date.now() > until || server.exitCode !== null) {
      await lab.stop()
      throw new Error(`JupyterLab did not start:\n${printed}`)
    }
    await new Promise((done) => setTimeout(done, 200))
  }
}

export async function openBrowser() {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
  const executablePath = process.env.CHROMIUM || places.find((path) => existsSync(path))
  if (!executablePath) throw new Error('there is no Chromium: make test installs it, or name one in CHROMIUM')
  const home = await mkdtemp(join(tmpdir(), 'fleetlab browser '))
  const env = { ...process.env, HOME: home }
  const browser = await chromium.launch({ executablePath, headless: true, args: browserFlags, env }) // with a fresh user-data-dir
  process.once('exit', () => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
  return browser
}

export async function newPage(browser, { width = 1280, height = 900, dark = false } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light' })
  page.setDefaultTimeout(30_000)
  page.errors = []
  page.on('pageerror', (error) => page.errors.push(String(error)))
  page.on('console', (message) => { if (message.type() === 'error') page.errors.push(message.text()) })
  return page
}

export async function openNotebook(page, lab, name, { classic = false } = {}) {
  const path = name.split('/').map(encodeURIComponent).join('/')
  await page.goto(`${lab.url}${classic ? 'notebooks' : 'lab/tree'}/${path}?reset&token=${lab.token}`)
  await page.waitForFunction((name) => {
    const panel = window.jupyterapp?.shell.currentWidget
    // GoNB reports no status before its first cell, so an idle kernel is not what to wait for.
    return panel?.context?.path === name && panel.sessionContext?.isReady &&
      panel.sessionContext.session?.kernel?.connectionStatus === 'connected'
  }, name, { timeout: 60_000 })
  await splashGone(page)
}

// JupyterLab covers the page while it starts and while it loads a theme.
async function splashGone(page) {
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' })
}

// Runs a function in the page on the open notebook: of(page, (panel, app, argument) => …, argument).
async function of(page, work, argument) {
  return page.evaluate(`(async () => {
    const app = window.jupyterapp
    return (${work})(app.shell.currentWidget, app, ${JSON.stringify(argument ?? null)})
  })()`)
}

// Runs commands of JupyterLab's, whose promises end with the last cell, and returns what failed.
async function runCommand(page, command, index) {
  const run = of(page, async (panel, app, { command, index }) => {
    const cells = panel.content.widgets.filter((cell) => cell.model.type === 'code')
    if (index !== null) {
      panel.content.deselectAll()
      panel.content.activeCellIndex = panel.content.widgets.indexOf(cells[index])
    }
    await app.commands.execute(command)
    const ran = index === null ? cells : [cells[index]]
    return ran.flatMap((cell) => cell.model.outputs.toJSON().filter((output) => output.output_type === 'error')
      .map((error) => `code cell ${cells.indexOf(cell)} failed: ${error.evalue}\n${JSON.stringify(cell.model.outputs.toJSON())}`))
  }, { command, index })
  const late = new Promise((_, fail) => setTimeout(fail, runTimeoutMs, new Error(`${command} did not end within ${runTimeoutMs / 1000} s`)).unref())
  const failures = await Promise.race([run, late])
  await page.waitForFunction(() => window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status !== 'busy')
  return failures
}

export async function runAll(page, { allowErrors = false } = {}) {
  const failures = await runCommand(page, 'notebook:run-all-cells', null)
  if (failures.length && !allowErrors) throw new Error(failures[0])
  const skipped = await of(page, (panel) => panel.content.widgets.filter((cell) =>
    cell.model.type === 'code' && cell.model.sharedModel.source.trim() && !cell.model.executionCount).length)
  if (skipped && !failures.length) throw new Error(`${skipped} code cells did not run`)
}

export async function runCell(page, i) {
  const failures = await runCommand(page, 'notebook:run-cell', i)
  if (failures.length) throw new Error(failures[0])
}

export async function outputOf(page, i) {
  const index = await of(page, async (panel, app, i) => {
    const cells = panel.content.widgets.filter((cell) => cell.model.type === 'code')
    const index = panel.content.widgets.indexOf(cells[i])
    await panel.content.scrollToItem(index, 'start')
    return index
  }, i)
  const output = page.locator(`.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell[data-windowed-list-index="${index}"] .jp-Cell-outputArea`)
  await output.waitFor()
  return output
}

export async function outputTexts(page) {
  return of(page, (panel) => panel.content.widgets.filter((cell) => cell.model.type === 'code').map((cell) =>
    cell.model.outputs.toJSON().map((output) => {
      if (output.output_type === 'error') return [output.ename, output.evalue, ...output.traceback].join('\n')
      const text = (value) => Array.isArray(value) ? value.join('') : value
      return output.output_type === 'stream' ? text(output.text) : Object.values(output.data).map(text).join('\n')
    }).join('\n')))
}

export async function save(page) {
  await of(page, (panel) => panel.context.save())
}

export async function isTrusted(page) {
  return of(page, (panel) => panel.content.widgets.filter((cell) => cell.model.type === 'code').every((cell) => cell.model.trusted))
}

export async function setTheme(page, theme) {
  const name = theme === 'dark' ? 'JupyterLab Dark' : 'JupyterLab Light'
  await of(page, (panel, app, theme) => app.commands.execute('apputils:change-theme', { theme }).then(() => null), name)
  await page.waitForFunction((name) => document.body.dataset.jpThemeName === name, name)
  await splashGone(page)
}

export async function screenshot(what, name) {
  await mkdir(artifacts, { recursive: true })
  const path = join(artifacts, `${name}.png`)
  await what.screenshot({ path })
  return path
}

export async function execute(source, { allowErrors = false } = {}) {
  const { home, env } = await apart()
  try {
    const path = join(home, 'notebook.ipynb')
    await writeNotebook(path, source)
    const args = ['-m', 'jupyter', 'execute', '--inplace', '--kernel_name=gonb', '--timeout=120', path]
    if (allowErrors) args.push('--allow-errors')
    await promisify(execFile)(python, args, { env, cwd: home, maxBuffer: 1 << 26 })
    return JSON.parse(await readFile(path, 'utf8'))
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

function outputHtml(output) {
  const text = (value) => Array.isArray(value) ? value.join('') : value
  if (output.output_type === 'stream') return `<pre>${escape(text(output.text))}</pre>`
  if (output.output_type === 'error') return `<pre>${escape(output.traceback.join('\n') || output.evalue)}</pre>`
  const data = output.data
  if (data['text/html']) return text(data['text/html'])
  if (data['application/javascript']) return `<script>${text(data['application/javascript'])}</script>`
  if (data['image/svg+xml']) return text(data['image/svg+xml'])
  if (data['image/png']) return `<img src="data:image/png;base64,${text(data['image/png'])}">`
  return `<pre>${escape(text(data['text/plain'] ?? ''))}</pre>`
}

export async function renderSandboxed(page, notebook, { dark = false, width = 1000 } = {}) {
  const [paper, ink] = dark ? ['#1e1e1e', '#eee'] : ['#fff', '#111']
  const frames = notebook.cells.filter((cell) => cell.cell_type === 'code').map((cell, i) => {
    const html = `<!doctype html><html><body style="margin:8px;background:${paper};color:${ink};font-family:sans-serif">` +
      `${cell.outputs.map(outputHtml).join('\n')}</body></html>`
    return `<iframe data-cell="${i}" sandbox="allow-scripts" srcdoc="${html.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" ` +
      `style="width:${width}px;height:${cell.outputs.length ? 900 : 30}px;border:0;display:block"></iframe>`
  })
  await page.setContent(`<!doctype html><body style="margin:0;background:${paper}">${frames.join('\n')}</body>`, { waitUntil: 'load' })
  return (i) => page.frameLocator(`iframe[data-cell="${i}"]`)
}
