/**
 * A program as a separate process, for tests of what the program prints, how it ends, and what it leaves behind if it is
 * killed. It ends with the test: by `await using`, or with the scope of `Program.start`.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"

/** How a program ended. */
export interface Ended {
  /** The exit code, or the signal that ended the program. */
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

export interface ProgramOptions {
  /**
   * The program's environment apart from PATH; undefined means a variable that is not set. Default: the environment of the
   * test.
   */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The text on its stdin. Default: none. */
  readonly input?: string
  /** Whether stdin stays open after the input, until the test closes it. Default: false. */
  readonly isInputOpen?: boolean
  readonly cwd?: string
  /** Time after which the program is killed. Default: never. */
  readonly timeoutMillis?: number
}

type Stream = "stdout" | "stderr"

/**
 * The folder in which Node caches compiled sources. Without it, a TypeScript program would spend most of its time compiling
 * Effect.
 */
const NODE_COMPILE_CACHE = fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url))

export class Program {
  readonly child: ChildProcessWithoutNullStreams
  /** Resolves when the program has ended and all its output has been read. */
  readonly ended: Promise<Ended>
  readonly printedOn: Record<Stream, string> = { stdout: "", stderr: "" }
  /** Everything that the program printed on stdout and stderr, in order of arrival. */
  output = ""
  /** Resolves when the program has ended, even if its output has not been read, because a child process may keep the pipes open. */
  readonly #exited: Promise<void>

  constructor(command: string, args: ReadonlyArray<string>, options: ProgramOptions = {}) {
    this.child = spawn(command, args, {
      env: options.env === undefined ? process.env : { PATH: process.env["PATH"], ...options.env },
      cwd: options.cwd,
      stdio: "pipe",
      timeout: options.timeoutMillis,
      killSignal: "SIGKILL"
    })
    // A program may end before it has read its input; that is not a failure of the test.
    this.child.stdin.on("error", () => {}).write(options.input ?? "")
    if (options.isInputOpen !== true) this.child.stdin.end()
    for (const stream of ["stdout", "stderr"] as const) {
      this.child[stream].setEncoding("utf8").on("data", (text: string) => {
        this.printedOn[stream] += text
        this.output += text
      })
    }
    this.#exited = new Promise((resolve) => this.child.once("exit", () => resolve()).once("error", () => resolve()))
    this.ended = new Promise((resolve, reject) => {
      this.child.once("error", reject)
      this.child.once("close", (code, signal) => resolve({ code: code ?? signal ?? 0, ...this.printedOn }))
    })
    this.ended.catch(() => {})
  }

  /** Starts the Node program in a file. */
  static ofNode(path: string, args: ReadonlyArray<string> = [], options: ProgramOptions = {}): Program {
    // The bundles manage their own caches.
    if (!path.endsWith(".ts")) return new Program(process.execPath, [path, ...args], options)
    const env = { NODE_COMPILE_CACHE, ...(options.env ?? process.env) }
    return new Program(process.execPath, [path, ...args], { ...options, env })
  }

  /** Starts a Node program from its source, a module whose imports resolve from `cwd`. */
  static ofSource(source: string, options: ProgramOptions & { readonly cwd: string }): Program {
    const env = { NODE_COMPILE_CACHE, ...(options.env ?? process.env) }
    return new Program(process.execPath, ["--input-type=module", "-e", source], { ...options, env })
  }

  /** Starts a program, and ends it with the scope. */
  static start(make: () => Program) {
    return Effect.acquireRelease(Effect.sync(make), (program) => Effect.promise(() => program[Symbol.asyncDispose]()))
  }

  /** Waits until the output matches, and returns the match. Rejects if the program ends before. */
  async printed(wanted: string | RegExp, on: Stream | "either" = "stdout"): Promise<string> {
    const found = () => {
      const text = on === "either" ? this.output : this.printedOn[on]
      return typeof wanted === "string" ? (text.includes(wanted) ? wanted : undefined) : wanted.exec(text)?.[0]
    }
    const streams = on === "either" ? [this.child.stdout, this.child.stderr] : [this.child[on]]
    const match = Promise.withResolvers<string | undefined>()
    const check = () => {
      const text = found()
      if (text !== undefined) match.resolve(text)
    }
    check()
    for (const stream of streams) stream.on("data", check)
    this.ended.then(() => match.resolve(found()), match.reject)
    try {
      const text = await match.promise
      if (text === undefined) throw new Error(`the program ended without printing ${wanted}: ${this.output}`)
      return text
    } finally {
      for (const stream of streams) stream.off("data", check)
    }
  }

  /** The program's stdout, once it has ended with exit code 0. Rejects if it ends in any other way. */
  async succeeded(): Promise<string> {
    const { code, stderr, stdout } = await this.ended
    if (code !== 0) throw new Error(`the program ended with ${code}: ${stderr}`)
    return stdout
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Sends a signal, and waits until the program has ended. */
  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<Ended> {
    this.child.kill(signal)
    return this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL")
    await this.#exited
  }
}
