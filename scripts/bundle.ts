// Bundles each app's entry point into `apps/<app>/dist`, unless the bundle there still matches the sources.
// `apps/<app>/bin/*.mjs` starts a bundle.
//
//   node scripts/bundle.ts [APP…]    bundle the named apps (by default all) whose sources have changed
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

export const apps = ["cli", "server", "watch"] as const
export type App = (typeof apps)[number]

const isApp = (name: string): name is App => (apps as ReadonlyArray<string>).includes(name)

/** Files that determine a bundle apart from its sources. */
const ownFiles = [import.meta.filename]

/**
 * One hash over a bundle's sources. It covers contents rather than times, because a checkout may set a file's time back. The lockfile
 * represents the dependencies.
 */
const fingerprint = (app: App): string => {
  const sources = globSync(["packages/*/src/**/*", `apps/${app}/src/**/*`], { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const manifests = [
    "pnpm-lock.yaml",
    ...globSync("packages/*/package.json", { cwd: root }),
    `apps/${app}/package.json`
  ].map((path) => join(root, path))
  const hash = createHash("sha256")
  for (const path of [...sources, ...manifests, ...ownFiles].sort()) {
    const content = readFileSync(path)
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content)
  }
  return hash.digest("hex")
}

/** Bundles `app` unless its bundle matches the sources. Returns whether it has bundled the app. */
export const bundle = async (app: App): Promise<boolean> => {
  const dist = join(root, "apps", app, "dist")
  const stamp = join(dist, "sources.sha256")
  const sources = fingerprint(app)
  const isBundled = globSync("main.{cjs,mjs}", { cwd: dist }).length > 0 && existsSync(stamp)
  if (isBundled && readFileSync(stamp, "utf8") === sources) return false

  await bundleInto(dist, `apps/${app}`, { main: "src/main.ts" }, app === "server" ? { chunks: chunksOfServer } : {})
  writeFileSync(stamp, sources)
  return true
}

/**
 * Bundles the browser code of a workspace's page into one script and one style sheet in `dist`: `page.js` and `page.css`.
 * Style sheets keep the order in which modules import them. Returns the paths of the bundled modules, or none if the
 * workspace has no page.
 */
const bundlePage = async (dist: string, folder: string): Promise<ReadonlyArray<string>> => {
  const [entry] = globSync(`${folder}/src/**/page/browser/main.tsx`, { cwd: root })
  if (entry === undefined) return []
  const styles: Array<string> = []
  const { rolldown } = await import("rolldown")
  const build = await rolldown({
    cwd: root,
    input: { page: join(root, entry) },
    platform: "browser",
    onLog: refuseWarning(folder),
    plugins: [
      {
        name: "styles",
        load: (path) => (path.endsWith(".css") ? { code: "", moduleSideEffects: true, moduleType: "js" } : undefined),
        // Modules without code are not in the output, and they are loaded in any order, so the order has to come from their imports.
        generateBundle() {
          const seen = new Set<string>()
          const visit = (path: string) => {
            if (seen.has(path)) return
            seen.add(path)
            this.getModuleInfo(path)?.importedIds.forEach(visit)
            if (path.endsWith(".css")) styles.push(path)
          }
          visit(join(root, entry))
        }
      }
    ]
  })
  const { output } = await build.generate({ format: "esm", codeSplitting: false, minify: true })
  await build.close()
  const [{ code, moduleIds }] = output
  const style = styles.map((path) => readFileSync(path, "utf8")).join("\n")
  mkdirSync(dist, { recursive: true })
  // `</script` would end the script early, because the script is inside an HTML document.
  writeWhole(join(dist, "page.js"), code.trim().replaceAll("</script", "<\\/script"))
  writeWhole(join(dist, "page.css"), withoutComments(style))
  return moduleIds
}

const withoutComments = (style: string): string => style.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\s*\n\s*/g, "\n")

/** Writes a file so that nobody sees half of it. */
const writeWhole = (path: string, content: string | Uint8Array): void => {
  writeFileSync(`${path}.${process.pid}`, content)
  renameSync(`${path}.${process.pid}`, path)
}

/** A warning (an unresolved import, a dropped side effect) means that the bundle would break on other machines. */
const refuseWarning = (folder: string) => (level: string, log: { readonly message: string }) => {
  if (level === "warn") throw new Error(`bundling ${folder}: ${log.message}`)
}

/**
 * A file of the bundle. It holds the modules whose paths match `test`, those that an entry loads at once (`$initial`), or
 * those that several others share.
 */
interface Chunk {
  readonly name: string
  readonly test?: RegExp
  readonly tags?: Array<"$initial">
  readonly minShareCount?: number
  readonly priority?: number
}

/**
 * The quick answers of `berth` (`apps/cli/src/quick.ts`), such as completions, are one file. Each further file would take a millisecond
 * to load while the user waits after pressing Tab.
 */
const chunksOfCli: ReadonlyArray<Chunk> = [
  {
    name: "quick",
    test: /^\0rolldown\/runtime\.js$|apps\/cli\/(?:package\.json|src\/(?:quick|commands\/tree|output\/printText|output\/Surface|completion\/complete|completion\/CompletionCache|failure\/outputFault|commandLine\/(?!CommandHelp\.|GlobalSettings\.|Parameter\.).*)\.ts)$|packages\/terminal\/src\/(?:usage|variables|exitCode)\.ts$/,
    priority: 3
  },
  // One file has the code that every command needs; another one (`shared`, below) has the code that at least five commands need.
  {
    name: "program",
    test: /apps\/cli\/src\/(?:cli|settings\/client|output\/print)\.ts$|client\/allowance\/OwnProcesses\.ts$/,
    priority: 2
  },
  // The most frequent command loads what it needs, and not what only other commands share.
  { name: "list", test: /apps\/cli\/src\/commands\/node\/list\.ts$/, priority: 2 },
  // Only commands about fleet files need YAML. A file takes over all modules that its own modules import, so this one comes last:
  // otherwise it would have modules that many commands share, and each of them would load YAML.
  {
    name: "shared",
    minShareCount: 5,
    test: /^(?!.*(?:\/yaml\/|\/(?:ConfigFile|FleetFile|FleetPlace)\.ts$))/,
    priority: 1
  },
  { name: "fleet-file", test: /node_modules\/yaml\/|\/(?:ConfigFile|FleetFile|FleetPlace)\.ts$/ }
]

/**
 * All modules that `berth-server` loads at its start are in one file. Otherwise the modules that it shares with `learn`
 * would be in separate files, and the start would have to read all of these.
 */
const chunksOfServer: ReadonlyArray<Chunk> = [{ name: "server", tags: ["$initial"] }]

/**
 * Loads Node's own modules with `require`, even on demand. `import` reads everything that a module exports, and for that
 * Node loads further modules: streams and promises for `node:fs`, WebCrypto for `node:crypto`, undici for `node:http`.
 */
export const requiringNode = (code: string): string =>
  code.replaceAll(
    /\bimport\(([`"'])(node:[a-z_/]+)\1\)/g,
    (_, __, name: string) => `Promise.resolve(require(${JSON.stringify(name)}))`
  )

/** Makes the code pure ASCII, so that Node need not decode it and V8 keeps one byte for each character instead of two. */
export const inAscii = (code: string): string =>
  code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * Writes files next to the bundle of `berth` with which it need not load any command: the description of every command, for completions and
 * help, and the texts of `answer.ts`.
 */
const describeCommands = async (dist: string, folder: string): Promise<void> => {
  const printed = (command: string) =>
    execFileSync(process.execPath, [join(dist, "main.cjs"), command], { encoding: "utf8", env: {} })
  writeWhole(join(dist, "commands.json"), printed("__describe"))
  const answer = join(dist, "answer")
  await bundleInto(answer, folder, { answer: "src/answer.ts" }, { chunks: "one", extension: ".cjs" })
  writeWhole(join(answer, "answers.json"), printed("__answers"))
}

/** Options of a bundle. The defaults make a self-contained program for Node. */
interface BundleOptions {
  /** `neutral` for a bundle that also runs elsewhere. Default `node`. */
  readonly platform?: "node" | "neutral"
  /** The imports that are not bundled. Default: the imports of Node's own modules. */
  readonly external?: RegExp
  /** The extension of the files. Default `.mjs`. */
  readonly extension?: ".cjs" | ".js" | ".mjs"
  /**
   * Whether the code keeps its lines. Modules that other programs import need this, because for an uncaught error Node prints the whole
   * line that threw it. Default false.
   */
  readonly hasLines?: boolean
  /**
   * `one` puts everything into one file. Otherwise this lists the files other than the entries. Default: only modules that are loaded on
   * demand are in separate files.
   */
  readonly chunks?: "one" | ReadonlyArray<Chunk>
  /** Whether to leave out statements that only read a property, of which Effect's modules have many. Default false. */
  readonly isSmall?: boolean
}

/**
 * Bundles entry points of the workspace in `folder` into the folder `dist`, and removes older bundles from there. `entries`
 * has the path of each entry point by its name. Returns the paths of the bundled modules.
 */
export const bundleInto = async (
  dist: string,
  folder: string,
  entries: Readonly<Record<string, string>>,
  {
    platform = "node",
    external = /^node:/,
    extension = ".mjs",
    hasLines = false,
    chunks,
    isSmall = false
  }: BundleOptions = {}
): Promise<ReadonlyArray<string>> => {
  const isCli = folder === "apps/cli"
  // `apps/cli/bin/load.cjs` loads the bundle of `berth`, so that bundle is CommonJS.
  const isLoaded = isCli && chunks !== "one"
  const suffix = isLoaded ? ".cjs" : extension
  const finished = (code: string) => (isLoaded ? inAscii(requiringNode(code)) : code)
  const { rolldown } = await import("rolldown")
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, folder, path)])),
    platform,
    external,
    // CommonJS has no `import.meta`, so its `env` is replaced by an empty object.
    transform: { define: isLoaded ? { "import.meta.env": "{}" } : {} },
    treeshake: { propertyReadSideEffects: isSmall ? false : "always" },
    onLog: refuseWarning(folder)
  })
  const { output } = await build.generate({
    format: suffix === ".cjs" ? "cjs" : "esm",
    entryFileNames: `[name]${suffix}`,
    chunkFileNames: `[name]-[hash]${suffix}`,
    codeSplitting: chunks !== "one" && { groups: [...(chunks ?? (isCli ? chunksOfCli : []))] },
    // Names are kept for stack traces. If lines are kept, exports keep their names, too, because the package may replace one
    // chunk by another.
    minifyInternalExports: !hasLines,
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: !hasLines } }
  })
  await build.close()

  mkdirSync(dist, { recursive: true })
  // Each file is replaced as a whole, and the entry comes last. So a process that starts in the meantime gets either the old
  // bundle or the new one.
  for (const file of output.toReversed()) {
    const path = join(dist, file.fileName)
    mkdirSync(dirname(path), { recursive: true })
    writeWhole(path, file.type === "chunk" ? finished(file.code) : file.source)
  }
  const ofPage = await bundlePage(dist, folder)
  const current = new Set(output.map((file) => file.fileName))
  for (const old of globSync("*.{cjs,mjs}", { cwd: dist }).filter((name) => !current.has(name))) {
    rmSync(join(dist, old), { force: true })
  }
  if (isLoaded) {
    rmSync(join(dist, "compiled"), { recursive: true, force: true })
    await describeCommands(dist, folder)
  }
  return [...output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : [])), ...ofPage]
}

if (import.meta.main) {
  const wanted = process.argv.slice(2)
  for (const name of wanted.length === 0 ? apps : wanted) {
    if (!isApp(name)) throw new Error(`no app is named ${name}; the apps are ${apps.join(", ")}`)
    await bundle(name)
  }
}
