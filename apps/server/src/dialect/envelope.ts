/** Successful replies of today's dialect: the documented envelope, with totals next to `data` in lists. */
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"

export const succeeded = (data: unknown, beside: object = {}): Reply =>
  HttpServerResponse.jsonUnsafe({ code: 200, data, errors: {}, message: "Success", ...beside })
