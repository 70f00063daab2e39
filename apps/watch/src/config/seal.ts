/**
 * Seals secrets, which are then safe to store in a database: AES-256-GCM encrypts them, and only the environment has
 * the key. Each secret is bound to its subject (such as its account) and cannot be opened as the secret of another
 * subject. Pure except for the nonce.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { Redacted, Result, Schema } from "effect"

const algorithm = "aes-256-gcm"
const keyBytes = 32
const nonceBytes = 12
const tagBytes = 16

interface SealKey {
  /** This id is stored next to each text that was sealed with the key, to find the key again. The id reveals nothing about the key. */
  readonly id: string
  readonly bytes: Redacted.Redacted<Buffer>
}

/** The first key seals; every key can open. */
export type SealKeys = readonly [SealKey, ...ReadonlyArray<SealKey>]

/** A sealed text: nonce, tag and content, in base64. */
export const Sealed = Schema.Struct({ keyId: Schema.String, sealed: Schema.String })
export type Sealed = typeof Sealed.Type

const sealVariable = "BERTH_WATCH_SEAL_KEY"
const oldSealVariable = "BERTH_WATCH_SEAL_KEY_OLD"

/** Decodes base64. Null if encoding the result again does not give exactly this text. */
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

/** The keys in an environment variable, separated by commas; or a sentence that says what is wrong with them. */
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

/** `about`: the subject of the secret. */
export const seal = ([{ bytes, id }]: SealKeys, about: ReadonlyArray<string>, secret: Redacted.Redacted): Sealed => {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, Redacted.value(bytes), nonce, { authTagLength: tagBytes })
  cipher.setAAD(Buffer.from(JSON.stringify(about)))
  const content = Buffer.concat([cipher.update(Redacted.value(secret), "utf8"), cipher.final()])
  return { keyId: id, sealed: Buffer.concat([nonce, cipher.getAuthTag(), content]).toString("base64") }
}

/** The secret, or a sentence that says why it cannot be opened. */
export const unseal = (
  keys: SealKeys,
  about: ReadonlyArray<string>,
  { keyId, sealed }: Sealed
): Result.Result<Redacted.Redacted, string> => {
  const key = keys.find(({ id }) => id === keyId)
  if (key === undefined) {
    return Result.fail(
      `The credentials were sealed with a key that is in neither ${sealVariable} nor ${oldSealVariable}.`
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
