/**
 * What only a recording shows, because the probe sends no such request: HEAD, missing credentials, repeated names, commitments;
 * and what follows a create and a delete.
 */
import { isObject } from "../../profile/values.ts"
import { type Exchange, isRefusal, isSuccess, json } from "./Exchange.ts"
import { ghosts, lives } from "./life.ts"
import { type Evidenced, first, observation, type Observer, worst } from "./Observation.ts"

export const head: Observer<boolean> = (evidence) =>
  first(evidence, (exchange) => {
    if (exchange.method !== "HEAD" || exchange.operation === undefined || exchange.operation === "nodes.get")
      return undefined
    if (isSuccess(exchange)) return observation(exchange, true, "HEAD is answered")
    return exchange.status === 405 || exchange.status === 404
      ? observation(exchange, false, `HEAD is ${exchange.status}`)
      : undefined
  })

export const ghost: Observer<number> = (evidence) => worst(ghosts(evidence), (millis) => millis === 0)

export const secondDelete: Observer<boolean> = (evidence) =>
  first(
    lives(evidence).flatMap(({ deleted, id, sights }) => {
      const again = evidence.find(
        (exchange) => exchange.operation === "nodes.delete" && exchange.nodeId === id && exchange !== deleted
      )
      // While it can be read it is being terminated.
      const isThere =
        again !== undefined && sights.some(({ at, by, isThere }) => by === "get" && at > again.at && isThere)
      return again === undefined || !isThere ? [] : [again]
    }),
    (exchange) => observation(exchange, isSuccess(exchange), `a second delete is ${exchange.status}`)
  )

const creates = (evidence: Evidenced): Evidenced => evidence.filter(({ operation }) => operation === "nodes.create")

export const createReply: Observer<string> = (evidence) =>
  worst(
    creates(evidence)
      .filter(isSuccess)
      .map((exchange) => {
        const says = `${exchange.status} ${exchange.headers["location"] === undefined ? "without" : "with"} Location`
        return observation(exchange, says, `a create is ${says}`)
      }),
    (says) => says === "202 with Location"
  )

const nameOf = ({ request }: Exchange): unknown => (isObject(request) ? request["name"] : undefined)

export const namesRepeat: Observer<boolean> = (evidence) => {
  const names = new Set<unknown>()
  for (const exchange of creates(evidence)) {
    const name = nameOf(exchange)
    if (typeof name !== "string") continue
    if (names.has(name) && isSuccess(exchange))
      return observation(exchange, true, "a second node of the same name is created")
    if (exchange.status === 409 && /name/i.test(JSON.stringify(json(exchange) ?? {}))) {
      return observation(exchange, false, "a name that is taken is 409")
    }
    if (isSuccess(exchange)) names.add(name)
  }
  return undefined
}

export const unknownParameters: Observer<boolean> = (evidence) =>
  first(evidence, (exchange) => {
    if (exchange.method !== "GET" || !exchange.query.some(([name]) => name === "project_id" || name === "location"))
      return undefined
    if (isSuccess(exchange)) return observation(exchange, true, "an unknown parameter is ignored")
    return isRefusal(exchange) && exchange.query.length === 1
      ? observation(exchange, false, `an unknown parameter is ${exchange.status}`)
      : undefined
  })

const commitments = (evidence: Evidenced): Evidenced =>
  evidence.filter(({ operation }) => operation === "commitments.set")

export const commitmentReply: Observer<ReadonlyArray<string>> = (evidence) =>
  first(commitments(evidence), (exchange) => {
    const data = isSuccess(exchange) ? json(exchange)?.["data"] : undefined
    if (!isObject(data)) return undefined
    return observation(
      exchange,
      Object.keys(data) as ReadonlyArray<string>,
      `its data has ${Object.keys(data).join(", ") || "nothing"}`
    )
  })
