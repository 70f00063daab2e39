/**
 * Helpers for tests of the service: calls as an account, with or without a socket, and the two envelopes. `transport/rawSocket.ts` sends
 * bytes that no client would.
 */
import { assert, expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { TestServer, type TestWorld } from "../../src/testing.ts"

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: any
}

/** How a call ended; `failure` if no whole reply arrived. */
export type Outcome =
  | (Reply & { readonly failure: undefined })
  | (Omit<Reply, "status"> & { readonly status: number | undefined; readonly failure: string })

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  /** Sent unchanged instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly key?: string | null
  readonly token?: string | null
}

/** Whom to call, and as which account: a world of a test, or a process. */
export type Account = Pick<TestWorld, "baseUrl" | "apiKey" | "accessToken">

/** The prefix of the documented paths. */
export const prefix = "/myaccount/api/v1"

/** A request with a JSON body, or none. */
export const withJson = (method: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  method,
  headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
  ...(body === undefined ? {} : { body: JSON.stringify(body) })
})

/** A request to a path of the interface, by default with the account's credentials. */
export const requestAs = (account: Account, method: string, path: string, options: CallOptions = {}) => {
  const url = new URL(account.baseUrl + prefix + path)
  const key = options.key === undefined ? Redacted.value(account.apiKey) : options.key
  const token = options.token === undefined ? Redacted.value(account.accessToken) : options.token
  if (key !== null) url.searchParams.set("apikey", key)
  for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, String(value))
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
  const init = {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers
    },
    ...(body === undefined ? {} : { body })
  }
  return [url, init] as const
}

/** One request to any path of the server; returns how it ended. */
export const attempt = (url: URL | string, init: RequestInit = {}): Effect.Effect<Outcome> =>
  Effect.promise(async (signal) => {
    let response: Response
    try {
      response = await fetch(url, { redirect: "manual", signal, ...init })
    } catch (error) {
      return { status: undefined, headers: new Headers(), text: "", json: undefined, failure: codeOf(error) }
    }
    const { headers, status } = response
    try {
      const text = await response.text()
      return { status, headers, text, json: parse(text), failure: undefined }
    } catch (error) {
      return { status, headers, text: "", json: undefined, failure: codeOf(error) }
    }
  })

const codeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** One request to any path of the server. Dies if the reply does not arrive whole. */
export const send = (url: URL | string, init?: RequestInit): Effect.Effect<Reply> =>
  Effect.flatMap(attempt(url, init), (outcome) =>
    outcome.failure === undefined ? Effect.succeed(outcome) : Effect.die(new Error(`no reply: ${outcome.failure}`))
  )

/** One request to a path of the interface as an account. */
export const callAs = (account: Account, method: string, path: string, options?: CallOptions) =>
  send(...requestAs(account, method, path, options))

/** One request to a path of the interface as the account of the service under test. */
export const call = (method: string, path: string, options?: CallOptions) =>
  Effect.flatMap(TestServer, (server) => callAs(server, method, path, options))

/** The same over the client of a service without a socket. It takes no turn of the event loop. A lost reply is that client's error. */
export const callWithoutSocket = Effect.fnUntraced(function* (method: "GET" | "POST", path: string, body?: unknown) {
  const [url, init] = requestAs(yield* TestServer, method, path, { body })
  const response = yield* HttpClient.execute(
    HttpClientRequest.make(method)(url, {
      headers: init.headers,
      body: body === undefined ? HttpBody.empty : HttpBody.jsonUnsafe(body)
    })
  )
  const text = yield* response.text
  const reply: Reply = { status: response.status, headers: new Headers(response.headers), text, json: parse(text) }
  return reply
})

/** The `data` of a success in the documented envelope. */
export const dataOf = (reply: Reply, status = 200) => {
  assert(reply.status === status, `${reply.status}: ${reply.text.slice(0, 300)}`)
  const { data, ...rest } = reply.json
  expect(rest).toEqual({ message: "Success", code: 200, errors: {} })
  expect(reply.headers.get("content-type")).toBe("application/json")
  return data
}

/** The `errors` of a failure in the envelope (A2), after a check of the rest of it. */
export const errorsOf = (reply: Reply, status: number): Readonly<Record<string, ReadonlyArray<string>>> => {
  assert(reply.status === status, `${reply.status}: ${reply.text.slice(0, 300)}`)
  expectFailure(reply.status, reply.headers.get("content-type"), reply.json)
  return reply.json.errors
}

/** Checks the envelope of any failure. */
export const expectFailure = (status: number, contentType: string | null | undefined, json: any): void => {
  expect(contentType).toBe("application/json")
  expect(json).toMatchObject({ code: status, data: {}, message: expect.stringMatching(/^[A-Z].{3,}[.…]$/) })
  expect(Object.keys(json).sort()).toEqual(["code", "data", "errors", "message"])
  expect(json.data).toEqual({})
  expect(Object.keys(json.errors).length).toBeGreaterThan(0)
  for (const messages of Object.values(json.errors)) {
    assert(Array.isArray(messages) && messages.length > 0 && messages.every((message) => typeof message === "string"))
  }
}

/** A plan and an image that go together in every world. */
export const nodeOf = (name: string) => ({
  name,
  region: "ncr",
  plan: "C-4VCPU-16RAM-100DISK",
  image: "Ubuntu-24.04"
})

/** Creates a node and returns its record. */
export const create = (name: string) =>
  Effect.map(call("POST", "/nodes/", { body: nodeOf(name) }), (reply) => dataOf(reply, 202))

/** The three allowance headers: limit, remaining, reset. */
export const allowanceOf = (headers: Headers) =>
  ["limit", "remaining", "reset"].map((name) => {
    const value = headers.get(`ratelimit-${name}`)
    assert(/^\d+$/.test(value ?? ""), `ratelimit-${name}: ${value}`)
    return Number(value)
  })
