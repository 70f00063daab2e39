// Packs the published packages: a tarball of each, and next to it a folder with the same content.
//
//   node scripts/pack.ts [FOLDER]    pack into FOLDER (by default `dist/packages`)
import { execFileSync } from "node:child_process"
import { copyFileSync, cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { apps, bundleInto } from "./bundle.ts"
import { packPages } from "./pages.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

type Exports = Readonly<Record<string, string | Readonly<Record<string, string>>>>

interface Manifest {
  readonly name: string
  readonly version: string
  readonly exports: Exports
  /** The fields that replace those of the workspace in a published manifest. */
  readonly publishConfig: { readonly exports: Exports }
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))

/**
 * The fields that a published manifest takes over from the workspace's. Others, such as `scripts`, `private` and the
 * dependencies, mean nothing outside the workspace.
 */
const published = [
  "name",
  "version",
  "description",
  "keywords",
  "license",
  "repository",
  "type",
  "sideEffects",
  "bin",
  "engines"
]

/** The published manifest of a workspace. */
export const publishedManifest = ({ publishConfig, ...manifest }: Manifest, further: object = {}): object => {
  const same = Object.entries(manifest).filter(([field]) => published.includes(field))
  return { ...Object.fromEntries(same), ...publishConfig, ...further }
}

const writeManifest = (folder: string, manifest: Manifest, further: object = {}): void => {
  const text = JSON.stringify(publishedManifest(manifest, further), null, 2)
  writeFileSync(join(folder, "package.json"), `${text}\n`)
}

/** The facts about a bundled package that users must know. */
interface Bundled {
  readonly name: string
  readonly version: string
  readonly license: string
  readonly text: string
}

/** The packages from npm that these bundled modules belong to. */
const bundledIn = (modules: ReadonlyArray<string>): ReadonlyArray<Bundled> => {
  const homes = new Set(
    modules.flatMap((path) => /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.slice(1) ?? [])
  )
  return Array.from(homes, (home) => {
    const { license, name, version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"))
    const file = ["LICENSE", "LICENSE.md", "license", "LICENSE.txt"].map((file) => join(home, file)).find(existsSync)
    return { license, name, version, text: file === undefined ? "" : readFileSync(file, "utf8").trim() }
  }).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The name of a package in a bill of materials. */
const purl = ({ name, version }: { readonly name: string; readonly version: string }): string =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`

/**
 * Writes the licenses of the bundled packages, because the licenses themselves require it, and a bill of materials with the
 * packages' versions (CycloneDX).
 */
const writeBundled = (folder: string, manifest: Manifest, modules: ReadonlyArray<string>): void => {
  const bundled = bundledIn(modules)
  const licenses = bundled.map(({ license, name, text, version }) => `${name} ${version} (${license})\n\n${text}\n`)
  writeFileSync(join(folder, "LICENSES-OF-BUNDLED-PACKAGES"), licenses.join(`\n${"-".repeat(80)}\n\n`))
  const { name, version } = manifest
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: { component: { type: "library", name, version, purl: purl(manifest), "bom-ref": purl(manifest) } },
    components: bundled.map(({ license, name, version }) => ({
      type: "library",
      name,
      version,
      purl: purl({ name, version }),
      "bom-ref": purl({ name, version }),
      licenses: [{ license: { id: license } }]
    }))
  }
  writeFileSync(join(folder, "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`)
}

/** Compiles modules and declarations into `folder`, with the same layout as in the repository. */
const compile = (folder: string): void => {
  const tsc = (...args: ReadonlyArray<string>) =>
    execFileSync(join(root, "node_modules/.bin/tsc"), [...args, "--outDir", folder], { stdio: "inherit" })
  tsc("-p", join(root, "scripts/tsconfig.pack.json"))
  // The declarations of the control plane's types are generated, so that tests without Effect need not install it.
  const printed = join(folder, "apps/server/src/testing/promise/ControlTypes.ts")
  writeFileSync(printed, execFileSync(process.execPath, [join(root, "apps/server/scripts/controlTypes.ts")]))
  tsc(printed, "--declaration", "--emitDeclarationOnly", "--ignoreConfig", "--rootDir", folder)
}

const specifier = /(\bfrom\s*"|\bimport\s*\(?\s*")([^"]+)"/g

/** A line of code, and no line of a docstring: the examples in docstrings import what only their readers need. */
const codeLine = /^(?!\s*\*).*$/gm

/**
 * The compiled file, without its extension, that a specifier in the file `from` names. Undefined if it is in another
 * package.
 */
const targetOf = (compiled: string, from: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return join(dirname(from), specifier).replace(/\.[jt]s$/, "")
  const [, name, entry] = /^@berthkit\/([a-z-]+)\/(.+)$/.exec(specifier) ?? []
  if (entry === undefined) return undefined
  const source = manifestOf(`packages/${name}`).exports[`./${entry}`]
  return join(compiled, `packages/${name}`, String(source)).replace(/\.ts$/, "")
}

/**
 * Copies compiled files and everything that they import from the folder `from` below `compiled` to the folder `to`. It also
 * rewrites specifiers, because the compiler leaves `.ts` and the names of workspaces in declarations.
 */
const copyWithImports = (
  compiled: string,
  entries: ReadonlyArray<string>,
  extension: ".js" | ".d.ts",
  [from, to]: readonly [from: string, to: string]
): void => {
  const waiting = [...entries]
  const seen = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const target = join(to, relative(from, `${path}${extension}`))
    // If a bundle exists there, it already contains its imports.
    if (seen.has(path) || (extension === ".js" && existsSync(target))) continue
    seen.add(path)
    const rewritten = (line: string): string =>
      line.replaceAll(specifier, (whole, start, name) => {
        const imported = targetOf(compiled, path, name)
        if (imported === undefined) return whole
        waiting.push(imported)
        const step = relative(dirname(path), imported)
        return `${start}${step.startsWith(".") ? step : `./${step}`}.js"`
      })
    const text = readFileSync(`${path}${extension}`, "utf8").replaceAll(codeLine, rewritten)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
}

/** The files that `exports` name, without their extension. */
const modulesOf = (exports: Exports): ReadonlyArray<string> =>
  Object.values(exports).flatMap((path) =>
    typeof path === "string" && path.endsWith(".js") ? [path.slice(0, -".js".length)] : []
  )

/**
 * The `browser` field. It replaces the code that reads files, shares state through files, reads the environment or knows the error codes
 * of the system, because a page has none of these. Every bundler reads this field, and only for browsers. The alternative, conditions
 * in `imports`, does not work: some bundlers do not know them, and others use Node's conditions for a browser.
 */
const inPages = (dist: string): Readonly<Record<string, string>> => {
  const replaced = [
    ["AccountFolder-*", "withoutFiles"],
    ["OwnProcesses-*", "withoutFiles"],
    ["codes-*", "withoutCodes"],
    ["environment-*", "withoutEnvironment"]
  ].map(([name, stand]) => {
    const [file, ...others] = globSync(`${name}.js`, { cwd: dist })
    if (file === undefined || others.length > 0) throw new Error(`${dist} has not one file of ${name}`)
    return [`./dist/${file}`, `./dist/${stand}.js`] as const
  })
  return Object.fromEntries(replaced)
}

/** Fills the package of the client. Returns further fields for its manifest. */
const fillCore = async (folder: string, compiled: string, manifest: Manifest): Promise<object> => {
  const dist = join(folder, "dist")
  // The promise client contains Effect, so its users need not install it. All entries share one copy, so that each error has
  // only one class. The errors are in a separate file, so that a page that only checks an error or a status loads nothing
  // else. The code for a state directory is in separate files, because a page cannot have a state directory.
  const bundled = await bundleInto(
    dist,
    "packages/core",
    {
      promise: "src/promise.ts",
      withoutCodes: "src/promise/withoutCodes.ts",
      withoutEnvironment: "src/promise/withoutEnvironment.ts",
      withoutFiles: "src/promise/withoutFiles.ts"
    },
    {
      platform: "neutral",
      extension: ".js",
      hasLines: true,
      isSmall: true,
      chunks: [
        // The modules that `browser` replaces for pages have to be separate files.
        {
          name: "light",
          test: /promise\/(?:BerthError|Failure|reasons|isKnownStatus)\.ts$|domain\/knownStatuses\.ts$/
        },
        { name: "environment", test: /promise\/fromEnvironment\.ts$/ },
        { name: "codes", test: /(?:domain\/fileReason|transport\/connectionFault)\.ts$/ },
        { name: "client", test: /core\/src\/promise\.ts$/ }
      ]
    }
  )
  writeBundled(folder, manifest, bundled)
  const sources = join(compiled, "packages/core/src")
  const entries = modulesOf(manifest.publishConfig.exports).map((path) => join(sources, relative("dist", path)))
  for (const extension of [".js", ".d.ts"] as const) copyWithImports(compiled, entries, extension, [sources, dist])
  copyFileSync(join(root, "packages/core/openapi.json"), join(folder, "openapi.json"))
  return { browser: inPages(dist) }
}

const fillServer = async (folder: string, compiled: string, manifest: Manifest): Promise<void> => {
  const home = "apps/server"
  const dist = join(folder, "dist")
  const entries = { main: "src/main.ts", promise: "src/testing/promise.ts" }
  const first = { name: "requireNode", test: /testing\/promise\/requireNode\.ts$/ }
  const modules = await bundleInto(dist, home, entries, { hasLines: true, chunks: [first] })
  // These entries import Effect, because tests with Effect pass their own copy of it to the service.
  const withEffect = { external: /^node:|^effect(?:\/|$)/, hasLines: true }
  const forEffect = await bundleInto(join(dist, "testing"), home, { testing: "src/testing.ts" }, withEffect)
  writeBundled(folder, manifest, [...modules, ...forEffect])
  const typed = ["testing", "testing/promise"].map((name) => join(compiled, home, "src", name))
  copyWithImports(compiled, typed, ".d.ts", [compiled, join(dist, "types")])
}

const fillWatch = async (folder: string, compiled: string, manifest: Manifest): Promise<void> => {
  const home = "apps/watch"
  const dist = join(folder, "dist")
  // The entry for receivers of events runs on any platform and contains no code of the daemon.
  const receive = { platform: "neutral", extension: ".js", hasLines: true, chunks: "one" } as const
  await bundleInto(dist, home, { receive: "src/receive.ts" }, receive)
  writeBundled(folder, manifest, await bundleInto(dist, home, { main: "src/main.ts" }))
  const sources = join(compiled, home, "src")
  copyWithImports(compiled, [join(sources, "receive")], ".d.ts", [sources, dist])
  copyFileSync(join(root, home, "events.json"), join(folder, "events.json"))
}

/** Files and folders that a package takes over unchanged from its workspace. `operate` is for people who run the daemon. */
const ownFiles = ["bin", "operate", "CHANGELOG.md"]

const fill = async (folder: string, home: string, compiled: string): Promise<void> => {
  const manifest = manifestOf(home)
  mkdirSync(folder, { recursive: true })
  let further = {}
  if (home === "packages/core") further = await fillCore(folder, compiled, manifest)
  else if (home === "apps/server") await fillServer(folder, compiled, manifest)
  else if (home === "apps/watch") await fillWatch(folder, compiled, manifest)
  else writeBundled(folder, manifest, await bundleInto(join(folder, "dist"), home, { main: "src/main.ts" }))
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"))
  for (const own of ownFiles) {
    if (existsSync(join(root, home, own))) cpSync(join(root, home, own), join(folder, own), { recursive: true })
  }
  packPages(root, folder, home)
  writeManifest(folder, manifest, further)
}

export const publishedHomes = ["packages/core", ...apps.map((app) => `apps/${app}`)]

/** Packs a filled folder; returns the path of the tarball. */
export const packFolder = (folder: string): string => {
  const args = ["pack", folder, "--json", "--pack-destination", dirname(folder)]
  const [{ filename }] = JSON.parse(
    execFileSync("npm", args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
  )
  return join(dirname(folder), filename)
}

/**
 * Fills a folder for each published package. The folder is in `into`, and has the package's name without `@berthkit/`.
 * Returns the paths of the folders.
 */
export const fillPackages = async (into: string): Promise<ReadonlyArray<string>> => {
  rmSync(into, { recursive: true, force: true })
  const compiled = join(into, "compiled")
  compile(compiled)
  const folders: Array<string> = []
  for (const home of publishedHomes) {
    const folder = join(into, manifestOf(home).name.replace("@berthkit/", ""))
    await fill(folder, home, compiled)
    folders.push(folder)
  }
  rmSync(compiled, { recursive: true })
  return folders
}

if (import.meta.main) {
  const into = resolve(process.argv[2] ?? join(root, "dist/packages"))
  for (const folder of await fillPackages(into)) console.log(packFolder(folder))
}
