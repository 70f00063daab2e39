/**
 * A client of a running daemon's HTTP interface. An invalid answer becomes a defect, as a failing store does in
 * `storeDaemon.ts`.
 */
import { Data, DateTime, Effect, type Redacted, Struct } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { type Answers, refusalStatus, Refused } from "./Daemon.ts"
import { WatchApi } from "./WatchApi.ts"

/** If the health check takes longer than this, the daemon counts as unreachable. */
const maxHealthWait = "2 seconds"

/** The daemon is running, but did not answer the request. */
export class NotAnswered extends Data.TaggedError("NotAnswered")<{
  readonly message: string
  readonly hint: string
  /** Whether the daemon refused because the token is missing or wrong. */
  readonly isDenied: boolean
}> {}

const notAnswered = (url: string, reason: string) =>
  new NotAnswered({
    message: `The daemon at ${url} does not answer: ${reason}.`,
    hint: "Check that it runs the same version as this command.",
    isDenied: false
  })

const denied = (url: string) =>
  new NotAnswered({
    message: `The daemon at ${url} asks for its token.`,
    hint: "Add --config FILE, or set BERTH_WATCH_TOKEN.",
    isDenied: true
  })

interface Failure {
  readonly status: number
  readonly message: string
}

const isFailure = (error: unknown): error is Failure =>
  typeof error === "object" && error !== null && "status" in error && "message" in error

/** An address at which the daemon can be reached: if it listens on all addresses, loopback. */
const reachable = (url: string): string => url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")

/** The daemon at `address`, if it is alive; otherwise null. */
export const remoteDaemon = Effect.fn("remoteDaemon")(function* (address: string, token: Redacted.Redacted | null) {
  const url = reachable(address)
  const client = yield* HttpApiClient.make(WatchApi, {
    baseUrl: url,
    transformClient: HttpClient.mapRequest((request) =>
      token === null ? request : HttpClientRequest.bearerToken(request, token)
    )
  })
  const lives = yield* Effect.isSuccess(Effect.timeout(client.operations.health(), maxHealthWait))
  if (!lives) return null

  const asRefusal = (error: unknown): Effect.Effect<never, Refused> => {
    if (!isFailure(error)) return Effect.die(notAnswered(url, "its reply cannot be read"))
    const { message, status } = error
    const kind = Struct.keys(refusalStatus).find((kind) => refusalStatus[kind] === status)
    if (kind !== undefined) return Effect.fail(new Refused({ kind, message }))
    return Effect.die(status === 401 ? denied(url) : notAnswered(url, message))
  }
  const ask = <A, E>(question: Effect.Effect<A, E>): Effect.Effect<A, Refused> => Effect.catch(question, asRefusal)
  const surely = <A, E>(question: Effect.Effect<A, E>): Effect.Effect<A> => Effect.orDie(ask(question))
  const { events, nodes, silences, sinks, status } = client
  const answers: Answers = {
    accounts: surely(status.accounts()),
    cursor: Effect.map(surely(status.read()), ({ cursor }) => cursor),
    troubles: Effect.map(surely(status.read()), ({ troubles }) => troubles),
    nodes: (query) => ask(nodes.list({ query })),
    events: (query) => ask(events.read({ query })),
    sinks: surely(sinks.list()),
    enable: (sink) => Effect.asVoid(ask(sinks.enable({ params: { sink } }))),
    retry: (sink) => Effect.asVoid(ask(sinks.retry({ params: { sink } }))),
    deadLetters: (sink, query) => ask(sinks.dead({ params: { sink }, query })),
    revive: (sink, id) => Effect.asVoid(ask(sinks.revive({ params: { sink, id } }))),
    test: (sink) => Effect.asVoid(ask(sinks.test({ params: { sink } }))),
    replay: (sink, after, account) =>
      Effect.asVoid(ask(sinks.replay({ params: { sink }, payload: { after, account } }))),
    remove: (sink) => Effect.asVoid(ask(sinks.remove({ params: { sink } }))),
    silences: Effect.map(surely(silences.list()), (list) => list.silences),
    addSilence: ({ atEnd, fromMillis, untilMillis, ...request }) =>
      ask(
        silences.add({
          payload: {
            ...request,
            ...(fromMillis === null ? {} : { from: DateTime.makeUnsafe(fromMillis) }),
            until: DateTime.makeUnsafe(untilMillis),
            then: atEnd
          }
        })
      ),
    endSilence: (silence, atEnd) =>
      ask(silences.end({ params: { silence }, payload: atEnd === undefined ? {} : { then: atEnd } }))
  }
  return answers
}, Effect.provide(FetchHttpClient.layer))
