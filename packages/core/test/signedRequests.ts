/**
 * The `HttpClient` of a scripted service, for tests of what a client sends: it shows each request with its whole address and
 * its credentials, which a scripted service does not record.
 */
import { type Script, scripted } from "@berthkit/core/testing"
import { Layer } from "effect"
import { HttpClient, type HttpClientRequest } from "effect/http"

export const signedRequests = (
  script: Script,
  onRequest: (request: HttpClientRequest.HttpClientRequest, url: URL) => void
) => {
  const { httpClient } = scripted(script)
  return Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) => {
      onRequest(request, url)
      return httpClient.execute(request)
    })
  )
}
