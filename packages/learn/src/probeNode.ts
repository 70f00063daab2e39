/**
 * Creates the cheapest node, reads it until it runs, deletes it, and reads until it is gone. The node is deleted however this
 * ends. Its name is saved before the create, so that after a kill the next probe finds and deletes it.
 */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { isQuietElsewhere, isSpelling } from "@berthkit/core/client/creation/Ownership"
import { stampNow } from "@berthkit/core/client/files/Boot"
import { makeOwnFolder, readText, removeFile, replaceDurably } from "@berthkit/core/client/files/StateFiles"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Plans } from "@berthkit/core/client/Plans"
import { RawApi } from "@berthkit/core/client/RawApi"
import { NodeId } from "@berthkit/core/domain/Node"
import type { Plan } from "@berthkit/core/domain/Plan"
import type { Connection } from "@berthkit/terminal/Connection"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Array, Clock, Console, Effect, Exit, Fiber, Option, Schema, Stdio, Terminal } from "effect"
import { StartFailure } from "@berthkit/terminal/StartFailure"
import { Declined } from "./outcomes.ts"

export interface NodeProbe {
  /** Maximum total cost of the node, in rupees. */
  readonly maxChargeInr: number
  /** Whether to create it without asking. */
  readonly isAgreed: boolean
}

const note = (text: string) => Console.error(`berth-server: ${escapeControls(text)}`)

/** The note that is saved before a create, and completed with the node once it is known. */
const LeftOver = Schema.fromJsonString(
  Schema.Struct({
    name: Schema.String.check(Schema.isPattern(/^berth-learn-[0-9a-f]{12}$/)),
    sentAtMillis: Schema.Finite,
    nodeId: Schema.optionalKey(NodeId)
  })
)

const fileOf = ({ files }: Connection): string | undefined =>
  files.folder === undefined ? undefined : `${files.folder}/learn.json`

const decodeLeftOver = Schema.decodeUnknownOption(LeftOver)

const writeDown = (file: string, left: typeof LeftOver.Type) => replaceDurably(file, JSON.stringify(left))

/** None if the file is missing or damaged. */
const readLeftOver = (file: string) =>
  Effect.map(
    Effect.orElseSucceed(readText(file), () => Option.none<string>()),
    Option.flatMap((text) => decodeLeftOver(text))
  )

/** Deletes the node that an earlier probe left behind. Returns whether the create may still make a node. */
export const removeLeftOver = Effect.fnUntraced(function* (connection: Connection) {
  const file = fileOf(connection)
  if (file === undefined) return false
  const left = Option.getOrUndefined(yield* readLeftOver(file))
  if (left === undefined) return false
  const nodes = yield* Nodes
  const { name, nodeId, sentAtMillis } = left
  const withId = (id: NodeId) =>
    Effect.map(nodes.get(id), Array.of).pipe(Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed([])))
  const found = yield* nodeId === undefined ? nodes.named(name) : withId(nodeId)
  // A reinstalled service may have given the id to another node.
  const ours = found.filter((node) => isSpelling(node.name, name))
  for (const { id } of ours) {
    const isThere = yield* Effect.as(nodes.delete(id), true).pipe(
      Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed(false))
    )
    if (isThere) yield* note(`deleted node ${id} (${name}), which an earlier learn left behind`)
  }
  const now = { ...(yield* stampNow(null)), serviceMillis: 0 }
  const isOver =
    nodeId !== undefined || ours.length > 0 || isQuietElsewhere({ millis: sentAtMillis, isOfService: false }, now)
  if (isOver) yield* Effect.ignore(removeFile(file))
  else yield* note(`an earlier learn may still create ${name}: look later with berth node list --name ${name}`)
  return !isOver
})

/** The minimum cost of an hour. A price that the service does not state may be anything. */
const costOf = ({ minimumBillingInr, pricePerHourInr }: Plan): number | null =>
  pricePerHourInr === null || minimumBillingInr === null ? null : Math.max(pricePerHourInr, minimumBillingInr)

/** The plan with the lowest total cost; on a tie, the first that has an image. */
const cheapest = (plans: ReadonlyArray<Plan>) =>
  plans
    .flatMap((plan) => {
      const cost = costOf(plan)
      return cost === null || plan.images[0] === undefined ? [] : [{ plan, cost, image: plan.images[0] }]
    })
    .toSorted((a, b) => a.cost - b.cost)[0]

const ask = Effect.fnUntraced(function* (question: string) {
  const stdio = yield* Stdio.Stdio
  if (!(yield* stdio.stdinIsTerminal)) {
    return yield* new StartFailure({
      message:
        "--with-node creates a node, and there is no terminal to ask at: add --yes to create it without a question"
    })
  }
  const terminal = yield* Terminal.Terminal
  yield* Effect.ignore(Effect.sync(() => process.stderr.write(`${question} [y/N] `)))
  const answer = yield* terminal.readLine.pipe(
    Effect.orElseSucceed(() => ""),
    Effect.onInterrupt(() => note("nothing was created"))
  )
  if (!/^y(es)?$/i.test(answer.trim())) return yield* new Declined({ message: "nothing was created" })
})

/** The first pause between two reads; later pauses grow, so that a slow service costs few requests. */
const firstPauseMillis = 500
const maxPauseMillis = 10_000
const maxWaitMillis = 1_200_000

/** Reads the node until a condition holds, for at most twenty minutes. */
const lookUntil = Effect.fnUntraced(function* (id: NodeId, isDone: (status: number, body: string) => boolean) {
  const api = yield* RawApi
  const end = (yield* Clock.currentTimeMillis) + maxWaitMillis
  let pause = firstPauseMillis
  while ((yield* Clock.currentTimeMillis) < end) {
    const sent = yield* Effect.option(api.exchange({ method: "GET", path: `/nodes/${id}/` }, { maxAttempts: 1 }))
    if (Option.isSome(sent) && isDone(sent.value.reply.status, sent.value.reply.body)) return true
    yield* Effect.sleep(pause)
    pause = Math.min(maxPauseMillis, pause * 1.2)
  }
  return false
})

/** Whether a record shows `running`, in any spelling. */
const isRunning = (_: number, body: string): boolean => /"status"\s*:\s*"running"/i.test(body)

const isGone = (status: number): boolean => status === 404

/** Reads the last page of the list, to see how long it still shows a deleted node. */
const lookAtList = Effect.fnUntraced(function* (name: string) {
  const nodes = yield* Nodes
  for (let pause = firstPauseMillis; pause < maxPauseMillis; pause *= 2) {
    const found = yield* Effect.orElseSucceed(nodes.named(name), () => [])
    if (found.length === 0) return
    yield* Effect.sleep(pause)
  }
})

/** Runs an effect that must not be interrupted. If somebody tries, tells them at once why it takes a while. */
const knownAtTheEnd = <A, E, R>(effect: Effect.Effect<A, E, R>, why: string) =>
  Effect.gen(function* () {
    const running = yield* Effect.forkChild(effect)
    const ended = yield* Effect.exit(Effect.interruptible(Fiber.await(running)))
    if (Exit.isFailure(ended)) yield* note(why)
    return yield* Fiber.join(running)
  })

export const probeNode = Effect.fnUntraced(function* (connection: Connection, { isAgreed, maxChargeInr }: NodeProbe) {
  const { intents } = connection.files
  const file = fileOf(connection)
  if (intents === undefined || file === undefined) {
    return yield* new StartFailure({
      message: "--with-node writes down what it creates, and there is no state folder: set HOME or XDG_STATE_HOME"
    })
  }
  const choice = cheapest(yield* Plans.use((plans) => plans.list()))
  if (choice === undefined)
    return yield* new StartFailure({
      message: "no plan states its price and its minimum billing, so no node is created"
    })
  const { cost, image, plan } = choice
  const price = `at least ₹${cost.toFixed(2)} in all, ₹${plan.pricePerHourInr} per hour`
  if (cost > maxChargeInr) {
    return yield* new StartFailure({
      message: `the cheapest node is ${plan.plan} for ${price}, more than --max-charge ${maxChargeInr}: nothing was created`
    })
  }
  yield* note(`creates and deletes a node on ${plan.plan} from ${image}: ${price}`)
  if (!isAgreed) yield* ask("Create it?")
  const name = `berth-learn-${randomUUID().replaceAll("-", "").slice(0, 12)}`
  const sentAtMillis = yield* Clock.currentTimeMillis
  yield* Effect.mapError(
    Effect.andThen(makeOwnFolder(dirname(file), 3), writeDown(file, { name, sentAtMillis })),
    ({ message }) => new StartFailure({ message: `the name of the node cannot be written down: ${message}` })
  )
  yield* note(`if this is killed, run learn --probe again, or: berth node delete ${name}`)
  const nodes = yield* Nodes
  let isDeleted = false
  const remove = (id: NodeId) =>
    Effect.andThen(
      nodes.delete(id),
      Effect.andThen(
        Effect.sync(() => (isDeleted = true)),
        Effect.ignore(removeFile(file))
      )
    )
  // Uninterruptible until the node is known, so that an interruption still deletes it.
  yield* Effect.acquireUseRelease(
    knownAtTheEnd(
      nodes.create({ name, plan: plan.plan, image }, { key: name }),
      "waiting to know whether the node was created, to delete it; this takes up to half a minute"
    ),
    Effect.fnUntraced(function* ({ node: { id } }) {
      yield* Effect.ignore(writeDown(file, { name, sentAtMillis, nodeId: id }))
      yield* note(`created node ${id}; waiting up to ${maxWaitMillis / 60_000} minutes until it runs`)
      if (!(yield* lookUntil(id, isRunning)))
        yield* note(`node ${id} does not run after ${maxWaitMillis / 60_000} minutes`)
      yield* remove(id)
      yield* note(`deleted node ${id}`)
      yield* lookUntil(id, isGone)
      yield* lookAtList(name)
    }),
    ({ node: { id } }) =>
      isDeleted
        ? Effect.void
        : Effect.matchEffect(remove(id), {
            onSuccess: () => note(`deleted node ${id}`),
            onFailure: ({ message }) => note(`node ${id} is NOT deleted (${message}): berth node delete ${id}`)
          })
  )
})
