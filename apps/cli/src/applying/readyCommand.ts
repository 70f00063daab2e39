/**
 * `--ready-command`: whether a new node does its work, by a command of the user, which is run again until it exits 0.
 */
import { spawn } from "node:child_process"
import type { Node } from "@berthkit/core/domain/Node"
import { Data, type Duration, Effect, Option, Schedule } from "effect"
import { childEnvironment } from "../settings/childEnvironment.ts"

/** The command did not exit 0 in time. */
export class NotReady extends Data.TaggedError("NotReady")<{ readonly node: Node; readonly code: number }> {}

/** From one run to the next. */
const pauseMillis = 2000

const run = (command: string, { id, name, privateIp, publicIp }: Node): Effect.Effect<number> =>
  Effect.callback<number>((resume) => {
    const child = spawn(command, {
      shell: true,
      // What it prints is for people; stdout is for data alone.
      stdio: ["ignore", 2, 2],
      env: {
        ...childEnvironment(process.env),
        BERTH_NODE_ID: String(id),
        BERTH_NODE_NAME: name,
        BERTH_NODE_IP: publicIp ?? privateIp ?? ""
      }
    })
    child.once("error", () => resume(Effect.succeed(127)))
    child.once("exit", (code) => resume(Effect.succeed(code ?? 1)))
    return Effect.sync(() => child.kill())
  })

/** Runs it until it exits 0. */
export const untilReady = (command: string, node: Node, timeout: Duration.Duration): Effect.Effect<void, NotReady> =>
  Effect.suspend(() => {
    let last = 0
    const once = Effect.flatMap(run(command, node), (code) => {
      last = code
      return code === 0 ? Effect.void : Effect.fail(new NotReady({ node, code }))
    })
    return once.pipe(
      Effect.retry(Schedule.spaced(pauseMillis)),
      Effect.timeoutOption(timeout),
      Effect.flatMap(
        Option.match({ onSome: () => Effect.void, onNone: () => Effect.fail(new NotReady({ node, code: last })) })
      )
    )
  })
