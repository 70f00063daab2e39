/**
 * A request as the journal shows it: without credentials, and the same in two processes that were asked the same.
 */
import { apiKeyParameter } from "@berth/core/api/Routes"
import { DateTime, Redacted, Schema } from "effect"
import { operationOf, operations } from "../faults/operations.ts"
import type { Account } from "../world/World.ts"
import { keptBodyBytes, type Recorded } from "./Journals.ts"

export const JournalEntry = Schema.Struct({
  seq: Schema.Int.annotate({ description: "Counts the requests of the world, from 1." }),
  at: Schema.String.annotate({ description: "When it came, in the world's time." }),
  durationMillis: Schema.Int.annotate({ description: "How long its reply took, in the world's time." }),
  method: Schema.String,
  path: Schema.String,
  operation: Schema.NullOr(Schema.Literals(operations)),
  query: Schema.Record(Schema.String, Schema.String).annotate({ description: "Without the API key." }),
  body: Schema.NullOr(Schema.String).annotate({ description: `The first ${keptBodyBytes} bytes, without secrets.` }),
  status: Schema.NullOr(Schema.Int).annotate({ description: "What was answered; null when nothing was." }),
  faults: Schema.Array(Schema.String).annotate({ description: "The faults that struck, by name." })
}).annotate({ identifier: "JournalEntry" })
export type JournalEntry = typeof JournalEntry.Type

const hidden = "<redacted>"

/** Parameters that carry credentials, whatever they are spelled like. */
const isCredential = (name: string): boolean =>
  name.toLowerCase() === apiKeyParameter || /^(api[_-]?key|(access[_-]?)?token|authorization)$/i.test(name)

/** The value of every field of a JSON text whose name says that it is a secret. */
const secretField = /("[^"]*(?:password|passwd|secret|token|api_?key|private_key)[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*("|$)/gi

/** The credentials of an account, as they are, percent-encoded, and as JSON has them. */
const spellingsOf = ({ accessToken, apiKey }: Account): ReadonlyArray<string> =>
  [apiKey, accessToken].flatMap((secret) => {
    const value = Redacted.value(secret)
    return [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
  })

/** Takes the credentials of an account out of any text they stand in. */
const masking = (account: Account): ((text: string) => string) => {
  const spellings = spellingsOf(account)
  return (text) => spellings.reduce((masked, spelling) => masked.replaceAll(spelling, hidden), text)
}

/** Characters of a secret that say nothing about it. */
const tellingLength = 4

const utf8 = new TextDecoder()

/** The body as it may be shown. Where the journal has cut it off, it may end in the middle of a secret. */
const showBody = (account: Account, body: Uint8Array, isCut: boolean): string => {
  const text = masking(account)(utf8.decode(body)).replace(secretField, `$1"${hidden}"`)
  if (!isCut) return text
  for (const spelling of spellingsOf(account)) {
    for (let length = spelling.length - 1; length >= tellingLength; length--) {
      if (text.endsWith(spelling.slice(0, length))) return `${text.slice(0, -length)}${hidden}`
    }
  }
  return text
}

export const showEntry = (account: Account, recorded: Recorded): JournalEntry => {
  const mask = masking(account)
  const { at, durationMillis, faults, method, seq, status, url } = recorded
  const [path, search = ""] = url.split(/\?(.*)/s, 2) as [string, string?]
  const query: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(search)) {
    if (isCredential(name)) continue
    const shown = mask(value)
    query[mask(name)] = query[name] === undefined ? shown : `${query[name]},${shown}`
  }
  return {
    seq,
    at: DateTime.formatIso(DateTime.makeUnsafe(at)),
    durationMillis,
    method,
    path: mask(path),
    operation: operationOf(method, path) ?? null,
    query,
    body:
      recorded.body === undefined ? null : showBody(account, recorded.body, recorded.bodyBytes > recorded.body.length),
    status,
    faults
  }
}
