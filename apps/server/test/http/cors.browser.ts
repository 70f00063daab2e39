import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it } from "@effect/vitest"
import { visit } from "@berthkit/testing/browser"
import { Effect } from "effect"
import { serve } from "../cli/berthServer.ts"
import { nodeOf, prefix } from "./service.ts"

/** An empty page of another origin. */
const origin = Effect.map(
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Server>((resolve) => {
          const server = createServer((_request, response) => {
            response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>page</title>")
          })
          server.listen(0, "127.0.0.1", () => resolve(server))
        })
    ),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
)

interface Call {
  readonly method?: string
  readonly path?: string
  readonly token?: string
  readonly body?: unknown
}

const names = ["date", "location", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "retry-after"]

it.live("a page of an allowed origin lists, creates, and reads a 401 and a 429 with their headers", () =>
  Effect.gen(function* () {
    const [allowed, other] = [yield* origin, yield* origin]
    const args = ["--port", "0", "--clock", "frozen", "--scenario", "small", "--rate-limit", "5/1m", "--cors", allowed]
    const { url } = (yield* serve(args)).ready
    const caller = (page: Effect.Success<ReturnType<typeof visit>>["page"]) => (call: Call) =>
      Effect.promise(() =>
        page.evaluate(
          async ({ body, method = "GET", names, path = "/nodes/", token = "berth-token", url }) => {
            try {
              const reply = await fetch(`${url}${path}?apikey=berth-key`, {
                method,
                headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
                ...(body === undefined ? {} : { body: JSON.stringify(body) })
              })
              const text = await reply.text()
              const json: any = text === "" ? undefined : JSON.parse(text)
              return { status: reply.status, json, headers: names.map((name) => reply.headers.get(name)) }
            } catch (error) {
              return String(error)
            }
          },
          { ...call, names, url: url + prefix }
        )
      )

    const call = caller((yield* visit(allowed)).page)
    const listed = yield* call({})
    expect(listed).toMatchObject({ status: 200, json: { data: { length: 5 } } })
    const created = yield* call({ method: "POST", body: nodeOf("web") })
    const date = "Thu, 01 Jan 2026 00:00:00 GMT"
    const reset = String(Date.UTC(2026, 0, 1, 0, 1) / 1000)
    const id = typeof created === "string" ? created : created.json.data.id
    expect(created).toMatchObject({ status: 202, headers: [date, `${prefix}/nodes/${id}/`, "5", "3", reset, null] })
    expect(yield* call({ token: "wrong" })).toMatchObject({
      status: 401,
      json: { errors: { authorization: ["The access token is not known."] } }
    })
    expect(yield* call({ method: "DELETE", path: `/nodes/${id}/` })).toMatchObject({ status: 204 })
    expect(yield* call({})).toMatchObject({ status: 200 })
    expect(yield* call({})).toMatchObject({ status: 429, headers: [date, null, "5", "0", reset, "60"] })

    const stranger = caller((yield* visit(other)).page)
    expect(yield* stranger({})).toBe("TypeError: Failed to fetch")
  })
)
