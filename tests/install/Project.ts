/** A project of other people's, in a folder outside the repository: what npm installs there, and what runs on it. */
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type Ended, Program } from "@berth/testing/Program"

const tsc = join(import.meta.dirname, "../../node_modules/.bin/tsc")

const strict = {
  target: "es2024",
  // Of the platform, `AbortSignal` and `URL`.
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
for (const name of process.argv.slice(1)) {
  const { exports } = JSON.parse(readFileSync("node_modules/" + name + "/package.json", "utf8"))
  for (const entry of Object.keys(exports)) {
    const options = entry.endsWith(".json") ? { with: { type: "json" } } : undefined
    await import(name + entry.slice(1), options).catch((error) => console.log(name + entry.slice(1), error.code))
  }
}`

export class Project {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  /** A project in which npm has installed `packages`: tarballs, and names with versions. Rejects with npm's errors. */
  static async with(packages: ReadonlyArray<string>): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), "berth-install-")))
    await writeFile(join(project.folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", "--loglevel=error"]
    const { code, stderr } = await project.#run("npm", ["install", ...flags, ...packages])
    if (code === 0) return project
    await project[Symbol.asyncDispose]()
    throw new Error(stderr)
  }

  /** Names and errors of the entries of the packages that Node cannot import; nothing when it imports them all. */
  async entriesThatFail(packages: ReadonlyArray<string>): Promise<string> {
    const { stderr, stdout } = await this.#run(process.execPath, ["--input-type=module", "-e", importing, ...packages])
    return `${stdout}${stderr}`
  }

  /** Runs a module given by its source. */
  evaluate(source: string): Promise<Ended> {
    return this.#run(process.execPath, ["--input-type=module", "-e", source])
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
    await writeFile(join(this.folder, "everyEntry.ts"), text)
  }

  runProgram(name: string): Promise<Ended> {
    return this.#run(process.execPath, [name])
  }

  /** What the compiler reports about the programs of the project. */
  async typeFaults(resolution: "nodenext" | "bundler"): Promise<string> {
    const module = resolution === "nodenext" ? "nodenext" : "esnext"
    const compilerOptions = { ...strict, module, moduleResolution: resolution }
    await writeFile(join(this.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }))
    return (await this.#run(tsc, ["-p", "."])).stdout
  }

  /** A binary that npm has linked. */
  binary(name: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Program {
    const path = join(this.folder, "node_modules/.bin", name)
    return Program.ofNode(path, args, { cwd: this.folder, env: { XDG_STATE_HOME: this.folder, ...env } })
  }

  async manifestOf(name: string): Promise<Record<string, unknown>> {
    return JSON.parse(await readFile(join(this.folder, "node_modules", name, "package.json"), "utf8"))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }

  #run(command: string, args: ReadonlyArray<string>): Promise<Ended> {
    return new Program(command, args, { cwd: this.folder, timeoutMillis: 60_000 }).ended
  }
}
