/**
 * A client over scripted replies, for unit tests of programs that use Berth: everything above the wire is the real client,
 * and nothing is sent anywhere. For a service with state of its own, use the mock service instead.
 */
import { Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { prefix } from "./api/Routes.ts"
import * as Berth from "./client/Berth.ts"
import type { ClientOptions as EngineOptions } from "./client/options/Settings.ts"
import { type Client, type ClientOptions, createClient } from "./promise.ts"

/** A reply of the script: `ok`, `failure`, `lost`, or one of your own. */
export type Reply =
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      /** The body as it goes over the wire. */
      readonly body?: string
    }
  | "lost"

/** A request as it reached the service, without the credentials. */
export interface Request {
  readonly method: string
  /** Below `/myaccount/api/v1`, such as `/nodes/7/`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** The body, parsed; undefined when there is none. */
  readonly body: unknown
}

/** The replies in order, or a function that answers each request. */
export type Script = ReadonlyArray<Reply> | ((request: Request) => Reply | Promise<Reply>)

/** A success with this data, in the service's envelope. */
export const ok = (data: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  status: 200,
  headers,
  body: JSON.stringify({ message: "Success", code: 200, data, errors: {} })
})

/** A failure with this status, in the service's envelope. `errors` is field → messages. */
export const failure = (
  status: number,
  message: string,
  errors: Readonly<Record<string, ReadonlyArray<string>>> = {},
  headers: Readonly<Record<string, string>> = {}
): Reply => ({ status, headers, body: JSON.stringify({ message, code: status, data: {}, errors }) })

/** No reply: the connection breaks after the request was sent. */
export const lost: Reply = "lost"

/** A record of a node as the service lists it, with the fields you name. */
export const nodeRecord = (fields: { readonly id: number } & Readonly<Record<string, unknown>>) => ({
  name: `node-${fields.id}`,
  created_at: "2026-01-01T00:00:00.000000Z",
  public_ip_address: "203.0.113.7",
  private_ip_address: "10.0.0.7",
  backup: false,
  disk: "100 GB",
  status: "running",
  vcpus: "4",
  memory: "16.00 GB",
  plan: "C-4VCPU-16RAM-100DISK",
  region: "ncr",
  ...fields
})

/** A `fetch` that answers from a script, and the requests it has received so far. */
export interface Scripted {
  readonly fetch: typeof globalThis.fetch
  readonly requests: ReadonlyArray<Request>
}

const read = (input: string | URL | globalThis.Request, init: RequestInit | undefined): Request => {
  const url = new URL(input instanceof globalThis.Request ? input.url : input)
  url.searchParams.delete("apikey")
  const { body } = init ?? {}
  return {
    method: init?.method ?? "GET",
    path: url.pathname.startsWith(prefix) ? url.pathname.slice(prefix.length) : url.pathname,
    query: Object.fromEntries(url.searchParams),
    body: body === undefined || body === null ? undefined : JSON.parse(textOf(body))
  }
}

const textOf = (body: NonNullable<RequestInit["body"]>) =>
  body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)

/** Plays a script. A request beyond its end gets a failure that names it. */
export const scripted = (script: Script): Scripted => {
  const requests: Array<Request> = []
  const answer = (request: Request): Reply | Promise<Reply> => {
    if (typeof script === "function") return script(request)
    return (
      script[requests.length - 1] ??
      failure(
        400,
        `The script has ${script.length} replies, and none for request ${requests.length}: ${summary(request)}`
      )
    )
  }
  return {
    requests,
    fetch: async (input, init) => {
      const request = read(input, init)
      requests.push(request)
      const reply = await answer(request)
      init?.signal?.throwIfAborted()
      if (reply === "lost") throw new TypeError("the script lost the reply")
      const { body, headers = {}, status } = reply
      return new Response(body === "" || status === 204 ? null : (body ?? null), { status, headers: { ...headers } })
    }
  }
}

const summary = ({ method, path }: Request) => `${method} ${path}`

const account = { baseUrl: "https://berth.test", apiKey: "test-key", accessToken: "test-token" }

/** The services of the client over a script. Waits run on the `Clock`, so a `TestClock` passes them. */
export const layer = (script: Script | Scripted, options?: Partial<Omit<EngineOptions, "baseUrl" | "credentials">>) =>
  Berth.layer({
    baseUrl: account.baseUrl,
    credentials: { apiKey: Redacted.make(account.apiKey), accessToken: Redacted.make(account.accessToken) },
    ...options
  }).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(Layer.succeed(FetchHttpClient.Fetch, play(script).fetch)))

/** A promise client over a script. */
export const createTestClient = (script: Script | Scripted, options?: Partial<ClientOptions>): Client =>
  createClient({ ...account, ...options, fetch: play(script).fetch })

const play = (script: Script | Scripted): Scripted =>
  typeof script === "object" && "fetch" in script ? script : scripted(script)
