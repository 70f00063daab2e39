/**
 * The two steps of `app.ts` at which faults work on a request: around the honest service, and in the delivery of its reply.
 * In a world where no fault is armed the first passes a request on and the second passes its reply on.
 */
import { Effect, Predicate } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { nodeIdOf, type Operation, operationOf } from "../faults/operations.ts"
import type { Exchange, Handler, Reply, Step } from "../http/Exchange.ts"
import { pathOf } from "../http/fallback.ts"
import { bytesOf, deliverFault, withOwnDateOnly } from "../transport/deliverFault.ts"
import { noteHeld } from "../transport/held.ts"
import { maxBodyBytes } from "../transport/limits.ts"
import type { World } from "../world/World.ts"
import { kindByName } from "./catalogue.ts"
import type { FaultSteps, ListView } from "./FaultKind.ts"
import { decide } from "./firing.ts"
import { viewedPage } from "./listView.ts"
import { recordsOf, successOf, withBodyOf, withJson } from "./replyBody.ts"

/** Lets the faults that fire at a request work on it. They fire at requests of known callers only. */
export const injectFaults: Step = (next) => (exchange) =>
  exchange.identity._tag === "Known" && exchange.world.faults.length > 0 ? withFaults(next, exchange) : next(exchange)

/** Delivers the reply as the faults that fired have it: late, in part, or not at all. */
export const deliver: Step = (next) => (exchange) =>
  Effect.flatMapEager(next(exchange), (reply) => {
    if (exchange.delivery === undefined) return Effect.succeed(reply)
    const { delayMillis, wireFault } = exchange.delivery
    noteHeld(exchange.request.source)
    const delivered = wireFault === undefined ? Effect.succeed(reply) : deliverFault(exchange.request, reply, wireFault)
    return delayMillis > 0 ? Effect.andThen(Effect.interruptible(Effect.sleep(delayMillis)), delivered) : delivered
  })

const withFaults = Effect.fnUntraced(function* (next: Handler, exchange: Exchange) {
  const { arrivedAt, request, world } = exchange
  const operation = operationOf(request.method, pathOf(request))
  const node = world.faults.some(({ fault }) => fault.scope?.node !== undefined)
    ? yield* askedNode(request, operation, world)
    : undefined
  const facts = { operation, nodeId: node?.id, nodeName: node?.name, headers: request.headers }
  const { armed, firings } = decide(world.faults, facts, world.settings.seed, arrivedAt)
  world.faults = armed
  if (firings.length === 0) return yield* next(exchange)
  const faults = new Firings(
    firings.map((firing) => ({
      name: firing.fault.fault,
      steps: kindByName.get(firing.fault.fault)?.steps(firing, { request, world }) ?? {}
    }))
  )

  const onArrival = faults.first(({ onArrival }) => onArrival?.())
  if (onArrival !== undefined) {
    exchange.delivery = { faults: faults.fired(), isAnswered: false, delayMillis: 0, wireFault: onArrival }
    return HttpServerResponse.empty()
  }

  const refusal = faults.first(({ refuse }) => refuse?.())
  exchange.allowance = faults.first(({ allowance }) => allowance?.()) ?? exchange.allowance
  exchange.answerInstead = () => faults.first(({ answer }) => answer?.())
  const served = refusal ?? (yield* next(exchange))

  const replied = faults.each(served, ({ reply }, before) => reply?.(before))
  const listed = successOf(replied) === undefined ? replied : listOf(faults, replied, exchange)
  const recorded = faults.each(listed, ({ records }, before) => {
    const envelope = records === undefined ? undefined : successOf(before)
    const [first] = envelope === undefined ? [] : recordsOf(envelope)
    const changed = envelope === undefined || first === undefined ? undefined : records?.(envelope, first)
    return changed === undefined ? undefined : withJson(before, changed)
  })
  const formed = faults.each(recorded, ({ form }, before) => form?.(before))
  const reply = withOwnDateOnly(request, formed)

  const bodyBytes = request.method === "HEAD" ? 0 : (bytesOf(reply)?.length ?? 0)
  const wireFault = faults.first(({ wire }) => wire?.(served, bodyBytes))
  const delayMillis = faults.sum(({ delayMillis }) => delayMillis?.() ?? 0)
  exchange.delivery = { faults: faults.fired(), isAnswered: true, delayMillis, wireFault }
  return reply
})

interface NamedSteps {
  readonly name: string
  readonly steps: FaultSteps
}

/** The faults that may act on one request, and which of them have done something. */
class Firings {
  readonly #all: ReadonlyArray<NamedSteps>
  readonly #acted = new Set<NamedSteps>()

  constructor(all: ReadonlyArray<NamedSteps>) {
    this.#all = all
  }

  /** The names of those that have done something, in the order in which they were armed. */
  fired(): ReadonlyArray<string> {
    return this.#all.filter((fault) => this.#acted.has(fault)).map(({ name }) => name)
  }

  /** The result of the first one that has a result. */
  first<A>(act: (steps: FaultSteps) => A | undefined): A | undefined {
    for (const fault of this.#all) {
      const given = act(fault.steps)
      if (given === undefined) continue
      this.#acted.add(fault)
      return given
    }
    return undefined
  }

  /** A value after each of them that changes it. */
  each<A>(value: A, change: (steps: FaultSteps, before: A) => A | undefined): A {
    return this.#all.reduce((before, fault) => {
      const after = change(fault.steps, before)
      if (after !== undefined) this.#acted.add(fault)
      return after ?? before
    }, value)
  }

  sum(amount: (steps: FaultSteps) => number): number {
    return this.#all.reduce((total, fault) => {
      const added = amount(fault.steps)
      if (added > 0) this.#acted.add(fault)
      return total + added
    }, 0)
  }
}

/** The reply with another list of nodes, where any fault has one. */
const listOf = (faults: Firings, reply: Reply, { request, world }: Exchange): Reply => {
  const present: ListView = { asOf: world.latest, shift: 0 }
  const view = faults.each(present, ({ list }, before) => list?.(before))
  return view === present ? reply : withBodyOf(reply, viewedPage(world, request.url, view))
}

interface AskedNode {
  readonly id: number | undefined
  readonly name: string | undefined
}

/** The node a request is about: that of its path, or of its body, where a create has only a name. */
const askedNode = Effect.fnUntraced(function* (
  request: HttpServerRequest.HttpServerRequest,
  operation: Operation | undefined,
  world: World
) {
  const known = (id: number | undefined): AskedNode => ({
    id,
    name: id === undefined ? undefined : world.nodes.get(id)?.name
  })
  if (operation === "nodes.get" || operation === "nodes.delete") return known(nodeIdOf(request.url))
  if (operation !== "nodes.create" && operation !== "commitments.set") return undefined
  // The endpoint gets the same bytes, or the same failure.
  const body = yield* Effect.option(
    Effect.flatMap(
      Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
      (bytes) => Effect.try((): unknown => JSON.parse(new TextDecoder().decode(bytes)))
    )
  )
  if (body._tag === "None" || !Predicate.isObject(body.value)) return undefined
  const { name, vcn_id: id } = body.value
  if (operation === "commitments.set") return known(typeof id === "number" ? id : undefined)
  return { id: undefined, name: typeof name === "string" ? name : undefined }
})
