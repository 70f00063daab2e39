/** The reply of a failed attempt, as an error shows it: bounded, and masked because it may repeat our request. */
import type { RawReply } from "../../api/Reply.ts"
import { type FailedReply, requestIdHeaders } from "../../domain/FailedReply.ts"
import { isSecretName } from "../../domain/secretName.ts"
import type { Redact } from "../transport/Redaction.ts"

const maxHeaders = 64
const maxHeaderLength = 1024
const maxIdLength = 128
const maxExcerptLength = 2048

/** The reply for display. */
export const failedReply = ({ body, headers: all, status }: RawReply, redact: Redact): FailedReply => {
  const headers: Record<string, string> = {}
  for (const name of Object.keys(all)
    .filter((name) => !isSecretName(name))
    .slice(0, maxHeaders)) {
    headers[redact(name, maxIdLength)] = redact(all[name] ?? "", maxHeaderLength)
  }
  const requestId = requestIdHeaders.map((name) => headers[name]?.slice(0, maxIdLength)).find((id) => id)
  return { status, requestId: requestId ?? null, headers, excerpt: redact(body, maxExcerptLength) }
}
