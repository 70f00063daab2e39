// Loads the bundle, and keeps its compiled code in `dist/compiled` with the functions that ran: Node's own cache (`enableCompileCache`) is made
// before they run, and compiling them anew was a third of the time of a short command (decision 0131). The first run of each command
// adds what it compiled. Where the package belongs to another user, or cannot be written, the code is in the user's cache instead.
const fs = require("fs")
const path = require("path")

const dist = path.join(__dirname, "../dist")
// V8 rejects code of another version or of other flags by itself.
const version = `${process.version}-${process.arch}`
const ofPackage = path.join(dist, "compiled", version)

/** The user's folder for what can be made anew. */
const cacheOf = ({ HOME, LOCALAPPDATA, XDG_CACHE_HOME }) => {
  if (XDG_CACHE_HOME && path.isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME
  if (process.platform === "win32") return LOCALAPPDATA
  return HOME && path.join(HOME, process.platform === "darwin" ? "Library/Caches" : ".cache")
}
const cache = cacheOf(process.env)
const ofUser = cache && path.join(cache, "berth", "compiled", version)

/** Compiled code runs as it is: it is taken from a folder that this user alone can write, so that root takes none from a home. */
const isOwn = () => {
  if (!ofUser) return false
  if (!process.getuid) return true
  try {
    const folder = fs.lstatSync(ofUser)
    return folder.isDirectory() && folder.uid === process.getuid() && (folder.mode & 0o022) === 0
  } catch {
    return false
  }
}

/** Which command runs: words of its own alone, because any other may be a name. */
const command = process.argv
  .slice(2, 4)
  .filter((word) => /^[a-z_]{1,20}$/.test(word))
  .join(" ")

/**
 * The compiled code of a file, and the commands that it was kept for; undefined if there is none. The file has the code twice, because V8
 * does not check what it reads, and crashes if it is damaged. No sum is as fast as comparing two copies.
 */
const readIn = (folder, name) => {
  try {
    const kept = fs.readFileSync(path.join(folder, name))
    const end = kept.indexOf("\n")
    const commands = kept.toString("latin1", 0, end).split(",")
    const half = (kept.length + end + 1) / 2
    const code = kept.subarray(end + 1, half)
    return code.equals(kept.subarray(half)) ? { commands, code } : undefined
  } catch {
    return undefined
  }
}

/** That of the package, unless it was kept for other commands alone, and the user's for this one. */
const read = (name) => {
  const first = readIn(ofPackage, name)
  if (first !== undefined && first.commands.includes(command)) return first
  const second = isOwn() ? readIn(ofUser, name) : undefined
  return second !== undefined && (first === undefined || second.commands.includes(command)) ? second : first
}

/** Whole or not at all. */
const writeIn = (folder, name, commands, code) => {
  const draft = path.join(folder, `${name}.${process.pid}`)
  const header = Buffer.from(`${commands.join(",")}\n`)
  try {
    fs.writeFileSync(draft, Buffer.concat([header, code, code]), { flush: true })
    fs.renameSync(draft, path.join(folder, name))
  } catch (error) {
    fs.rmSync(draft, { force: true })
    throw error
  }
}

const keptMillis = 30 * 86_400_000

/** Removes what versions that are gone have left: a version that is still used compiles its code anew once in a while. */
const removeOld = (folder) => {
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name))
  const written = files.map((file) => fs.statSync(file).mtimeMs)
  // The newest was written just now.
  const now = Math.max(...written)
  files.filter((_, i) => now - written[i] > keptMillis).forEach((file) => fs.rmSync(file))
}

/** Writes what was compiled to the first folder that takes it. */
const write = (all) => {
  try {
    fs.mkdirSync(ofPackage, { recursive: true })
    for (const each of all) writeIn(ofPackage, ...each)
  } catch {
    if (!ofUser) return
    fs.mkdirSync(ofUser, { recursive: true, mode: 0o700 })
    if (!isOwn()) return
    for (const each of all) writeIn(ofUser, ...each)
    removeOld(ofUser)
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
  const { code, commands } = (isHashed(name) ? read(name) : undefined) ?? { commands: [] }
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
    write(scripts.map(({ name, script, commands }) => [name, [...commands, command], script.createCachedData()]))
  } catch {
    // As where the user has no home that can be written: then each start compiles.
  }
})

// Others than Node keep compiled code in their own way, or not at all.
if (process.versions.deno || process.versions.bun) require("../dist/main.cjs")
else load("main.cjs")
