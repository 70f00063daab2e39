/**
 * Adds address and credentials to a request: the API key goes in the query, the access token as bearer (interface.md §5).
 * Both stay `Redacted` until the request is sent.
 */
import { apiKeyParameter } from "../../api/Routes.ts"
import type { Settings } from "../options/Settings.ts"
import type { SignedRequest, WireRequest } from "./Transport.ts"

/** The request for the account's own service, with its credentials. */
export const authenticated =
  ({ credentials, headers, maxBodyBytes, origin }: Settings) =>
  ({ body, method, path, query }: WireRequest): SignedRequest => ({
    method,
    url: `${origin}${path}`,
    query: [...query, [apiKeyParameter, credentials.apiKey]],
    token: credentials.accessToken,
    body,
    headers,
    maxBodyBytes
  })
