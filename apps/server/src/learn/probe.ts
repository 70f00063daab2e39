/**
 * The probe: sends reads to a service through the client, and, where it is asked to, creates one node and deletes it. What comes
 * back is evidence.
 */
import * as Berth from "@berthkit/core/client/Berth"
import { layerAccount } from "@berthkit/core/client/creation/IntentFolder"
import { RawApi } from "@berthkit/core/client/RawApi"
import { type Connection, connectionOf, environmentSettings } from "@berthkit/terminal/Connection"
import { allowanceLayer } from "@berthkit/terminal/allowanceLayer"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { Declined, StartFailure } from "../cli/StartFailure.ts"
import { type NodeProbe, probeNode, removeLeftOver } from "./probeNode.ts"
import { type Evidence, redactorFor } from "./readEvidence.ts"
import { makeRecorder, type Recorder, recorderLayer } from "./recorder.ts"
import { cheapRead, minReads, nextRead } from "./survey.ts"

export interface ProbeOptions {
  /** Most reads. */
  readonly requests: number
  readonly node: NodeProbe | undefined
}

/** A hint without the flags that other programs have for the same. */
const withoutFlags = (hint: string): string => hint.replace(/, or add --(base-url https:\/\/HOST|allow-http)/, "")

/** The connection that the environment names. */
const connection = Effect.gen(function* () {
  return yield* connectionOf(yield* environmentSettings(Option.none(), false))
}).pipe(Effect.mapError(({ hint, message }) => new StartFailure({ message: `${message} ${withoutFlags(hint)}` })))

/** The client of the probe, which asks each thing once: what fails is evidence too. */
const clientOf = (connection: Connection, recorder: Recorder, creates: boolean) => {
  const { intents } = connection.files
  return Berth.layerOver(connection.options, recorderLayer(recorder)).pipe(
    Layer.provide(allowanceLayer(connection)),
    Layer.provide(creates && intents !== undefined ? layerAccount(intents) : Layer.empty)
  )
}

const survey = Effect.fnUntraced(function* (recorder: Recorder, requests: number) {
  const api = yield* RawApi
  const { exchanges } = recorder
  for (let count = 0; count < requests; count++) {
    const next = nextRead(count, exchanges) ?? (count < minReads ? cheapRead(exchanges) : undefined)
    if (next === undefined) return
    const sent = yield* Effect.result(api.exchange({ method: "GET", ...next }, { maxAttempts: 1, lane: "interactive" }))
    if (count > 0) continue
    if (Result.isFailure(sent)) {
      return yield* new StartFailure({ message: `the service cannot be asked: ${sent.failure.message}` })
    }
    const { status } = sent.success.reply
    if (status === 401 || status === 403) {
      return yield* new StartFailure({
        message: `the service refuses the credentials (${status}): check BERTH_API_KEY and BERTH_ACCESS_TOKEN`
      })
    }
  }
})

/** Requests of a node probe besides the reads: a create, a delete, and looks at the node until it is gone. */
const nodeRequests = 600

export const probe = Effect.fnUntraced(function* ({ node, requests }: ProbeOptions) {
  const found = yield* connection
  const recorder = makeRecorder(requests)
  const client = clientOf(found, recorder, node !== undefined)
  yield* Effect.gen(function* () {
    yield* survey(recorder, requests)
    recorder.left = nodeRequests
    yield* removeLeftOver(found)
    if (node !== undefined) yield* probeNode(found, node)
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
    skipped: 0
  }
  return evidence
})
