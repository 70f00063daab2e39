/**
 * Asks a running `berth-watch` daemon over HTTP for data that only the daemon has.
 */
import { isExposed } from "@berthkit/core/client/transport/loopback"
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import { Transport } from "@berthkit/core/client/transport/Transport"
import type { Exit } from "@berthkit/terminal/exitCode"
import { projectOf } from "@berthkit/terminal/Connection"
import { variables } from "@berthkit/terminal/variables"
import { accountFingerprints } from "@berthkit/terminal/accountFingerprint"
import { Effect, Option, Redacted, Schema } from "effect"
import { flag, text } from "../commandLine/Parameter.ts"
import { DaemonNotAsked, UsageFault } from "../failure/CliFailure.ts"
import { printNote } from "../output/Output.ts"
import { accountSettings } from "./account.ts"
import { readTrimmed } from "./ProfileFile.ts"

export const watchUrl = flag(
  "watch-url",
  text("URL", URL.canParse, "expected an address such as https://watch.example.com"),
  "Address of berth-watch; default $BERTH_WATCH_URL or http://127.0.0.1:9464. Its token: $BERTH_WATCH_TOKEN"
)

const defaultUrl = "http://127.0.0.1:9464"

const maxBodyBytes = 64_000_000
const maxWait = "30 seconds"

/** The address of the daemon, without parts that may be secret. */
export const watchUrlOf = Effect.fnUntraced(function* (given: string | undefined) {
  const named = given ?? (yield* readTrimmed("BERTH_WATCH_URL")) ?? defaultUrl
  const url = URL.parse(named)
  const isUsable = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === ""
  if (isUsable) return `${url.origin}${url.pathname.replace(/\/+$/, "")}`
  return yield* new UsageFault({
    message: "The address of berth-watch is not usable.",
    hint: "Set --watch-url or BERTH_WATCH_URL to an address such as http://127.0.0.1:9464, without a user in it."
  })
})

const howToStart = "Start it with berth-watch run, or say where it is: --watch-url or BERTH_WATCH_URL."

/** The exit code for each status of the daemon. */
const exits: Readonly<Record<number, Exit>> = { 400: "usage", 401: "denied", 403: "denied", 429: "denied" }

const Failure = Schema.fromJsonString(Schema.Struct({ message: Schema.String }))
const decodeFailure = Schema.decodeUnknownOption(Failure)

/** Requests a path from the daemon, and decodes the reply with a schema. */
export const askDaemon = Effect.fn("askDaemon")(function* <A>(
  url: string,
  path: string,
  query: ReadonlyArray<readonly [name: string, value: string]>,
  decode: (text: string) => Option.Option<A>
) {
  const token = yield* readTrimmed(variables.watchToken)
  if (token !== undefined && isExposed(url)) {
    return yield* new UsageFault({
      message: `${url} is plain http, where anyone on the network path can read the token.`,
      hint: "Name the daemon by an https address: --watch-url or BERTH_WATCH_URL."
    })
  }
  const notAsked = (exit: Exit, message: string, hint: string, httpStatus: number | null = null) =>
    new DaemonNotAsked({ exit, message, hint, httpStatus })
  const request = {
    method: "GET",
    url: `${url}${path}`,
    query,
    token: Redacted.make(token ?? "none"),
    body: undefined,
    headers: {},
    maxBodyBytes
  } as const
  const { send } = yield* Transport
  const reply = yield* send(request, () => {}).pipe(
    Effect.timeout(maxWait),
    Effect.mapError(() => notAsked("unavailable", `No berth-watch answers at ${url}.`, howToStart))
  )
  const { body, status, whole } = reply
  if (status !== 200) {
    const reason = Option.match(decodeFailure(body), {
      onNone: () => `status ${status}`,
      onSome: ({ message }) => message
    })
    const [message, hint] =
      status === 401
        ? [`The berth-watch at ${url} asks for its token.`, "Set BERTH_WATCH_TOKEN to the token of its config."]
        : status === 400
          ? [`berth-watch refuses: ${reason}`, "See which times it takes: berth cost --help"]
          : [`The berth-watch at ${url} does not answer: ${reason}`, howToStart]
    return yield* notAsked(exits[status] ?? "unavailable", message, hint, status)
  }
  const answer = whole ? decode(body) : Option.none()
  if (Option.isSome(answer)) return answer.value
  return yield* notAsked(
    "unavailable",
    `The program at ${url} is not a berth-watch of this version.`,
    howToStart,
    status
  )
}, Effect.provide(NodeTransport.layer))

/** The fingerprints of the account in the settings, to compare with those of the daemon; undefined if the settings name none. */
const ownFingerprints = Effect.map(accountSettings, ({ apiKey, baseUrl, location, project }) => {
  const found = Option.all([apiKey, baseUrl])
  if (Option.isNone(found)) return undefined
  const [key, address] = found.value
  const named = {
    apiKey: key.value,
    project: Option.getOrUndefined(Option.map(project, ({ value }) => projectOf(value))),
    location: Option.getOrUndefined(Option.map(location, ({ value }) => value))
  }
  return URL.canParse(address.value) ? accountFingerprints(address.value, named) : undefined
})

/** The daemon's accounts that match the settings; all if the settings name no account. Prints a note that says which daemon answered. */
export const ownAccounts = Effect.fnUntraced(function* <
  A extends { readonly account: string; readonly fingerprint: string | null }
>(url: string, accounts: ReadonlyArray<A>) {
  const fingerprints = yield* ownFingerprints
  const from = `From the berth-watch at ${url}`
  if (fingerprints === undefined) {
    yield* printNote(`${from}: all its accounts, because no account is set here.`)
    return accounts
  }
  const own = accounts.filter(({ fingerprint }) => fingerprint !== null && fingerprints.has(fingerprint))
  if (own.length > 0) {
    yield* printNote(`${from}, which watches this account as ${own.map(({ account }) => account).join(", ")}.`)
    return own
  }
  const others = accounts.map(({ account }) => account)
  return yield* new DaemonNotAsked({
    exit: "notFound",
    message: `The berth-watch at ${url} does not watch this account${others.length === 0 ? "" : `, but ${others.length > 5 ? `${others.length} others` : others.join(", ")}`}.`,
    hint: "Name another daemon with --watch-url or BERTH_WATCH_URL, or another account with --profile; see berth auth status.",
    httpStatus: null
  })
})
