/**
 * Slows down guessing of the token. After some wrong tokens from a client, or from all clients together, each further
 * attempt waits before the daemon checks it. Right tokens wait as well, so the response time reveals nothing. Only a
 * few attempts wait at the same time, and a new attempt replaces a waiting one. Nobody is locked out: the right token
 * passes as soon as the guessing pauses.
 */
import { isIPv4, isIPv6 } from "node:net"
import { Clock, Deferred, Effect, Random } from "effect"

/** The result of an attempt. `turnedAway`: the token was not checked, and the client may repeat the attempt. */
export type AttemptResult = "right" | "wrong" | "turnedAway"

/** How long an attempt waits, in milliseconds, after too many wrong ones. */
export const waitMillis = 3000

export const tooManyAttempts = "Too many wrong tokens: try again in a few seconds."

interface Bounds {
  /** Number of wrong tokens without a penalty. Each `forgetMillis`, one wrong token is forgotten. */
  readonly free: number
  readonly forgetMillis: number
  /** Maximum number of attempts that wait at the same time. */
  readonly maxWaiting: number
}

const bounds = {
  client: { free: 10, forgetMillis: 10_000, maxWaiting: 5 },
  everyone: { free: 100, forgetMillis: 1000, maxWaiting: 50 }
} satisfies Record<string, Bounds>

/** Maximum number of clients that are remembered. The client that was idle longest is forgotten first. */
const maxClients = 10_000

/** The attempts of one client, or of all clients together. */
class Line {
  readonly #bounds: Bounds
  readonly #waiting: Array<Deferred.Deferred<AttemptResult>> = []
  #wrong = 0
  #atMillis = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
  }

  #forget(nowMillis: number) {
    this.#wrong = Math.max(0, this.#wrong - Math.max(0, nowMillis - this.#atMillis) / this.#bounds.forgetMillis)
    this.#atMillis = nowMillis
  }

  noteWrong(nowMillis: number) {
    this.#forget(nowMillis)
    // The number is capped, so that a client's penalty ends soon after the client stops guessing.
    this.#wrong = Math.min(this.#wrong + 1, 2 * this.#bounds.free)
  }

  isSlow(nowMillis: number): boolean {
    this.#forget(nowMillis)
    // Slow if less than one free attempt is left.
    return this.#wrong > this.#bounds.free - 1
  }

  /** Adds a waiting attempt. If too many wait, a random one of them is turned away. */
  enter(attempt: Deferred.Deferred<AttemptResult>, chance: number) {
    if (this.#waiting.length >= this.#bounds.maxWaiting) {
      const [out] = this.#waiting.splice(Math.floor(chance * this.#waiting.length), 1)
      Deferred.doneUnsafe(out!, Effect.succeed("turnedAway"))
    }
    this.#waiting.push(attempt)
  }

  leave(attempt: Deferred.Deferred<AttemptResult>) {
    const index = this.#waiting.indexOf(attempt)
    if (index >= 0) this.#waiting.splice(index, 1)
  }
}

/** Identifies a client: an IPv4 address, or the network of an IPv6 address, because a client has that network as a whole. */
export const clientOf = (address: string): string => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "")
  if (isIPv4(plain) || !isIPv6(plain)) return plain
  const [head = "", tail] = plain.split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - before.length - after.length }, () => "0")
  return [...before, ...zeros, ...after].slice(0, 4).join(":")
}

export const makeTokenAttempts = () => {
  const everyone = new Line(bounds.everyone)
  const clients = new Map<string, Line>()

  const lineOf = (client: string): Line => {
    const line = clients.get(client) ?? new Line(bounds.client)
    // Move the client to the end: clients are in the order of their last wrong tokens.
    clients.delete(client)
    clients.set(client, line)
    const idle = clients.keys().next()
    if (clients.size > maxClients && !idle.done) clients.delete(idle.value)
    return line
  }

  /** Checks the token of a client, now or after its wait. */
  return Effect.fnUntraced(function* (address: string, isRight: () => boolean) {
    const client = clients.get(clientOf(address))
    const now = yield* Clock.currentTimeMillis
    const slow = [client, everyone].filter((line) => line !== undefined).filter((line) => line.isSlow(now))
    const check = (nowMillis: number): AttemptResult => {
      // Only clients with a wrong token are remembered.
      if (isRight()) return "right"
      for (const line of [lineOf(clientOf(address)), everyone]) line.noteWrong(nowMillis)
      return "wrong"
    }
    if (slow.length === 0) return check(now)
    const place = yield* Deferred.make<AttemptResult>()
    for (const line of slow) line.enter(place, yield* Random.next)
    const waited = Effect.andThen(
      Effect.sleep(waitMillis),
      Effect.map(Clock.currentTimeMillis, (nowMillis) => check(nowMillis))
    )
    return yield* Effect.raceFirst(Deferred.await(place), waited).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          for (const line of slow) line.leave(place)
        })
      )
    )
  })
}
