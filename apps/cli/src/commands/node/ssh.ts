/**
 * `berth node ssh`: runs the user's ssh at the public address of a node, and ends with its exit code.
 */
import { spawn } from "node:child_process"
import { constants } from "node:os"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ProgramEnded, UsageFault } from "../../failure/CliFailure.ts"
import { publicAddress } from "../../nodes/publicAddress.ts"
import { oneNode } from "../../nodes/Target.ts"
import { childEnvironment } from "../../settings/childEnvironment.ts"
import { client } from "../../settings/client.ts"

const flags = {
  node: oneNode,
  command: Argument.String("COMMAND").pipe(
    Argument.withMetavar(""),
    Argument.withDescription("What to run there, after --; default a shell"),
    Argument.atLeast(0)
  ),
  user: Flag.String("user").pipe(
    Flag.withMetavar("USER"),
    Flag.withDescription("Who to log in as; default root"),
    Flag.filter(
      (user) => /^[A-Za-z_][\w.-]*$/.test(user),
      () => "expected the name of a user"
    ),
    Flag.withDefault("root")
  )
}

/** Runs ssh with the streams of this process; the code is that of a shell where a signal has ended it. */
const runSsh = (args: ReadonlyArray<string>): Effect.Effect<number, UsageFault> =>
  Effect.callback<number, UsageFault>((resume) => {
    const child = spawn("ssh", args, { stdio: "inherit", env: childEnvironment(process.env) })
    child.once("error", (error: NodeJS.ErrnoException) =>
      resume(
        new UsageFault({
          message: `ssh cannot be run: ${error.code === "ENOENT" ? "there is none on the PATH" : error.message}.`,
          hint: "Install an ssh client; berth node ip prints the address."
        })
      )
    )
    child.once("exit", (code, signal) =>
      resume(Effect.succeed(code ?? 128 + (signal === null ? 0 : constants.signals[signal])))
    )
    return Effect.sync(() => child.kill())
  })

export const ssh = Command.make(
  "ssh",
  flags,
  Effect.fnUntraced(function* ({ command, node: given, user }) {
    const { address } = yield* publicAddress(given)
    const code = yield* runSsh([`${user}@${address}`, ...command])
    if (code !== 0) return yield* new ProgramEnded({ code })
  })
).pipe(Command.withDescription("Log in to a node with ssh"), Command.provide(client))
