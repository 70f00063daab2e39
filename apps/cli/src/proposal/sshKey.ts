/**
 * Turns an SSH key from a flag or a fleet file into the text that berth sends: the text of a public key, which may come from a file, or a
 * fingerprint or an id as it is. Berth never sends a private key.
 */
import { homedir } from "node:os"
import { resolve } from "node:path"
import { withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect, Option } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"
import { readFileText } from "../files/givenFile.ts"
import { accountSettings } from "../settings/account.ts"

/** Maximum size of a key file. It is larger than any public key. */
const maxBytes = 32 * 1024

const publicKey =
  /^(ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-nistp(?:256|384|521)|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)[ \t]+([A-Za-z0-9+/]+={0,2})(?:[ \t]+[^\r\n]*)?$/

/** Whether a string is one public key, whose data begins with the name of its type. */
const isPublicKey = (text: string): boolean => {
  const [, type = "", data = ""] = publicKey.exec(text) ?? []
  if (data === "") return false
  const bytes = Buffer.from(data, "base64")
  return (
    bytes.length > type.length + 4 &&
    bytes.readUInt32BE(0) === type.length &&
    bytes.toString("latin1", 4, 4 + type.length) === type
  )
}

export const isPrivateKey = (text: string): boolean => /PRIVATE KEY|PuTTY-User-Key-File/i.test(text)

/** Whether a word begins like a public key. */
export const beginsAsKey = (word: string): boolean => /^(?:ssh-|ecdsa-sha2-|sk-)\S*\s/.test(word)

const fingerprint = /^(?:(?:SHA256|MD5):\S+|[0-9a-f]{2}(?::[0-9a-f]{2})+)$/i

const looksLikePath = (word: string): boolean => /[/\\]|^~|\.(?:pub|pem|key)$/i.test(word)

/** Whether a word can only be the path of a file. */
export const namesFile = (word: string): boolean => !beginsAsKey(word) && !fingerprint.test(word) && looksLikePath(word)

const hint =
  "A key is a file with a public key, such as ~/.ssh/id_ed25519.pub, the key itself, its fingerprint or its id."

/**
 * Checks a key that the service should find by id or fingerprint. Fails if the account has a project: such a service accepts the text but
 * installs no key, and nobody could log in to a node that costs money.
 */
export const keyById = Effect.fnUntraced(function* (what: string, given: string) {
  const { project } = yield* accountSettings
  if (Option.isNone(project)) return given
  return yield* new UsageFault({
    message: `${what} cannot be ${given}: a service with projects accepts an id and installs no key.`,
    hint: "Name a file with a public key, such as ~/.ssh/id_ed25519.pub, or the key itself."
  })
})

/**
 * Reads the key that `word` names. `what` names the word's origin in an error, such as `--ssh-key`. A relative path is resolved
 * against `folder`.
 */
export const sshKeyOf = (what: string, word: string, folder: string) =>
  Effect.gen(function* () {
    const refuse = (message: string, remedy = hint) => new UsageFault({ message, hint: remedy })
    const given = word.trim()
    const keyIn = (text: string, name: string) => {
      if (isPrivateKey(text)) {
        return Effect.fail(
          refuse(
            `${what} cannot be ${name}: it is a private key, which must never leave this machine. Nothing was sent.`,
            "Name the public key: the file next to it that ends with .pub."
          )
        )
      }
      const lines = text.split("\n").flatMap((line) => (/^\s*(?:#|$)/.test(line) ? [] : [line.trim()]))
      const [key = ""] = lines
      if (lines.length === 1 && isPublicKey(key)) return Effect.succeed(key)
      const why =
        lines.length > 1 && lines.every(isPublicKey) ? `it has ${lines.length} keys` : "it is not a public key"
      return Effect.fail(refuse(`${what} cannot be ${name}: ${why}.`))
    }
    if (given === "") return yield* refuse(`${what} needs a value.`)
    if (isPrivateKey(given) || beginsAsKey(given)) return yield* keyIn(given, "this text")
    if (/^\d+$/.test(given) || fingerprint.test(given)) return yield* keyById(what, given)
    const path = resolve(folder, given.replace(/^~(?=$|[/\\])/, homedir()))
    const exists = yield* Effect.match(
      withFiles((fs) => fs.stat(path)),
      { onFailure: () => false, onSuccess: (about) => !about.isDirectory() }
    )
    if (!exists && !looksLikePath(given)) {
      if (/\s/.test(given)) return yield* refuse(`${what} cannot be ${given}: it is neither a key nor a file.`)
      return yield* keyById(what, given)
    }
    const text = yield* Effect.mapError(readFileText(path, maxBytes), (fault) =>
      refuse(`${what} cannot be ${given}: ${fault.code === "ENOENT" ? "there is no such file" : fileReason(fault)}.`)
    )
    return yield* keyIn(text, given)
  })
