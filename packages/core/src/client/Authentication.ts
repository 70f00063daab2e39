/**
 * Adds the credentials to a request: the API key in the query and the access token as bearer (interface.md §5). Both
 * stay `Redacted` in the request itself, so that traces and inspected requests show neither.
 */
import { HttpClient, HttpClientRequest } from "effect/http"
import { apiKeyParameter } from "../api/Authorization.ts"
import type { Settings } from "./Settings.ts"

/** The same client, sending every request to the service's address with the account's credentials. */
export const authenticated =
  (settings: Settings) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient =>
    HttpClient.mapRequest(client, (request) =>
      request.pipe(
        HttpClientRequest.prependUrl(settings.origin),
        HttpClientRequest.setUrlParam(apiKeyParameter, settings.credentials.apiKey),
        HttpClientRequest.bearerToken(settings.credentials.accessToken),
        HttpClientRequest.acceptJson
      )
    )
