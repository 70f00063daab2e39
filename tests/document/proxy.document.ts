/**
 * The mock service keeps to its OpenAPI description: a proxy in front of it validates every request and every reply, and reports
 * violations.
 */
import { prefix } from "@berthkit/core/api/Routes"
import { TestServer } from "@berthkit/server/testing"
import { freePort } from "@berthkit/testing/freePort"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { run as berth } from "../cli/berth.ts"
import { type RandomRequest, randomRequests } from "./randomRequests.ts"
import { description, startTool } from "./tools.ts"

interface Violation {
  readonly location: ReadonlyArray<string>
  readonly severity: string
  readonly code?: string
  readonly message: string
}

interface Reply {
  readonly status: number
  readonly body: string
  readonly violations: ReadonlyArray<Violation>
}

/** Starts the proxy in front of the service; it ends with the scope. */
const startProxy = Effect.gen(function* () {
  const { accessToken, apiKey, baseUrl } = yield* TestServer
  const args = ["proxy", "--host", "127.0.0.1", "--port", String(yield* Effect.promise(freePort)), description, baseUrl]
  const program = yield* Program.start(() => startTool("prism", args))
  const line = yield* Effect.promise(() => program.printed(/Prism is listening on (\S+)/))
  return {
    url: line.split(" ").at(-1)!,
    apiKey: Redacted.value(apiKey),
    accessToken: Redacted.value(accessToken),
    /** The violations that the proxy has printed so far, for all requests. */
    printed: () => program.output.split("\n").filter((line) => /violation|not found/i.test(line))
  }
})

type Proxy = Effect.Success<typeof startProxy>

const exchange = async (url: string, init: RequestInit): Promise<Reply> => {
  const response = await fetch(url, init)
  const violations = response.headers.get("sl-violations")
  return {
    status: response.status,
    body: await response.text(),
    violations: violations === null ? [] : JSON.parse(violations)
  }
}

const send = ({ url }: Proxy, { path, ...init }: RandomRequest): Effect.Effect<Reply> =>
  Effect.promise((signal) => exchange(url + path, { ...init, signal }))

const inReply = ({ location }: Violation): boolean => location[0] === "response"

/** The service ignores the case of image types (A18). The description has them only in the documented spelling. */
const isLenient = ({ code, location }: Violation): boolean => location[2] === "image_type" && code === "enum"

const get = ({ accessToken, apiKey }: Proxy, path: string): RandomRequest => ({
  method: "GET",
  path: `${prefix}${path}?apikey=${apiKey}`,
  headers: { authorization: `Bearer ${accessToken}` }
})

const nodeIds = (proxy: Proxy): Effect.Effect<ReadonlyArray<number>> =>
  Effect.map(send(proxy, get(proxy, "/nodes/")), ({ body }) =>
    JSON.parse(body).data.map(({ id }: { readonly id: number }) => id)
  )

const seed = 20_260_101
const count = 1000

describe("through a validating proxy", () => {
  it.live("the commands of the demo violate nothing", () =>
    Effect.gen(function* () {
      const proxy = yield* startProxy
      const env = { BERTH_BASE_URL: proxy.url, BERTH_API_KEY: proxy.apiKey, BERTH_ACCESS_TOKEN: proxy.accessToken }
      const plan = "C-4VCPU-16RAM-100DISK"
      for (const command of [
        "plan list --sort price",
        "image list --cpu 4 --ram 16",
        `node create --name demo --plan ${plan} --image Ubuntu-24.04 --wait`,
        "node list",
        "commitment set demo auto_renew --sku 262 --yes --max-commitment 100000",
        "node delete demo --yes --wait",
        "node list",
        "image saved"
      ]) {
        const { code, stderr } = yield* berth(command.split(" "), { env })
        assert.strictEqual(code, 0, `berth ${command}: ${stderr}`)
      }
      expect(proxy.printed()).toEqual([])
    }).pipe(Effect.provide(TestServer.layer({ clock: "real", provisioning: "1 second", termination: "1 second" })))
  )

  it.live(`${count} random requests get replies that violate nothing, and what is accepted is described`, () =>
    Effect.gen(function* () {
      const proxy = yield* startProxy
      const requests = yield* randomRequests(seed, count, { ...proxy, ids: yield* nodeIds(proxy) })
      const seen = new Set<number>()
      yield* Effect.forEach(
        requests,
        (request) =>
          Effect.map(send(proxy, request), ({ status, violations }) => {
            seen.add(status)
            // A refused request may violate the description. An accepted request and any reply may not.
            const wrong = violations.filter(
              (violation) => inReply(violation) || (status < 300 && !isLenient(violation))
            )
            assert.deepStrictEqual(wrong, [], `${status} to ${JSON.stringify(request)} of seed ${seed}`)
          }),
        { concurrency: 8, discard: true }
      )
      // The requests are useful only if they provoke every one of these statuses.
      for (const status of [200, 202, 204, 400, 401, 404, 409, 415, 422])
        assert.isTrue(seen.has(status), `no ${status}`)
    }).pipe(Effect.provide(TestServer.layer({ scenario: { fleet: 50 }, rateLimit: { limit: 100_000 } })))
  )

  for (const fault of ["field-missing", "status-unknown"] as const) {
    it.live(`the fault ${fault} is a violation`, () =>
      Effect.gen(function* () {
        const proxy = yield* startProxy
        const server = yield* TestServer
        const [id] = yield* nodeIds(proxy)
        yield* server.arm([{ fault }])
        for (const path of ["/nodes/", `/nodes/${id}/`]) {
          const { violations } = yield* send(proxy, get(proxy, path))
          assert.isNotEmpty(violations.filter(inReply), path)
        }
      }).pipe(Effect.provide(TestServer.layer({ scenario: "small" })))
    )
  }
})
