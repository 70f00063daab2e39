/**
 * How a service behaves where its interface is silent, as evidence of it shows: what `berth-server learn` writes and
 * `berth-server --profile` plays. A part that is absent was not observed; there Berth's assumption holds.
 */
import { parseJson } from "@berthkit/core/api/parseJson"
import { Result, Schema } from "effect"
import { operations } from "./operations.ts"
import { fieldErrors } from "@berthkit/core/api/readFields"
import { algorithms } from "./algorithms.ts"

export const format = "berth-profile/1"

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000_000 }))
const Millis = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 31_536_000_000 }))
const Text = Schema.String.check(Schema.isMaxLength(4_096))
const Status = Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 }))
/** As a header may have it. */
const MediaType = Schema.String.check(Schema.isPattern(/^[ -~]{0,4096}$/))
const Decimals = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))

/** The JSON types of a value; a whole number is an `integer`. */
const kinds = ["null", "boolean", "integer", "number", "string", "array", "object"] as const
export type Kind = (typeof kinds)[number]

/** How a text or number is written, by which the mock writes its own values. */
export type Form = typeof Form.Type
const Form = Schema.Union([
  /** A size, with so many decimals, a space or none, and its unit; without a unit the value is in `unit` all the same. */
  Schema.Struct({
    is: Schema.Literal("size"),
    unit: Schema.Literals(["GB", "MB", "GiB", "MiB"]),
    decimals: Decimals,
    suffix: Text
  }),
  /** An instant: digits after the second, what is between date and time, and how it ends. */
  Schema.Struct({ is: Schema.Literal("instant"), decimals: Decimals, between: Text, zone: Text }),
  Schema.Struct({ is: Schema.Literal("epoch"), unit: Schema.Literals(["seconds", "millis"]) }),
  /** The same in every record. */
  Schema.Struct({ is: Schema.Literal("constant"), value: Schema.Json })
])

/** A field of a record. */
export interface Field {
  readonly name: string
  /** What it was besides null, the most frequent first. */
  readonly kinds: ReadonlyArray<Kind>
  readonly form?: Form
  /** Of how many records it was missing, and null: 0 to 1. */
  readonly missing: number
  readonly null: number
  /** The statuses, in the service's words, in which it was always null. */
  readonly nullIn?: ReadonlyArray<string>
  /** The text that stands for null, such as `[]` for an address that there is not. */
  readonly nullText?: string
  /** Of an object. */
  readonly fields?: ReadonlyArray<Field>
}
export const Field: Schema.Codec<Field> = Schema.Struct({
  name: Text,
  kinds: Schema.Array(Schema.Literals(kinds)),
  form: Schema.optionalKey(Form),
  missing: Share,
  null: Share,
  nullIn: Schema.optionalKey(Schema.Array(Text)),
  nullText: Schema.optionalKey(Text),
  fields: Schema.optionalKey(
    Schema.Array(Schema.suspend((): Schema.Codec<Field> => Field)).check(Schema.isMaxLength(200))
  )
})

/** The fields of a record, in the service's order. */
const Record = Schema.Array(Field).check(Schema.isMaxLength(200))

/** A key of the envelope around a success. One that is different in each reply, such as the id of a request, is `varying`. */
export type EnvelopeKey = typeof EnvelopeKey.Type
const EnvelopeKey = Schema.Struct({
  name: Text,
  is: Schema.Literals(["data", "status", "total", "pages", "page", "size", "constant", "varying"]),
  value: Schema.optionalKey(Schema.Json)
})

/** The envelope of a success, or `bare` where `data` comes without one. */
const Envelope = Schema.Union([Schema.Literal("bare"), Schema.Array(EnvelopeKey).check(Schema.isMaxLength(50))])
export type Envelope = typeof Envelope.Type

/** What went wrong, as far as it can be told from the request. */
export const situations = [
  "unknown-node",
  "unknown-path",
  "malformed-query",
  "page-out-of-bounds",
  "page-too-large",
  "past-the-end",
  "given-twice",
  "empty-parameter",
  "unknown-parameter",
  "no-slash",
  "unknown-image-type",
  "no-match",
  "unauthorized",
  "over-the-allowance",
  "invalid-create"
] as const
export type Situation = (typeof situations)[number]

/** The reply to it. In texts `{id}` is the id that was asked for. */
const Failure = Schema.Struct({
  status: Status,
  contentType: Schema.optionalKey(MediaType),
  /** JSON, or the text where it is none; null where there is no body. */
  body: Schema.Struct({ json: Schema.optionalKey(Schema.Json), text: Schema.optionalKey(Text) }),
  retryAfter: Schema.optionalKey(Schema.Boolean)
})
export type Failure = typeof Failure.Type

/** Durations that were observed, in milliseconds. */
const Samples = Schema.Array(Millis).check(Schema.isMaxLength(1_000))

/** What something took at least and at most, in milliseconds: between two looks nobody knows. */
const Ranges = Schema.Array(Schema.Struct({ min: Millis, max: Millis })).check(Schema.isMaxLength(1_000))
export type Ranges = typeof Ranges.Type

const verdicts = ["confirmed", "refuted", "open"] as const
export type VerdictWord = (typeof verdicts)[number]

/** What the evidence says of one claim. */
export const Finding = Schema.Struct({
  assumption: Schema.String.check(Schema.isPattern(/^A[1-9]\d?$/)),
  claim: Text,
  verdict: Schema.Literals(verdicts),
  /** What was seen; of an open one, why nothing was. */
  observed: Text,
  /** Whose success shows it, where one does. */
  of: Schema.optionalKey(Schema.Literals(operations))
})
export type Finding = typeof Finding.Type

/** Something for each of these names, as far as it was observed. */
const partsBy = <Name extends string, S extends Schema.Top>(names: ReadonlyArray<Name>, schema: S) =>
  Schema.Struct(
    Object.fromEntries(names.map((name) => [name, Schema.optionalKey(schema)])) as {
      readonly [K in Name]: Schema.optionalKey<S>
    }
  )

export const Behaviour = Schema.Struct({
  /** The media type of a success. */
  contentType: Schema.optionalKey(MediaType),
  envelopes: partsBy(operations, Envelope),
  records: partsBy(operations, Record),
  failures: partsBy(situations, Failure),
  statuses: Schema.Struct({
    create: Schema.optionalKey(Text),
    created: Schema.optionalKey(Text),
    running: Schema.optionalKey(Text),
    "power-off": Schema.optionalKey(Text),
    terminate: Schema.optionalKey(Text)
  }),
  paging: Schema.Struct({
    defaultSize: Schema.optionalKey(Count),
    /** The longest page that was given, where more was asked for. */
    maximumSize: Schema.optionalKey(Count),
    /** Of a size beyond 100; `accepted` where it did not show whether it is capped. */
    tooLarge: Schema.optionalKey(Schema.Literals(["refused", "capped", "given", "accepted"])),
    /** Of a page number below 1. */
    outOfBounds: Schema.optionalKey(Schema.Literals(["refused", "first"])),
    malformed: Schema.optionalKey(Schema.Literals(["refused", "first"])),
    order: Schema.optionalKey(Schema.Literals(["ascending", "descending"])),
    pastTheEnd: Schema.optionalKey(Schema.Literals(["empty", "last", "refused"])),
    pageAlias: Schema.optionalKey(Schema.Boolean),
    /** Which wins where both are given. */
    winner: Schema.optionalKey(Schema.Literals(["page_no", "page"])),
    /** Of a parameter that is given twice. */
    twice: Schema.optionalKey(Schema.Literals(["refused", "accepted"]))
  }),
  deletes: Schema.optionalKey(Schema.Struct({ status: Status, body: Schema.Boolean })),
  /** Words for statuses that Berth does not know. */
  otherStatuses: Schema.optionalKey(Schema.Array(Text).check(Schema.isMaxLength(100))),
  provisioningMillis: Schema.optionalKey(Ranges),
  terminationMillis: Schema.optionalKey(Ranges),
  /** How long the list has nodes that can no longer be read. */
  ghostMillis: Schema.optionalKey(Samples),
  window: Schema.Struct({
    limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))),
    windowMillis: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31_536_000_000 }))),
    algorithm: Schema.optionalKey(Schema.Literals(algorithms)),
    /** Whether it is a bucket; of another kind `algorithm` is often open. */
    bucket: Schema.optionalKey(Schema.Boolean),
    reset: Schema.optionalKey(Schema.Literals(["epoch", "seconds"])),
    /** Whether replies have the three headers. */
    onSuccess: Schema.optionalKey(Schema.Boolean),
    onFailure: Schema.optionalKey(Schema.Boolean)
  }),
  /** How far the service's clock is ahead. */
  clockSkewMillis: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: -31_536_000_000, maximum: 31_536_000_000 }))
  ),
  location: Schema.optionalKey(Schema.Boolean),
  /** Reads of the probe at which the service failed, such as `/nodes/?page_no=abc`: a check expects no more of them. */
  failing: Schema.optionalKey(Schema.Array(Text).check(Schema.isMaxLength(100))),
  images: Schema.Struct({
    unknownType: Schema.optionalKey(Schema.Literals(["refused", "empty", "all"])),
    caseMatters: Schema.optionalKey(Schema.Boolean),
    /** Whether filters narrow the list; else it is whole. */
    narrows: Schema.optionalKey(Schema.Boolean),
    noMatch: Schema.optionalKey(Schema.Literals(["refused", "empty", "rows"]))
  }),
  /** The image list as it was, without filters. */
  catalogue: Schema.optionalKey(Schema.Array(Schema.Json).check(Schema.isMaxLength(20_000)))
})
export type Behaviour = typeof Behaviour.Type

export const Profile = Schema.Struct({
  format: Schema.Literal(format),
  /** Requests that it was learned from. */
  exchanges: Count,
  behaviour: Behaviour,
  findings: Schema.Array(Finding).check(Schema.isMaxLength(500))
})
export type Profile = typeof Profile.Type

/** Longest profile that is read: a catalogue of some ten thousand rows. */
export const maxProfileBytes = 16 * 1024 * 1024

const decode = Schema.decodeUnknownResult(Profile, { errors: "first", onExcessProperty: "error" })

/** A profile, or in one sentence why it is none. */
export const readProfile = (text: string): Result.Result<Profile, string> => {
  const value = parseJson(text)
  if (value === undefined) return Result.fail("it is no JSON; learn it again")
  const written = typeof value === "object" && value !== null ? (value as { format?: unknown }).format : undefined
  if (typeof written !== "string" || !/^berth-profile\/\d+$/.test(written)) {
    return Result.fail("it is no profile of berth-server learn")
  }
  if (written !== format) {
    return Result.fail(`its format is ${written.slice(0, 40)}, and this berth-server reads ${format}; learn it again`)
  }
  return Result.mapError(decode(value), ({ issue }) => {
    const [[field, sentences] = ["detail", ["It cannot be read."]]] = Object.entries(fieldErrors(issue))
    return `it is damaged at ${field}: ${String(sentences[0]).replace(/\.$/, "")}`
  })
}
