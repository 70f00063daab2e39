/**
 * Services that differ from the assumptions in a single point: learn finds this point and nothing else, and a check against an earlier
 * profile fails.
 */
import { randomUUID } from "node:crypto"
import { describe, expect, it } from "vitest"
import { compare } from "@berthkit/learn/check"
import { judge } from "@berthkit/learn/claims"
import { profileOf } from "@berthkit/learn/profileOf"
import { answer, asked, mockUnder } from "./playing.ts"
import { evidenceOf, survey } from "@berthkit/learn/testing/record"
import { type Answer, type Asked, type QuayOptions, startQuay } from "@berthkit/learn/testing/services/quay"

const learned = async (options: QuayOptions) => {
  await using service = await startQuay(options)
  const evidence = evidenceOf(await survey(service))
  const refuted = judge(evidence.exchanges).filter(({ verdict }) => verdict === "refuted")
  return { refuted: refuted.map(({ claim }) => claim), profile: profileOf(evidence) }
}

const refusal = (status: number): Answer => ({
  status,
  body: { message: "no", code: status, data: {}, errors: { detail: ["no"] } }
})

const when = (isAsked: (asked: Asked) => boolean, answer: Answer): QuayOptions => ({
  answer: (asked) => (isAsked(asked) ? answer : undefined)
})

/** A bucket of 1200 tokens that regains one every three seconds. */
const bucketOfAnHour = (): QuayOptions => ({
  rateLimit: (spent, now) => ({ left: 1200 - spent, reset: Math.ceil(now / 1000 + 3 * spent) })
})

const without = (record: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(record).filter(([each]) => each !== name))

const noSlash = ({ path }: Asked) => !path.endsWith("/")

describe("a service that differs in one point", () => {
  it.each<[string, QuayOptions, ReadonlyArray<string>]>([
    ["in none", {}, []],
    [
      "redirects a path without its last slash",
      when(noSlash, { status: 301, body: "", headers: { location: "/myaccount/api/v1/nodes/" } }),
      ["A path works without its last slash"]
    ],
    ["refuses a path without its last slash", when(noSlash, refusal(404)), ["A path works without its last slash"]],
    [
      "refuses parameters that it does not know",
      when(({ query }) => query.has("project_id"), refusal(400)),
      ["Unknown query parameters are ignored"]
    ],
    [
      "has a page for every path",
      when(({ path }) => path === "/berth-learn-no-such-path/", { status: 200, body: "<!doctype html>" }),
      ["An unknown path is 404"]
    ],
    ["has a token bucket that fills in an hour", bucketOfAnHour(), ["The window is fixed"]],
    [
      "gives each reply an id",
      {
        body: (body) => ({ ...body, request_id: randomUUID() }),
        answer: ({ path }) =>
          path === "/nodes/999999999/"
            ? {
                status: 404,
                body: { message: `no node (${randomUUID()})`, code: 404, data: {}, errors: { detail: ["no"] } }
              }
            : undefined
      },
      ["A success has message, code, data and errors"]
    ],
    [
      "accepts a parameter that is given twice",
      { takes: (query) => query.has("page_no") && query.set("page_no", query.get("page_no")!) },
      ["A parameter given twice is 400"]
    ],
    [
      "lets page win",
      { takes: (query) => query.set("page_no", query.get("page") ?? query.get("page_no") ?? "1") },
      ["page_no wins over page", "A parameter given twice is 400"]
    ],
    [
      "refuses a parameter that is empty",
      when(({ query }) => query.get("per_page") === "", refusal(422)),
      ["An empty parameter counts as absent"]
    ],
    [
      "refuses a filter without a match",
      when(({ query }) => query.get("os") === "no-such-system", refusal(404)),
      ["Without a match the list is empty"]
    ],
    [
      "ignores filters",
      { takes: (query) => query.delete("os") },
      ["Filters narrow", "Without a match the list is empty"]
    ],
    [
      "leaves a field out of some records, the first too",
      { record: (record, id) => (id % 4 === 0 ? without(record, "backup") : record) },
      ["A listed node has the fields of the example", "Every record of a list has the same fields"]
    ],
    [
      "has a text in place of an address that there is not",
      { record: (record) => ({ ...record, private_ip_address: "[]" }) },
      ["Addresses are texts in lists, objects by id"]
    ]
  ])("%s", async (_, options, claims) => {
    const { profile, refuted } = await learned(options)
    expect(refuted).toEqual(claims)
    await using service = await startQuay(options)
    const mock = await mockUnder(profile, 130)
    for (const path of asked) {
      expect([path, await answer(mock.url, path)]).toEqual([path, await answer(service.url, path)])
    }
    const before = (await learned({})).profile
    expect(compare(before, profile).differences.length > 0).toBe(claims.length > 0)
    expect(compare(profile, (await learned(options)).profile).differences).toEqual([])
  })
})

describe("what one kind of reply alone shows", () => {
  it("is no difference if the other evidence has no such reply", async () => {
    // The nodes that were listed have been deleted since.
    const gone: QuayOptions = {
      answer: ({ path }) => {
        const id = /^\/nodes\/(\d+)\/$/.exec(path)?.[1]
        if (id === undefined) return undefined
        const text = `there is no node ${id}`
        return { status: 404, body: { message: text, code: 404, data: {}, errors: { detail: [text] } } }
      }
    }
    const odd: QuayOptions = {
      record: (record) => ("tags" in record ? { ...record, public_ip_address: null } : record)
    }
    const whole = (await learned(odd)).profile
    const listsAlone = (await learned({ ...odd, ...gone })).profile
    for (const [before, now] of [
      [whole, listsAlone],
      [listsAlone, whole]
    ] as const) {
      expect(compare(before, now).differences).toEqual([])
    }
    expect(compare((await learned({})).profile, whole).differences.length).toBeGreaterThan(1)
  })
})
