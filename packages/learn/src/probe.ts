/**
 * The probe sends reads to a service through the client. If the user asks for it, it also creates one node and deletes it. A
 * recorder around the client's transport turns every request and reply into evidence, without credentials.
 */
import { Clock, Effect, Layer, Option, Redacted, Result } from "effect"
import * as NodeTransport from "@berthkit/core/client/transport/NodeTransport"
import { Transport } from "@berthkit/core/client/transport/Transport"
import { InvalidRequest } from "@berthkit/core/domain/ErrorReason"
import * as Berth from "@berthkit/core/client/Berth"
import { layerAccount } from "@berthkit/core/client/creation/IntentFolder"
import { placeParameters } from "@berthkit/core/api/Routes"
import { RawApi } from "@berthkit/core/client/RawApi"
import { type Connection, connectionOf, environmentSettings } from "@berthkit/terminal/Connection"
import { isAboutPlace } from "@berthkit/terminal/placeHint"
import { allowanceLayer } from "@berthkit/terminal/allowanceLayer"
import { StartFailure } from "@berthkit/terminal/StartFailure"
import { Declined } from "./outcomes.ts"
import { type Exchange, exchangeOf, listIn } from "./observe/Exchange.ts"
import { bodyOf, type Evidence, headersOf, parsed } from "./readEvidence.ts"
import { pairsOf, redactorFor } from "./secrets.ts"
import { leftOverOf, type NodeProbe, probeNode, removeLeftOver } from "./probeNode.ts"
import { cheapRead, minReads, nextRead, type Read } from "./survey.ts"

/** Records exchanges, and lets only a limited number of requests through. */
interface Recorder {
  readonly exchanges: Array<Exchange>
  /** Requests that may still be sent. */
  left: number
}

const makeRecorder = (requests: number): Recorder => ({ exchanges: [], left: requests })

/** The error of a request above the limit. The recorder raises it before it sends anything. */
const spent = new InvalidRequest({ status: null, detail: "the requests of --requests are used up", fields: {} })

const recording = ({ send }: Transport["Service"], recorder: Recorder) =>
  Transport.of({
    send: (request, begun, leaving) =>
      Effect.gen(function* () {
        if (recorder.left <= 0) return yield* Effect.fail(spent)
        recorder.left -= 1
        const at = yield* Clock.currentTimeMillis
        const reply = yield* send(request, begun, leaving)
        const path = URL.parse(request.url)?.pathname ?? ""
        recorder.exchanges.push({
          account: 0,
          ...exchangeOf({
            at,
            durationMillis: (yield* Clock.currentTimeMillis) - at,
            method: request.method,
            path,
            query: request.query.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
            request: parsed(request.body),
            status: reply.status,
            headers: headersOf(pairsOf(reply.headers)),
            body: bodyOf(reply.body, reply.whole, reply.status)
          })
        })
        return reply
      })
  })

const recorderLayer = (recorder: Recorder) =>
  Layer.effect(
    Transport,
    Effect.map(Transport, (transport) => recording(transport, recorder))
  ).pipe(Layer.provide(NodeTransport.layer))

export interface ProbeOptions {
  /** The place from the flags. A part that is undefined comes from the environment, if it is set there. */
  readonly place: { readonly project: string | undefined; readonly location: string | undefined }
  /** Maximum number of reads. */
  readonly requests: number
  readonly node: NodeProbe | undefined
}

/** Removes from a hint the flags that `berth-server` does not have. */
const withoutFlags = (hint: string): string => hint.replace(/, or add --(base-url https:\/\/HOST|allow-http)/, "")

/** The connection from the environment, with the place from the flags. */
const connectionIn = Effect.fnUntraced(
  function* (place: ProbeOptions["place"]) {
    return yield* connectionOf(yield* environmentSettings(Option.none(), false, place))
  },
  Effect.mapError(({ hint, message }) => new StartFailure({ message: `${message} ${withoutFlags(hint)}` }))
)

/** The client of the probe. The reads are sent with `maxAttempts: 1`, because failures are evidence, too. */
const clientOf = (connection: Connection, recorder: Recorder, creates: boolean) => {
  const { intents } = connection.files
  return Berth.layerOver(connection.options, recorderLayer(recorder)).pipe(
    Layer.provide(allowanceLayer(connection)),
    Layer.provideMerge(creates && intents !== undefined ? layerAccount(intents) : Layer.empty)
  )
}

/** Why the first reply is not a list of nodes; undefined if it is one. */
const whyNoList = (exchange: Exchange): string | undefined => {
  const { headers, status } = exchange
  if (listIn(exchange) !== undefined) return undefined
  if (status === 401 || status === 403) {
    return `the service refuses the credentials (${status}): check BERTH_API_KEY and BERTH_ACCESS_TOKEN`
  }
  if (status === 429) return "the rate limit of the account is spent (429): try again later"
  if (status >= 500) return `the service fails (${status}): try again later`
  const { body } = exchange
  if (status < 500 && isAboutPlace(JSON.stringify(body))) {
    return `the service does not know which nodes are meant (${status}): name the project and the location, --project NUMBER --location NAME`
  }
  const type = headers["content-type"] ?? "no media type"
  return `the service answered a list of nodes with ${status} and ${type}: check that BERTH_BASE_URL is the address of the service`
}

/** The probe ends after this many consecutive reads without a usable reply, because further reads would only take time. */
const maxUnanswered = 3

/**
 * Sends the reads. Returns the number of reads without a usable reply, the reason for the last of these, and the reads at which the
 * service failed. If the settings name a project, the probe does not send the parameter that tests how the service treats an unknown
 * project.
 */
const survey = Effect.fnUntraced(function* (recorder: Recorder, requests: number, { project }: Connection["options"]) {
  const api = yield* RawApi
  const { exchanges } = recorder
  let [unanswered, inARow, why] = [0, 0, ""]
  const failing: Array<string> = []
  for (let count = 0; count < requests && inARow < maxUnanswered; count++) {
    const planned = nextRead(count, exchanges) ?? (count < minReads ? cheapRead(exchanges) : undefined)
    if (planned === undefined) break
    const isOwn = ([name]: Read["query"][number]) => project === undefined || name !== placeParameters.project
    const next = { ...planned, query: planned.query.filter(isOwn) }
    const sent = yield* Effect.result(api.exchange({ method: "GET", ...next }, { maxAttempts: 1, lane: "interactive" }))
    const last = exchanges.at(-1)
    if (count === 0 && last === undefined && Result.isFailure(sent)) {
      return yield* new StartFailure({ message: `the service cannot be asked: ${sent.failure.message}` })
    }
    const wrong = count === 0 && last !== undefined ? whyNoList(last) : undefined
    if (wrong !== undefined) return yield* new StartFailure({ message: wrong })
    const fault = Result.isFailure(sent)
      ? sent.failure.message
      : sent.success.reply.status >= 500
        ? `the service failed (${sent.success.reply.status}).`
        : undefined
    inARow = fault === undefined ? 0 : inARow + 1
    if (fault === undefined) continue
    unanswered += 1
    why = fault
    if (Result.isSuccess(sent))
      failing.push(`${next.path}?${new URLSearchParams(next.query.map(([name, value]) => [name, value]))}`)
  }
  return { count: unanswered, why, failing }
})

/** Maximum number of requests about the probe's own node: a create, a delete, and reads of the node until it is gone. */
const nodeRequests = 600

export const probe = Effect.fnUntraced(function* ({ node, place, requests }: ProbeOptions) {
  const found = yield* connectionIn(place)
  const recorder = makeRecorder(requests)
  const left = yield* leftOverOf(found)
  const client = clientOf(found, recorder, node !== undefined || left !== undefined)
  const unanswered = yield* Effect.gen(function* () {
    const unanswered = yield* survey(recorder, requests, found.options)
    recorder.left = nodeRequests
    const open = left && (yield* removeLeftOver(left))
    if (node !== undefined && open !== undefined) {
      return yield* new StartFailure({ message: `no second node is created before that is known: ${open}` })
    }
    if (node !== undefined) yield* probeNode(found, node)
    return unanswered
  }).pipe(
    Effect.provide(client),
    Effect.mapError((error) =>
      error instanceof StartFailure || error instanceof Declined ? error : new StartFailure({ message: error.message })
    )
  )
  const { accessToken, apiKey } = found.options.credentials
  const evidence: Evidence = {
    exchanges: recorder.exchanges,
    redact: redactorFor([Redacted.value(apiKey), Redacted.value(accessToken)]),
    skipped: 0,
    unanswered
  }
  return evidence
})
