/**
 * Creates the cheapest node, reads it until it runs, deletes it, and reads until it is gone. The node is deleted even if this fails or is
 * interrupted. Its order is saved before the create, so that the next probe can find and delete the node of a killed one.
 */
import { randomUUID } from "node:crypto"
import { dirname } from "node:path"
import { isSameNode, proofOf } from "@berthkit/core/client/creation/Ownership"
import { makeOwnFolder, readText, removeFile, replaceDurably } from "@berthkit/core/client/files/StateFiles"
import { Images } from "@berthkit/core/client/Images"
import { nodeToDelete } from "@berthkit/core/client/nodeOfCreate"
import { Nodes } from "@berthkit/core/client/Nodes"
import { RawApi, type RawExchange } from "@berthkit/core/client/RawApi"
import { NodeId } from "@berthkit/core/domain/Node"
import type { Image } from "@berthkit/core/domain/Image"
import { priceList } from "@berthkit/core/domain/Price"
import type { Connection } from "@berthkit/terminal/Connection"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, Console, Effect, Exit, Fiber, Option, Schema, Stdio, Terminal } from "effect"
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
    plan: Schema.String,
    image: Schema.String,
    node: Schema.optionalKey(
      Schema.Struct({ id: NodeId, name: Schema.String, createdMillis: Schema.NullOr(Schema.Finite) })
    )
  })
)
type LeftOver = typeof LeftOver.Type

const fileOf = ({ files }: Connection): string | undefined =>
  files.folder === undefined ? undefined : `${files.folder}/learn.json`

const decodeLeftOver = Schema.decodeUnknownOption(LeftOver)

const writeDown = (file: string, left: LeftOver) => replaceDurably(file, JSON.stringify(left))

/** What an earlier probe saved; undefined if the file is missing or damaged. */
export const leftOverOf = Effect.fnUntraced(function* (connection: Connection) {
  const file = fileOf(connection)
  if (file === undefined) return undefined
  const text = yield* Effect.orElseSucceed(readText(file), () => Option.none<string>())
  const left = Option.getOrUndefined(Option.flatMap(text, (found) => decodeLeftOver(found)))
  return left && { ...left, file }
})

/**
 * The node of an earlier probe: the one with the id that the service returned, or the one that its create is proved to have made. A name
 * alone proves nothing.
 */
const nodeOf = ({ node, ...order }: LeftOver) =>
  node === undefined
    ? nodeToDelete({ ...order, isNameDrawn: true }, order.name)
    : Nodes.use((nodes) => nodes.get(node.id)).pipe(
        // A reinstalled service may have given the id to another node.
        Effect.map((found) => (isSameNode(node, proofOf(found)) ? found : undefined)),
        Effect.catchReason("BerthError", "NodeNotFound", () => Effect.undefined)
      )

/** What the user can do while the outcome of a probe's create is unknown. */
const untilKnown = (name: string, candidates: ReadonlyArray<NodeId>, file: string): string => {
  const ids = candidates.join(" ")
  return candidates.length === 0
    ? `run learn --probe again in eleven minutes (26 after a restart of this machine): it deletes ${name} if it was created`
    : `see which is ${name}: berth node get ${ids}; delete it: berth node delete ID; then remove ${file}`
}

/** Deletes the node that an earlier probe left behind. If it is unknown whether that probe's create made a node, returns what to do. */
export const removeLeftOver = Effect.fnUntraced(function* ({ file, ...left }: LeftOver & { readonly file: string }) {
  const { name } = left
  const found = yield* Effect.catchReason(nodeOf(left), "BerthError", "OutcomeUnknown", ({ candidates }) =>
    Effect.succeed(untilKnown(name, candidates, file))
  )
  if (typeof found === "string") {
    yield* note(`an earlier learn may have created ${name}, or may still create it: ${found}`)
    return found
  }
  if (found !== undefined) {
    const isThere = yield* Effect.as(
      Nodes.use((nodes) => nodes.delete(found.id)),
      true
    ).pipe(Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed(false)))
    if (isThere) yield* note(`deleted node ${found.id} (${found.name}), which an earlier learn left behind`)
  }
  yield* Effect.ignore(removeFile(file))
  return undefined
})

/**
 * The plan and image with the lowest total cost; on a tie, the first. The plan is named as a create needs it, by its slug. A price that the
 * service does not state may be anything, and so may the price of a disk that the plan does not include. A plan that is sold out is left out.
 */
export const cheapest = (images: ReadonlyArray<Image>) => {
  const prices = priceList(images)
  return images
    .filter(({ available }) => available !== false)
    .flatMap(({ image, plan }) => {
      const { minimumBillingInr, price } = prices.ofOrder({ plan, image })
      const perHourInr = price.pricePerHourInr
      return perHourInr === null || minimumBillingInr === null
        ? []
        : [{ plan, image, perHourInr, cost: Math.max(perHourInr, minimumBillingInr) }]
    })
    .toSorted((a, b) => a.cost - b.cost)[0]
}

const ask = Effect.fnUntraced(function* (question: string) {
  const stdio = yield* Stdio.Stdio
  if (!(yield* stdio.stdinIsTerminal)) {
    return yield* new StartFailure({
      message:
        "--with-node creates a node, and there is no terminal to ask on: add --yes to create it without a question"
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
const lookUntil = Effect.fnUntraced(function* (id: NodeId, isDone: (sent: RawExchange) => boolean) {
  const api = yield* RawApi
  const end = (yield* Clock.currentTimeMillis) + maxWaitMillis
  let pause = firstPauseMillis
  while ((yield* Clock.currentTimeMillis) < end) {
    const sent = yield* Effect.option(api.exchange({ method: "GET", path: `/nodes/${id}/` }, { maxAttempts: 1 }))
    if (Option.isSome(sent) && isDone(sent.value)) return true
    yield* Effect.sleep(pause)
    pause = Math.min(maxPauseMillis, pause * 1.2)
  }
  return false
})

/** Whether a record shows `running`, in any spelling. */
const isRunning = ({ reply }: RawExchange): boolean => /"status"\s*:\s*"running"/i.test(reply.body)

const isGone = ({ failure }: RawExchange): boolean => failure?.reason._tag === "PathNotFound"

/** Reads the last page of the list, to see how long it still shows a deleted node. */
const lookAtList = Effect.fnUntraced(function* (name: string) {
  const nodes = yield* Nodes
  for (let pause = firstPauseMillis; pause < maxPauseMillis; pause *= 2) {
    const found = yield* Effect.orElseSucceed(nodes.named(name), () => [])
    if (found.length === 0) return
    yield* Effect.sleep(pause)
  }
})

/**
 * Runs an effect that must not be interrupted. If the user presses Ctrl-C, a message says at once why this takes a
 * while.
 */
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
      message: "--with-node records what it creates, and there is no state folder: set HOME or XDG_STATE_HOME"
    })
  }
  const choice = cheapest(yield* Images.use((images) => images.list()))
  if (choice === undefined)
    return yield* new StartFailure({
      message: "no available plan with a disk states its price in rupees and its minimum billing, so no node is created"
    })
  const { cost, image, perHourInr, plan } = choice
  const price = `at least ₹${cost.toFixed(2)} in all, ₹${perHourInr} per hour`
  if (cost > maxChargeInr) {
    return yield* new StartFailure({
      message: `the cheapest node is ${plan} for ${price}, more than --max-charge ${maxChargeInr}: nothing was created`
    })
  }
  yield* note(`creates and deletes a node on ${plan} from ${image}: ${price}`)
  if (!isAgreed) yield* ask("Create it?")
  const name = `berth-learn-${randomUUID().replaceAll("-", "").slice(0, 12)}`
  const order = { name, plan, image }
  yield* Effect.mapError(
    Effect.andThen(makeOwnFolder(dirname(file), 3), writeDown(file, order)),
    ({ message }) => new StartFailure({ message: `the name of the node cannot be recorded: ${message}` })
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
      Effect.catchReason(
        nodes.create(order, { key: name }),
        "BerthError",
        "OutcomeUnknown",
        ({ candidates, message }) =>
          Effect.fail(new StartFailure({ message: `${message} ${untilKnown(name, candidates, file)}` }))
      ),
      "waiting to know whether the node was created, to delete it; this takes up to half a minute"
    ),
    Effect.fnUntraced(function* ({ node }) {
      const { id } = node
      yield* Effect.ignore(writeDown(file, { ...order, node: proofOf(node) }))
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
