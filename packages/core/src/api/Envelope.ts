/**
 * The envelope around every body (interface.md §2.1): success and failure, as the provider documents them. If the provider does not
 * say, they are as Berth assumes (A1 to A4). `Reply.ts` reads the envelope, including every deviation that a client must accept.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { chosen, documented, stated } from "./Stated.ts"

export const Empty = Schema.Struct({})
  .check(stated({ type: "object", maxProperties: 0 }))
  .annotate({ identifier: "Empty", description: "An empty object." })

/** The success envelope around `data`; the body's code is 200 for every HTTP status (A1). */
export const success = <Data extends Schema.Top>(data: Data) =>
  Schema.Struct({
    message: Schema.Literal("Success").annotate(documented("2.1", "Result text.")),
    code: Schema.Literal(200)
      .check(stated({ type: "integer" }))
      .annotate(documented("2.1", "200 on success, even where the HTTP status differs.")),
    data,
    errors: Empty
  })

/** Wraps a value in the success envelope. */
export const succeed = <Data>(data: Data) => ({ message: "Success", code: 200, data, errors: {} }) as const

/** Errors by field. Errors of the whole request are under `detail` (A2). */
export const FieldErrors = Schema.Record(Schema.String, Schema.Array(Schema.String)).annotate({
  identifier: "FieldErrors",
  ...chosen(2, "Field → messages; a failure of the whole request goes under the key `detail`.")
})
export type FieldErrors = typeof FieldErrors.Type

/** The statuses a failure can have (A4). */
const reasons = {
  400: "Malformed HTTP or JSON, or a query value of the wrong type",
  401: "Missing or wrong API key or token; carries `WWW-Authenticate: Bearer`",
  403: "Key and token of different accounts",
  404: "Unknown node, image or path",
  405: "Wrong method; carries `Allow`",
  408: "The request took too long to arrive",
  409: "Locked node, or a name that another node has, if names must be unique",
  413: "Body over 1 MiB",
  414: "URL over 8 KiB",
  415: "A body that is not JSON, or is encoded",
  422: "A well-formed body or query with invalid fields; `errors` names all of them",
  429: "Over the allowance; carries `Retry-After` in seconds and costs nothing",
  431: "Headers over 16 KiB",
  500: "The service failed",
  503: "The service is not available"
} as const
export type FailureStatus = keyof typeof reasons

/** A failure in the envelope. */
export interface Failure<Status extends number = number> {
  readonly message: string
  readonly code: Status
  readonly data: {}
  readonly errors: FieldErrors
}

const failureOf = <Status extends FailureStatus>(status: Status) =>
  Schema.Struct({
    message: Schema.String.annotate(chosen(2, "A sentence for people.")),
    code: Schema.Literal(status)
      .check(stated({ type: "integer" }))
      .annotate(chosen(2, "The HTTP status.")),
    data: Empty,
    errors: FieldErrors
  })
    .annotate({ identifier: `Failure${status}`, ...chosen(4, `${reasons[status]}.`) })
    .pipe(HttpApiSchema.status(status))

/** One schema per status of A4. */
export const failures = {
  400: failureOf(400),
  401: failureOf(401),
  403: failureOf(403),
  404: failureOf(404),
  405: failureOf(405),
  408: failureOf(408),
  409: failureOf(409),
  413: failureOf(413),
  414: failureOf(414),
  415: failureOf(415),
  422: failureOf(422),
  429: failureOf(429),
  431: failureOf(431),
  500: failureOf(500),
  503: failureOf(503)
} as const

/** A failure as a value; without `errors` the message is repeated under `detail`. */
export const fail = <Status extends number>(code: Status, message: string, errors?: FieldErrors): Failure<Status> => ({
  message,
  code,
  data: {},
  errors: errors ?? { detail: [message] }
})
