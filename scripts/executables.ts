// Builds each program as a single file for machines without Node: a copy of the Node that runs this script, with the bundle and its assets
// inside.
//
//   node scripts/executables.ts [FOLDER]    build into FOLDER (by default `dist/executables`), for this platform
import { execFileSync } from "node:child_process"
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { type App, apps, bundleInto } from "./bundle.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

const run = (command: string, ...args: ReadonlyArray<string>): void => {
  execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] })
}

const build = async (app: App, into: string, work: string): Promise<string> => {
  const home = `apps/${app}`
  const { bin } = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"))
  const output = join(into, `${Object.keys(bin)[0]}${process.platform === "win32" ? ".exe" : ""}`)
  const bundle = join(work, app)
  await bundleInto(bundle, home, { main: "src/main.ts" }, { chunks: "one" })
  const config = {
    main: join(bundle, "main.mjs"),
    mainFormat: "module",
    output,
    disableExperimentalSEAWarning: true,
    useCodeCache: true,
    assets: Object.fromEntries(globSync("*.{css,html,js}", { cwd: bundle }).map((name) => [name, join(bundle, name)]))
  }
  writeFileSync(join(work, `${app}.json`), JSON.stringify(config))
  run(process.execPath, "--build-sea", join(work, `${app}.json`))
  // Sign the program again, because macOS refuses a program whose signature belongs to another file.
  if (process.platform === "darwin") run("codesign", "--force", "--sign", "-", output)
  return output
}

/** Builds the named programs, by default all, into a folder; returns the paths of the executables. */
export const buildExecutables = async (
  into: string,
  wanted: ReadonlyArray<App> = apps
): Promise<ReadonlyArray<string>> => {
  mkdirSync(into, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), "berth-executables-"))
  try {
    const built: Array<string> = []
    for (const app of wanted) built.push(await build(app, into, work))
    return built
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const into = resolve(process.argv[2] ?? join(root, "dist/executables"))
  for (const path of await buildExecutables(into)) console.log(path)
}
