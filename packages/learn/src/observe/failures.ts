/**
 * What refusals look like (assumptions A2, A4, A21, A23 in docs/interface/assumptions.md). Refusals are sorted by situation,
 * that is by what is wrong with the request, as far as the request itself shows it.
 */
import { prefix } from "@berthkit/core/api/Routes"
import type { Failure, Situation } from "@berthkit/profile/Profile"
import { isObject } from "@berthkit/profile/values"
import { all, claim, each, type Evidenced, first, is, type Observer, once } from "./Claim.ts"
import { type Exchange, hasAllHeaders, isRedirect, isRefusal, isSuccess, json, listIn, query } from "./Exchange.ts"
import { asked, isHarmless, isOnly, isTakenWithoutUnknown, isUnknown, lists, oddities } from "./lists.ts"

/** A path that does not exist, below the prefix. The probe requests it to see how the service refuses it. */
export const unknownPath = "/berth-learn-no-such-path/"

/**
 * Whether somebody invented a path to see the service's reaction. Only the words in the path can show this, because the
 * service may have undocumented paths.
 */
const isMadeUp = (path: string): boolean =>
  path.startsWith(`${prefix}/`) && /no-such|nothing|not-there|unknown|missing/.test(path)

/** What is wrong with a refused list of nodes. */
const ofList = (exchange: Exchange, evidence: Evidenced): Situation | undefined => {
  const [found, ...more] = oddities(exchange, evidence)
  if (more.length > 0) return undefined
  if (found !== "unknown-parameter") return found ?? (asked(exchange).page > 1 ? "past-the-end" : undefined)
  const isThat = exchange.query.some(([name]) => isUnknown(name)) && exchange.query.every(isHarmless)
  return isThat && isTakenWithoutUnknown(exchange, evidence) ? found : undefined
}

/** Whether a request for the list of images has no filter other than this one. */
const hasOnlyFilter = ({ query }: Exchange, name: string): boolean =>
  query.every(([given, value]) => given === name || isUnknown(given) || value === "")

/** What is wrong with a refused request; undefined if the request does not show it. */
const situationOf = (exchange: Exchange, knownIds: ReadonlySet<number>, evidence: Evidenced): Situation | undefined => {
  const { method, nodeId, operation, status } = exchange
  if (status === 401 || status === 403) return "unauthorized"
  if (status === 429) return "over-the-allowance"
  // Any reply counts here, not only a refusal: a service may answer or redirect every path.
  if (method === "GET" && exchange.path === `${prefix}${unknownPath}` && status < 500) return "unknown-path"
  const isList = method === "GET" && operation !== undefined && operation !== "nodes.get"
  if (isList && !exchange.path.endsWith("/")) {
    const isPlain = exchange.query.every(
      ([name, value]) => /^(page_no|per_page)$/.test(name) && /^[1-9]\d?$/.test(value)
    )
    return isPlain && (isRefusal(exchange) || isRedirect(exchange)) ? "no-slash" : undefined
  }
  if (!isRefusal(exchange)) return undefined
  if (operation === undefined && method === "GET") return isMadeUp(exchange.path) ? "unknown-path" : undefined
  if (operation === "nodes.get" && method === "GET" && nodeId !== undefined && !knownIds.has(nodeId))
    return "unknown-node"
  if (operation === "nodes.list" && method === "GET") return ofList(exchange, evidence)
  if (operation === "images.list" && !/^(public|private|)$/i.test(query(exchange, "image_type") ?? "")) {
    return hasOnlyFilter(exchange, "image_type") ? "unknown-image-type" : undefined
  }
  if (operation === "images.list" && (query(exchange, "os") ?? "") !== "")
    return hasOnlyFilter(exchange, "os") ? "no-match" : undefined
  return operation === "nodes.create" && isObject(exchange.request) && (status === 400 || status === 422)
    ? "invalid-create"
    : undefined
}

/** Ids of nodes that exist or existed. */
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
export const refusals = once((evidence): ReadonlyMap<Situation, Exchange> => {
  const ids = knownIds(evidence)
  const found = new Map<Situation, Exchange>()
  for (const exchange of evidence) {
    const situation = situationOf(exchange, ids, evidence)
    if (situation === undefined) continue
    const before = found.get(situation)
    // Keep the first refusal, unless a later one has a known body and the first has none.
    if (before === undefined || (before.body.is === "unknown" && exchange.body.is !== "unknown")) {
      found.set(situation, exchange)
    }
  }
  return found
})

/** A refusal in the form of a profile; undefined if its body was not recorded. */
export const failureOf = (exchange: Exchange): Failure | undefined => {
  const { body, headers, nodeId, path, status } = exchange
  if (body.is === "unknown") return undefined
  const id = nodeId ?? /\/nodes\/([^/]+)/.exec(path)?.[1]
  const withoutId = (text: string): string =>
    id === undefined ? text : text.replaceAll(new RegExp(`\\b${escaped(String(id))}\\b`, "g"), "{id}")
  return {
    status,
    ...(headers["content-type"] === undefined ? {} : { contentType: headers["content-type"] }),
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
    ...(status === 429 && (headers["retry-after"] !== undefined || hasAllHeaders(exchange))
      ? { retryAfter: headers["retry-after"] !== undefined }
      : {})
  }
}

const escaped = (text: string): string => text.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")

/** Makes an observer that reads one fact from the refusal in a given situation. */
const refusal = <A>(situation: Situation, read: (exchange: Exchange) => readonly [A, string]): Observer<A> =>
  first((evidence) => [refusals(evidence).get(situation)].filter((found) => found !== undefined), read)

const status = (situation: Situation, what: string) =>
  refusal(situation, ({ status }) => [status, `${what} is ${status}`])

/**
 * Makes an observer that reads the value of the header `name` in replies with the given status; the value is `none` if the
 * header is missing. A missing header proves something only if the recorder kept all headers.
 */
const header = (status: number, name: string) =>
  first(all, (exchange) => {
    const value = exchange.headers[name] ?? (hasAllHeaders(exchange) ? "none" : undefined)
    return exchange.status !== status || exchange.operation === undefined || value === undefined
      ? undefined
      : [value, `${name}: ${value}`]
  })

const failed = once((evidence) =>
  evidence.filter(
    (exchange) => !isSuccess(exchange) && !isRedirect(exchange) && exchange.status >= 200 && exchange.status < 500
  )
)

const isEmptyObject = (value: unknown): boolean => isObject(value) && Object.keys(value).length === 0

const isEnvelope = (envelope: object): boolean =>
  Object.keys(envelope).toSorted().join() === "code,data,errors,message" &&
  isEmptyObject((envelope as { readonly data: unknown }).data)

/** Whether a value is an object of lists of strings, with at least one field. */
const isErrors = (errors: unknown): boolean =>
  isObject(errors) &&
  Object.keys(errors).length > 0 &&
  Object.values(errors).every((list) => Array.isArray(list) && list.every((text) => typeof text === "string"))

const unsent = { needs: "a request that the probe does not send" } as const

export const failures = {
  form: claim("A2", "A failure has the same envelope with data {}", {
    refutedBy: "A refusal in another form, or in plain text",
    see: each(failed, (exchange) => {
      if (exchange.body.is === "unknown" || exchange.method === "HEAD") return undefined
      const envelope = json(exchange)
      if (envelope === undefined)
        return [false, `a failure without the envelope: ${exchange.headers["content-type"] ?? "no media type"}`]
      return isEnvelope(envelope)
        ? [true, "a failure has the envelope"]
        : [false, `a failure has the keys ${Object.keys(envelope).join(", ") || "(none)"}`]
    })
  }),
  code: claim("A2", "code of a failure is its status", {
    refutedBy: "A refusal whose code is another number",
    see: each(failed, (exchange) => {
      const code = json(exchange)?.["code"]
      return code === undefined
        ? undefined
        : [code === exchange.status, `code ${JSON.stringify(code)} with status ${exchange.status}`]
    })
  }),
  errors: claim("A2", "errors of a failure is an object of lists of texts", {
    refutedBy: "A refusal whose errors are a text, a list, null or empty",
    see: each(failed, (exchange) => {
      const envelope = json(exchange)
      if (envelope === undefined || !("errors" in envelope)) return undefined
      const { errors } = envelope
      return isErrors(errors)
        ? [true, "errors is an object of lists"]
        : [false, `errors is ${JSON.stringify(errors).slice(0, 100)}`]
    })
  }),
  unknownNode: claim("A4", "An unknown node is 404", {
    refutedBy: "A get of an id that no list has, which returns another status",
    see: status("unknown-node", "an unknown node"),
    holds: is(404)
  }),
  unknownPath: claim("A4", "An unknown path is 404", {
    refutedBy: "A request for an unknown path, which returns another status",
    see: status("unknown-path", "an unknown path"),
    holds: is(404)
  }),
  malformed: claim("A4", "A page that is not a number is 400", {
    refutedBy: "page_no=abc, which returns another status or is accepted",
    see: first(lists, (exchange, evidence) => {
      if (!isOnly(exchange, "malformed-query", evidence)) return undefined
      if (isRefusal(exchange))
        return [exchange.status, `a page that is not a number is refused with ${exchange.status}`]
      return listIn(exchange) && ["accepted", "a page that is not a number is accepted"]
    }),
    holds: is<number | string>(400)
  }),
  unauthorized: claim("A4", "Missing or wrong credentials are 401", {
    ...unsent,
    refutedBy: "A request without credentials, which returns another status",
    see: status("unauthorized", "wrong credentials"),
    holds: (status) => status === 401 || status === 403
  }),
  authenticate: claim("A4", "A 401 has WWW-Authenticate: Bearer", {
    ...unsent,
    refutedBy: "A 401 without this header",
    see: header(401, "www-authenticate"),
    holds: is("Bearer")
  }),
  invalidCreate: claim("A4", "An invalid create is 422", {
    ...unsent,
    refutedBy: "A create with invalid fields, which returns another status",
    see: status("invalid-create", "an invalid create"),
    holds: is(422)
  }),
  head: claim("A4", "HEAD works wherever GET does", {
    ...unsent,
    refutedBy: "A HEAD that the service refuses for a path where GET works",
    see: first(all, (exchange) => {
      const { operation, path } = exchange
      if (exchange.method !== "HEAD" || operation === undefined || operation === "nodes.get" || !path.endsWith("/"))
        return undefined
      if (isSuccess(exchange)) return [true, "HEAD works"]
      return exchange.status === 405 || exchange.status === 404 ? [false, `HEAD is ${exchange.status}`] : undefined
    })
  }),
  retryAfter: claim("A21", "A 429 has Retry-After in seconds", {
    needs: "time",
    refutedBy: "A 429 without Retry-After, or with a date in it",
    see: header(429, "retry-after"),
    holds: (value) => /^\d+$/.test(value)
  }),
  otherVersion: claim("A23", "Another version is 404", {
    ...unsent,
    refutedBy: "A request for another version, which returns another status",
    see: first(all, (exchange) => {
      const { path, status } = exchange
      const isAnswer = isSuccess(exchange) || isRefusal(exchange)
      return isAnswer && /^\/myaccount\/api\/v(?!1\/)/.test(path) ? [status, `another version is ${status}`] : undefined
    }),
    holds: is(404)
  })
}
