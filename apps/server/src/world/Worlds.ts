/**
 * All worlds of the server, and whose a request is. Credentials are looked up by digest and compared in constant time, so
 * that the time an answer takes says nothing about them (decision 5).
 */
import { hash, timingSafeEqual } from "node:crypto"
import type { FieldErrors } from "@berth/core/api/Envelope"
import { Redacted } from "effect"
import type { World } from "./World.ts"

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

export interface Worlds {
  /** The world that is asked about when a request does not say whose it is. */
  readonly main: World
  readonly identify: (credentials: Credentials) => Identity
}

/** The worlds of a server; the first is the main one. */
export const make = (worlds: readonly [World, ...Array<World>]): Worlds => {
  const byKey = new Keyring(worlds, (world) => world.settings.account.apiKey)
  const byToken = new Keyring(worlds, (world) => world.settings.account.accessToken)
  const [main] = worlds
  return { main, identify: (credentials) => identify(main, byKey, byToken, credentials) }
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

  constructor(worlds: ReadonlyArray<World>, secretOf: (world: World) => Redacted.Redacted) {
    for (const world of worlds) {
      const held = digest(Redacted.value(secretOf(world)))
      this.#byDigest.set(held.toString("latin1"), { digest: held, world })
    }
  }

  find(secret: string): World | undefined {
    const given = digest(secret)
    const held = this.#byDigest.get(given.toString("latin1"))
    return held !== undefined && timingSafeEqual(held.digest, given) ? held.world : undefined
  }
}
