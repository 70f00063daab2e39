/**
 * The path of a request at which faults strike, in the order in which they do: on its arrival, in place of the service, in
 * what the service has said, in when that is sent, in how it is dressed, and on the wire. Where no fault strikes this is not
 * gone at all.
 */
import { Effect, type Scope } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { deliverBadly, withOwnDateOnly } from "../transport/deliverFault.ts"
import type { Allowance } from "../world/allowance.ts"
import type { World } from "../world/World.ts"
import type { Strike } from "../faults/ArmedFaults.ts"
import { nodeIdOf, type Operation } from "../faults/operations.ts"
import { answerInstead, limitInstead, shrunk } from "../faults/strike/answers.ts"
import { type Damage, damageOfReply, damageOnArrival } from "../faults/strike/damage.ts"
import { wornReply } from "../faults/strike/headerFaults.ts"
import { latencyMillis } from "../faults/strike/latency.ts"
import * as NodeLies from "./semanticNodeFaults.ts"
import { lieInRecords } from "../faults/strike/recordLies.ts"
import { bytesOf, type Reply, successOf, withJson } from "./replyBody.ts"

/** A request at which faults strike. */
export interface Occasion {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly operation: Operation | undefined
  readonly world: World
  readonly strikes: ReadonlyArray<Strike>
  /** The reply as it should be. When the allowance grants one, `instead` is asked first what to answer. */
  readonly serve: (
    allowance: Allowance,
    instead?: () => Reply | undefined
  ) => Effect.Effect<Reply, never, HttpServerRequest.HttpServerRequest | Scope.Scope>
  /** Writes the journal; once for each request. */
  readonly record: (status: number | null, faults: ReadonlyArray<string>, laterMillis: number) => void
}

export const misbehave = Effect.fnUntraced(function* (occasion: Occasion) {
  const { record, request, serve, strikes, world } = occasion
  const struck = new Set<Strike>()
  const names = () => strikes.filter((strike) => struck.has(strike)).map(({ fault }) => fault.fault)
  /** What the first strike says that has anything to say. */
  const firstOf = <A>(answer: (strike: Strike) => A | undefined): A | undefined => {
    for (const strike of strikes) {
      const given = answer(strike)
      if (given === undefined) continue
      struck.add(strike)
      return given
    }
    return undefined
  }
  /** The reply after each strike that has something to change in it. */
  const eachOf = (reply: Reply, change: (strike: Strike, reply: Reply) => Reply | undefined): Reply =>
    strikes.reduce((before, strike) => {
      const after = change(strike, before)
      if (after !== undefined) struck.add(strike)
      return after ?? before
    }, reply)

  const onArrival = firstOf(damageOnArrival)
  if (onArrival !== undefined) {
    record(null, names(), 0)
    return yield* deliverBadly(request, HttpServerResponse.empty(), onArrival)
  }

  // A limit that is none is told before anything is spent; any other answer costs what a reply costs.
  const limited = firstOf((strike) => limitInstead(strike, world.allowance, world.latest))
  const allowance = firstOf((strike) => shrinking(strike, world)) ?? world.allowance
  const instead = () => firstOf((strike) => answerInstead(strike) ?? denial(strike, occasion))
  const served = limited ?? (yield* serve(allowance, instead))

  const told = eachOf(served, (strike, reply) => lie(strike, reply, occasion))
  const viewed = successOf(told) === undefined ? undefined : viewOf(occasion, struck)
  const listed = viewed === undefined ? told : withBodyOf(NodeLies.viewedPage(world, request.url, viewed), told)
  const recorded = eachOf(listed, (strike, reply) => {
    const envelope = successOf(reply)
    const lied = envelope === undefined ? undefined : lieInRecords(strike, envelope)
    return lied === undefined ? undefined : withJson(reply, lied)
  })
  const worn = eachOf(recorded, (strike, reply) => wornReply(strike, reply, world.latest))
  const reply = withOwnDateOnly(request, worn)

  const bodyBytes = request.method === "HEAD" ? 0 : (bytesOf(reply)?.length ?? 0)
  const damage = firstOf((strike) => lostCreate(strike, served, occasion) ?? damageOfReply(strike, bodyBytes))
  let lateMillis = 0
  for (const strike of strikes) {
    const ms = latencyMillis(strike)
    if (ms > 0) struck.add(strike)
    lateMillis += ms
  }
  record(reply.status, names(), lateMillis)
  if (lateMillis > 0) yield* Effect.interruptible(Effect.sleep(lateMillis))
  return damage === undefined ? reply : yield* deliverBadly(request, reply, damage)
})

const shrinking = ({ fault }: Strike, { allowance, settings }: World): Allowance | undefined =>
  fault.fault === "window-changes"
    ? shrunk(allowance, fault.limit ?? Math.floor(settings.allowance.limit / 2))
    : undefined

/** A node that is there, and is said not to be. */
const denial = ({ fault }: Strike, { operation, request, world }: Occasion): Reply | undefined => {
  if (fault.fault !== "listed-but-404" || operation !== "nodes.get") return undefined
  const id = nodeIdOf(request.url)
  return id === undefined ? undefined : NodeLies.listedButUnknown(world, id)
}

/** Lies about one node, and those that leave the world other than the reply says. */
const lie = ({ fault }: Strike, reply: Reply, { operation, request, world }: Occasion): Reply | undefined => {
  switch (fault.fault) {
    case "create-false-negative":
      return withBodyOf(NodeLies.denyCreate(world, reply, fault.status ?? 500), reply)
    case "duplicate-create":
      return NodeLies.duplicateCreate(world, reply)
    case "id-reuse":
      return NodeLies.reuseId(world, reply)
    case "stuck-provisioning":
      return NodeLies.getStuck(world, reply)
    case "get-lags": {
      const id = operation === "nodes.get" && [200, 404].includes(reply.status) ? nodeIdOf(request.url) : undefined
      if (id === undefined) return undefined
      return withBodyOf(NodeLies.laggingNode(world, id, NodeLies.asOf(fault.age, world.latest)), reply)
    }
    default:
      return undefined
  }
}

/** The same reply with another status and body; its headers are the service's. */
const withBodyOf = <R extends Reply | undefined>(other: R, reply: Reply): R | Reply =>
  other === undefined
    ? other
    : HttpServerResponse.removeHeader(
        HttpServerResponse.setBody(HttpServerResponse.setStatus(reply, other.status), other.body),
        "location"
      )

/** From what the list of nodes is told, where any fault has it told from something else. */
const viewOf = ({ operation, strikes, world }: Occasion, struck: Set<Strike>): NodeLies.ListView | undefined => {
  if (operation !== "nodes.list") return undefined
  let view: NodeLies.ListView | undefined
  for (const strike of strikes) {
    const { fault } = strike
    if (fault.fault !== "list-stale" && fault.fault !== "list-shifts") continue
    struck.add(strike)
    const { asOf, shift } = view ?? { asOf: world.latest, shift: 0 }
    view =
      fault.fault === "list-stale"
        ? { asOf: Math.min(asOf, NodeLies.asOf(fault.age, world.latest)), shift }
        : { asOf, shift: shift + strike.earlier * (fault.by ?? 1) }
  }
  return view
}

const lostCreate = ({ fault }: Strike, served: Reply, { operation }: Occasion): Damage | undefined =>
  fault.fault === "create-lost-reply" && operation === "nodes.create" && served.status === 202
    ? { _tag: "Reset" }
    : undefined
