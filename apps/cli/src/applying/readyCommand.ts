/**
 * `--ready-command`: whether a new node does its work, by a command of the user, which is run again until it exits 0.
 */
import type { ChildProcess } from "node:child_process"
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, Data, Duration, Effect, Option, Schedule } from "effect"
import { addressOf, hostOf } from "../inventory/Host.ts"
import { childEnvironment } from "../settings/childEnvironment.ts"

/** The command did not exit 0 in time; null where it did not end. */
class NotReady extends Data.TaggedError("NotReady")<{ readonly code: number | null }> {}

/** From one run to the next. */
const pauseMillis = 2000

/** On Windows there are no groups of processes to end. */
const isGrouped = process.platform !== "win32"

/** Ends the command with all that its shell has started. */
const end = ({ pid }: ChildProcess) => {
  if (pid === undefined) return
  try {
    process.kill(isGrouped ? -pid : pid, "SIGTERM")
  } catch {
    // It has ended.
  }
}

/** Few runs need it, and all would wait for it. */
const loaded = Effect.promise(() => import("node:child_process"))

const run = (command: string, node: Node): Effect.Effect<number> =>
  Effect.flatMap(loaded, ({ spawn }) =>
    Effect.callback<number>((resume) => {
      const child = spawn(command, {
        shell: true,
        detached: isGrouped,
        // What it prints is for people; stdout is for data alone.
        stdio: ["ignore", 2, 2],
        env: {
          ...childEnvironment(process.env),
          BERTH_NODE_ID: String(node.id),
          BERTH_NODE_NAME: node.name,
          // What is no address could become an option of another program.
          BERTH_NODE_IP: addressOf(hostOf(node)) ?? ""
        }
      })
      child.once("error", () => resume(Effect.succeed(127)))
      child.once("exit", (code) => resume(Effect.succeed(code ?? 1)))
      return Effect.sync(() => end(child))
    })
  )

/** A run that hangs is ended after this time at the earliest. */
const minRunMillis = 60_000

/** Runs it until it exits 0, at least once, and not again once the time is over. */
export const untilReady = (command: string, node: Node, timeout: Duration.Duration): Effect.Effect<void, NotReady> => {
  const limit = Duration.max(timeout, Duration.millis(minRunMillis))
  const once = run(command, node).pipe(
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
