/**
 * Envelopes, and what a refusal looks like (A1, A2, A4, A21, A23): by situation, as far as a request tells what is wrong
 * with it.
 */
import { prefix } from "@berthkit/core/api/Routes"
import type { Failure, Situation } from "../../profile/Profile.ts"
import { isObject } from "../../profile/values.ts"
import { type Exchange, isRefusal, isSuccess, json, listIn, query } from "./Exchange.ts"
import { type Evidenced, first, observation, type Observer } from "./Observation.ts"
import { asked } from "./paging.ts"

/** A path that was made up to see what becomes of it: the service may have more paths than its interface documents. */
const isMadeUp = (path: string): boolean =>
  path.startsWith(`${prefix}/`) && /no-such|nothing|not-there|unknown|missing/.test(path)

/** What is wrong with a request that was refused; undefined where the request does not tell. */
const situationOf = (exchange: Exchange, knownIds: ReadonlySet<number>): Situation | undefined => {
  const { method, nodeId, operation, status } = exchange
  if (status === 401 || status === 403) return "unauthorized"
  if (status === 429) return "over-the-allowance"
  if (!isRefusal(exchange)) return undefined
  if (operation === undefined && method === "GET") return isMadeUp(exchange.path) ? "unknown-path" : undefined
  if (operation === "nodes.get" && method === "GET" && nodeId !== undefined && !knownIds.has(nodeId))
    return "unknown-node"
  if (operation === "nodes.list" && method === "GET") {
    const { alias, pageNo, size } = asked(exchange)
    const values = [alias, pageNo, size].filter((value) => value !== undefined)
    if (exchange.query.some(([name], at) => exchange.query.findIndex(([other]) => other === name) !== at))
      return undefined
    if (exchange.query.some(([, value]) => value === "")) return undefined
    if (values.some(Number.isNaN)) return "malformed-query"
    if (values.some((value) => value < 1)) return "page-out-of-bounds"
    if ((size ?? 0) > 100) return "page-too-large"
    return (pageNo ?? alias ?? 1) > 1 ? "past-the-end" : undefined
  }
  if (operation === "images.list" && !/^(public|private|)$/i.test(query(exchange, "image_type") ?? "")) {
    return "unknown-image-type"
  }
  return operation === "nodes.create" && (status === 400 || status === 422) ? "invalid-create" : undefined
}

/** Ids of nodes that are or were there. */
const knownIds = (evidence: Evidenced): ReadonlySet<number> => {
  const ids = new Set<number>()
  for (const exchange of evidence) {
    for (const record of listIn(exchange) ?? []) if (isObject(record)) ids.add(Number(record["id"]))
    const { data } = json(exchange) ?? {}
    if (isSuccess(exchange) && isObject(data)) ids.add(Number(data["id"]))
  }
  return ids
}

/** The refusals, by situation. */
export const refusals = (evidence: Evidenced): ReadonlyMap<Situation, Exchange> => {
  const ids = knownIds(evidence)
  const found = new Map<Situation, Exchange>()
  for (const exchange of evidence) {
    const situation = situationOf(exchange, ids)
    if (situation === undefined) continue
    const before = found.get(situation)
    // One whose body is known says more.
    if (before === undefined || (before.body.is === "unknown" && exchange.body.is !== "unknown")) {
      found.set(situation, exchange)
    }
  }
  return found
}

/** The refusal as a profile has it; undefined where its body was not recorded. */
export const failureOf = (exchange: Exchange): Failure | undefined => {
  const { body, headers, nodeId, path, status } = exchange
  if (body.is === "unknown") return undefined
  const id = nodeId ?? /\/nodes\/([^/]+)/.exec(path)?.[1]
  const withoutId = (text: string): string =>
    id === undefined ? text : text.replaceAll(new RegExp(`\\b${escaped(String(id))}\\b`, "g"), "{id}")
  return {
    status,
    contentType: headers["content-type"] ?? "",
    body:
      body.is === "json"
        ? {
            json: JSON.parse(JSON.stringify(body.value), (_, value) =>
              typeof value === "string" ? withoutId(value) : value
            )
          }
        : body.is === "text"
          ? { text: withoutId(body.text).slice(0, 4_000) }
          : {},
    ...(status === 429 ? { retryAfter: headers["retry-after"] !== undefined } : {})
  }
}

const escaped = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")

/** The status of the refusal in a situation. */
export const statusIn =
  (situation: Situation, what: string): Observer<number> =>
  (evidence) => {
    const exchange = refusals(evidence).get(situation)
    return exchange && observation(exchange, exchange.status, `${what} is ${exchange.status}`)
  }

const failures = (evidence: Evidenced): Evidenced =>
  evidence.filter((exchange) => !isSuccess(exchange) && exchange.status >= 200 && exchange.status < 500)

/** The form of failures; that of the first that is not the documented one. */
export const failureForm: Observer<"envelope" | "other"> = (evidence) => {
  const found = failures(evidence).flatMap((exchange) => {
    if (exchange.body.is === "unknown" || exchange.method === "HEAD") return []
    const envelope = json(exchange)
    if (envelope === undefined) {
      const type = exchange.headers["content-type"] ?? "no media type"
      return [observation(exchange, "other" as const, `a failure is no envelope: ${type}`)]
    }
    const keys = Object.keys(envelope)
    const isOurs =
      ["message", "code", "data", "errors"].every((name) => keys.includes(name)) &&
      keys.length === 4 &&
      isEmptyObject(envelope["data"])
    return [
      isOurs
        ? observation(exchange, "envelope" as const, "a failure has the envelope")
        : observation(exchange, "other" as const, `a failure has the keys ${keys.join(", ") || "(none)"}`)
    ]
  })
  return found.find(({ value }) => value === "other") ?? found[0]
}

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0

/** Whether the `code` of a failure is its status. */
export const failureCode: Observer<boolean> = (evidence) => {
  const found = failures(evidence).flatMap((exchange) => {
    const code = json(exchange)?.["code"]
    return code === undefined
      ? []
      : [observation(exchange, code === exchange.status, `code ${JSON.stringify(code)} with status ${exchange.status}`)]
  })
  return found.find(({ value }) => !value) ?? found[0]
}

/** Whether `errors` of a failure is an object of lists of texts. */
export const failureErrors: Observer<boolean> = (evidence) => {
  const found = failures(evidence).flatMap((exchange) => {
    const envelope = json(exchange)
    if (envelope === undefined || !("errors" in envelope)) return []
    const { errors } = envelope
    const isOurs =
      isObject(errors) &&
      Object.keys(errors).length > 0 &&
      Object.values(errors).every((list) => Array.isArray(list) && list.every((text) => typeof text === "string"))
    return [
      observation(exchange, isOurs, `errors is ${isOurs ? "an object of lists" : JSON.stringify(errors).slice(0, 100)}`)
    ]
  })
  return found.find(({ value }) => !value) ?? found[0]
}

/** A header of the refusal in a situation. */
export const headerIn =
  (situation: Situation, name: string): Observer<string> =>
  (evidence) => {
    const exchange = refusals(evidence).get(situation)
    const value = exchange?.headers[name] ?? "none"
    return exchange && observation(exchange, value, `${name}: ${value}`)
  }

/** What another version of the interface answers. */
export const otherVersion: Observer<number> = (evidence) =>
  first(evidence, (exchange) =>
    /^\/myaccount\/api\/v(?!1\/)/.test(exchange.path) && exchange.status >= 200
      ? observation(exchange, exchange.status, `another version is ${exchange.status}`)
      : undefined
  )
