/** The bundled `berth-watch` as a process of its own, and the events and messages it prints. */
import { fileURLToPath } from "node:url"
import { type Ended, Program } from "@berth/testing/Program"

const binary = fileURLToPath(new URL("../../apps/watch/bin/berth-watch.mjs", import.meta.url))

const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

export class Daemon {
  readonly program: Program

  constructor(args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) {
    // Shares nothing with any other process, unless the test asks for it.
    this.program = Program.ofNode(binary, args, { env: { BERTH_ALLOWANCE_FILE: "off", ...env } })
  }

  /** Waits for the ready line, and parses it. */
  async ready(): Promise<unknown> {
    return JSON.parse(await this.program.printed(/^\{.*\n/m, "stderr"))
  }

  /** Waits for the first event of this type. */
  event(type: string): Promise<string> {
    return this.program.printed(new RegExp(`^.*"type":"${type}".*\n`, "m"))
  }

  /** Waits for its end. */
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
  }
}
