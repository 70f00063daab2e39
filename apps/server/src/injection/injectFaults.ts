/**
 * The two steps of `app.ts` in which faults act: `injectFaults` around the honest service, and `deliver`, which sends the
 * reply. If no fault is armed, both pass everything through.
 */
import { Effect, Predicate } from "effect"
import { Headers, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { inWordsOf } from "../dialect/replies.ts"
import { nodeIdOf, type Operation, operationOf } from "@berthkit/profile/operations"
import type { Exchange, Handler, Reply, Step } from "../http/Exchange.ts"
import { pathOf } from "../http/fallback.ts"
import { deliverFault, withOwnDateOnly } from "../transport/deliverFault.ts"
import { noteHeld } from "../transport/held.ts"
import { bytesOf } from "../transport/replyBytes.ts"
import type { WireFault } from "../transport/WireFault.ts"
import type { World } from "../world/World.ts"
import type { Instead, ListView } from "./FaultKind.ts"
import { type Choice, decide, DueFaults } from "./firing.ts"
import { isOtherPage, pagesOf, type ViewedPage } from "./listView.ts"
import { editable, ifChanged, successOf, withBodyOf } from "./replyBody.ts"

/** Applies the due faults to a request. Faults fire only for known callers. */
export const injectFaults: Step = (next) => (exchange) =>
  exchange.identity._tag === "Known" && exchange.world.faults.length > 0 ? withFaults(next, exchange) : next(exchange)

/** Delivers the reply as the fired faults demand: late, in part, or not at all. */
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
  const firings = decide(world.faults, facts, world.settings.seed, arrivedAt)
  if (firings.length === 0) return yield* next(exchange)
  const faults = new DueFaults(firings, { request, world })

  const instead = faults.choose(({ instead }) => instead?.())
  if (instead?.value._tag === "Nothing") {
    instead.use()
    const { wireFault } = instead.value
    exchange.delivery = { faults: faults.fired(), isAnswered: false, delayMillis: 0, wireFault }
    return HttpServerResponse.empty()
  }
  const { isByFault, served } = yield* serve(next, exchange, faults, instead)

  // A fault may change the world, even if the client never learns of it.
  const honest = isByFault ? undefined : served
  const reported = isByFault ? served : faults.each(served, ({ worldChange }, before) => worldChange?.(before))
  const wireFaultOf = (reply: Reply) => faults.choose(({ wire }) => wire?.(honest, bodyBytesOf(request, reply)))
  const before = wireFaultOf(reported)
  const isLost = before !== undefined && losesAll(before.value)
  const reply = isLost ? reported : replyUnder(faults, reported, exchange, isByFault)

  const wireFault = (isLost ? before : wireFaultOf(reply))?.use()
  const delayMillis = wireFault?._tag === "Silence" ? 0 : faults.sum(({ delayMillis }) => delayMillis?.())
  const fired = faults.fired()
  if (fired.length > 0) exchange.delivery = { faults: fired, isAnswered: true, delayMillis, wireFault }
  return reply
})

/** The reply of the service, or of the fault that answers instead of it. */
const serve = Effect.fnUntraced(function* (
  next: Handler,
  exchange: Exchange,
  faults: DueFaults,
  instead: Choice<Instead> | undefined
) {
  if (instead?.value._tag === "Refusal") {
    instead.use()
    return { served: inWordsOf(exchange.world, instead.value.reply), isByFault: true }
  }
  exchange.allowance = faults.first(({ allowance }) => allowance?.()) ?? exchange.allowance
  const answer = instead?.value._tag === "Answer" ? instead.value.reply : undefined
  let isByFault = false
  exchange.answerInstead = () => {
    if (answer === undefined) return undefined
    isByFault = true
    instead?.use()
    return answer
  }
  const served = yield* next(exchange)
  // The answer's own headers win over those that every reply has, except for the length: a dialect may have rewritten the
  // body.
  const own = answer === undefined ? Headers.empty : Headers.remove(answer.headers, "content-length")
  return { served: isByFault ? HttpServerResponse.setHeaders(served, own) : served, isByFault }
})

/** Applies the faults that change the content of the reply, then those that change its form. */
const replyUnder = (faults: DueFaults, served: Reply, exchange: Exchange, isByFault: boolean): Reply =>
  withOwnDateOnly(
    exchange.request,
    faults.each(isByFault ? served : meantBy(faults, served, exchange), ({ form }, before) =>
      ifChanged(before, form?.(before))
    )
  )

/** Changes the meaning of the service's reply. */
const meantBy = (faults: DueFaults, served: Reply, exchange: Exchange): Reply => {
  const replied = faults.each(served, ({ reply }, before) => ifChanged(before, reply?.(before)))
  if (successOf(replied) === undefined) return replied
  const listed = listOf(faults, replied, exchange)
  let records: ReturnType<typeof editable> | undefined
  const isEdited = faults.each(false, ({ records: editOf }) =>
    editOf !== undefined && (records ??= editable(listed)).edit(editOf) ? true : undefined
  )
  return isEdited ? records!.written() : listed
}

const bodyBytesOf = ({ method }: HttpServerRequest.HttpServerRequest, reply: Reply): number =>
  method === "HEAD" ? 0 : (bytesOf(reply)?.length ?? 0)

/** Whether no part of the reply arrives. Then no other fault can change what the client gets. */
const losesAll = ({ _tag }: WireFault): boolean => _tag === "Reset" || _tag === "Silence" || _tag === "Garbage"

const presentView = (latest: number): ListView => ({ asOf: latest, shift: 0 })

/** The reply, with a false list of nodes if a fault asks for one. */
const listOf = (faults: DueFaults, reply: Reply, { request, world }: Exchange): Reply => {
  const pages = pagesOf(world, request.url)
  const last = faults.each<ViewedPage | undefined>(undefined, ({ list }, before) => {
    if (list === undefined) return undefined
    const current = before ?? pages.page(presentView(world.latest))
    const view = list(current.view)
    if (view.asOf === current.view.asOf && view.shift === current.view.shift) return undefined
    const page = pages.page(view)
    return isOtherPage(world, current, page) ? page : undefined
  })
  return last === undefined ? reply : withBodyOf(reply, pages.reply(last))
}

interface AskedNode {
  readonly id: number | undefined
  readonly name: string | undefined
}

/** The node of a request, from its path or its body. A create has only a name. */
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
  // The request keeps what was read, so the endpoint later gets the same bytes, or the same failure.
  const body = yield* Effect.option(
    Effect.flatMap(request.arrayBuffer, (bytes) =>
      Effect.try((): unknown => JSON.parse(new TextDecoder().decode(bytes)))
    )
  )
  if (body._tag === "None" || !Predicate.isObject(body.value)) return undefined
  const { name, vcn_id: id } = body.value
  if (operation === "commitments.set") return known(typeof id === "number" ? id : undefined)
  return { id: undefined, name: typeof name === "string" ? name : undefined }
})
