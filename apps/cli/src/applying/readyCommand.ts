/**
 * `--ready-command`: runs the user's command again and again until it exits with 0. Exit code 0 means that a new node works.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, Data, Duration, Effect, Option, Schedule } from "effect"
import { addressOf, hostOf } from "../inventory/Host.ts"

/** The command did not exit with 0 in time. The code is null if the last run of the command did not end. */
class NotReady extends Data.TaggedError("NotReady")<{ readonly code: number | null }> {}

/** The pause between two runs. */
const pauseMillis = 2000

/** Loaded on demand, because few runs need it. */
const loaded = Effect.promise(() => import("../settings/startProgram.ts"))

/** Fails if the command cannot be run. Berth checks this before it creates a node for the command. */
export const ensureReadyCommand = (command: string) =>
  Effect.flatMap(loaded, ({ ensureShellCommand }) =>
    ensureShellCommand(command, "--ready-command", "Correct it: a shell runs it in the folder in which you run berth.")
  )

const run = (command: string, node: Node): Effect.Effect<number> =>
  Effect.flatMap(loaded, ({ startShell }) =>
    Effect.callback<number>((resume) => {
      const program = startShell(command, {
        // Its output is for people; stdout is only for data.
        stdio: ["ignore", 2, 2],
        isBackground: true,
        variables: {
          BERTH_NODE_ID: String(node.id),
          BERTH_NODE_NAME: node.name,
          // Pass on only an IP address: any other text could become an option of a program that the command runs.
          BERTH_NODE_IP: addressOf(hostOf(node)) ?? ""
        }
      })
      program.ended.then(
        (code) => resume(Effect.succeed(code)),
        () => resume(Effect.succeed(127))
      )
      // This also ends every process that the shell has started.
      return Effect.sync(() => program.signal("SIGTERM"))
    })
  )

/** A run of the command that hangs is stopped after this time, or after the timeout if that is longer. */
const minRunMillis = 60_000

/**
 * Runs the command until it exits 0 or the time has run out, but at least once. Before each repetition, `later` reads the node again,
 * because its public address may come late.
 */
export const untilReady = <R = never>(
  command: string,
  first: Node,
  timeout: Duration.Duration,
  later: Effect.Effect<Node, unknown, R> = Effect.succeed(first)
): Effect.Effect<void, NotReady, R> => {
  const limit = Duration.max(timeout, Duration.millis(minRunMillis))
  let node = first
  let runs = 0
  const once = Effect.suspend(() =>
    runs++ === 0 ? Effect.succeed(node) : Effect.orElseSucceed(later, () => node)
  ).pipe(
    Effect.flatMap((read) => run(command, (node = read))),
    Effect.timeoutOption(limit),
    Effect.flatMap((code) =>
      Option.contains(code, 0) ? Effect.void : Effect.fail(new NotReady({ code: Option.getOrNull(code) }))
    )
  )
  return Effect.flatMap(Clock.currentTimeMillis, (startedAt) =>
    Effect.retry(once, {
      schedule: Schedule.spaced(pauseMillis),
      while: () => Effect.map(Clock.currentTimeMillis, (now) => now - startedAt < Duration.toMillis(timeout))
    })
  )
}
