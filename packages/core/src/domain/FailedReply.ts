/**
 * The reply that a call failed with, as far as it is shown: without credentials, and bounded.
 */
import { Schema } from "effect"

export const FailedReply = Schema.Struct({
  /** HTTP status. */
  status: Schema.Int,
  /** What the service, or something before it, calls the request, from the first of `requestIdHeaders`; at most 128 characters. */
  requestId: Schema.NullOr(Schema.String),
  /** By their names in lower case: at most 64, each at most 1024 characters, none that holds cookies or credentials. */
  headers: Schema.Record(Schema.String, Schema.String),
  /** The beginning of the body, at most 2048 characters; empty when none was read. */
  excerpt: Schema.String
}).annotate({ identifier: "FailedReply" })
export interface FailedReply extends Schema.Schema.Type<typeof FailedReply> {}

/** The headers that may hold the id of a request, the surest first. */
export const requestIdHeaders = [
  "x-request-id",
  "request-id",
  "x-amzn-requestid",
  "x-amz-request-id",
  "x-correlation-id",
  "x-trace-id",
  "cf-ray"
] as const
