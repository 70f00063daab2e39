/**
 * The client for the account that the settings name. It uses `node:http`, and with `--debug` it prints a line on stderr for every
 * attempt. Only commands that talk to the service provide it, so `berth --help` needs no settings. The client shares files with other
 * processes of this machine in the user's state folder. Without a state folder, berth works without these files, and reports this only
 * with `--debug`.
 */
import * as Berth from "@berthkit/core/client/Berth"
import { CallsEnd, endIn } from "@berthkit/core/client/call/Deadline"
import { layerAccount } from "@berthkit/core/client/creation/IntentFolder"
import { IntentStore, type IntentStoreFailed, makeMemory } from "@berthkit/core/client/creation/IntentStore"
import { readVariable } from "@berthkit/core/client/options/readVariable"
import { AllowanceStore } from "@berthkit/core/client/allowance/AllowanceStore"
import { recordsOf } from "@berthkit/core/client/RecordFolder"
import { ChangeLog } from "@berthkit/core/client/state/ChangeLog"
import { noteChanges } from "@berthkit/core/client/state/noteChanges"
import { RecordStore } from "@berthkit/core/client/state/RecordStore"
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import { type Head, type SignedRequest, Transport } from "@berthkit/core/client/transport/Transport"
import { BerthError } from "@berthkit/core/domain/BerthError"
import { StateUnavailable } from "@berthkit/core/domain/ErrorReason"
import {
  addressWarning,
  type Connection,
  connectionOf,
  type ConnectionSettings,
  type Credential,
  ensureOwn,
  type Sourced
} from "@berthkit/terminal/Connection"
import { stateLayer } from "@berthkit/terminal/stateLayer"
import { Clock, type Duration, Effect, Exit, Layer, Option, Redacted, Tracer } from "effect"
import { Output, printDebug, printNote } from "../output/Output.ts"
import { ImageList } from "../catalogue/ImageList.ts"
import { GlobalSettings } from "../commandLine/Parameter.ts"
import { Progress } from "../output/progress.ts"
import { accountSettings, deadlineSetting } from "./account.ts"
import { notePlace } from "./places.ts"

/** The address with its query; credentials in it are masked. */
const shownAddress = ({ query, url }: SignedRequest): string => {
  const parts = query.map(
    ([name, value]) => `${name}=${Redacted.isRedacted(value) ? "<redacted>" : encodeURIComponent(value)}`
  )
  return parts.length === 0 ? url : `${url}?${parts.join("&")}`
}

/**
 * The span of the call to which an attempt belongs. If there is a tracer, the engine makes one span per attempt within the span of the
 * operation.
 */
const callOf = (attempt: Option.Option<Tracer.AnySpan>): Tracer.Span | undefined => {
  const call = Option.flatMap(attempt, (span) => (span._tag === "Span" ? span.parent : Option.none()))
  return Option.isSome(call) && call.value._tag === "Span" ? call.value : undefined
}

const allowanceText = ({ headers }: Head): string => {
  const { "ratelimit-limit": limit, "ratelimit-remaining": remaining } = headers
  return remaining === undefined ? "" : `, ${remaining} of ${limit ?? "?"} requests left`
}

const withDebugLines = ({ send }: Transport["Service"], output: Output["Service"]) => {
  /** How the last attempt of each call ended. */
  const endings = new WeakMap<Tracer.Span, string>()
  return Transport.of({
    send: (request, begun, leaving) =>
      Effect.gen(function* () {
        const call = callOf(yield* Effect.option(Effect.currentSpan))
        const before = call && endings.get(call)
        const startedAt = yield* Clock.currentTimeMillis
        const exit = yield* Effect.exit(send(request, begun, leaving))
        const millis = (yield* Clock.currentTimeMillis) - startedAt
        const ending = Exit.isSuccess(exit) ? String(exit.value.status) : "no reply"
        if (call) endings.set(call, ending)
        const again = before === undefined ? "" : `, sent again after ${before}`
        const left = Exit.isSuccess(exit) ? allowanceText(exit.value) : ""
        yield* printDebug(
          `debug: ${request.method} ${shownAddress(request)} ${call?.name ?? "-"} ${ending} ${millis} ms${left}${again}`
        ).pipe(Effect.provideService(Output, output))
        return yield* exit
      })
  })
}

const reads: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/**
 * Tells the output about each request that may change something, because the data about a change must never be lost.
 */
const notingChanges = ({ send }: Transport["Service"], { noteChange }: Output["Service"]) =>
  Transport.of({
    send: (request, ...rest) =>
      reads.has(request.method) ? send(request, ...rest) : Effect.andThen(noteChange, send(request, ...rest))
  })

const transport = Layer.effect(
  Transport,
  Effect.gen(function* () {
    const output = yield* Output
    const transport = notingChanges(yield* Transport, output)
    return (yield* GlobalSettings).debug ? withDebugLines(transport, output) : transport
  })
).pipe(Layer.provide(NodeTransport.layer))

/** With `--debug`, a tracer. Its spans have the names of the operations. */
const spans = Layer.unwrap(
  Effect.map(GlobalSettings, ({ debug }) => (debug ? Layer.succeed(Tracer.Tracer, Tracer.nativeTracer) : Layer.empty))
)

/** How to set a missing setting, as the end of a hint. */
const loginHint = ", or run: berth auth login"

/** Fails if a credential would be sent to an origin other than the one with which it was set. */
export const ensureOwnCredential = (
  address: Sourced<string>,
  credential: Credential,
  what: "API key" | "access token"
) => ensureOwn(address, credential, what, loginHint)

/** The connection for these settings. Their deadline applies to each of its calls. */
export const connectionFor = Effect.fnUntraced(function* (
  settings: ConnectionSettings & { readonly deadline: Option.Option<Sourced<Duration.Duration>> }
) {
  const { options, ...connection } = yield* connectionOf(settings, loginHint)
  const deadline = Option.getOrUndefined(Option.map(settings.deadline, ({ value }) => value))
  return { ...connection, options: { ...options, ...(deadline && { deadline }) } }
})

/** The connection for the command's settings. */
export const connection = Effect.flatMap(accountSettings, connectionFor)

/** Warns once if the credentials cross a network in plain text. */
const warned = ({ options: { baseUrl } }: Connection) =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      const warning = addressWarning(baseUrl)
      return warning === undefined ? Effect.void : printNote(`warning: ${warning}`)
    })
  )

/** The account's state: in the configured database, in its folder, or nowhere if the user has no state folder. */
export const stateOf = (connection: Connection) => {
  const {
    files: { intents },
    stateUrl
  } = connection
  return stateUrl === undefined
    ? Layer.sync(RecordStore, () => (intents === undefined ? undefined : recordsOf(intents)))
    : stateLayer(connection, stateUrl, RecordStore)
}

/**
 * The log of changes, in the account's state. Each client gets a new layer, because Effect shares layers by identity
 * and the clients differ.
 */
const changeLog = ({ stateUrl }: Connection) =>
  Layer.effect(
    ChangeLog,
    Effect.gen(function* () {
      const store = yield* RecordStore
      if (store === undefined) return yield* ChangeLog
      // Others rely on the log of a shared database.
      return yield* noteChanges(store, readVariable, stateUrl === undefined ? undefined : (yield* Output).warn)
    })
  )

/** The client of a connection. */
export const clientOf = (connection: Connection) => {
  const { options } = connection
  return Progress.painting.pipe(
    Layer.provideMerge(ImageList.layer),
    Layer.provideMerge(Berth.layerOver(options, transport, Progress.observing)),
    Layer.provideMerge(Progress.layer),
    // `readConnection` has checked the options.
    Layer.orDie,
    Layer.provideMerge(
      connection.stateUrl === undefined ? Layer.empty : stateLayer(connection, connection.stateUrl, AllowanceStore)
    ),
    Layer.merge(spans),
    Layer.provideMerge(changeLog(connection)),
    // The state is closed last, because the log of changes is still written to it when the log closes.
    Layer.provideMerge(stateOf(connection)),
    Layer.merge(warned(connection))
  )
}

/** `--deadline` applies to the whole command: each call and wait gets what is left of it. */
const ending = Layer.effect(
  CallsEnd,
  Effect.flatMap(deadlineSetting, (deadline) =>
    Option.match(deadline, { onNone: () => Effect.undefined, onSome: ({ value }) => endIn(value) })
  )
)

/** Makes the layer of a command from the connection that its settings name. */
export const overConnection = <A, E, R>(layerOf: (found: Effect.Success<typeof connection>) => Layer.Layer<A, E, R>) =>
  Layer.merge(Layer.unwrap(Effect.map(connection, layerOf)), ending)

export const client = overConnection(clientOf)

/** Why creates cannot be recorded. */
export type Unkept = Pick<IntentStoreFailed, "code" | "detail" | "path">

/** The failure of a create with a key if the key cannot be saved. */
export const notKept = ({ code, detail, path }: Unkept) =>
  new BerthError({
    operation: "nodes.create",
    reason: new StateUnavailable({ code, detail, path }),
    attempts: []
  })

/** Keeps the records of creates in memory, with a warning. A create without a key continues even if it cannot be recorded. */
export const unrecorded = ({ detail }: Unkept) =>
  Layer.effect(IntentStore, Effect.as(Effect.logWarning(`Creates are not recorded: ${detail}`), makeMemory()))

/** Records creates in the configured database or in the account's folder; `without` is used if there is neither. */
export const intents = <E>(connection: Connection, without: (why: Unkept) => Layer.Layer<never, E>) => {
  const { files, options, stateUrl } = connection
  if (stateUrl !== undefined) return stateLayer(connection, stateUrl, IntentStore)
  return files.intents === undefined
    ? without({ code: null, detail: "there is no home folder", path: null })
    : Layer.catch(
        // A failure of `notePlace` can be ignored, because creates cannot be recorded then either, and that is reported.
        Layer.unwrap(Effect.as(Effect.ignore(notePlace(files.intents, options)), layerAccount(files.intents))),
        without
      )
}

/**
 * The client of a server. There is no overall deadline; each call has its own. `without` makes the failure of creates with a key if creates
 * cannot be recorded.
 */
export const servingClient = <E = never>(found: Connection, without: ((why: Unkept) => E) | undefined) =>
  Layer.provideMerge(
    clientOf(found),
    intents<E>(
      found,
      without === undefined ? unrecorded : (why) => Layer.effect(IntentStore, Effect.fail(without(why)))
    )
  )

/** The client of a command that creates. It records each create before it sends it, so that the next run can resume it. */
export const creatingClient = (key: string | undefined) =>
  overConnection((found) => servingClient(found, key === undefined ? undefined : notKept))
