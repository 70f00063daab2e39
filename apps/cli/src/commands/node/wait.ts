/**
 * `berth node wait`: until nodes have a status, or are gone.
 */
import { durationFlag } from "@berth/terminal/durationFlag"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { failIfSomeFailed, forEachNode, nameOf, printOutcomes } from "../../nodes/forEachNode.ts"
import { resolveNodes } from "../../nodes/resolve.ts"
import { someNodes } from "../../nodes/Target.ts"
import { resumable, waitFor } from "../../nodes/waitFor.ts"
import { withProgress } from "../../output/progress.ts"
import { client } from "../../settings/client.ts"

/** The goals of a wait: every status that a node can reach, and its end. */
const goals = ["running", "created", "power-off", "terminate", "deleted"] as const

const flags = {
  nodes: someNodes,
  goal: Flag.Literals("for", goals).pipe(
    Flag.withMetavar("STATUS"),
    Flag.withDescription("Status to wait for, or deleted; default running"),
    Flag.withDefault<(typeof goals)[number]>("running")
  ),
  timeout: durationFlag("timeout").pipe(Flag.withDescription("Maximum time to wait; default 10m"), Flag.optional)
}

export const wait = Command.make(
  "wait",
  flags,
  Effect.fnUntraced(function* ({ goal, nodes: given, timeout }) {
    const resolution = yield* resolveNodes(given)
    const outcomes = yield* withProgress(goal, (show) =>
      forEachNode(resolution, (found) =>
        Effect.map(waitFor({ id: found.id, name: nameOf(found) }, { goal, timeout }, show), (node) => ({
          outcome: goal as string,
          node
        }))
      )
    ).pipe(resumable(given, { goal, timeout }))
    yield* printOutcomes(outcomes, resolution.single)
    yield* failIfSomeFailed(outcomes)
  })
).pipe(Command.withDescription("Wait until nodes have a status"), Command.provide(client))
