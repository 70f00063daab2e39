/**
 * A profile: the observed behaviour of a service where its interface is silent. `berth-server learn` writes it and `berth-server
 * --profile` imitates it. If a part is absent, it was not observed, and the mock follows Berth's assumption.
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
/** A string that may be the value of a header. */
const MediaType = Schema.String.check(Schema.isPattern(/^[ -~]{0,4096}$/))
const Decimals = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))

/** The JSON types of a value; a whole number is an `integer`. */
const kinds = ["null", "boolean", "integer", "number", "string", "array", "object"] as const
export type Kind = (typeof kinds)[number]

/** The format in which the service writes a string or number. The mock writes its own values in the same format. */
export type Form = typeof Form.Type
const Form = Schema.Union([
  /**
   * A size such as `16.00 GB`: the number of decimals, and the text after the number. If the service writes a number without
   * a unit, `unit` says what the number counts.
   */
  Schema.Struct({
    is: Schema.Literal("size"),
    unit: Schema.Literals(["GB", "MB", "GiB", "MiB"]),
    decimals: Decimals,
    suffix: Text
  }),
  /** An instant: the number of decimals of its seconds, the text between date and time, and the text of the time zone. */
  Schema.Struct({ is: Schema.Literal("instant"), decimals: Decimals, between: Text, zone: Text }),
  Schema.Struct({ is: Schema.Literal("epoch"), unit: Schema.Literals(["seconds", "millis"]) }),
  /** The same value in every record. */
  Schema.Struct({ is: Schema.Literal("constant"), value: Schema.Json })
])

/** A field of a record. */
export interface Field {
  readonly name: string
  /** The types of its values apart from null, the most frequent first. */
  readonly kinds: ReadonlyArray<Kind>
  readonly form?: Form
  /** The shares of the records (0 to 1) in which the field was missing, and in which it was null. */
  readonly missing: number
  readonly null: number
  /** The statuses of nodes, as the service spells them, with which the field was always null. */
  readonly nullIn?: ReadonlyArray<string>
  /** The text that the service writes instead of null, such as `[]` for a missing address. */
  readonly nullText?: string
  /** The fields of an object. */
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

/**
 * A key of the envelope around a success. The key is `varying` if its value differs in each reply, as the id of a request
 * does.
 */
export type EnvelopeKey = typeof EnvelopeKey.Type
const EnvelopeKey = Schema.Struct({
  name: Text,
  is: Schema.Literals(["data", "status", "total", "pages", "page", "size", "constant", "varying"]),
  value: Schema.optionalKey(Schema.Json)
})

/** The envelope of a success, or `bare` if `data` comes without one. */
const Envelope = Schema.Union([Schema.Literal("bare"), Schema.Array(EnvelopeKey).check(Schema.isMaxLength(50))])
export type Envelope = typeof Envelope.Type

/** The situations in which a service refuses a request, as far as the cause is visible in the request. */
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

/** The service's reply in one of these situations. In its strings, `{id}` means the requested id. */
const Failure = Schema.Struct({
  status: Status,
  contentType: Schema.optionalKey(MediaType),
  /** `json` if the body is JSON, otherwise `text`. Neither if the reply had no body. */
  body: Schema.Struct({ json: Schema.optionalKey(Schema.Json), text: Schema.optionalKey(Text) }),
  retryAfter: Schema.optionalKey(Schema.Boolean)
})
export type Failure = typeof Failure.Type

/** Observed durations in milliseconds. */
const Samples = Schema.Array(Millis).check(Schema.isMaxLength(1_000))

/** Minimum and maximum durations in milliseconds. Each is a range, because a change happened at some moment between two reads. */
const Ranges = Schema.Array(Schema.Struct({ min: Millis, max: Millis })).check(Schema.isMaxLength(1_000))
export type Ranges = typeof Ranges.Type

const verdicts = ["confirmed", "refuted", "open"] as const
export type VerdictWord = (typeof verdicts)[number]

/** The verdict of the evidence on one claim. */
export const Finding = Schema.Struct({
  assumption: Schema.String.check(Schema.isPattern(/^A[1-9]\d?$/)),
  claim: Text,
  verdict: Schema.Literals(verdicts),
  /** What the evidence shows; for an open claim, why it shows nothing. */
  observed: Text,
  /** The operation whose successful replies show it, if there is one. */
  of: Schema.optionalKey(Schema.Literals(operations))
})
export type Finding = typeof Finding.Type

/** One part for each observed name. */
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
    /** The length at which the service caps a page; 100 if the service returned a page of 100. */
    maximumSize: Schema.optionalKey(Count),
    /** The service's reaction to a `per_page` above 100; `accepted` if it is unknown whether the service caps the page. */
    tooLarge: Schema.optionalKey(Schema.Literals(["refused", "capped", "given", "accepted"])),
    /** The service's reaction to a page number below 1. */
    outOfBounds: Schema.optionalKey(Schema.Literals(["refused", "first"])),
    malformed: Schema.optionalKey(Schema.Literals(["refused", "first"])),
    order: Schema.optionalKey(Schema.Literals(["ascending", "descending"])),
    pastTheEnd: Schema.optionalKey(Schema.Literals(["empty", "last", "refused"])),
    pageAlias: Schema.optionalKey(Schema.Boolean),
    /** Which parameter the service follows if a request has both. */
    winner: Schema.optionalKey(Schema.Literals(["page_no", "page"])),
    /** The service's reaction to a repeated parameter. */
    twice: Schema.optionalKey(Schema.Literals(["refused", "accepted"]))
  }),
  deletes: Schema.optionalKey(Schema.Struct({ status: Status, body: Schema.Boolean })),
  /** Words of the service for statuses that Berth does not know. */
  otherStatuses: Schema.optionalKey(Schema.Array(Text).check(Schema.isMaxLength(100))),
  provisioningMillis: Schema.optionalKey(Ranges),
  terminationMillis: Schema.optionalKey(Ranges),
  /** How long the list shows nodes that can no longer be read. */
  ghostMillis: Schema.optionalKey(Samples),
  window: Schema.Struct({
    limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))),
    windowMillis: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31_536_000_000 }))),
    algorithm: Schema.optionalKey(Schema.Literals(algorithms)),
    /** Whether the window is a token bucket. If it is not, `algorithm` often remains unknown. */
    bucket: Schema.optionalKey(Schema.Boolean),
    reset: Schema.optionalKey(Schema.Literals(["epoch", "seconds"])),
    /** Whether successful replies have the three headers of the rate limit; `onFailure`: whether failures have them. */
    onSuccess: Schema.optionalKey(Schema.Boolean),
    onFailure: Schema.optionalKey(Schema.Boolean)
  }),
  /** How far the service's clock is ahead of the recorder's, in milliseconds. */
  clockSkewMillis: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: -31_536_000_000, maximum: 31_536_000_000 }))
  ),
  location: Schema.optionalKey(Schema.Boolean),
  /**
   * Reads of the probe at which the service failed, such as `/nodes/?page_no=abc`. A later `learn --check` does not expect
   * them to succeed.
   */
  failing: Schema.optionalKey(Schema.Array(Text).check(Schema.isMaxLength(100))),
  images: Schema.Struct({
    unknownType: Schema.optionalKey(Schema.Literals(["refused", "empty", "all"])),
    caseMatters: Schema.optionalKey(Schema.Boolean),
    /** Whether filters narrow the image list; if not, the service returns the whole list. */
    narrows: Schema.optionalKey(Schema.Boolean),
    noMatch: Schema.optionalKey(Schema.Literals(["refused", "empty", "rows"]))
  }),
  /** The image list without filters. */
  catalogue: Schema.optionalKey(Schema.Array(Schema.Json).check(Schema.isMaxLength(20_000)))
})
export type Behaviour = typeof Behaviour.Type

export const Profile = Schema.Struct({
  format: Schema.Literal(format),
  /** Number of requests that the profile was learned from. */
  exchanges: Count,
  behaviour: Behaviour,
  findings: Schema.Array(Finding).check(Schema.isMaxLength(500))
})
export type Profile = typeof Profile.Type

/** Maximum size of a profile: a catalogue of some ten thousand rows. */
export const maxProfileBytes = 16 * 1024 * 1024

const decode = Schema.decodeUnknownResult(Profile, { errors: "first", onExcessProperty: "error" })

/** The profile, or a sentence that says what is wrong with it. */
export const readProfile = (text: string): Result.Result<Profile, string> => {
  const value = parseJson(text)
  if (value === undefined) return Result.fail("it is not JSON; learn it again")
  const written = typeof value === "object" && value !== null ? (value as { format?: unknown }).format : undefined
  if (typeof written !== "string" || !/^berth-profile\/\d+$/.test(written)) {
    return Result.fail("it is not a profile of berth-server learn")
  }
  if (written !== format) {
    return Result.fail(`its format is ${written.slice(0, 40)}, and this berth-server reads ${format}; learn it again`)
  }
  return Result.mapError(decode(value), ({ issue }) => {
    const [[field, sentences] = ["detail", ["It cannot be read."]]] = Object.entries(fieldErrors(issue))
    return `it is damaged at ${field}: ${String(sentences[0]).replace(/\.$/, "")}`
  })
}
