/**
 * The reply that a call failed with, as far as it is shown: without credentials, and bounded.
 */
export interface FailedReply {
  /** HTTP status. */
  readonly status: number
  /** What the service, or something before it, calls the request, from the first of `requestIdHeaders`; at most 128 characters. */
  readonly requestId: string | null
  /** By their names in lower case: at most 64, each at most 1024 characters, none that holds cookies or credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, at most 2048 characters; empty when none was read. */
  readonly excerpt: string
}

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
