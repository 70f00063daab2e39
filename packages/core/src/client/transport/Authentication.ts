/**
 * Adds address and credentials to a request: the API key goes in the query, the access token as bearer (interface.md §5).
 * Both stay `Redacted` until the request is sent.
 */
import { apiKeyParameter } from "../../api/Routes.ts"
import type { Headers } from "../options/Headers.ts"
import type { Settings } from "../options/Settings.ts"
import type { SignedRequest, WireRequest } from "./Transport.ts"

/** The request for the account's own service, with its credentials and the headers of the call. */
export const authenticated =
  ({ credentials, headers, maxBodyBytes, origin }: Settings) =>
  ({ body, method, path, query }: WireRequest, further: Headers | undefined): SignedRequest => ({
    method,
    url: `${origin}${path}`,
    query: [...query, [apiKeyParameter, credentials.apiKey]],
    token: credentials.accessToken,
    body,
    headers: further === undefined ? headers : { ...headers, ...further },
    maxBodyBytes
  })
