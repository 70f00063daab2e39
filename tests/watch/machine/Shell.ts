/** A shell that runs one command after the other. All processes that it has started end with it. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { Effect } from "effect"

/** The line between the outputs of two commands. */
const end = "--- end of the command"

export class Shell {
  readonly #child: ChildProcessWithoutNullStreams

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdout.setEncoding("utf8")
  }

  static scoped(cwd: string, env: NodeJS.ProcessEnv) {
    return Effect.acquireRelease(
      // The shell gets its own process group, so that the whole group can be ended.
      Effect.sync(() => new Shell(spawn("bash", ["-s"], { cwd, env, detached: true, stdio: "pipe" }))),
      (shell) => Effect.promise(() => shell.#end())
    )
  }

  /** Runs a command and returns its stdout. */
  run(command: string): Promise<string> {
    const { stdin, stdout } = this.#child
    const { promise, resolve } = Promise.withResolvers<string>()
    let printed = ""
    const take = (text: string) => {
      printed += text
      const at = printed.indexOf(end)
      if (at < 0) return
      stdout.off("data", take)
      resolve(printed.slice(0, at))
    }
    stdout.on("data", take)
    stdin.write(`${command}\necho; echo '${end}'\n`)
    return promise
  }

  async #end(): Promise<void> {
    const exited = once(this.#child, "exit")
    process.kill(-this.#child.pid!, "SIGKILL")
    await exited
  }
}
