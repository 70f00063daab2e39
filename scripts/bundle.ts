// Bundles each app's entry point into `apps/<app>/dist/main.mjs`, unless the bundle there still matches the sources. It starts
// no bundle: `apps/<app>/bin/*.mjs` does.
//
//   node scripts/bundle.ts [APP…]    bundle the named apps (by default all) whose sources have changed
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

export const apps = ["cli", "server", "watch"] as const
export type App = (typeof apps)[number]

const isApp = (name: string): name is App => (apps as ReadonlyArray<string>).includes(name)

/**
 * One hash of a bundle's sources: of contents rather than times, because a checkout may set a file's time back.
 * The lockfile stands for the dependencies.
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
  for (const path of [...sources, ...manifests, import.meta.filename].sort()) {
    const content = readFileSync(path)
    hash.update(`${relative(root, path)}\0${content.length}\0`).update(content)
  }
  return hash.digest("hex")
}

/** Bundles `app` unless its bundle matches the sources; returns whether it did. */
export const bundle = async (app: App): Promise<boolean> => {
  const dist = join(root, "apps", app, "dist")
  const stamp = join(dist, "sources.sha256")
  const sources = fingerprint(app)
  if (existsSync(join(dist, "main.mjs")) && existsSync(stamp) && readFileSync(stamp, "utf8") === sources) return false

  await bundleInto(dist, app, { main: "src/main.ts" })
  writeFileSync(stamp, sources)
  return true
}

/**
 * What `berth` answers without Effect (`apps/cli/src/quick.ts`), in one file: each file that is loaded takes a millisecond, and a key
 * press waits for it. Other programs have none of these.
 */
const quickModules =
  /apps\/cli\/(?:package\.json|src\/(?:quick|commands\/(?:tree|Loaded)|output\/Surface|completion\/complete|completion\/CompletionCache|commandLine\/(?!describe\.|Commands\.|Arguments\.|suggestFlags\.).*)\.ts)$|packages\/terminal\/src\/(?:usage|variables|exitCode)\.ts$/

/** Keeps every command of `berth` as data beside its bundle, so that help and completions load no command. */
const describeCommands = (dist: string): void => {
  const described = execFileSync(process.execPath, [join(dist, "main.mjs"), "__describe"], {
    encoding: "utf8",
    env: {}
  })
  writeFileSync(join(dist, "commands.json"), described)
}

/** Bundles entry points of `app`, each by its name and its path there, into the folder `dist`, and removes other bundles from it. */
export const bundleInto = async (dist: string, app: App, entries: Readonly<Record<string, string>>): Promise<void> => {
  const { rolldown } = await import("rolldown")
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(root, "apps", app, path)])),
    platform: "node",
    // A warning means a bundle that breaks elsewhere: an unresolved import, a dropped side effect.
    onLog: (level, log) => {
      if (level === "warn") throw new Error(`bundling ${app}: ${log.message}`)
    }
  })
  const { output } = await build.generate({
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs",
    codeSplitting: {
      groups: [
        { name: "quick", test: quickModules, priority: 2 },
        { name: "shared", minShareCount: 5 }
      ]
    },
    // Stack traces need the names.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } }
  })
  await build.close()

  mkdirSync(dist, { recursive: true })
  // The entry comes last and each file whole, so that a process that starts meanwhile gets the old bundle or the new one.
  for (const file of output.toReversed()) {
    const path = join(dist, file.fileName)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.${process.pid}`, file.type === "chunk" ? file.code : file.source)
    renameSync(`${path}.${process.pid}`, path)
  }
  // Files that the code reads from its own folder.
  for (const asset of globSync("**/*.{css,html,js}", { cwd: join(root, "apps", app, "src") })) {
    copyFileSync(join(root, "apps", app, "src", asset), join(dist, basename(asset)))
  }
  const current = new Set(output.map((file) => file.fileName))
  for (const old of globSync("*.mjs", { cwd: dist })) if (!current.has(old)) rmSync(join(dist, old), { force: true })
  if (app === "cli") describeCommands(dist)
}

if (import.meta.main) {
  const wanted = process.argv.slice(2)
  for (const name of wanted.length === 0 ? apps : wanted) {
    if (!isApp(name)) throw new Error(`no app is named ${name}; the apps are ${apps.join(", ")}`)
    await bundle(name)
  }
}
