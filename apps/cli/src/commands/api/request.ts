/**
 * `berth api`: sends any request to the service, with the account's credentials and berth's errors.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { statesAll, type Totals } from "@berthkit/core/client/listing/Bounds"
import { totalsIn } from "@berthkit/core/client/NodeOperations"
import type { CallOptions } from "@berthkit/core/client/call/Operation"
import { RawApi, type RawExchange, type RawRequest } from "@berthkit/core/client/RawApi"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { RawReply } from "@berthkit/core/api/Reply"
import { pageSize, placeParameters } from "@berthkit/core/api/Routes"
import { placeSettings } from "@berthkit/terminal/Connection"
import { escapeControlsInLines } from "@berthkit/terminal/escapeControls"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Effect, Option, Predicate, Result } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { nodeOfPath } from "@berthkit/core/client/state/nodeOfPath"
import { ensureMayBuy } from "../../applying/ledgerCommitments.ts"
import { ensureUnprotected } from "../../applying/Registry.ts"
import { askedSetting } from "../../commitmentLog/askedSetting.ts"
import { buysPeriod } from "../../commitmentLog/CommitmentLog.ts"
import { mayBeSet, recording, settleHint } from "../../commitmentLog/sendCommitment.ts"
import { ensureKeepsProtected } from "../commitment/set.ts"
import { command } from "../command.ts"
import { argumentsFrom, flag, flags, switchFlag, text } from "../../commandLine/Parameter.ts"
import { CommitmentUnknown, PageRefused, PagesEndEarly, UsageFault } from "../../failure/CliFailure.ts"
import { fileReason } from "../../failure/fileReason.ts"
import { readGivenText } from "../../files/givenFile.ts"
import { jsonLine } from "../../output/json.ts"
import { type Changed, Output, reportingChanged } from "../../output/Output.ts"
import { type Format, OutputFormat } from "../../output/OutputOptions.ts"
import { whenInterrupted } from "../../output/reportProblem.ts"
import { valueText } from "../../output/valueText.ts"
import { accountSettings } from "../../settings/account.ts"
import { client } from "../../settings/client.ts"
import { redaction } from "../../settings/redaction.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD"])
const reading: ReadonlySet<string> = new Set([...bodiless, "OPTIONS"])

type Method = (typeof methods)[number]

const isMethod = (method: string): method is Method => (methods as ReadonlyArray<string>).includes(method)

const pair = (text: string): Option.Option<readonly [string, string]> => {
  const at = text.indexOf("=")
  return at < 1 ? Option.none() : Option.some([text.slice(0, at), text.slice(at + 1)])
}

/** Maximum size of a request's body. The service accepts less. */
const maxBodyBytes = 16 * 1024 * 1024

/** The body: the text itself, the content of `@file`, or stdin for `-`. */
const bodyFrom = (data: string) =>
  data === "-" || data.startsWith("@")
    ? Effect.mapError(readGivenText(data.replace(/^@/, ""), maxBodyBytes), unreadable(data))
    : Effect.succeed(data)

const unreadable = (data: string) => (fault: FileFault) =>
  new UsageFault({
    message: `${data === "-" ? "stdin" : `The file ${data.slice(1)}`} cannot be read: ${fault.code === "ENOENT" ? "there is no such file" : fileReason(fault)}.`,
    hint: "-d takes JSON, @FILE, or - for stdin."
  })

/**
 * The body as it is printed. On a terminal or with `--output`, JSON is converted to the requested format. Any other body stays as it is,
 * with its control characters escaped.
 */
const shown = (body: string, format: Format, isTerminal: boolean): Effect.Effect<string> => {
  if (body === "") return Effect.succeed("")
  const value = format === "table" && !isTerminal ? undefined : parseJson(body)
  return value === undefined ? Effect.succeed(escapeControlsInLines(body)) : valueText(value, format)
}

/** What is printed of a change that the service answered with an empty body. */
const changeText = ({ method, path }: RawRequest, { status }: RawReply, format: Format) =>
  valueText({ method, path, status }, format)

/** The sentence about a change that the service has accepted, for a user who cannot get the reply. */
const changedBy = ({ method, path }: RawRequest, { body, status }: RawReply): Changed => {
  const reply = parseJson(body)
  const data = Predicate.isObject(reply) ? reply["data"] : undefined
  const id = Predicate.isObject(data) ? data["id"] : undefined
  const named = typeof id === "number" ? { id } : {}
  return {
    message: `${method} ${path} was answered with HTTP ${status}${"id" in named ? `, and the reply names id ${named.id}` : ""}.`,
    hint: "Do not send it again before you know what it changed.",
    details: { changed: { method, path, status, ...named } }
  }
}

const head = ({ headers, status }: RawReply): string =>
  [`HTTP ${status}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value ?? ""}`), "", ""].join("\n")

/** Splits the words METHOD and PATH. A word is the path if it starts with a slash or is the only word. */
const target = (words: ReadonlyArray<string>): Result.Result<readonly [Method, string], UsageFault> => {
  const [first = "", path, ...more] = words
  if (path === undefined) {
    return isMethod(first.toUpperCase()) && !first.includes("/")
      ? Result.fail(new UsageFault({ message: "berth api needs PATH.", hint: "For example: berth api /nodes/" }))
      : Result.succeed(["GET", first])
  }
  const method = first.toUpperCase()
  if (more.length > 0) {
    const message = `berth api takes no further argument: ${more.join(" ")}.`
    return Result.fail(new UsageFault({ message, hint: "See berth api --help." }))
  }
  if (isMethod(method)) return Result.succeed([method, path])
  const near = nearest(method, methods)
  const end = near.length === 0 ? `: expected ${methods.join(", ")}.` : didYouMean(near)
  return Result.fail(new UsageFault({ message: `METHOD cannot be ${method}${end}`, hint: "See berth api --help." }))
}

/** Splits a path from its query, and appends the parameters of `-q`. */
const withQuery = (path: string, query: ReadonlyArray<readonly [string, string]>) => {
  const at = path.indexOf("?")
  if (at === -1) return { path, query }
  return { path: path.slice(0, at), query: [...new URLSearchParams(path.slice(at + 1)), ...query] }
}

/** Prints text from the service. Masks credentials: the text may repeat the request's address, which contains the API key. */
const printMasked = Effect.fnUntraced(function* (text: string) {
  const redact = yield* redaction
  const { data } = yield* Output
  const masked = redact(text)
  yield* data(masked === "" || masked.endsWith("\n") ? masked : `${masked}\n`)
})

/** The elements of a page, and what it states about the whole list; undefined if its data is not a list. */
const pageOf = (body: string) => {
  const envelope = parseJson(body)
  const elements = Predicate.isObject(envelope) ? envelope["data"] : undefined
  if (!Array.isArray(elements)) return undefined
  return { elements: elements as ReadonlyArray<unknown>, ...totalsIn(envelope) }
}

/** Maximum number of pages that are read, in case a service repeats a page endlessly. */
const maxPages = 10_000

const pageParameters: ReadonlySet<string> = new Set(["page_no", "page"])

/**
 * Reads all pages and prints their elements as one list; NDJSON is printed page by page. The maximum page size is
 * undocumented, so even a short first page may not be the last. Fails if the service states more elements or pages than
 * it shows. Some paths return the same page for every number, or end with a 404. Neither proves that the list is whole,
 * so a note says that it may be cut unless its totals confirm it (decision 0356).
 */
const paginate = Effect.fnUntraced(function* (
  path: string,
  given: ReadonlyArray<readonly [string, string]>,
  format: Format
) {
  const query = given.filter(([name]) => !pageParameters.has(name))
  const asked = Number(new Map(query).get("per_page") ?? pageSize.maximum)
  const sized = query.some(([name]) => name === "per_page") ? query : [...query, ["per_page", String(asked)] as const]
  const { readerGone, warn } = yield* Output
  const api = yield* RawApi
  const read = (page: number) => api.exchange({ method: "GET", path, query: [...sized, ["page_no", String(page)]] })
  const all: Array<unknown> = []
  let count = 0
  let longest = 0
  let pagesRead = 0
  let totals: Totals = { pages: null, total: null }
  /** What the list ends with, if that does not prove that it is whole. */
  let doubt: string | undefined
  let size = asked
  let before = ""
  for (let page = 1; page <= maxPages && !(yield* readerGone); page++) {
    let { failure, reply } = yield* read(page)
    const isNotFound = () => page > 1 && failure?.reason._tag === "PathNotFound"
    // Some services answer a page after the end of the list with 404. Ask once more, because a single 404 may be a mistake.
    if (isNotFound()) ({ failure, reply } = yield* read(page))
    if (isNotFound()) {
      doubt = "The list ends with a page that is not found"
      break
    }
    if (failure !== null) {
      return yield* page > 1 && failure.reason._tag === "InvalidRequest"
        ? new PageRefused({ page, error: failure })
        : failure
    }
    const envelope = pageOf(reply.body)
    if (envelope === undefined) {
      return yield* new UsageFault({ message: `${path} is not a list.`, hint: "Leave out --paginate." })
    }
    const { elements } = envelope
    totals = { pages: envelope.pages ?? totals.pages, total: envelope.total ?? totals.total }
    const text = elements.map((each) => `${jsonLine(each)}\n`).join("")
    if (elements.length === 0) break
    if (text === before) {
      doubt = "Each page is the same"
      break
    }
    before = text
    count += elements.length
    longest = Math.max(longest, elements.length)
    pagesRead = page
    if (format === "ndjson") yield* printMasked(text)
    else all.push(...elements)
    if (page === 1) size = Math.min(asked, elements.length)
    if (elements.length > asked || (page > 1 && elements.length < size)) break
  }
  if (format !== "ndjson") yield* printMasked(yield* valueText(all, format))
  if (yield* readerGone) return
  const { pages, total } = totals
  if (total !== null && total > count) return yield* new PagesEndEarly({ what: "elements", stated: total, read: count })
  if (pages !== null && pages > Math.max(1, pagesRead) && total !== count) {
    return yield* new PagesEndEarly({ what: "pages", stated: pages, read: pagesRead })
  }
  if (doubt !== undefined && !statesAll(totals, count, pagesRead, longest)) {
    yield* warn(`${doubt}: there may be more elements than these ${count}.`)
  }
})

/** Fails if the query and the settings name different projects or locations, because one of the two is a mistake. */
const ensureOwnPlace = Effect.fnUntraced(function* (query: ReadonlyArray<readonly [string, string]>) {
  const settings = yield* accountSettings
  for (const part of placeSettings) {
    const set = Option.getOrUndefined(settings[part] ?? Option.none())
    const name = placeParameters[part]
    const asked = query.find(
      ([key, value]) =>
        key === name && set !== undefined && value.trim().toLowerCase() !== set.value.trim().toLowerCase()
    )
    if (asked === undefined || set === undefined) continue
    return yield* new UsageFault({
      message: `The query has the ${part} ${asked[1]}, and ${set.source} names ${set.value}.`,
      hint: `Leave ${name} out of the query, and name the one that you mean: --${part} ${quoted(asked[1])}`
    })
  }
})

/** The failure of a purchase that may have been made. */
const purchaseUnknown =
  (id: number, { setting, skuId = null }: { setting: string; skuId?: number | null | undefined }) =>
  (error: BerthError) =>
    mayBeSet(error)
      ? new CommitmentUnknown({ id, name: null, because: error.message, hint: settleHint(id, { setting, skuId }) })
      : error

/**
 * Sends a request once it may be sent. Refuses to delete a protected node, or to let the service delete it at the end
 * of its commitment. Records a purchase before sending it, and sends it once, as `berth commitment set` does.
 */
const send = Effect.fnUntraced(function* (asked: RawRequest) {
  const exchange = (options?: CallOptions) => RawApi.use((api) => api.exchange(asked, options))
  const deleted = asked.method === "DELETE" ? nodeOfPath(asked.path) : undefined
  if (deleted !== undefined) yield* ensureUnprotected([{ id: deleted, name: null }])
  const setting = yield* Effect.mapError(
    Effect.fromResult(askedSetting(asked)),
    (because) =>
      new UsageFault({
        message: `Berth cannot read which commitment of which node this request sets: ${because}. Nothing was sent.`,
        hint: `Send a body for one node, such as {"vcn_id": 5, "node_status": "hourly_billing"}, or use berth commitment set.`
      })
  )
  if (setting === undefined) return yield* exchange()
  const { ids, isEnding, order } = setting
  const nodes = ids.map((id) => ({ id, name: null }))
  for (const node of nodes) {
    if (isEnding) yield* ensureKeepsProtected(node, "auto_terminate")
    yield* ensureMayBuy(node, order, undefined)
  }
  const [id] = ids
  if (!buysPeriod(order) || id === undefined) return yield* recording(nodes, order, undefined)(exchange(), failureOf)
  const unknown = purchaseUnknown(id, order)
  // A method that may be repeated, such as PUT, must not buy twice.
  const sent = yield* recording(
    nodes,
    order,
    undefined
  )(exchange(asked.method === "POST" ? {} : { retry: false }), failureOf).pipe(
    Effect.mapError((error) => (error._tag === "BerthError" ? unknown(error) : error)),
    whenInterrupted(() => ({
      message: `Interrupted before the reply came; the commitment of node ${id} may be set.`,
      hint: settleHint(id, { setting: order.setting, skuId: order.skuId ?? null })
    }))
  )
  return { ...sent, failure: sent.failure && unknown(sent.failure) }
})

const failureOf = ({ failure }: RawExchange) => failure

export const request = command(
  {
    words: argumentsFrom(
      1,
      "[METHOD] PATH",
      text(""),
      "Path below /myaccount/api/v1, such as /nodes/; METHOD is GET by default"
    ),
    query: flags(
      "query",
      { metavar: "NAME=VALUE", parse: pair, expected: () => "expected NAME=VALUE" },
      "Query parameter; repeatable",
      "q"
    ),
    data: flag("data", { ...text("JSON|@FILE|-"), mayBeEmpty: true }, "Body of the request", "d"),
    include: switchFlag("include", "Print the status and the headers too"),
    paginate: switchFlag("paginate", "Read every page of a list, and print one list")
  },
  Effect.fnUntraced(function* ({ data, include, paginate: everyPage, query: added, words }) {
    const [method, given] = yield* Effect.fromResult(target(words))
    const { path, query } = withQuery(given, added)
    yield* ensureOwnPlace(query)
    const format = yield* OutputFormat
    if (everyPage && (method !== "GET" || include)) {
      return yield* new UsageFault({
        message: `--paginate cannot be combined with ${include ? "-i" : method}.`,
        hint: "It reads the pages of a list with GET, and prints their elements."
      })
    }
    if (everyPage) return yield* paginate(path, query, format)
    if (data !== undefined && bodiless.has(method)) {
      return yield* new UsageFault({ message: `${method} takes no body.`, hint: "Leave out -d, or use POST." })
    }
    const body = data === undefined ? undefined : yield* bodyFrom(data)
    const asked: RawRequest = { method, path, query, body }
    const { failure, reply } = yield* send(asked)
    const { stdout } = yield* Output
    const isChanged = failure === null && !reading.has(method)
    // The head states the status, so with --include an empty reply is not printed twice.
    const text =
      isChanged && !include && reply.body.trim() === ""
        ? changeText(asked, reply, format)
        : shown(reply.body, format, stdout.isTerminal)
    yield* reportingChanged(isChanged ? changedBy(asked, reply) : undefined)(
      Effect.gen(function* () {
        if (include) yield* printMasked(escapeControlsInLines(head(reply)))
        yield* printMasked(yield* text)
      })
    )
    if (failure !== null) return yield* failure
  }),
  client
)
