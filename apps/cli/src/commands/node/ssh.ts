/**
 * `berth node ssh`: runs the user's ssh with the public address of a node, and exits with its code.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { argumentsFrom, flagOr, text } from "../../commandLine/Parameter.ts"
import { ProgramEnded, type UsageFault } from "../../failure/CliFailure.ts"
import { publicAddress } from "../../nodes/reachedHosts.ts"
import { oneNode } from "../../nodes/Target.ts"
import { client } from "../../settings/client.ts"
import { cannotRun, ensureProgram, startProgram } from "../../settings/startProgram.ts"

export const userFlag = flagOr(
  "user",
  text("USER", (user) => /^[A-Za-z_][\w.-]*$/.test(user), "expected the name of a user"),
  "User to log in as; default root",
  "root"
)

const flags = {
  node: oneNode,
  words: argumentsFrom(0, "COMMAND", text(""), "What to run there; default a shell"),
  user: userFlag
}

const hint = "Install an ssh client; berth node ip prints the address."

/** Runs ssh with the streams of this process. If a signal ended ssh, the code is the one that a shell would return. */
const runSsh = (args: ReadonlyArray<string>): Effect.Effect<number, UsageFault> =>
  Effect.andThen(
    ensureProgram("ssh", hint),
    Effect.callback<number, UsageFault>((resume) => {
      const program = startProgram(["ssh", ...args])
      program.ended.then(
        (code) => resume(Effect.succeed(code)),
        (error: Error) => resume(Effect.fail(cannotRun("ssh", error.message, hint)))
      )
      return Effect.sync(() => program.signal("SIGTERM"))
    })
  )

export const ssh = command(
  flags,
  Effect.fnUntraced(function* ({ node: given, user, words }) {
    const { address } = yield* publicAddress(given)
    const code = yield* runSsh([`${user}@${address}`, ...words])
    if (code !== 0) return yield* new ProgramEnded({ code })
  }),
  client
)
