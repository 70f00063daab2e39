/**
 * The reply to a failed call for display: without credentials, and bounded.
 */
export interface FailedReply {
  /** HTTP status. */
  readonly status: number
  /** The request's id from the service or a gateway, from the first of `requestIdHeaders`; at most 128 characters. */
  readonly requestId: string | null
  /** Headers with names in lower case: at most 64, each at most 1024 characters, without cookies and credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** The beginning of the body, at most 2048 characters; empty if none was read. */
  readonly excerpt: string
}

/** Headers that may contain a request id, most reliable first. */
export const requestIdHeaders = [
  "x-request-id",
  "request-id",
  "x-amzn-requestid",
  "x-amz-request-id",
  "x-correlation-id",
  "x-trace-id",
  "cf-ray"
] as const
