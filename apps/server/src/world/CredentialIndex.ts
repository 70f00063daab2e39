/**
 * Worlds by a credential of theirs. Credentials are looked up by digest and compared in constant time, so that the time an
 * answer takes reveals nothing about them (A5).
 */
import { hash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"
import type { World } from "./World.ts"

/** How many digests are kept before all are forgotten. */
const maxDigests = 1_024

/** Longer secrets belong to no world and are not kept. */
const maxKeptLength = 256

interface Digest {
  readonly bytes: Buffer
  /** The same bytes as a key of a map. */
  readonly text: string
}

const digests = new Map<string, Digest>()

/** The digest of a secret. It is what decides; the map only saves making it again for a secret that was shown before. */
export const digest = (secret: string): Digest => {
  const known = digests.get(secret)
  if (known !== undefined) return known
  const bytes = hash("sha256", secret, "buffer")
  const made = { bytes, text: bytes.toString("latin1") }
  if (secret.length > maxKeptLength) return made
  if (digests.size >= maxDigests) digests.clear()
  digests.set(secret, made)
  return made
}

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export const sameSecret = (left: string, right: string): boolean =>
  timingSafeEqual(digest(left).bytes, digest(right).bytes)

export class CredentialIndex {
  readonly #byDigest = new Map<string, { readonly bytes: Buffer; readonly world: World }>()
  readonly #secretOf: (world: World) => Redacted.Redacted

  constructor(secretOf: (world: World) => Redacted.Redacted) {
    this.#secretOf = secretOf
  }

  add(world: World): void {
    const { bytes, text } = digest(Redacted.value(this.#secretOf(world)))
    this.#byDigest.set(text, { bytes, world })
  }

  remove(world: World): void {
    this.#byDigest.delete(digest(Redacted.value(this.#secretOf(world))).text)
  }

  find(secret: string): World | undefined {
    const { bytes, text } = digest(secret)
    const held = this.#byDigest.get(text)
    return held !== undefined && timingSafeEqual(held.bytes, bytes) ? held.world : undefined
  }
}
