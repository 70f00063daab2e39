/**
 * `berth node wait`: until nodes have a status, or are gone.
 */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { client } from "../../config/client.ts"
import { durationFlag } from "../../config/duration.ts"
import { printOutcomes } from "../../output/outcomeView.ts"
import { withProgress } from "../../output/progress.ts"
import { someNodes } from "../../target/NodeArgument.ts"
import { failIfSomeFailed, forEachNode, nameOf } from "../../target/NodeOutcome.ts"
import { resolveNodes } from "../../target/resolve.ts"
import { resumable, waitFor } from "../../target/waitFor.ts"

/** What can be waited for: every status a node can come to, and its end. */
const goals = ["running", "created", "power-off", "terminate", "deleted"] as const

const flags = {
  nodes: someNodes,
  goal: Flag.Literals("for", goals).pipe(
    Flag.withMetavar("STATUS"),
    Flag.withDescription("What to wait for; default running"),
    Flag.withDefault<(typeof goals)[number]>("running")
  ),
  timeout: durationFlag("timeout").pipe(Flag.withDescription("Longest time to wait; default 10m"), Flag.optional)
}

export const wait = Command.make(
  "wait",
  flags,
  Effect.fnUntraced(function* ({ goal, nodes: given, timeout }) {
    const resolution = yield* resolveNodes(given)
    const outcomes = yield* withProgress(goal, (tell) =>
      forEachNode(resolution, (found) =>
        Effect.map(waitFor({ id: found.id, name: nameOf(found) }, { goal, timeout }, tell), (node) => ({
          outcome: goal as string,
          node
        }))
      )
    ).pipe(resumable(given, { goal, timeout }))
    yield* printOutcomes(outcomes, resolution.single)
    yield* failIfSomeFailed(outcomes)
  })
).pipe(Command.withDescription("Wait until nodes have a status"), Command.provide(client))
