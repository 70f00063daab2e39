/** All transports by name. Tests check that they behave alike. */
import { NodeHttpClient } from "@effect/platform-node"
import { Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import * as FetchTransport from "../src/client/transport/FetchTransport.ts"
import * as HttpTransport from "../src/client/transport/HttpTransport.ts"
import * as NodeTransport from "../src/client/transport/NodeTransport.ts"

export const transports = {
  "HttpClient over fetch": Layer.provide(HttpTransport.layer, FetchHttpClient.layer),
  "HttpClient over undici": Layer.provide(HttpTransport.layer, NodeHttpClient.layerUndici),
  "HttpClient over node:http": Layer.provide(HttpTransport.layer, NodeHttpClient.layerNodeHttp),
  fetch: FetchTransport.layer,
  "node:http": NodeTransport.layer
}
