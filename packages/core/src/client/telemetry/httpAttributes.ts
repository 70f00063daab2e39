/**
 * The attributes of an attempt's span, named by OpenTelemetry's HTTP semantic conventions (`http.client`, stable since 1.23). The span is
 * named after the HTTP method, because addresses contain ids; the surrounding call has the operation's name.
 */
import { Result } from "effect"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import { type Redact, shownAddress } from "../transport/Redaction.ts"
import type { WireRequest } from "../transport/Transport.ts"

type Attributes = Readonly<Record<string, string | number>>

/** A request about to be sent, and the earlier attempts of its call. */
interface Sending {
  readonly wireRequest: WireRequest
  readonly redact: Redact
  readonly ledger: { readonly attempts: { readonly length: number } }
}

/** The attributes known before the request is sent. */
export const requestAttributes = (origin: string, { ledger, redact, wireRequest }: Sending): Attributes => {
  const { hostname, port, protocol } = new URL(origin)
  const resends = ledger.attempts.length
  return {
    "http.request.method": wireRequest.method,
    "server.address": hostname,
    "server.port": port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    "url.full": shownAddress(origin, wireRequest, redact),
    ...(resends > 0 && { "http.request.resend_count": resends })
  }
}

/** The attributes known after the attempt. `error.type` is the status of a rejection, and the tag of any other failure. */
export const replyAttributes = (
  status: number | undefined,
  result: Result.Result<unknown, ErrorReason>
): Attributes => ({
  ...(status !== undefined && { "http.response.status_code": status }),
  ...(Result.isFailure(result) && {
    "error.type": status !== undefined && status >= 400 ? String(status) : result.failure._tag
  })
})
