/**
 * A request as readers of the journal see it: without credentials. If two processes got the same requests, their entries are
 * identical.
 */
import { isSecretName } from "@berthkit/core/domain/secretName"
import { DateTime, Redacted, Schema } from "effect"
import { operationOf, operations } from "@berthkit/profile/operations"
import type { Account } from "../world/WorldSettings.ts"
import { hidden, hideInText, hideNamed } from "@berthkit/core/domain/namedSecrets"
import { maxKeptBodyBytes, type Recorded, worldChanges } from "./Journals.ts"

/** One request and its reply, or a reset of the world. */
export const JournalEntry = Schema.Struct({
  seq: Schema.Int.annotate({ description: "Number of the entry in the journal, from 1." }),
  change: Schema.optionalKey(Schema.Literals(worldChanges)).annotate({
    description: "Set if this is not a request but a reset or a restored snapshot."
  }),
  at: Schema.String.annotate({ description: "When it arrived, in the world's time." }),
  durationMillis: Schema.Int.annotate({ description: "How long the reply took, in the world's time." }),
  method: Schema.String,
  path: Schema.String,
  operation: Schema.NullOr(Schema.Literals(operations)),
  query: Schema.Record(Schema.String, Schema.String).annotate({ description: "Without the API key." }),
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description: "By lower-case name, without `host`; credentials are hidden."
  }),
  body: Schema.NullOr(Schema.String).annotate({ description: `The first ${maxKeptBodyBytes} bytes, without secrets.` }),
  bodyBytes: Schema.optionalKey(Schema.Int).annotate({
    description: "Size of the whole body in bytes, if it was cut."
  }),
  status: Schema.NullOr(Schema.Int).annotate({ description: "The status of the reply; null without a reply." }),
  replyHeaders: Schema.Record(Schema.String, Schema.String).annotate({
    description: "Headers of the reply, by lower-case name; credentials are hidden."
  }),
  reply: Schema.NullOr(Schema.String).annotate({
    description:
      `The first ${maxKeptBodyBytes} bytes of the reply's body if the reply is a failure or a fault fired, without ` +
      "secrets; null for any other reply."
  }),
  replyBytes: Schema.optionalKey(Schema.Int).annotate({
    description: "Size of the whole body of the reply in bytes, if it was cut."
  }),
  faults: Schema.Array(Schema.String).annotate({ description: "The faults that fired, by name." })
}).annotate({ identifier: "JournalEntry" })
export type JournalEntry = typeof JournalEntry.Type

/** Headers for readers. The header `host` is left out, because it differs from one port to another. */
export const showHeaders = (headers: Recorded["headers"], redact: Redactor): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name !== "host")
      .map(([name, value]) => [redact.text(name), redact.named(name, value)])
  )

/** Redacts the credentials of an account, and everything that has the name of a secret. */
export interface Redactor {
  readonly text: (given: string) => string
  /** The value of a header or a parameter. */
  readonly named: (name: string, value: string) => string
  /** `isCut` says that the bytes are only the beginning of the body. */
  readonly body: (bytes: Uint8Array, isCut: boolean) => string
}

/** The spellings of an account's credentials: plain, percent-encoded, and as JSON. */
const spellingsOf = ({ accessToken, apiKey }: Account): ReadonlyArray<string> =>
  [apiKey, accessToken].flatMap((secret) => {
    const value = Redacted.value(secret)
    return [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]
  })

const utf8 = new TextDecoder()

/**
 * Redacts the credentials of an account. Three spellings are enough, because only the account's own programs send requests
 * here. (The client's redactor in `core/client/transport/Redaction.ts` also undoes encodings, because it reads pages from
 * strangers.)
 */
export const redactor = (account: Account): Redactor => {
  const spellings = spellingsOf(account)
  // All spellings are replaced in one pass, the longest first, because a short secret may be a part of another secret or of
  // the replacement.
  const literals = spellings
    .toSorted((a, b) => b.length - a.length)
    .map((spelling) => spelling.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&"))
  const secrets = new RegExp(literals.join("|"), "g")
  const own = (given: string) => given.replace(secrets, hidden)
  const text = (given: string) => hideInText(own(given))
  return {
    text,
    named: (name, value) => hideNamed(name, own(value)),
    body: (bytes, isCut) => {
      const shown = text(utf8.decode(bytes))
      // A cut body may end in the middle of a credential, so its end is removed. The removal itself may cut a character in
      // half.
      return isCut ? shown.slice(0, -Math.max(...spellings.map(({ length }) => length))).toWellFormed() : shown
    }
  }
}

const redactors = new WeakMap<Account, Redactor>()

/** The redactor of an account. It is cached. */
export const redactorOf = (account: Account): Redactor => {
  const known = redactors.get(account) ?? redactor(account)
  redactors.set(account, known)
  return known
}

export const showEntry = (account: Account, recorded: Recorded): JournalEntry => {
  const redact = redactorOf(account)
  const { at, body, bodyBytes, change, durationMillis, faults, method, replyBody, seq, status, url } = recorded
  const replyBytes = recorded.replyBytes ?? replyBody?.length ?? 0
  const isReplyCut = replyBody !== undefined && replyBytes > replyBody.length
  const [path, search = ""] = url.split(/\?(.*)/s, 2) as [string, string?]
  // A map, because a parameter may be called `constructor`.
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (isSecretName(name)) continue
    const shownName = redact.text(name)
    const before = query.get(shownName)
    query.set(shownName, before === undefined ? redact.text(value) : `${before},${redact.text(value)}`)
  }
  return {
    seq,
    ...(change === undefined ? {} : { change }),
    at: DateTime.formatIso(DateTime.makeUnsafe(at)),
    durationMillis,
    method,
    path: redact.text(path),
    operation: operationOf(method, path) ?? null,
    query: Object.fromEntries(query),
    headers: showHeaders(recorded.headers, redact),
    body: body === undefined ? null : redact.body(body, bodyBytes > body.length),
    ...(body !== undefined && bodyBytes > body.length ? { bodyBytes } : {}),
    status,
    replyHeaders: showHeaders(recorded.replyHeaders, redact),
    reply: replyBody === undefined ? null : redact.body(replyBody, isReplyCut),
    ...(isReplyCut ? { replyBytes } : {}),
    faults
  }
}
