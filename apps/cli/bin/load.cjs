// Loads the bundle, and keeps its compiled code in `dist/compiled` with the functions that ran: Node's own cache (`enableCompileCache`) is made
// before they run, and compiling them anew was a third of the time of a short command (decision 0131). The first run of each command
// adds what it compiled.
const fs = require("fs")
const path = require("path")

const dist = path.join(__dirname, "../dist")
// V8 rejects code of another version or of other flags by itself.
const compiled = path.join(dist, "compiled", `${process.version}-${process.arch}`)

/** Which command runs: words of its own alone, because any other may be a name. */
const command = process.argv
  .slice(2, 4)
  .filter((word) => /^[a-z_]{1,20}$/.test(word))
  .join(" ")

/** Of every byte: V8 does not check what it reads, and crashes where it is damaged. Loading zlib takes longer than a small file does. */
const sumOf = (code) => {
  if (code.length > 2 ** 18) return String(require("zlib").crc32(code))
  const words = new Int32Array(Math.ceil(code.length / 4))
  new Uint8Array(words.buffer).set(code)
  let sum = code.length
  for (let at = 0; at < words.length; at++) sum = (Math.imul(sum, 31) + words[at]) | 0
  return String(sum)
}

/** The code of a file, behind a line with its sum and the commands that it was kept for. */
const read = (name) => {
  try {
    const kept = fs.readFileSync(path.join(compiled, name))
    const end = kept.indexOf("\n")
    const [sum, ...commands] = kept.toString("latin1", 0, end).split(",")
    const code = kept.subarray(end + 1)
    if (sum === sumOf(code)) return { commands, code }
  } catch {
    // There is none.
  }
  return { commands: [] }
}

/** Whole or not at all. */
const write = (name, commands, code) => {
  const draft = path.join(compiled, `${name}.${process.pid}`)
  const header = Buffer.from(`${[sumOf(code), ...commands].join(",")}\n`)
  try {
    fs.writeFileSync(draft, Buffer.concat([header, code]), { flush: true })
    fs.renameSync(draft, path.join(compiled, name))
  } catch (error) {
    fs.rmSync(draft, { force: true })
    throw error
  }
}

const isHashed = (name) => /-[\w-]{8}\.cjs$/.test(name)

const files = new Map()
const scripts = []

const load = (name) => {
  const known = files.get(name)
  if (known !== undefined) return known.exports
  const { Script } = require("vm")
  const filename = path.join(dist, name)
  const begin = "(function (exports, require, module, __filename) {"
  // A bundle is in ASCII.
  const source = `${begin}${fs.readFileSync(filename, "latin1")}\n})`
  // V8 compares no more than the length, so that only the code of files with a hash in their name is kept.
  const { code, commands } = isHashed(name) ? read(name) : { commands: [] }
  const script = new Script(source, { filename, columnOffset: -begin.length, cachedData: code })
  const usable = code !== undefined && !script.cachedDataRejected
  if (isHashed(name) && !(usable && commands.includes(command))) {
    scripts.push({ name, script, commands: usable ? commands : [] })
  }
  const module = { exports: {} }
  files.set(name, module)
  const requireBeside = (id) => (id.startsWith("./") ? load(id.slice(2)) : require(id))
  script.runInThisContext()(module.exports, requireBeside, module, filename)
  return module.exports
}

process.on("exit", (exitCode) => {
  if (exitCode !== 0 || scripts.length === 0) return
  try {
    fs.mkdirSync(compiled, { recursive: true })
    for (const { commands, name, script } of scripts) write(name, [...commands, command], script.createCachedData())
  } catch {
    // As where the package belongs to another user: then each start compiles.
  }
})

// Others than Node keep compiled code in their own way, or not at all.
if (process.versions.deno || process.versions.bun) require("../dist/main.cjs")
else load("main.cjs")
