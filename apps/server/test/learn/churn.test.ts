/**
 * Recordings of the mock while its nodes come and go, with two accounts and several projects. Some entries come from a browser's cache,
 * some were recorded twice, and some replies have no headers. No recording refutes a true claim.
 */
import { Effect, Exit, Scope } from "effect"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { compare } from "@berthkit/learn/check"
import { judge } from "@berthkit/learn/claims"
import { profileOf } from "@berthkit/learn/profileOf"
import { listen } from "../../src/listen.ts"
import { defaultTimeouts } from "../../src/transport/limits.ts"
import { begin } from "../../src/world/scenario.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { Worlds } from "../../src/world/Worlds.ts"
import { evidenceOf, survey } from "@berthkit/learn/testing/record"

const scope = Effect.runSync(Scope.make())
let url = ""

beforeAll(async () => {
  const worlds = new Worlds(begin({ ...defaults, clock: "frozen" }, Date.UTC(2026, 0, 1)))
  const options = { host: "127.0.0.1", port: 0, timeouts: { ...defaultTimeouts, drainMillis: 0 }, checkReplies: false }
  url = (await Effect.runPromise(Effect.provideService(listen(worlds, options), Scope.Scope, scope))).url
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const order = { name: "n", region: "ncr", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }

const control = async (method: string, path: string, body?: unknown): Promise<any> => {
  const headers = { "content-type": "application/json" }
  const reply = await fetch(`${url}/_mock/${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  if (!reply.ok) throw new Error(await reply.text())
  return reply.status === 204 ? undefined : reply.json()
}

interface Account {
  readonly id: string
  readonly apiKey: string
  readonly accessToken: string
}

type Query = ReadonlyArray<readonly [string, string]>

/** A step of a recording. `node` is the place of a node among those made so far. */
type Step =
  | { readonly do: "read"; readonly path: string; readonly query: Query }
  | { readonly do: "get" | "delete" | "remove"; readonly node: number; readonly query: Query }
  | { readonly do: "create" | "add"; readonly count: number }
  | { readonly do: "advance"; readonly millis: number }

interface Told {
  readonly step: Step
  readonly account: 0 | 1
  /** How the recorder kept the entry. */
  readonly kept: "whole" | "twice" | "no headers" | "few headers"
  /** Takes the reply to the same request from a cache, if there is one. */
  readonly cached: "no" | "browser" | "proxy"
  readonly durationMillis: number
}

const parameter = <T extends string>(name: string, ...values: ReadonlyArray<T>) =>
  fc.option(
    fc.constantFrom(...values).map((value) => [name, value] as const),
    { nil: undefined }
  )

const queryOf = (...parts: ReadonlyArray<fc.Arbitrary<readonly [string, string] | undefined>>) =>
  fc.tuple(...parts).map((all): Query => all.filter((each) => each !== undefined))

const project = parameter("project_id", "1", "2")
const pages = parameter("page_no", "1", "2", "3", "1000000", "0", "abc", "")
const sizes = parameter("per_page", "1", "2", "3", "5", "50", "100", "101", "500", "0", "")

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      path: fc.constantFrom("/nodes/", "/nodes/", "/nodes/", "/nodes"),
      query: queryOf(pages, parameter("page", "1", "2", "3"), sizes, parameter("per_page", "2"), project)
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      path: fc.constant("/nodes/"),
      query: queryOf(
        fc.constantFrom(["page_no", "1"] as const, ["page_no", "2"] as const, ["page", "2"] as const),
        parameter("per_page", "2", "3", "100")
      )
    })
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      path: fc.constantFrom("/images/", "/images", "/images/saved-images/", "/berth-learn-no-such-path/"),
      query: queryOf(
        parameter("os", "ubuntu", "Ubuntu", "no-such-system", "UBUNTU"),
        parameter("cpu", "16", "900"),
        parameter("image_type", "no-such-type", "private"),
        project
      )
    })
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("get" as const, "delete" as const, "remove" as const),
      node: fc.nat(200),
      query: queryOf(project)
    })
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("create" as const, "add" as const), count: fc.nat(12) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      millis: fc.constantFrom(1, 900, 2500, 130_000, 3_700_000)
    })
  }
)

const told: fc.Arbitrary<Told> = fc.record({
  step,
  account: fc.constantFrom(0 as const, 0 as const, 0 as const, 1 as const),
  kept: fc.constantFrom("whole", "whole", "whole", "whole", "twice", "no headers", "few headers"),
  cached: fc.constantFrom("no", "no", "no", "no", "browser", "proxy"),
  durationMillis: fc.constantFrom(0, 3, 800, 5000)
})

const few = new Set(["content-type", "content-length", "cache-control"])

const pairs = (entries: Iterable<readonly [string, string]>) =>
  Array.from(entries, ([name, value]) => ({ name, value }))

/** Makes the recording: its entries, as a browser or a proxy writes them. */
const record = async (steps: ReadonlyArray<Told>, nodes: readonly [number, number], rateLimit: object) => {
  const accounts: ReadonlyArray<Account> = await Promise.all(
    nodes.map((count) =>
      control("POST", "worlds", {
        seed: 1,
        clock: "frozen",
        scenario: count === 0 ? "empty" : `fleet:${count}`,
        rateLimit
      })
    )
  )
  const made: ReadonlyArray<Array<number>> = [[], []]
  const entries: Array<any> = []
  const byRequest = new Map<string, any>()
  const send = async (
    { accessToken, apiKey, id }: Account,
    method: string,
    path: string,
    query: Query,
    durationMillis: number,
    body?: unknown
  ) => {
    const asked = new URL(`${url}/myaccount/api/v1${path}`)
    asked.searchParams.append("apikey", apiKey)
    for (const [name, value] of query) asked.searchParams.append(name, value)
    const { now } = await control("GET", `worlds/${id}/clock`)
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" }
    const reply = await fetch(asked, {
      method,
      headers,
      redirect: "manual",
      ...(body ? { body: JSON.stringify(body) } : {})
    })
    const text = await reply.text()
    return {
      startedDateTime: now,
      time: durationMillis,
      request: {
        method,
        url: String(asked),
        headers: pairs(Object.entries(headers)),
        ...(body ? { postData: { mimeType: "application/json", text: JSON.stringify(body) } } : {})
      },
      response: { status: reply.status, headers: pairs(reply.headers), content: { size: text.length, text } }
    }
  }
  for (const { account: at, cached, durationMillis, kept, step } of steps) {
    const account = accounts[at]!
    const ids = made[at]!
    const note = (entry: any) => {
      if (entry.request.method === "POST" && entry.response.status === 202)
        ids.push(JSON.parse(entry.response.content.text).data.id)
      const key = `${entry.request.method} ${entry.request.url}`
      const before = entry.request.method === "GET" ? byRequest.get(key) : undefined
      const shown =
        before === undefined || cached === "no"
          ? entry
          : cached === "browser"
            ? { ...entry, _fromCache: "disk", time: 0, response: before.response }
            : {
                ...entry,
                response: { ...before.response, headers: [...before.response.headers, { name: "age", value: "7" }] }
              }
      byRequest.set(key, before ?? entry)
      const headers = shown.response.headers.filter(
        ({ name }: { readonly name: string }) =>
          kept === "whole" || kept === "twice" || (kept === "few headers" && few.has(name))
      )
      const written = { ...shown, response: { ...shown.response, headers } }
      entries.push(written, ...(kept === "twice" ? [written] : []))
    }
    const done = async (method: string, path: string, query: Query, body?: unknown) =>
      note(await send(account, method, path, query, durationMillis, body))
    const unseen = (method: string, path: string, body?: unknown) => send(account, method, path, [], 0, body)
    switch (step.do) {
      case "read":
        await done("GET", step.path, step.query)
        break
      case "get":
      case "delete":
      case "remove": {
        const listed = await unseen("GET", "/nodes/")
        const all = [...ids, ...JSON.parse(listed.response.content.text).data.map((node: any) => node.id)]
        const id = all[step.node % Math.max(1, all.length)] ?? 999_999_999
        if (step.do === "remove") await unseen("DELETE", `/nodes/${id}/`)
        else await done(step.do === "get" ? "GET" : "DELETE", `/nodes/${id}/`, step.query)
        break
      }
      case "create":
        await done("POST", "/nodes/", [], order)
        break
      case "add":
        for (let count = 0; count <= step.count; count++) await unseen("POST", "/nodes/", order)
        break
      case "advance":
        for (const { id } of accounts) await control("POST", `worlds/${id}/clock`, { advance: `${step.millis} millis` })
    }
  }
  for (const { id } of accounts) await control("DELETE", `worlds/${id}`)
  return entries
}

const window = fc.record({
  limit: fc.constant(1200),
  window: fc.constant("1 hour"),
  algorithm: fc.constantFrom("fixed-window", "sliding-window", "token-bucket")
})

describe("a recording of nodes that come and go", () => {
  it("refutes nothing that is true of the service", async () => {
    const property = fc.asyncProperty(
      fc.array(told, { minLength: 20, maxLength: 60 }),
      fc.tuple(fc.constantFrom(0, 3, 19, 20, 30, 110, 130), fc.constantFrom(0, 5, 40)),
      window,
      async (steps, nodes, rateLimit) => {
        const entries = await record(steps, nodes, rateLimit)
        if (entries.length === 0) return
        const isFixed = rateLimit.algorithm === "fixed-window"
        const refuted = judge(evidenceOf(entries).exchanges).filter(
          ({ claim, verdict }) => verdict === "refuted" && (isFixed || claim !== "The window is fixed")
        )
        expect(refuted.map(({ claim, observed }) => `${claim}: ${observed}`)).toEqual([])
      }
    )
    await fc.assert(property, { numRuns: 15 })
  })
})

it("a recording of two requests in each of several windows shows no bucket", async () => {
  const told = (step: Step): Told => ({ step, account: 0, kept: "whole", cached: "no", durationMillis: 0 })
  const read = told({ do: "read", path: "/nodes/", query: [] })
  const hour = told({ do: "advance", millis: 3_700_000 })
  const rateLimit = { limit: 1200, window: "1 hour", algorithm: "fixed-window" }
  const entries = await record([read, read, hour, read, read, hour, read, read], [3, 0], rateLimit)
  const refuted = judge(evidenceOf(entries).exchanges).filter(({ verdict }) => verdict === "refuted")
  expect(refuted.map(({ observed }) => observed)).toEqual([])
})

describe("a probe of a service that has not changed", () => {
  it("finds no difference, however its nodes come and go", async () => {
    const churn = fc.record({
      count: fc.constantFrom(0, 3, 21, 60, 130),
      seed: fc.nat(1000),
      // Between two requests: how many nodes come, the place of the node that goes, and how much time passes.
      steps: fc.array(fc.tuple(fc.nat(3), fc.nat(300), fc.constantFrom(100, 1500, 4000)), {
        minLength: 7,
        maxLength: 7
      })
    })
    const learned = async ({ count, seed, steps }: typeof churn extends fc.Arbitrary<infer A> ? A : never) => {
      const { accessToken, apiKey, id }: Account = await control("POST", "worlds", {
        seed,
        clock: "frozen",
        auth: "off",
        scenario: count === 0 ? "empty" : `fleet:${count}`
      })
      let now = Date.parse((await control("GET", `worlds/${id}/clock`)).now)
      let at = 0
      const entry = (method: string, path: string, body?: unknown) =>
        fetch(`${url}/myaccount/api/v1${path}`, {
          method,
          headers: { authorization: `Bearer ${accessToken}`, "x-api-key": apiKey, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
      const service = { url, now: () => now, advance: (millis: number) => void (now += millis), apiKey, accessToken }
      const between = async () => {
        const [come, place, millis] = steps[at++ % steps.length]!
        for (let each = 0; each < come; each++) await entry("POST", "/nodes/", order)
        const { data } = (await (await entry("GET", "/nodes/")).json()) as any
        const gone = data[place % Math.max(1, data.length)]
        if (place % 3 === 0 && gone !== undefined) await entry("DELETE", `/nodes/${gone.id}/`)
        now = Date.parse((await control("POST", `worlds/${id}/clock`, { advance: `${millis} millis` })).now)
      }
      const entries = await survey(service, 0, between)
      await control("DELETE", `worlds/${id}`)
      return profileOf(evidenceOf(entries))
    }
    const property = fc.asyncProperty(churn, churn, async (one, other) => {
      expect(compare(await learned(one), await learned({ ...other, seed: one.seed })).differences).toEqual([])
    })
    await fc.assert(property, { numRuns: 4 })
  })
})
