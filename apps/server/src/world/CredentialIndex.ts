/**
 * Worlds by a credential of theirs. Credentials are looked up by digest and compared in constant time, so that the time an
 * answer takes reveals nothing about them (decision 5).
 */
import { hash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import type { World } from "./World.ts"

/** How many digests are kept before all are forgotten. */
const maxDigests = 1_024

/** Longer secrets belong to no world and are not kept. */
const maxKeptLength = 256

const digests = new Map<string, Buffer>()

/** The digest of a secret. It is what decides; the map only saves making it again for a secret that was shown before. */
export const digest = (secret: string): Buffer => {
  const known = digests.get(secret)
  if (known !== undefined) return known
  const made = hash("sha256", secret, "buffer")
  if (secret.length > maxKeptLength) return made
  if (digests.size >= maxDigests) digests.clear()
  digests.set(secret, made)
  return made
}

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export const sameSecret = (left: string, right: string): boolean => timingSafeEqual(digest(left), digest(right))

export class CredentialIndex {
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
