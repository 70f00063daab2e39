/**
 * What the tests of the HTTP contract share: a service on a real socket, plain calls to it, and the two envelopes.
 */
import { assert, expect } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestServer } from "../../src/testing.ts"

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: any
}

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  /** Sent as it is instead of `body`. */
  readonly raw?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
  readonly key?: string | null
  readonly token?: string | null
}

/** The prefix of the documented paths. */
export const prefix = "/myaccount/api/v1"

/** One request to a path of the interface, with good credentials by default. */
export const call = Effect.fnUntraced(function* (method: string, path: string, options: CallOptions = {}) {
  const server = yield* TestServer
  const url = new URL(server.baseUrl + prefix + path)
  const key = options.key === undefined ? Redacted.value(server.apiKey) : options.key
  const token = options.token === undefined ? Redacted.value(server.accessToken) : options.token
  if (key !== null) url.searchParams.set("apikey", key)
  for (const [name, value] of Object.entries(options.query ?? {})) url.searchParams.set(name, String(value))
  const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
  return yield* send(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers
    },
    ...(body === undefined ? {} : { body })
  })
})

/** One request to anywhere on the server. */
export const send = (url: URL | string, init: RequestInit = {}): Effect.Effect<Reply> =>
  Effect.promise(async (signal) => {
    const response = await fetch(url, { redirect: "manual", signal, ...init })
    const text = await response.text()
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      json = undefined
    }
    return { status: response.status, headers: response.headers, text, json }
  })

/** The `data` of a success in the documented envelope. */
export const dataOf = (reply: Reply, status = 200) => {
  assert(reply.status === status, `${reply.status}: ${reply.text.slice(0, 300)}`)
  const { data, ...rest } = reply.json
  expect(rest).toEqual({ message: "Success", code: 200, errors: {} })
  expect(reply.headers.get("content-type")).toBe("application/json")
  return data
}

/** The `errors` of a failure in the envelope (decision 2), after a check of the rest of it. */
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

/** Creates a node and gives its record. */
export const create = (name: string) =>
  Effect.map(call("POST", "/nodes/", { body: nodeOf(name) }), (reply) => dataOf(reply, 202))

/** The three allowance headers: limit, remaining, reset. */
export const allowanceOf = (headers: Headers) =>
  ["limit", "remaining", "reset"].map((name) => {
    const value = headers.get(`ratelimit-${name}`)
    assert(/^\d+$/.test(value ?? ""), `ratelimit-${name}: ${value}`)
    return Number(value)
  })
