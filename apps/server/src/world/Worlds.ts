/**
 * All worlds of the server, by id and by credential, and when each was last used. Credentials are compared by their digests,
 * so the time of a reply reveals nothing about them (assumption A5 in docs/interface/assumptions.md).
 */
import { hash, timingSafeEqual } from "node:crypto"
import { Effect, Redacted, Result, type Scope } from "effect"
import * as Allowance from "./allowance.ts"
import type { World } from "./World.ts"
import { type Account, defaults, maxFleetNodes, type WorldSettings } from "./WorldSettings.ts"

/** An account whose credentials may be missing. */
type AskedAccount = { readonly [K in keyof Account]?: Account[K] | undefined }

/** Why a world cannot be added. */
export type AddRefusal =
  | { readonly _tag: "CredentialTaken"; readonly field: "apiKey" | "accessToken" }
  | { readonly _tag: "TooManyWorlds"; readonly limit: number }
  | TooManyNodes

/** All worlds together would have more nodes than the limit allows. */
export interface TooManyNodes {
  readonly _tag: "TooManyNodes"
  readonly limit: number
  readonly present: number
  readonly more: number
}

/** Why a world cannot be removed: it does not exist, or it is the main one. */
export type RemoveRefusal =
  | { readonly _tag: "WorldUnknown"; readonly id: string }
  | { readonly _tag: "WorldNeeded"; readonly id: string }

/**
 * The rate limit of requests whose credentials do not belong to a world. It follows the clock of the main world, and is high
 * because all tests of a server share it.
 */
const unnamedRateLimit: Allowance.RateLimit = { limit: 1_000_000, windowMillis: 3_600_000, algorithm: "fixed-window" }

/** Maximum number of worlds. A test suite with this many worlds has forgotten to delete them. */
const maxWorlds = 10_000

/** The size at which the cache of digests is emptied. */
const maxDigests = 1_024

/** Maximum length of a secret whose digest is cached. A longer one cannot belong to a world. */
const maxKeptLength = 256

const digests = new Map<string, string>()

/** The digest of a secret. It is cached because the same secrets come again and again. */
const digest = (secret: string): string => {
  const known = digests.get(secret)
  if (known !== undefined) return known
  const made = hash("sha256", secret, "base64url")
  if (secret.length > maxKeptLength) return made
  if (digests.size >= maxDigests) digests.clear()
  digests.set(secret, made)
  return made
}

/** Whether two strings are equal. The comparison takes the same time wherever they differ. */
export const sameSecret = (left: string, right: string): boolean =>
  timingSafeEqual(Buffer.from(digest(left)), Buffer.from(digest(right)))

/** Worlds by the digest of one of their credentials. */
type WorldsByDigest = Map<string, World>

/** The worlds of a server. The main world always exists; others may be added and removed. */
export class Worlds {
  /** The main world, which also stands in for requests whose credentials belong to no world. */
  readonly main: World
  /** The allowance of requests whose credentials belong to no world. It is reset together with the main world. */
  unnamed = Allowance.make(unnamedRateLimit)
  readonly #byId = new Map<string, World>()
  readonly #byApiKey: WorldsByDigest = new Map()
  readonly #byAccessToken: WorldsByDigest = new Map()
  /**
   * For each world that may end by itself: when it was last used, in milliseconds of real time, and how many requests use it
   * now.
   */
  readonly #uses = new Map<World, { lastAt: number; users: number }>()
  #made: number
  /** The settings of a world without options. A profile changes these settings. */
  base: WorldSettings = defaults
  /**
   * Counts changes of the worlds, sometimes too many. The number tells the state keeper that the saved copy may be
   * outdated.
   */
  changes = 0

  readonly #maxNodes: number

  /**
   * `made` is the number of worlds that were made after the main one, including deleted worlds. `maxNodes` is the limit for
   * all worlds together. (A million nodes take about 250 MB.)
   */
  constructor(main: World, others: ReadonlyArray<World> = [], made = others.length, maxNodes = maxFleetNodes) {
    this.#maxNodes = maxNodes
    this.main = main
    this.#made = made
    for (const world of [main, ...others]) this.#enrol(world)
  }

  /** The world with this API key. */
  byApiKey(secret: string): World | undefined {
    return this.#byApiKey.get(digest(secret))
  }

  /** The world with this access token. */
  byAccessToken(secret: string): World | undefined {
    return this.#byAccessToken.get(digest(secret))
  }

  get(id: string): World | undefined {
    return this.#byId.get(id)
  }

  /** Whether a world of this id existed and has ended. Ids are never reused. */
  hasEnded(id: string): boolean {
    const number = /^w([1-9]\d{0,14})$/.exec(id)?.[1]
    return number !== undefined && Number(number) <= this.#made && !this.#byId.has(id)
  }

  /** All worlds, the main one first, then by age. */
  list(): ReadonlyArray<World> {
    return [...this.#byId.values()]
  }

  get size(): number {
    return this.#byId.size
  }

  /** How many worlds were made after the main one. The id of the last of them has this number. */
  get made(): number {
    return this.#made
  }

  /** Why a world of this account cannot be made now. */
  refusalOf({ accessToken, apiKey }: AskedAccount): AddRefusal | undefined {
    if (this.#byId.size >= maxWorlds) return { _tag: "TooManyWorlds", limit: maxWorlds }
    if (apiKey !== undefined && this.byApiKey(Redacted.value(apiKey)) !== undefined) {
      return { _tag: "CredentialTaken", field: "apiKey" }
    }
    return accessToken !== undefined && this.byAccessToken(Redacted.value(accessToken)) !== undefined
      ? { _tag: "CredentialTaken", field: "accessToken" }
      : undefined
  }

  /** Why this many more nodes are not possible; undefined if they are. Fewer nodes are always possible. */
  tooManyWith(more: number): TooManyNodes | undefined {
    if (more <= 0) return undefined
    let present = 0
    for (const { nodes } of this.#byId.values()) present += nodes.size
    return present + more <= this.#maxNodes ? undefined : { _tag: "TooManyNodes", limit: this.#maxNodes, present, more }
  }

  /**
   * Makes another world. A credential that is missing from `account` is derived from the seed of the main world and the new id, so two
   * servers with the same seed hand out the same credentials.
   */
  add(account: AskedAccount, makeWorld: (id: string, account: Account) => World): Result.Result<World, AddRefusal> {
    const refusal = this.refusalOf(account)
    if (refusal !== undefined) return Result.fail(refusal)
    const id = `w${this.#made + 1}`
    const {
      apiKey = this.#freeCredential(this.#byApiKey, "key", id),
      accessToken = this.#freeCredential(this.#byAccessToken, "token", id)
    } = account
    const world = makeWorld(id, { apiKey, accessToken })
    const tooMany = this.tooManyWith(world.nodes.size)
    if (tooMany !== undefined) return Result.fail(tooMany)
    this.#made += 1
    this.#enrol(world)
    return Result.succeed(world)
  }

  /** Replaces all fields of a world except its id. */
  replace(world: World, by: World): void {
    Object.assign(world, by)
    if (world === this.main) this.unnamed = Allowance.make(unnamedRateLimit)
  }

  /** Removes a world. Its credentials stop working at once. */
  remove(id: string): Result.Result<World, RemoveRefusal> {
    const world = this.#byId.get(id)
    if (world === undefined) return Result.fail({ _tag: "WorldUnknown", id })
    if (world === this.main) return Result.fail({ _tag: "WorldNeeded", id })
    this.#byId.delete(id)
    this.#uses.delete(world)
    const { accessToken, apiKey } = world.settings.account
    this.#byApiKey.delete(digest(Redacted.value(apiKey)))
    this.#byAccessToken.delete(digest(Redacted.value(accessToken)))
    return Result.succeed(world)
  }

  /** Lets a world end by itself, from now on, if nobody uses it. */
  letEnd(world: World, now: number): void {
    this.#uses.set(world, { lastAt: now, users: 0 })
  }

  mayEnd(world: World): boolean {
    return this.#uses.has(world)
  }

  /** Marks a world as in use until the returned function is called. */
  use(world: World, now: number): (now: number) => void {
    const use = this.#uses.get(world) ?? { lastAt: now, users: 0 }
    use.users += 1
    return (now) => {
      use.users -= 1
      use.lastAt = now
    }
  }

  /** The worlds that nothing uses now and that were last used at an instant or before. */
  idleSince(instant: number): ReadonlyArray<World> {
    return Array.from(this.#uses).flatMap(([world, { lastAt, users }]) =>
      lastAt <= instant && users === 0 ? [world] : []
    )
  }

  #enrol(world: World): void {
    const { accessToken, apiKey } = world.settings.account
    this.#byId.set(world.id, world)
    this.#byApiKey.set(digest(Redacted.value(apiKey)), world)
    this.#byAccessToken.set(digest(Redacted.value(accessToken)), world)
  }

  /** A well-formed credential that no world has. */
  #freeCredential(worlds: WorldsByDigest, kind: string, id: string): Redacted.Redacted {
    for (let attempt = 0; ; attempt++) {
      const secret = digest(`${this.main.settings.seed} ${kind} ${id} ${attempt}`).slice(0, 32)
      if (!worlds.has(digest(secret))) return Redacted.make(secret)
    }
  }
}

/** Marks a world as in use until the request's scope closes, because a request may take longer than a world may be idle. */
export const useWorld = (
  { realMillis, worlds }: { readonly worlds: Worlds; readonly realMillis: () => number },
  world: World
): Effect.Effect<unknown, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => worlds.use(world, realMillis())),
    (end) => Effect.sync(() => end(realMillis()))
  )
