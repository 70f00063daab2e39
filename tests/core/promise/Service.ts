/** Services with real sockets for the tests of the promise client: the mock service, and a service that the test scripts. */
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { BerthError, type Client, type ClientOptions, createClient } from "@berthkit/core/promise"
import { HttpService } from "@berthkit/testing/HttpService"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import type { RequestListener } from "node:http"
import { inDialect, placeOptions } from "../../account.ts"

export const apiKey = "key/with+odd=chars&more"
export const accessToken = "token.with-odd~chars"

/** A service on a free port, with a client for it. */
export interface Service {
  readonly baseUrl: string
  readonly client: Client
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** The mock service. */
export const mockService = async (
  server: TestServerOptions = {},
  options: Partial<ClientOptions> = {}
): Promise<Service & { readonly options: ClientOptions }> => {
  const scope = Scope.makeUnsafe()
  const { accessToken, apiKey, baseUrl } = Context.get(
    await Effect.runPromise(Scope.provide(Layer.build(TestServer.layer(inDialect(server))), scope)),
    TestServer
  )
  const credentials = { apiKey: Redacted.value(apiKey), accessToken: Redacted.value(accessToken) }
  const all = { baseUrl, ...credentials, ...placeOptions, ...options }
  const client = createClient(all)
  return {
    baseUrl,
    client,
    options: all,
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

/** A service whose `listener` answers each request. */
export const bareService = async (
  listener: RequestListener,
  options: Partial<ClientOptions> = {}
): Promise<Service> => {
  const service = await HttpService.listen(listener)
  const baseUrl = service.url
  const client = createClient({ baseUrl, apiKey, accessToken, ...options })
  return {
    baseUrl,
    client,
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await service[Symbol.asyncDispose]()
    }
  }
}

/** The `BerthError` with which the promise rejects. Fails the test if it resolves or rejects with anything else. */
export const rejection = async (promise: Promise<unknown>): Promise<BerthError> => {
  const outcome = await promise.then(
    (value) => ({ resolved: value }),
    (error: unknown) => ({ error })
  )
  if ("resolved" in outcome) throw new Error(`resolved, to ${JSON.stringify(outcome.resolved)}`)
  if (!(outcome.error instanceof BerthError))
    throw new Error("rejected without a typed error", { cause: outcome.error })
  return outcome.error
}
