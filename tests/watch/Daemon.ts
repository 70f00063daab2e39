/** The bundled `berth-watch` as a separate process, and the events and messages that it prints. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { TestServer } from "@berthkit/server/testing"
import { type Ended, Program } from "@berthkit/testing/Program"
import { Effect } from "effect"
import { settingsOf } from "../account.ts"

const binary = fileURLToPath(new URL("../../apps/watch/bin/berth-watch.mjs", import.meta.url))

const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

export class Daemon {
  readonly program: Program
  readonly #folder: string

  constructor(args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, input = "") {
    this.#folder = mkdtempSync(join(tmpdir(), "berth-watch-"))
    // Variables with which a daemon shares nothing with other processes. A test may override them.
    const own = {
      BERTH_ALLOWANCE_FILE: "off",
      BERTH_WATCH_LISTEN: "127.0.0.1:0",
      BERTH_WATCH_STORE: join(this.#folder, "watch.db")
    }
    this.program = Program.ofNode(binary, args, { env: { ...own, ...env }, input })
  }

  /** Starts the daemon with an account of the service under test. The daemon ends with the scope. */
  static readonly start = Effect.fnUntraced(function* (
    args: ReadonlyArray<string>,
    env: Readonly<Record<string, string>> = {},
    input = ""
  ) {
    const settings = settingsOf(yield* TestServer)
    return yield* Effect.acquireRelease(
      Effect.sync(() => new Daemon(args, { ...settings, ...env }, input)),
      (daemon) => Effect.promise(() => daemon[Symbol.asyncDispose]())
    )
  })

  /** Waits for the ready line, and parses it. */
  async ready(): Promise<{ readonly http: string | null; readonly store: string; readonly accounts: Array<string> }> {
    return JSON.parse(await this.program.printed(/^\{.*\n/m, "stderr"))
  }

  /** Waits until the daemon knows the existing nodes. */
  baseline(): Promise<string> {
    return this.event("berth.watch.baseline")
  }

  /** Waits for the first event of this type. */
  event(type: string): Promise<string> {
    return this.program.printed(new RegExp(`^.*"type":"${type}".*\n`, "m"))
  }

  /** Waits until the daemon has ended. */
  async finished(): Promise<{
    readonly code: Ended["code"]
    readonly stdout: ReadonlyArray<string>
    readonly stderr: ReadonlyArray<string>
  }> {
    const { code, stderr, stdout } = await this.program.ended
    return { code, stdout: lines(stdout), stderr: lines(stderr) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.program[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
