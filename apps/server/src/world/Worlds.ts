/**
 * All worlds of the server, and whose a request is. Credentials are looked up by digest and compared in constant time, so
 * that the time an answer takes says nothing about them (decision 5).
 */
import { hash, timingSafeEqual } from "node:crypto"
import type { FieldErrors } from "@berth/core/api/Envelope"
import { Redacted, Result } from "effect"
import type { Account, World } from "./World.ts"

/** What a request carries to say whose it is; `undefined` where it carries nothing. */
export interface Credentials {
  /** `apikey` of the query. */
  readonly apiKey: string | undefined
  /** The header `x-api-key`. */
  readonly repeatedApiKey: string | undefined
  /** The bearer token. */
  readonly accessToken: string | undefined
  /** Whether the three cookies are there and the header repeats the csrf one (decision 6). */
  readonly session: "absent" | "mismatched" | "valid"
}

export type Identity =
  /** The world the request belongs to. `bySession` when cookies stood in for the token. */
  | { readonly _tag: "Known"; readonly world: World; readonly bySession: boolean }
  /** Something is missing or wrong, by the name of where it belongs. */
  | { readonly _tag: "Unknown"; readonly errors: FieldErrors }
  /** Key and token are both good, and of different accounts. */
  | { readonly _tag: "Mixed" }

/** Why a world cannot be added. */
export type AddRefusal =
  | { readonly _tag: "CredentialTaken"; readonly field: "apiKey" | "accessToken" }
  | { readonly _tag: "TooManyWorlds"; readonly limit: number }

/** Why a world cannot be removed: there is none, or it is the main one. */
export type RemoveRefusal =
  | { readonly _tag: "WorldUnknown"; readonly id: string }
  | { readonly _tag: "WorldNeeded"; readonly id: string }

/** The most worlds a server keeps; past it, a test suite has forgotten to delete its own. */
const mostWorlds = 10_000

/** The worlds of a server. The main one is always there, the others come and go. */
export class Worlds {
  /** The world that is asked about when a request does not say whose it is. */
  readonly main: World
  readonly #byId = new Map<string, World>()
  readonly #byKey = new Keyring((world) => world.settings.account.apiKey)
  readonly #byToken = new Keyring((world) => world.settings.account.accessToken)
  #made: number
  /** Counts what may have changed something, so that whoever keeps a copy knows when it is old. */
  changes = 0

  /** `made` is how many were made beside the main one before, deleted ones included. */
  constructor(main: World, others: ReadonlyArray<World> = [], made = others.length) {
    this.main = main
    this.#made = made
    for (const world of [main, ...others]) this.#enrol(world)
  }

  /** Whose a request is. */
  identify(credentials: Credentials): Identity {
    return identify(this.main, this.#byKey, this.#byToken, credentials)
  }

  get(id: string): World | undefined {
    return this.#byId.get(id)
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

  /**
   * Makes a world beside the main one. `account` may leave out what it does not care about: what is missing follows from
   * the seed of the main world and from the id, so that two servers with the same seed hand out the same credentials.
   */
  add(
    account: { readonly [K in keyof Account]?: Account[K] | undefined },
    makeWorld: (id: string, account: Account) => World
  ): Result.Result<World, AddRefusal> {
    if (this.#byId.size >= mostWorlds) return Result.fail({ _tag: "TooManyWorlds", limit: mostWorlds })
    const id = `w${this.#made + 1}`
    const { apiKey = this.#free(this.#byKey, "key", id), accessToken = this.#free(this.#byToken, "token", id) } =
      account
    if (this.#byKey.find(Redacted.value(apiKey)) !== undefined) {
      return Result.fail({ _tag: "CredentialTaken", field: "apiKey" })
    }
    if (this.#byToken.find(Redacted.value(accessToken)) !== undefined) {
      return Result.fail({ _tag: "CredentialTaken", field: "accessToken" })
    }
    const world = makeWorld(id, { apiKey, accessToken })
    this.#made += 1
    this.#enrol(world)
    return Result.succeed(world)
  }

  /** Takes a world away: its credentials are no longer known. */
  remove(id: string): Result.Result<World, RemoveRefusal> {
    const world = this.#byId.get(id)
    if (world === undefined) return Result.fail({ _tag: "WorldUnknown", id })
    if (world === this.main) return Result.fail({ _tag: "WorldNeeded", id })
    this.#byId.delete(id)
    this.#byKey.remove(world)
    this.#byToken.remove(world)
    return Result.succeed(world)
  }

  #enrol(world: World): void {
    this.#byId.set(world.id, world)
    this.#byKey.add(world)
    this.#byToken.add(world)
  }

  /** A credential that looks like one and that nobody has. */
  #free(keyring: Keyring, kind: string, id: string): Redacted.Redacted {
    for (let attempt = 0; ; attempt++) {
      const secret = digest(`${this.main.settings.seed} ${kind} ${id} ${attempt}`).toString("base64url").slice(0, 32)
      if (keyring.find(secret) === undefined) return Redacted.make(secret)
    }
  }
}

const identify = (main: World, byKey: Keyring, byToken: Keyring, credentials: Credentials): Identity => {
  const { accessToken, apiKey, repeatedApiKey, session } = credentials
  const owner = apiKey === undefined ? undefined : byKey.find(apiKey)
  const mode = (owner ?? main).settings.auth
  if (mode === "off") return { _tag: "Known", world: owner ?? main, bySession: false }
  const holder = accessToken === undefined ? undefined : byToken.find(accessToken)
  const tokenDecides = mode === "strict" && session !== "valid"
  const errors: Record<string, ReadonlyArray<string>> = {}
  if (owner === undefined) {
    errors["apikey"] = [apiKey === undefined ? "The API key is missing from the query." : "The API key is not known."]
  }
  if (repeatedApiKey !== undefined && !sameSecret(repeatedApiKey, apiKey ?? "")) {
    errors["x-api-key"] = ["The header x-api-key differs from the apikey of the query."]
  }
  if (tokenDecides && holder === undefined) {
    errors["authorization"] = [
      accessToken === undefined
        ? "The access token is missing: Authorization: Bearer …"
        : "The access token is not known."
    ]
    if (session === "mismatched") errors["x-csrftoken"] = ["The header does not repeat the cookie csrftoken."]
  }
  if (owner === undefined || Object.keys(errors).length > 0) return { _tag: "Unknown", errors }
  if (tokenDecides && holder !== owner) return { _tag: "Mixed" }
  return { _tag: "Known", world: owner, bySession: mode === "strict" && holder !== owner }
}

/** How many digests are remembered before all are forgotten. */
const mostDigests = 1_024

/** Length up to which a secret is worth remembering; longer ones are nobody's. */
const longestRemembered = 256

const digests = new Map<string, Buffer>()

/** The digest of a secret. It is what decides; the map only saves making it again for a secret that was shown before. */
const digest = (secret: string): Buffer => {
  const known = digests.get(secret)
  if (known !== undefined) return known
  const made = hash("sha256", secret, "buffer")
  if (secret.length > longestRemembered) return made
  if (digests.size >= mostDigests) digests.clear()
  digests.set(secret, made)
  return made
}

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export const sameSecret = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))

/** Worlds by the digest of a secret of theirs. */
class Keyring {
  readonly #byDigest = new Map<string, { readonly digest: Buffer; readonly world: World }>()

  readonly #secretOf: (world: World) => Redacted.Redacted

  constructor(secretOf: (world: World) => Redacted.Redacted) {
    this.#secretOf = secretOf
  }

  add(world: World): void {
    const held = digest(Redacted.value(this.#secretOf(world)))
    this.#byDigest.set(held.toString("latin1"), { digest: held, world })
  }

  remove(world: World): void {
    this.#byDigest.delete(digest(Redacted.value(this.#secretOf(world))).toString("latin1"))
  }

  find(secret: string): World | undefined {
    const given = digest(secret)
    const held = this.#byDigest.get(given.toString("latin1"))
    return held !== undefined && timingSafeEqual(held.digest, given) ? held.world : undefined
  }
}
