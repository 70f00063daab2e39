/**
 * All worlds of the server, by id and by credential, and when each was last used. Credentials are compared by their digests, so
 * that the time an answer takes reveals nothing about them (A5).
 */
import { hash, timingSafeEqual } from "node:crypto"
import { Redacted, Result } from "effect"
import * as Allowance from "./allowance.ts"
import type { World } from "./World.ts"
import { type Account, defaults, maxFleetNodes, type WorldSettings } from "./WorldSettings.ts"

/** An account, of whose credentials only those that matter are given. */
type AskedAccount = { readonly [K in keyof Account]?: Account[K] | undefined }

/** Why a world cannot be added. */
export type AddRefusal =
  | { readonly _tag: "CredentialTaken"; readonly field: "apiKey" | "accessToken" }
  | { readonly _tag: "TooManyWorlds"; readonly limit: number }
  | TooManyNodes

/** The worlds of a server have so many nodes already that as many more would be beyond the limit. */
export interface TooManyNodes {
  readonly _tag: "TooManyNodes"
  readonly limit: number
  readonly present: number
  readonly more: number
}

/** Why a world cannot be removed: there is none, or it is the main one. */
export type RemoveRefusal =
  | { readonly _tag: "WorldUnknown"; readonly id: string }
  | { readonly _tag: "WorldNeeded"; readonly id: string }

/**
 * The rate limit of requests that name no world, on the clock of the main one. All tests of a server share it, so that it is
 * out of their reach.
 */
const unnamedRateLimit: Allowance.RateLimit = { limit: 1_000_000, windowMillis: 3_600_000, algorithm: "fixed-window" }

/** Past it, a test suite has forgotten to delete its own. */
const maxWorlds = 10_000

/** How many digests are kept before all are forgotten. */
const maxDigests = 1_024

/** Longer secrets belong to no world and are not kept. */
const maxKeptLength = 256

const digests = new Map<string, string>()

/** The digest of a secret, kept for when it is shown again. */
const digest = (secret: string): string => {
  const known = digests.get(secret)
  if (known !== undefined) return known
  const made = hash("sha256", secret, "base64url")
  if (secret.length > maxKeptLength) return made
  if (digests.size >= maxDigests) digests.clear()
  digests.set(secret, made)
  return made
}

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export const sameSecret = (left: string, right: string): boolean =>
  timingSafeEqual(Buffer.from(digest(left)), Buffer.from(digest(right)))

/** By the digests of a credential. */
type WorldsByDigest = Map<string, World>

/** The worlds of a server. The main one is always there, the others come and go. */
export class Worlds {
  /** The world of a request whose credentials name none. */
  readonly main: World
  /** The allowance of such requests. It counts by the clock of the main world, and is renewed with it. */
  unnamed = Allowance.make(unnamedRateLimit)
  readonly #byId = new Map<string, World>()
  readonly #byApiKey: WorldsByDigest = new Map()
  readonly #byAccessToken: WorldsByDigest = new Map()
  /** When each world that may end by itself was last used, in milliseconds of real time, and how many programs are using it. */
  readonly #uses = new Map<World, { lastAt: number; users: number }>()
  #made: number
  /** What worlds have that ask for nothing else: a profile has its own. */
  base: WorldSettings = defaults
  /** Counts what may have changed something, so that the keeper of a copy can see that it is old. */
  changes = 0

  readonly #maxNodes: number

  /** `made` is how many were made beside the main one before, deleted ones included. `maxNodes` is of all worlds together; a million takes some 250 MB. */
  constructor(main: World, others: ReadonlyArray<World> = [], made = others.length, maxNodes = maxFleetNodes) {
    this.#maxNodes = maxNodes
    this.main = main
    this.#made = made
    for (const world of [main, ...others]) this.#enrol(world)
  }

  /** The world whose API key this is. */
  byApiKey(secret: string): World | undefined {
    return this.#byApiKey.get(digest(secret))
  }

  /** The world whose access token this is. */
  byAccessToken(secret: string): World | undefined {
    return this.#byAccessToken.get(digest(secret))
  }

  get(id: string): World | undefined {
    return this.#byId.get(id)
  }

  /** Whether this is the id of a world that was there and is no more. No id is used twice. */
  hasEnded(id: string): boolean {
    const number = /^w([1-9]\d{0,14})$/.exec(id)?.[1]
    return number !== undefined && Number(number) <= this.#made && !this.#byId.has(id)
  }

  /** All of them, the main one first and the others as they were made. */
  list(): ReadonlyArray<World> {
    return [...this.#byId.values()]
  }

  get size(): number {
    return this.#byId.size
  }

  /** How many worlds have been made beside the main one: the number in the id of the last. */
  get made(): number {
    return this.#made
  }

  /** Why there can be no world of this account now. */
  refusalOf({ accessToken, apiKey }: AskedAccount): AddRefusal | undefined {
    if (this.#byId.size >= maxWorlds) return { _tag: "TooManyWorlds", limit: maxWorlds }
    if (apiKey !== undefined && this.byApiKey(Redacted.value(apiKey)) !== undefined) {
      return { _tag: "CredentialTaken", field: "apiKey" }
    }
    return accessToken !== undefined && this.byAccessToken(Redacted.value(accessToken)) !== undefined
      ? { _tag: "CredentialTaken", field: "accessToken" }
      : undefined
  }

  /** Why there cannot be so many nodes more; fewer there always can. */
  tooManyWith(more: number): TooManyNodes | undefined {
    if (more <= 0) return undefined
    let present = 0
    for (const { nodes } of this.#byId.values()) present += nodes.size
    return present + more <= this.#maxNodes ? undefined : { _tag: "TooManyNodes", limit: this.#maxNodes, present, more }
  }

  /**
   * Makes a world beside the main one. A credential that is not given follows from the seed of the main world and from
   * the id, so that two servers with the same seed hand out the same credentials.
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

  /** Puts another world in the place of all that a world has but its id. */
  replace(world: World, by: World): void {
    Object.assign(world, by)
    if (world === this.main) this.unnamed = Allowance.make(unnamedRateLimit)
  }

  /** Takes a world away: its credentials are unknown from now on. */
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

  /** From now on the world may end by itself: it does when it is not used. */
  letEnd(world: World, now: number): void {
    this.#uses.set(world, { lastAt: now, users: 0 })
  }

  mayEnd(world: World): boolean {
    return this.#uses.has(world)
  }

  /** Notes a use of the world, which lasts until what this gives is called. */
  use(world: World, now: number): (now: number) => void {
    const use = this.#uses.get(world) ?? { lastAt: now, users: 0 }
    use.users += 1
    return (now) => {
      use.users -= 1
      use.lastAt = now
    }
  }

  /** The worlds that nothing uses, or has used since an instant. */
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

  /** A credential of the right form that no world has. */
  #freeCredential(worlds: WorldsByDigest, kind: string, id: string): Redacted.Redacted {
    for (let attempt = 0; ; attempt++) {
      const secret = digest(`${this.main.settings.seed} ${kind} ${id} ${attempt}`).slice(0, 32)
      if (!worlds.has(digest(secret))) return Redacted.make(secret)
    }
  }
}
