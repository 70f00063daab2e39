/** The bundled program as a process of its own, and what it writes. */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { fileURLToPath } from "node:url"

const binary = fileURLToPath(new URL("../../bin/berth-watch.mjs", import.meta.url))

/** The lines of a stream, as they come. */
class Lines {
  readonly all: Array<string> = []
  readonly ended: Promise<unknown>
  #grown = Promise.withResolvers<void>()

  constructor(stream: Readable) {
    const reader = createInterface(stream)
    this.ended = once(reader, "close").then(() => this.#grown.resolve())
    reader.on("line", (line) => {
      this.all.push(line)
      this.#grown.resolve()
      this.#grown = Promise.withResolvers()
    })
  }

  /** The first line that matches, once there is one. */
  async first(matches: (line: string) => boolean): Promise<string> {
    for (let seen = 0; ; seen++) {
      while (seen >= this.all.length) {
        const length = this.all.length
        await Promise.race([this.#grown.promise, this.ended])
        if (this.all.length === length) throw new Error(`no such line among ${JSON.stringify(this.all)}`)
      }
      if (matches(this.all[seen]!)) return this.all[seen]!
    }
  }
}

export class Daemon {
  readonly process: ChildProcessByStdio<null, Readable, Readable>
  readonly exit: Promise<number | null>
  readonly stderr: Lines
  #stdout: Lines | undefined

  constructor(args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) {
    this.process = spawn(process.execPath, [binary, ...args], {
      // Shares nothing with any other process, unless the test sets it.
      env: { PATH: process.env["PATH"], BERTH_ALLOWANCE_FILE: "off", ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.exit = once(this.process, "close").then(([code]) => code)
    this.stderr = new Lines(this.process.stderr)
  }

  /** The lines of stdout. They are not read before this is used. */
  get stdout(): Lines {
    this.#stdout ??= new Lines(this.process.stdout)
    return this.#stdout
  }

  /** The ready line, parsed. */
  async ready(): Promise<unknown> {
    return JSON.parse(await this.stderr.first((line) => line.startsWith("{")))
  }

  /** Reads everything to the end. */
  async finished(): Promise<{
    readonly code: number | null
    readonly stdout: ReadonlyArray<string>
    readonly stderr: ReadonlyArray<string>
  }> {
    const { stdout } = this
    const code = await this.exit
    return { code, stdout: stdout.all, stderr: this.stderr.all }
  }

  kill(): void {
    this.process.kill("SIGKILL")
  }
}
