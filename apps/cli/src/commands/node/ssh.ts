/**
 * `berth node ssh`: runs the user's ssh at the public address of a node, and ends with its exit code.
 */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { command } from "../command.ts"
import { argumentsFrom, flagOr, text } from "../../commandLine/Parameter.ts"
import { ProgramEnded, UsageFault } from "../../failure/CliFailure.ts"
import { publicAddress } from "../../nodes/reachedHosts.ts"
import { oneNode } from "../../nodes/Target.ts"
import { childEnvironment, shellCode } from "../../settings/childEnvironment.ts"
import { client } from "../../settings/client.ts"

export const userFlag = flagOr(
  "user",
  text("USER", (user) => /^[A-Za-z_][\w.-]*$/.test(user), "expected the name of a user"),
  "Who to log in as; default root",
  "root"
)

const flags = {
  node: oneNode,
  words: argumentsFrom(0, "COMMAND", text(""), "What to run there; default a shell"),
  user: userFlag
}

/** Runs ssh with the streams of this process; the code is that of a shell where a signal has ended it. */
const runSsh = (args: ReadonlyArray<string>): Effect.Effect<number, UsageFault> =>
  Effect.callback<number, UsageFault>((resume) => {
    const child = spawn("ssh", args, { stdio: "inherit", env: childEnvironment(process.env) })
    child.once("error", (error: NodeJS.ErrnoException) =>
      resume(
        new UsageFault({
          message: `ssh cannot be run: ${error.code === "ENOENT" ? "it is not on the PATH" : error.message}.`,
          hint: "Install an ssh client; berth node ip prints the address."
        })
      )
    )
    child.once("exit", (code, signal) => resume(Effect.succeed(shellCode(code, signal))))
    return Effect.sync(() => child.kill())
  })

export const ssh = command(
  flags,
  Effect.fnUntraced(function* ({ node: given, user, words }) {
    const { address } = yield* publicAddress(given)
    const code = yield* runSsh([`${user}@${address}`, ...words])
    if (code !== 0) return yield* new ProgramEnded({ code })
  }),
  client
)
