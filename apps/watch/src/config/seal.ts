/**
 * Secrets that a database may hold: sealed with AES-256-GCM under a key that only the environment has. Each is bound to what it is of, so that it
 * opens nowhere else. Pure but for the nonce.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { Redacted, Result, Schema } from "effect"

const algorithm = "aes-256-gcm"
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

interface SealKey {
  /** What it is called where something sealed under it is kept: it says nothing of the key. */
  readonly id: string
  readonly bytes: Redacted.Redacted<Buffer>
}

/** The first one seals; each of them opens. */
export type SealKeys = readonly [SealKey, ...ReadonlyArray<SealKey>]

/** A sealed text: nonce, tag and content, in base64. */
export const Sealed = Schema.Struct({ keyId: Schema.String, sealed: Schema.String })
export type Sealed = typeof Sealed.Type

const sealVariable = "BERTH_WATCH_SEAL_KEY"
const oldSealVariable = "BERTH_WATCH_SEAL_KEY_OLD"

/** Base64 as it is written: other texts that mean the same bytes are none. */
const bytesOf = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? bytes : null
}

const keyOf = (text: string): SealKey | null => {
  const bytes = bytesOf(text)
  if (bytes?.length !== keyBytes) return null
  const id = createHash("sha256").update("berth-watch seal key\0").update(bytes).digest("hex").slice(0, 16)
  return { id, bytes: Redacted.make(bytes) }
}

/** The keys that the environment names, several of them parted by commas; or a sentence about what is wrong with them. */
export const readSealKeys = (variable: (name: string) => string | undefined): Result.Result<SealKeys, string> => {
  const keysIn = (name: string): Result.Result<ReadonlyArray<SealKey>, string> => {
    const text = variable(name)?.trim() ?? ""
    const wrong = `${name} has to be ${keyBytes} bytes in base64, or several such keys with commas between them.`
    return Result.all(
      text === "" ? [] : text.split(",").map((part) => Result.fromNullishOr(keyOf(part.trim()), () => wrong))
    )
  }
  return Result.gen(function* () {
    const [first, ...more] = yield* keysIn(sealVariable)
    if (first === undefined) return yield* Result.fail(`${sealVariable} is not set.`)
    return [first, ...more, ...(yield* keysIn(oldSealVariable))] as const
  })
}

/** `about`: what the secret is of. */
export const seal = ([{ bytes, id }]: SealKeys, about: ReadonlyArray<string>, secret: Redacted.Redacted): Sealed => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, Redacted.value(bytes), nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(JSON.stringify(about)))
  const content = Buffer.concat([cipher.update(Redacted.value(secret), "utf8"), cipher.final()])
  return { keyId: id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), content]).toString("base64") }
}

/** The secret, or a sentence about why it does not open. */
export const unseal = (
  keys: SealKeys,
  about: ReadonlyArray<string>,
  { keyId, sealed }: Sealed
): Result.Result<Redacted.Redacted, string> => {
  const key = keys.find(({ id }) => id === keyId)
  if (key === undefined) {
    return Result.fail(
      `The credentials are sealed under another key than those of ${sealVariable} and ${oldSealVariable}.`
    )
  }
  const bytes = bytesOf(sealed) ?? Buffer.alloc(0)
  const [nonce, tag] = [bytes.subarray(0, nonceBytes), bytes.subarray(nonceBytes, nonceBytes + tagBytes)]
  try {
    const decipher = createDecipheriv(algorithm, Redacted.value(key.bytes), nonce, { authTagLength: tagBytes })
    decipher.setAAD(Buffer.from(JSON.stringify(about))).setAuthTag(tag)
    const content = [decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]
    return Result.succeed(Redacted.make(Buffer.concat(content).toString("utf8")))
  } catch {
    return Result.fail("The sealed credentials were changed, or sealed for another account or address.")
  }
}
