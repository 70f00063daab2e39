/** Successful replies of today's dialect: they have the documented envelope, and lists also have totals next to `data`. */
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"

export const succeeded = (data: unknown, beside: object = {}): Reply =>
  HttpServerResponse.jsonUnsafe({ code: 200, data, errors: {}, message: "Success", ...beside })
