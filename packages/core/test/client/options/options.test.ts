import { layer, ok, scripted } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Redacted, Result, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "../../../src/client/Berth.ts"
import { Images } from "../../../src/client/Images.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { RawApi } from "../../../src/client/RawApi.ts"
import type { ClientOptions } from "../../../src/client/options/Settings.ts"
import type { BerthError } from "../../../src/domain/BerthError.ts"
import { version } from "../../../src/client/options/version.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { signedRequests } from "../../signedRequests.ts"
import manifest from "../../../package.json" with { type: "json" }

const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
const good = { baseUrl: "https://service.test", credentials }

/** Builds a client from options that no type checker has seen. */
const built = (options: unknown) =>
  Effect.suspend(() =>
    Effect.scoped(Layer.build(Layer.provide(Berth.layer(options as ClientOptions), FetchHttpClient.layer)))
  )

describe("making a client with unusable options fails with the option's name", () => {
  const wrong: ReadonlyArray<readonly [option: string, options: unknown]> = [
    ["options", undefined],
    ["options", null],
    ["options", "https://service.test"],
    ["options", [good]],
    ["retries", { ...good, retries: 5 }],
    ["baseUrl", { credentials }],
    ["baseUrl", { ...good, baseUrl: "service.test" }],
    ["baseUrl", { ...good, baseUrl: 7 }],
    ["baseUrl", { ...good, baseUrl: Object.create(null) as object }],
    ["baseUrl", { ...good, baseUrl: "https://user@service.test" }],
    ["baseUrl", { ...good, baseUrl: "https://:password@service.test" }],
    ["baseUrl", { ...good, baseUrl: "https://service.test/#fragment" }],
    ["baseUrl", { ...good, baseUrl: "https://service.test/?query=1" }],
    ["baseUrl", { ...good, baseUrl: "https://service.test/elsewhere" }],
    ["credentials", { baseUrl: good.baseUrl }],
    ["credentials", { ...good, credentials: "key" }],
    ["apiKey", { ...good, credentials: { accessToken: credentials.accessToken } }],
    ["apiKey", { ...good, credentials: { ...credentials, apiKey: "key" } }],
    ["apiKey", { ...good, credentials: { ...credentials, apiKey: Redacted.make(undefined) } }],
    ["apiKey", { ...good, credentials: { ...credentials, apiKey: Redacted.make("") } }],
    ["accessToken", { ...good, credentials: { ...credentials, accessToken: "token" } }],
    ["accessToken", { ...good, credentials: { ...credentials, accessToken: Redacted.make("to ken") } }],
    ["deadline", { ...good, deadline: "soon" }],
    ["deadline", { ...good, deadline: -5 }],
    ["deadline", { ...good, deadline: 0 }],
    ["deadline", { ...good, deadline: Number.NaN }],
    ["deadline", { ...good, deadline: null }],
    ["deadline", { ...good, deadline: {} }],
    ["attemptTimeout", { ...good, attemptTimeout: "-1 second" }],
    ["maxAttempts", { ...good, maxAttempts: 0 }],
    ["maxAttempts", { ...good, maxAttempts: 9 }],
    ["maxAttempts", { ...good, maxAttempts: 1.5 }],
    ["maxAttempts", { ...good, maxAttempts: "3" }],
    ["lane", { ...good, lane: "fast" }],
    ["lane", { ...good, lane: null }],
    ["allowanceFile", { ...good, allowanceFile: "" }],
    ["allowanceFile", { ...good, allowanceFile: "  " }],
    ["allowanceFile", { ...good, allowanceFile: 7 }],
    ...["maxBodyBytes", "maxBodyTokens"].flatMap((option) =>
      [0, -1, 1.5, "9", null, Number.NaN, Number.POSITIVE_INFINITY].map(
        (value) => [option, { ...good, [option]: value }] as const
      )
    ),
    ...[
      null,
      "x: y",
      ["x"],
      { "x y": "z" },
      { "": "z" },
      { "x:": "z" },
      { x: 7 },
      { x: "a\r\nb: c" },
      { x: "ä" },
      { Authorization: "Bearer x" },
      { "content-type": "text/plain" },
      { Host: "elsewhere" },
      { "user-agent": "me" },
      { "Transfer-Encoding": "chunked" },
      new Headers({ "x-zone": "a" }),
      new Map([["x-zone", "a"]])
    ].map((headers) => ["headers", { ...good, headers }] as const),
    ...["", " ", 7, null, "me\n", "a\ttab"].map((userAgent) => ["userAgent", { ...good, userAgent }] as const)
  ]
  for (const [option, options] of wrong) {
    it.effect(`${option}: ${JSON.stringify(options)}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(built(options))
        assert(error._tag === "InvalidOption")
        assert.strictEqual(error.option, option)
        assert.match(error.message, new RegExp(`^The option ${option} is not usable: .+\\.$`))
      })
    )
  }
})

it.effect("a client is made with usable options", () =>
  Effect.gen(function* () {
    for (const options of [
      good,
      { ...good, baseUrl: new URL("http://service.test:8080/myaccount/api/v1/") },
      { ...good, deadline: Duration.infinity, attemptTimeout: "2 seconds", lane: "sweep", maxAttempts: 1 },
      { ...good, deadline: undefined, lane: undefined, allowanceFile: undefined },
      { ...good, maxBodyBytes: 1, maxBodyTokens: Number.MAX_SAFE_INTEGER },
      { ...good, headers: { "X-Api-Key": "for the gateway", cookie: "" }, userAgent: "deploy/1.0 (nightly)" }
    ]) {
      yield* built(options)
    }
  })
)

describe("every request names its sender", () => {
  const sent = (options: Partial<ClientOptions>) =>
    Effect.gen(function* () {
      const seen: Array<Readonly<Record<string, string>>> = []
      const service = signedRequests([ok([])], ({ headers }) => seen.push(headers))
      yield* Effect.provide(
        Images.use((images) => images.saved()),
        Layer.provide(Berth.layer({ ...good, ...options }), service)
      )
      return seen[0]!
    })

  it.effect("by the name and version of the client", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* sent({}))["user-agent"], `berth/${manifest.version}`)
      assert.strictEqual(version, manifest.version)
    })
  )

  it.effect("or by the program's own `userAgent`, with the program's headers beside the client's", () =>
    Effect.gen(function* () {
      const {
        accept,
        authorization,
        "user-agent": agent,
        "x-gateway": gateway
      } = yield* sent({
        userAgent: "deploy/1.0",
        headers: { "X-Gateway": "blue" }
      })
      assert.deepStrictEqual([agent, gateway, accept], ["deploy/1.0", "blue", "application/json"])
      assert.match(authorization!, /^Bearer /)
    })
  )
})

describe("a call with an unusable option fails with its name, and is not sent", () => {
  const id = NodeId.make(7)
  const spec = { name: "web", plan: "P", image: "I" }
  type Call = (options: never) => Effect.Effect<unknown, BerthError, Nodes | Images | RawApi>

  const calls: Record<string, Call> = {
    get: (options) => Nodes.use((nodes) => nodes.get(id, options)),
    listPage: (options) => Nodes.use((nodes) => nodes.listPage(options)),
    list: (options) => Nodes.use((nodes) => Stream.runDrain(nodes.list(options))),
    create: (options) => Nodes.use((nodes) => nodes.create(spec, options)),
    delete: (options) => Nodes.use((nodes) => nodes.delete(id, options)),
    setCommitment: (options) => Nodes.use((nodes) => nodes.setCommitment(id, "hourly_billing", options)),
    images: (options) => Images.use((images) => images.list({}, options)),
    raw: (options) => RawApi.use((raw) => raw.request({ method: "GET", path: "/nodes/" }, options))
  }
  const waits: Record<string, Call> = {
    awaitStatus: (options) => Nodes.use((nodes) => nodes.awaitStatus(id, "running", options)),
    "awaitStatus of several": (options) => Nodes.use((nodes) => nodes.awaitStatus([id], "running", options)),
    awaitDeleted: (options) => Nodes.use((nodes) => nodes.awaitDeleted(id, options))
  }
  const timespans = ["soon", -1, 0, Number.NaN, null, {}]
  const lanes = ["fast", null, 7]
  const functions = [5, null, "log"]
  const invalidCalls: Record<string, Call> = {
    get: () => Nodes.use((nodes) => nodes.get(Number.NaN as NodeId)),
    delete: () => Nodes.use((nodes) => nodes.delete("7" as never)),
    setCommitment: () => Nodes.use((nodes) => nodes.setCommitment(id, "for ever" as never)),
    awaitStatus: () => Nodes.use((nodes) => nodes.awaitStatus(id, "Running" as never)),
    awaitDeleted: () => Nodes.use((nodes) => nodes.awaitDeleted([id, -1 as NodeId])),
    images: () => Images.use((images) => images.list({ seris: "C" } as never))
  }
  for (const [name, make] of Object.entries(invalidCalls)) {
    it.effect(`${name}, with an invalid value`, () =>
      Effect.gen(function* () {
        const { attempts, reason } = yield* Effect.flip(make({} as never))
        assert.strictEqual(reason._tag, "InvalidRequest")
        assert.isEmpty(attempts)
      }).pipe(Effect.provide(layer(() => Effect.die("sent"))))
    )
  }
  for (const [name, make] of [...Object.entries(calls), ...Object.entries(waits)]) {
    it.effect(`${name}, with an unknown option: a create without its key would make a second node`, () =>
      Effect.gen(function* () {
        const { message } = yield* Effect.flip(make({ kye: "abc" } as never))
        assert.strictEqual(message, "The request cannot be sent: kye: there is no such option.")
      }).pipe(Effect.provide(layer(() => Effect.die("sent"))))
    )
  }
  const wrong = [
    ...Object.entries(calls).map(
      ([name, make]) => [name, make, { deadline: timespans, lane: lanes, onReply: functions }] as const
    ),
    ["an invalid page", calls["listPage"]!, { page: [0, 1.5, "1", null], perPage: [0, 101, 1.5, "9"] }] as const,
    ["list, to its end", calls["list"]!, { onEnd: functions, totalDeadline: timespans }] as const,
    [
      "list, how exact and how long",
      calls["list"]!,
      { exact: ["no", null, 0, "assumed"], maxNodes: [0, -1, 1.5, "9", null, Number.POSITIVE_INFINITY] }
    ] as const,
    ...Object.entries(waits).map(
      ([name, make]) => [name, make, { timeout: timespans, lane: lanes, onObserved: functions }] as const
    )
  ]
  for (const [name, make, options] of wrong) {
    it.effect(name, () => {
      const service = scripted(() => ok([]))
      return Effect.gen(function* () {
        for (const [field, values] of Object.entries(options)) {
          for (const value of values as ReadonlyArray<unknown>) {
            const result = yield* Effect.result(make({ [field]: value } as never))
            if (Result.isSuccess(result)) return assert.fail(`${field} ${String(value)} was accepted`)
            const { attempts, message, reason } = result.failure
            assert.strictEqual(reason._tag, "InvalidRequest")
            if (reason._tag === "InvalidRequest") assert.deepStrictEqual(Object.keys(reason.fields), [field])
            assert.match(message, new RegExp(`^The request cannot be sent: ${field}: expected .+\\.$`))
            assert.deepStrictEqual(attempts, [])
          }
        }
        assert.isEmpty(service.requests)
      }).pipe(Effect.provide(layer(service)))
    })
  }
})

describe("a client of the environment", () => {
  const all = { BERTH_BASE_URL: "https://service.test", BERTH_API_KEY: "key", BERTH_ACCESS_TOKEN: "token" }
  const seen: Array<string> = []
  const transport = signedRequests(
    () => ok([]),
    ({ headers }, url) => {
      seen.push(url.origin, String(url.searchParams.get("apikey")), String(headers["authorization"]))
    }
  )
  const saved = (env: Record<string, string>) =>
    Images.use((images) => images.saved()).pipe(
      Effect.provide(
        Berth.layerConfig.pipe(
          Layer.provide(transport),
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
        )
      )
    )

  it.effect("uses that service and that account", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* saved(all), [])
      assert.deepStrictEqual(seen, ["https://service.test", "key", "Bearer token"])
    })
  )

  for (const missing of Object.keys(all) as ReadonlyArray<keyof typeof all>) {
    it.effect(`fails without ${missing}, and names it`, () =>
      Effect.gen(function* () {
        const { [missing]: _, ...rest } = all
        const error = yield* Effect.flip(saved(rest))
        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, missing)
      })
    )
  }

  for (const [variable, option] of [
    ["BERTH_BASE_URL", "baseUrl"],
    ["BERTH_API_KEY", "apiKey"],
    ["BERTH_ACCESS_TOKEN", "accessToken"]
  ] as const) {
    it.effect(`fails with a blank ${variable}, and names it or its option`, () =>
      Effect.gen(function* () {
        const empty = yield* Effect.flip(saved({ ...all, [variable]: "" }))
        assert.strictEqual(empty._tag, "ConfigError")
        assert.include(empty.message, variable)
        const blank = yield* Effect.flip(saved({ ...all, [variable]: " " }))
        assert.strictEqual(blank._tag, "InvalidOption")
        assert.propertyVal(blank, "option", option)
      })
    )
  }
})
