/**
 * Successes of today: the documented envelope, and beside `data` of a list how much there is.
 */
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"

export const succeeded = (data: unknown, beside: object = {}): Reply =>
  HttpServerResponse.jsonUnsafe({ code: 200, data, errors: {}, message: "Success", ...beside })
