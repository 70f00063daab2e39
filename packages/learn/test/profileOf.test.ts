import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { adviceFrom } from "../src/advice.ts"
import { profileOf } from "../src/profileOf.ts"
import { readEvidence } from "../src/readEvidence.ts"
import { readProfile } from "@berthkit/profile/Profile"
import { harOf } from "./record.ts"

const entry = (
  path: string,
  body: object,
  { status = 200, headers = {} as Readonly<Record<string, string>> } = {}
) => ({
  startedDateTime: "2026-01-01T00:00:00Z",
  time: 5,
  request: { method: "GET", url: `https://a.example/myaccount/api/v1${path}`, headers: [] },
  response: {
    status,
    headers: Object.entries({ "content-type": "application/json", ...headers }).map(([name, value]) => ({
      name,
      value
    })),
    content: { text: JSON.stringify(body) }
  }
})

const list = { message: "Success", code: 200, data: [{ id: 1, name: "a", status: "running" }], errors: {} }

const profileFrom = (entries: ReadonlyArray<ReturnType<typeof entry>>) =>
  profileOf(Result.getOrThrow(readEvidence(harOf(entries))))

describe("the profile of a failure", () => {
  it("keeps a number that is the id, and takes the id out of its texts", () => {
    const body = { code: 404, node_id: 17, message: "Node 17 is unknown" }
    const { behaviour } = profileFrom([entry("/nodes/17/", body, { status: 404 })])
    expect(behaviour.failures["unknown-node"]?.body).toEqual({
      json: { code: 404, node_id: 17, message: "Node {id} is unknown" }
    })
  })
})

describe("a profile that is written", () => {
  it.each([
    ["a limit beyond all bounds", { "ratelimit-limit": "1000000000000" }],
    ["a clock of another year", { date: "Thu, 01 Jan 1970 00:00:00 GMT" }],
    ["an endless media type", { "content-type": `application/json; x=${"y".repeat(5000)}` }]
  ])("can be read where the service has %s", (_, headers) => {
    const profile = profileFrom([entry("/nodes/", list, { headers })])
    expect(Result.isSuccess(readProfile(JSON.stringify(profile)))).toBe(true)
    expect(profile.behaviour.records["nodes.list"]).toBeDefined()
  })

  it("can be read where the envelope has more keys than a profile may have", () => {
    const keys = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`key${at}`, at]))
    const profile = profileFrom([entry("/nodes/", { ...list, ...keys }), entry("/nodes/5/", { ...list, data: {} })])
    expect(Result.isSuccess(readProfile(JSON.stringify(profile)))).toBe(true)
    expect(Object.keys(profile.behaviour.envelopes)).toEqual(["nodes.get"])
  })
})

it("no tag of a node is in a profile", () => {
  const data = { id: 1, name: "a", tags: ["customer-one"], status: "running" }
  const profile = profileFrom([entry("/nodes/", list), entry("/nodes/1/", { ...list, data })])
  expect(profile.findings).toContainEqual({
    assumption: "A9",
    claim: "tags is an empty list",
    verdict: "refuted",
    observed: "tags of nodes.get: a list of 1",
    of: "nodes.get"
  })
  expect(JSON.stringify(profile)).not.toContain("customer-one")
})

describe("a profile that somebody edited", () => {
  const whole = profileFrom([entry("/nodes/", list)])
  const failure = { status: 404, contentType: "text/plain", body: { text: "no" } }

  it.each([
    ["a header of its own", { contentType: "text/html\r\nx-own: 1" }],
    ["a status that ends no request", { failures: { "unknown-node": { ...failure, status: 101 } } }],
    ["a header of its own in a failure", { failures: { "unknown-node": { ...failure, contentType: "a\nb: c" } } }],
    ["a negative duration", { provisioningMillis: [-1] }],
    [
      "a number with a billion decimals",
      {
        records: {
          "nodes.list": [
            {
              name: "memory",
              kinds: ["string"],
              form: { is: "size", unit: "GB", decimals: 1e9, suffix: "" },
              missing: 0,
              null: 0
            }
          ]
        }
      }
    ]
  ])("is refused with %s", (_, change) => {
    const edited = { ...whole, behaviour: { ...whole.behaviour, ...change } }
    expect(Result.isFailure(readProfile(JSON.stringify(edited)))).toBe(true)
  })
})

it("a page with nodes is not behind the end of longer pages", () => {
  const { behaviour } = profileFrom([
    entry("/nodes/?page_no=2&per_page=50", { ...list, data: [] }),
    entry("/nodes/?page_no=2&per_page=2", list)
  ])
  expect(behaviour.paging.pastTheEnd).toBe("empty")
})

it("what no probe shows has a hint how to learn it", () => {
  const headers = { "ratelimit-limit": "1200", "ratelimit-remaining": "9", "ratelimit-reset": "1767229200" }
  const { behaviour } = profileFrom([entry("/nodes/", list, { headers })])
  expect(adviceFrom(behaviour).map(({ setting }) => setting)).toContain("berth-server learn --har FILE")
})

it("a request that a browser blocked is no evidence", () => {
  const evidence = readEvidence(harOf([entry("/nodes/", list), entry("/nodes/", list, { status: 0 })]))
  expect(Result.getOrThrow(evidence)).toMatchObject({ skipped: 1 })
})
