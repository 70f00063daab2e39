/** Another person's project, in a folder outside the repository, with functions that install packages and run programs there. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type Ended, Program } from "@berthkit/testing/Program"
import type { Registry } from "./Registry.ts"
import { type Manager, managers } from "./runtimes.ts"

const tsc = join(import.meta.dirname, "../../node_modules/.bin/tsc")

const strict = {
  target: "es2024",
  // The platform types `AbortSignal` and `URL`.
  lib: ["es2024", "esnext.disposable", "dom"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  noEmit: true
}

/** Imports every entry of the packages, and prints those that fail. */
const importing = `
import { readFileSync } from "node:fs"
for (const name of process.argv.slice(2)) {
  const { exports } = JSON.parse(readFileSync("node_modules/" + name + "/package.json", "utf8"))
  for (const entry of Object.keys(exports)) {
    const options = entry.endsWith(".json") ? { with: { type: "json" } } : undefined
    await import(name + entry.slice(1), options).catch((error) => console.log(name + entry.slice(1), error.code))
  }
}`

/** How packages get into a project. */
interface InstallOptions {
  /** Default: npm. */
  readonly manager?: Manager
  /** A registry with the packages of Berth. Default: only the machine's registry. */
  readonly registry?: Registry
}

interface BinaryOptions {
  /** Variables in addition to those that every program needs. */
  readonly env?: Readonly<Record<string, string>>
  readonly runtime?: Runtime
}

/** The runtime, with the arguments before the program. */
type Runtime = readonly [command: string, ...args: ReadonlyArray<string>]

const ownNode: Runtime = [process.execPath]

export class Project {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /**
   * A project in which `packages` are installed: tarballs, or names with versions. Packages of Berth come from `registry`. Rejects with the
   * errors of the package manager.
   */
  static async with(packages: ReadonlyArray<string>, options: InstallOptions = {}): Promise<Project> {
    const { manager = "npm", registry } = options
    const project = new Project(await mkdtemp(join(tmpdir(), "berth-install-")))
    await project.write("package.json", JSON.stringify({ private: true, type: "module" }))
    if (registry !== undefined) await project.write(".npmrc", `@berthkit:registry=${registry.url}/\n`)
    const [command, ...args] = managers[manager]
    const { code, stderr } = await project.#run(command, [...args, ...packages])
    if (code === 0) return project
    await project[Symbol.asyncDispose]()
    throw new Error(stderr)
  }

  /** The names and errors of the packages' entries that cannot be imported; empty if all can. */
  async entriesThatFail(packages: ReadonlyArray<string>, runtime?: Runtime): Promise<string> {
    const { stderr, stdout } = await this.evaluate(importing, runtime, packages)
    return `${stdout}${stderr}`
  }

  /** Runs a module from its source text. */
  async evaluate(source: string, runtime?: Runtime, args?: ReadonlyArray<string>): Promise<Ended> {
    await this.write("evaluated.mjs", source)
    return this.runProgram("evaluated.mjs", runtime, args)
  }

  /** Copies a program into the project. */
  async add(program: URL): Promise<void> {
    await copyFile(program, join(this.folder, basename(program.pathname)))
  }

  /** Adds a module that exports every entry of the packages, so that the compiler reads all of their types. */
  async addEveryEntry(packages: ReadonlyArray<string>): Promise<void> {
    const manifests = await Promise.all(packages.map((name) => this.manifestOf(name)))
    const entries = manifests.flatMap(({ exports, name }) =>
      Object.keys(exports as object).map((entry) => `${String(name)}${entry.slice(1)}`)
    )
    const modules = entries.filter((entry) => !entry.endsWith(".json"))
    const text = modules.map((entry, index) => `export * as entry${index} from "${entry}"\n`).join("")
    await this.write("everyEntry.ts", text)
  }

  runProgram(name: string, [command, ...before]: Runtime = ownNode, args: ReadonlyArray<string> = []): Promise<Ended> {
    return this.#run(command, [...before, name, ...args])
  }

  /** The compiler's report about the programs of the project. `lib` names the libraries that it knows. */
  async typeFaults(resolution: "nodenext" | "bundler", lib: ReadonlyArray<string> = strict.lib): Promise<string> {
    const module = resolution === "nodenext" ? "nodenext" : "esnext"
    const compilerOptions = { ...strict, lib, module, moduleResolution: resolution }
    await this.write("tsconfig.json", JSON.stringify({ compilerOptions, include: ["*.ts"] }))
    return (await this.#run(tsc, ["-p", "."])).stdout
  }

  /** Runs a CommonJS script from its source text. */
  async require(source: string, runtime: Runtime = ownNode): Promise<Ended> {
    await this.write("required.cjs", source)
    return this.runProgram("required.cjs", runtime)
  }

  /** Runs an installed binary. */
  binary(name: string, args: ReadonlyArray<string>, { env, runtime = ownNode }: BinaryOptions = {}): Program {
    const [command, ...before] = runtime
    const path = join(this.folder, "node_modules/.bin", name)
    return new Program(command, [...before, path, ...args], {
      cwd: this.folder,
      env: { XDG_STATE_HOME: this.folder, ...env }
    })
  }

  async manifestOf(name: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(join(this.folder, "node_modules", name, "package.json"), "utf8"))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Adds a file. */
  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.folder, name), text)
  }

  #run(command: string, args: ReadonlyArray<string>): Promise<Ended> {
    // The caches of Bun and Deno are valid for only one registry, because another registry has other packages with the same names.
    const caches = { BUN_INSTALL_CACHE_DIR: `${this.folder}/.cache/bun`, DENO_DIR: `${this.folder}/.cache/deno` }
    const env = { ...process.env, ...caches, NO_COLOR: "1" }
    return new Program(command, args, { cwd: this.folder, env, timeoutMillis: 240_000 }).ended
  }
}
