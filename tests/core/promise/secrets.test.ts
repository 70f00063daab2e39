import { type Client, createClient } from "@berthkit/core/promise"
import { assert, describe, it } from "@effect/vitest"
import type { RequestListener } from "node:http"
import { inspect } from "node:util"
import vectors from "@berthkit/testing/vectors/failures.json" with { type: "json" }
import { seenOf, spellingsOf } from "@berthkit/testing/spellings"
import { accessToken, apiKey, bareService, rejection } from "./Service.ts"

const secrets = [apiKey, accessToken]
const spellings = secrets.flatMap((secret) => Object.values(spellingsOf(secret)))

/** Services that fail. Most of them repeat the credentials, like the error page of a proxy. */
const services: Record<string, RequestListener> = {
  "breaks the connection": (request) => request.socket.destroy(),
  "breaks the body": (request, response) => {
    response.writeHead(200, { "content-length": "1000" })
    response.write(`{"apikey":"${apiKey}`)
    setImmediate(() => request.socket.destroy())
  },
  redirects: (_, response) => {
    response.writeHead(302, { location: `https://portal.test/?next=${encodeURIComponent(apiKey)}` }).end()
  },
  ...Object.fromEntries(
    [200, 400, 401, 404, 409, 422, 500, 503].map((status): [string, RequestListener] => [
      `repeats them with ${status}`,
      ({ headers, url }, response) => {
        response.writeHead(status, { "x-echo": spellings.join(" ") })
        response.end(
          JSON.stringify({
            message: `${url} ${headers.authorization} ${spellings.join(" ")}`,
            code: status,
            errors: { [apiKey]: spellings }
          })
        )
      }
    ])
  ),
  "repeats them in JSON that escapes what it need not": (_, response) => {
    response.writeHead(400)
    response.end(`{"message":"bad key ${spellings.join(" ")}","code":400,"errors":{"key":["${spellings.join(" ")}"]}}`)
  },
  ...Object.fromEntries(
    vectors.map(({ body, headers, name, status }): [string, RequestListener] => [
      name,
      (_, response) => response.writeHead(status, headers).end(body)
    ])
  )
}

const deadline = 150
const calls: ReadonlyArray<(client: Client) => Promise<unknown>> = [
  (client) => client.nodes.get(7, { deadline }),
  (client) => client.nodes.create({ name: apiKey, plan: "P", image: accessToken }, { deadline }),
  (client) => client.nodes.create({ name: "web", plan: "P", image: "I", [apiKey]: accessToken } as never),
  (client) => Array.fromAsync(client.nodes.list({ deadline })),
  (client) => client.nodes.delete(7, { signal: AbortSignal.timeout(20) })
]

/** Everything that a program can see in a value. */
const everything = (value: unknown) =>
  [inspect(value, { depth: 20, showHidden: true, getters: true }), JSON.stringify(value), String(value)].join("\n")

describe("credentials", () => {
  for (const [name, listener] of Object.entries(services)) {
    it(`are in no error when the service ${name}`, async () => {
      await using service = await bareService(listener)
      for (const call of calls) {
        const error = await call(service.client).then(
          () => undefined,
          (error: unknown) => error
        )
        const shown = everything(error) + (error instanceof Error ? error.stack : "")
        assert.deepStrictEqual(seenOf(shown, secrets), [], String(call))
      }
    })
  }

  it("that are words do not show in Berth's own sentences, masked or not", async () => {
    const answer: RequestListener = ({ headers, url }, response) => {
      response.writeHead(401).end(JSON.stringify({ code: 401, message: `no ${url} for ${headers.authorization}` }))
    }
    await using service = await bareService(answer, { apiKey: "t", accessToken: "credentials" })
    const { message } = await rejection(service.client.nodes.get(7))
    assert.strictEqual(
      message,
      "The service refused the credentials: no /myaccount/api/v1/nodes/7/?apikey=<redacted> for Bearer <redacted>."
    )
  })

  it("cannot be read off a client, or off what refuses to make one", async () => {
    const client = createClient({ baseUrl: "https://service.test", apiKey, accessToken })
    const shown = [everything(client)]
    for (const options of [
      { baseUrl: `https://${encodeURIComponent(apiKey)}@service.test`, apiKey, accessToken },
      { baseUrl: "https://service.test", apiKey: `${apiKey} `, accessToken },
      { baseUrl: "https://service.test", apiKey, accessToken, lane: apiKey as never }
    ]) {
      try {
        createClient(options)
        assert.fail("a client was made")
      } catch (error) {
        shown.push(everything(error))
      }
    }
    assert.deepStrictEqual(seenOf(shown.join("\n"), secrets), [])
    await client.close()
    shown.push(everything(await rejection(client.images.saved())))
  })
})

describe("a program that handles its rejections", () => {
  it("never has an unhandled one", async () => {
    const unhandled: Array<unknown> = []
    const listener = (error: unknown) => unhandled.push(error)
    process.on("unhandledRejection", listener)
    try {
      for (const service of Object.values(services)) {
        await using bare = await bareService(service)
        const { client } = bare
        await Promise.allSettled(calls.map((call) => call(client)))
        // Abandon calls in every way: leave a loop, abort with a signal, close the client midway.
        const iterator = client.nodes.list({ deadline })[Symbol.asyncIterator]()
        const taken = [iterator.next(), iterator.next()]
        await iterator.return?.()
        const controller = new AbortController()
        const aborted = client.nodes.get(7, { signal: controller.signal })
        controller.abort()
        const midway = client.nodes.get(8)
        await client.close()
        await Promise.allSettled([...taken, aborted, midway])
      }
      // Node reports an unhandled rejection after the microtasks of a turn.
      await new Promise((resolve) => setImmediate(resolve))
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepStrictEqual(unhandled, [])
    } finally {
      process.off("unhandledRejection", listener)
    }
  })
})
