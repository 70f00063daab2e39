/**
 * How programs under test reach the service under test: as settings of a process, as options of a client, or as the client itself.
 */
import * as Berth from "@berthkit/core/client/Berth"
import type { ClientOptions } from "@berthkit/core/client/options/Settings"
import type { TestWorld } from "@berthkit/server/testing"
import { Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"

/** An account of the service. */
type Account = Pick<TestWorld, "baseUrl" | "apiKey" | "accessToken">

/** The environment of a process. */
export const settingsOf = ({ accessToken, apiKey, baseUrl }: Account) => ({
  BERTH_BASE_URL: baseUrl,
  BERTH_API_KEY: Redacted.value(apiKey),
  BERTH_ACCESS_TOKEN: Redacted.value(accessToken)
})

/** The options that every client needs. */
export const optionsOf = ({ accessToken, apiKey, baseUrl }: Account) => ({
  baseUrl,
  credentials: { apiKey, accessToken }
})

/** The client over real sockets. */
export const clientOf = (account: Account, options: Partial<Omit<ClientOptions, "baseUrl" | "credentials">> = {}) =>
  Berth.layer({ ...optionsOf(account), ...options }).pipe(Layer.provide(FetchHttpClient.layer))
