/**
 * Runs the effects of the client as promises. Each promise ends once, with a value or a `BerthError`. If its signal is aborted or the
 * client is closed, it ends at once and does not wait for the effect to clean up.
 */
import { Cause, type Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { Fetch } from "../client/transport/FetchTransport.ts"
import { type Ledger, LedgerBegun } from "../client/call/Attempt.ts"
import type * as Domain from "../domain/BerthError.ts"
import { fieldsOf } from "../domain/ErrorReason.ts"
import { type Redact, redactedReason } from "../client/transport/Redaction.ts"
import type { BerthError } from "./BerthError.ts"
import { Aborted, classes, ClientClosed, ClientFault } from "./Failure.ts"
import { plain } from "./Plain.ts"
import { scheduler } from "./scheduler.ts"

/** Why a call was abandoned before its effect ended. */
type Cut = "aborted" | "closed"

/** Methods that change nothing. */
const safe = new Set<string | undefined>(["GET", "HEAD", "OPTIONS"])

/** A call: the name that errors use, and the signal that ends it. */
export interface Call {
  readonly operation: string
  readonly signal: AbortSignal | undefined
}

export interface Runner<R> {
  /** Runs an effect to its value. If the promise rejects, it is always with a `BerthError`. */
  readonly run: <A>(call: Call, effect: Effect.Effect<A, Domain.BerthError, R>) => Promise<A>
  /** A scope for resources that outlive one call. It closes with the client at the latest. */
  readonly scope: () => Scope.Closeable
  /** Ends every call under way, then everything the client holds. */
  readonly close: () => Promise<void>
}

/**
 * Converts an error of the domain to one of the promise client. It masks again, because the caller's own arguments may contain credentials.
 */
const fromDomain = ({ attempts, hint, operation, reason, reply }: Domain.BerthError, redact: Redact): BerthError => {
  const masked = redactedReason(reason, redact)
  return new classes[reason._tag]({
    reason: masked,
    fields: plain(fieldsOf(masked)),
    operation,
    attempts: plain(attempts),
    reply,
    hint,
    cause: masked.cause
  })
}

/** A runner over the services of `layer`, which cannot fail and is built with the first call. */
export const make = <R>(
  layer: Layer.Layer<R>,
  fetch: () => typeof globalThis.fetch,
  redact: (text: string) => string
): Runner<R> => {
  // This does what `ManagedRuntime` would do, and makes the bundle of a page 0.7 KiB smaller. Closing ends the fibers before the services
  // that they use.
  const held = Scope.makeUnsafe()
  const services = Scope.forkUnsafe(held)
  const fibers = Scope.forkUnsafe(held, "parallel")
  const inRuntime = {
    scheduler,
    onFiberStart: (fiber: Fiber.Fiber<unknown, unknown>) => void Fiber.runIn(fiber, fibers)
  }
  let building: Fiber.Fiber<Context.Context<R>> | undefined
  let built: Context.Context<R> | undefined
  /** The services. The first call starts to build them. If that call ends early, the build continues. */
  const context = Effect.suspend(() =>
    Fiber.join((building ??= Effect.runFork(Layer.buildWithScope(layer, services), inRuntime)))
  )
  const fork = <A, E>(effect: Effect.Effect<A, E, R>) =>
    built === undefined
      ? Effect.runFork(
          Effect.flatMap(context, (made) => Effect.provideContext(effect, (built = made))),
          inRuntime
        )
      : Effect.runForkWith(built)(effect, inRuntime)
  const longLived = Scope.makeUnsafe("parallel")
  const cuts = new Set<(why: Cut) => void>()
  let closing: Promise<void> | undefined

  /** The exit of the effect, or why it was abandoned. Never rejects. */
  const exitOf = <A, E>({ signal }: Call, effect: Effect.Effect<A, E, R>) =>
    new Promise<Exit.Exit<A, E> | Cut>((resolve) => {
      const fiber = fork(effect)
      const end = (outcome: Exit.Exit<A, E> | Cut) => {
        cuts.delete(cut)
        signal?.removeEventListener("abort", onAbort)
        resolve(outcome)
      }
      const cut = (why: Cut) => {
        end(why)
        fiber.interruptUnsafe()
      }
      const onAbort = () => cut("aborted")
      cuts.add(cut)
      signal?.addEventListener("abort", onAbort)
      fiber.addObserver(end)
    })

  const run = async <A>(call: Call, effect: Effect.Effect<A, Domain.BerthError, R>): Promise<A> => {
    let changed: "no" | "maybe" = "no"
    let ledger: Ledger | undefined
    const noticed = effect.pipe(
      Effect.provideService(Fetch, (input, init) => {
        if (!safe.has(init?.method)) changed = "maybe"
        return fetch()(input, init)
      }),
      Effect.provideService(LedgerBegun, (begun) => {
        ledger = begun
      })
    )
    const outcome =
      closing !== undefined ? "closed" : call.signal?.aborted === true ? "aborted" : await exitOf(call, noticed)
    // Errors are made here, after the `await`, because here the stack still shows the caller.
    const letGo = { operation: call.operation, changed, attempts: plain(ledger?.attempts ?? []) }
    if (outcome === "closed") throw new ClientClosed(letGo)
    if (outcome === "aborted") throw new Aborted(letGo, call.signal?.reason)
    if (Exit.isSuccess(outcome)) return outcome.value
    throw fromCause(call.operation, outcome.cause)
  }

  const fromCause = (operation: string, cause: Cause.Cause<Domain.BerthError>): BerthError => {
    const error = cause.reasons.find(Cause.isFailReason)?.error
    if (error !== undefined) return fromDomain(error, redact)
    const defect: unknown = Cause.squash(cause)
    return new ClientFault(operation, redact(defect instanceof Error ? defect.message : String(defect)))
  }

  const close = () =>
    (closing ??= (async () => {
      for (const cut of Array.from(cuts)) cut("closed")
      await Effect.runPromise(Scope.close(longLived, Exit.void), { scheduler })
      await Effect.runPromise(Scope.close(held, Exit.void), { scheduler })
    })())

  return { run, scope: () => Scope.forkUnsafe(longLived), close }
}
