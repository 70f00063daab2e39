/**
 * Reads evidence from a file: an HTTP Archive (HAR 1.2) of a browser, a proxy or the mock, or a page of the mock's journal.
 * The exchanges have no credentials. Strings that quote them pass a redactor that knows the credentials of the file.
 */
import { createHash } from "node:crypto"
import { parseJson } from "@berthkit/core/api/parseJson"
import { isSecretName } from "@berthkit/core/domain/secretName"
import { Result } from "effect"
import { isObject, type JsonObject } from "@berthkit/profile/values"
import { type Exchange, exchangeOf, isOfTheService, type ReplyBody } from "./observe/Exchange.ts"
import { decoded, maxSecrets, type Pair, pairsOf, redactorFor, secretsIn } from "./secrets.ts"

/** The exchanges, and the redactor for any text that quotes them. */
export interface Evidence {
  readonly exchanges: ReadonlyArray<Exchange>
  readonly redact: (text: string) => string
  /** Number of requests in the file that went to other services or could not be read. */
  readonly skipped: number
  /**
   * Present only after a probe: the number of reads without a usable reply, the reason for the last of these, and the reads at which the
   * service failed.
   */
  readonly unanswered?: { readonly count: number; readonly why: string; readonly failing: ReadonlyArray<string> }
}

/** Maximum size of a file of evidence. */
export const maxEvidenceBytes = 64 * 1024 * 1024

/** Maximum number of requests in a file. Comparing this many requests with each other takes seconds. */
const maxExchanges = 20_000

/** Maximum depth of a body. Records are a few levels deep, so a much deeper body did not come from the service. */
const maxDepth = 32

/** Whether a value is nested too deeply to walk through. */
const isDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []))
  }
  return false
}

export const bodyOf = (text: string | undefined, isWhole: boolean, status: number): ReplyBody => {
  if (status === 0 || !isWhole || text === undefined) return { is: "unknown" }
  if (text === "") return { is: "empty" }
  const value = parseJson(text)
  if (value === undefined) return { is: "text", text }
  return isDeep(value) ? { is: "unknown" } : { is: "json", value }
}

export const parsed = (text: unknown): unknown => (typeof text === "string" ? parseJson(text) : undefined)

interface Read {
  readonly exchange: Omit<Exchange, "account">
  /** The credential that identifies the account of the request. */
  readonly key: string
  readonly host: string
  readonly secrets: ReadonlyArray<string>
}

/** Whether a browser or proxy took the reply from its cache. Such a reply says nothing about the service at that time. */
const isFromCache = (entry: JsonObject, headers: ReadonlyArray<Pair>): boolean => {
  const header = (name: string) => headers.find(([given]) => given.toLowerCase() === name)?.[1] ?? ""
  return Boolean(entry["_fromCache"]) || Number(header("age")) > 0 || /^hit\b/i.test(header("x-cache"))
}

/** The credential that tells accounts apart: the API key if there is one, because an account may renew its token. */
const keyOf = (url: URL, headers: ReadonlyArray<Pair>): string => {
  const header = (name: string) => headers.find(([given]) => given.toLowerCase() === name)?.[1]
  return url.searchParams.get("apikey") ?? header("x-api-key") ?? header("authorization") ?? ""
}

const entryOf = (entry: JsonObject): Read | undefined => {
  const { request, response, startedDateTime, time } = entry
  if (!isObject(request) || !isObject(response)) return undefined
  const url = URL.parse(String(request["url"] ?? ""))
  const at = Date.parse(String(startedDateTime ?? ""))
  const status = Number(response["status"])
  // Skip replies from a cache, and entries without a real status: a browser writes 0 for a request that it has blocked or
  // that had no reply.
  if (isFromCache(entry, pairsOf(response["headers"]))) return undefined
  if (url === null || Number.isNaN(at) || !(status >= 100 && status < 600)) return undefined
  const query = Array.from(url.searchParams)
  const replyHeaders = pairsOf(response["headers"])
  const post = isObject(request["postData"]) ? parsed(request["postData"]["text"]) : undefined
  const content = isObject(response["content"]) ? response["content"] : {}
  const raw = typeof content["text"] === "string" ? content["text"] : undefined
  const text = raw !== undefined && content["encoding"] === "base64" ? Buffer.from(raw, "base64").toString() : raw
  const size = Number(content["size"] ?? -1)
  // The mock's journal marks a body that it has cut. If it did not keep the body at all, it states only the size.
  const isCut = typeof content["comment"] === "string" && content["comment"].startsWith("Cut after")
  const sent = replyHeaders.find(([name]) => name.toLowerCase() === "content-length")?.[1] ?? "0"
  const isEmpty = text === undefined && ((size === 0 && Number(sent) === 0) || status === 204)
  const body = isEmpty ? ({ is: "empty" } as const) : bodyOf(text, !isCut, status)
  const bodies = body.is === "json" ? [post, body.value] : [post]
  return {
    host: url.host,
    secrets: secretsIn({ url, request, response, bodies }),
    key: keyOf(url, pairsOf(request["headers"])),
    exchange: exchangeOf({
      at,
      durationMillis: Math.max(0, Number(time) || 0),
      method: String(request["method"] ?? "GET").toUpperCase(),
      path: decoded(url.pathname),
      query,
      request: post,
      status,
      headers: headersOf(replyHeaders),
      body
    })
  }
}

export const headersOf = (pairs: ReadonlyArray<Pair>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pairs.map(([name, value]): Pair => [name.toLowerCase(), value]).filter(([name]) => !isSecretName(name))
  )

/** An entry of the mock's journal. */
const journalEntryOf = (entry: JsonObject): Read | undefined => {
  const { at, body, durationMillis, method, path, query, reply, replyBytes, replyHeaders, status } = entry
  const millis = Date.parse(String(at ?? ""))
  if (typeof path !== "string" || Number.isNaN(millis) || typeof status !== "number") return undefined
  const text = typeof reply === "string" ? reply : status === 204 ? "" : undefined
  return {
    host: "",
    secrets: [],
    key: "",
    exchange: exchangeOf({
      at: millis,
      durationMillis: Number(durationMillis) || 0,
      method: String(method),
      path: decoded(path),
      query: pairsOf(query),
      request: parsed(body),
      status,
      headers: headersOf(pairsOf(replyHeaders)),
      body: bodyOf(text, replyBytes === undefined, status)
    })
  }
}

/**
 * If a reply equals an earlier one, date included, and its request was sent at least this long after the earlier request, the reply comes
 * from a cache that does not say so.
 */
const minCachedMillis = 2_000

/** Removes entries that the file has twice, and replies from a cache. */
const withoutRepeated = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<Exchange> => {
  const [entries, replies] = [new Set<string>(), new Map<string, number>()]
  return exchanges
    .toSorted((a, b) => a.at - b.at)
    .filter((exchange) => {
      const { account, at, body, headers, method, path, query, request, status } = exchange
      const whole = JSON.stringify([account, method, path, query, request ?? null, status, headers, body])
      const reply = createHash("sha256").update(whole).digest("base64")
      const entry = `${at} ${reply}`
      const before = replies.get(reply)
      const isCached =
        before !== undefined && method === "GET" && headers["date"] !== undefined && at - before >= minCachedMillis
      if (entries.has(entry) || isCached) return false
      entries.add(entry)
      replies.set(reply, before ?? at)
      return true
    })
}

const harEntries = (value: JsonObject): ReadonlyArray<Read | undefined> | undefined => {
  const { log, requests } = value
  if (isObject(log) && Array.isArray(log["entries"])) {
    return log["entries"].map((entry) => (isObject(entry) ? entryOf(entry) : undefined))
  }
  return Array.isArray(requests)
    ? requests.map((entry) => (isObject(entry) ? journalEntryOf(entry) : undefined))
    : undefined
}

/** The evidence in a file's text, or a sentence that says what is wrong with it. */
export const readEvidence = (text: string): Result.Result<Evidence, string> => {
  const value = parseJson(text.startsWith("\ufeff") ? text.slice(1) : text)
  if (value === undefined) return Result.fail("it is not JSON, or it was cut off; record it again")
  const entries = isObject(value) ? harEntries(value) : undefined
  if (entries === undefined) return Result.fail("it is neither a HAR nor a journal of the mock")
  const read = entries.filter((each) => each !== undefined)
  const own = read.filter(({ exchange }) => isOfTheService(exchange.path))
  const others = read.filter(({ exchange }) => !isOfTheService(exchange.path))
  if (own.length === 0) {
    return Result.fail("none of its requests is to /myaccount/api/v1, so it is of another service")
  }
  if (own.length > maxExchanges) {
    return Result.fail(`it has ${own.length} requests to the service; at most ${maxExchanges} are read: keep fewer`)
  }
  const hosts = Array.from(new Set(own.map(({ host }) => host)))
  if (hosts.length > 1) {
    return Result.fail(`it has requests to ${hosts.length} services; keep those of one, and learn from each alone`)
  }
  // The account's own secrets come first, because the redactor looks for the first ones in more spellings.
  const secrets = Array.from(new Set([...own, ...others].flatMap((read) => read.secrets)))
  if (secrets.length > maxSecrets) {
    return Result.fail(`it has more than ${maxSecrets} credentials; record fewer requests`)
  }
  const accounts = Array.from(new Set(own.map(({ key }) => key)))
  const exchanges = own.map(({ exchange, key }) => ({ ...exchange, account: accounts.indexOf(key) }))
  return Result.succeed({
    exchanges: withoutRepeated(exchanges),
    redact: redactorFor(secrets),
    skipped: entries.length - own.length
  })
}
