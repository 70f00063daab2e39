/**
 * The attributes of an attempt's span, as the HTTP semantic conventions of OpenTelemetry name them (`http.client`, stable since
 * 1.23). The span is named after the method, because addresses have ids in them: the call around it has the name of the operation.
 */
import { Result } from "effect"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import { type Redact, shownAddress } from "../transport/Redaction.ts"
import type { WireRequest } from "../transport/Transport.ts"

type Attributes = Readonly<Record<string, string | number>>

/** A request that is about to be sent, after so many earlier ones of its call. */
interface Sending {
  readonly wireRequest: WireRequest
  readonly redact: Redact
  readonly ledger: { readonly attempts: { readonly length: number } }
}

/** What is known before the request is sent. */
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

/** What is known once the attempt is over. `error.type` is the status of a refusal, and the tag of any other failure. */
export const replyAttributes = (
  status: number | undefined,
  result: Result.Result<unknown, ErrorReason>
): Attributes => ({
  ...(status !== undefined && { "http.response.status_code": status }),
  ...(Result.isFailure(result) && {
    "error.type": status !== undefined && status >= 400 ? String(status) : result.failure._tag
  })
})
