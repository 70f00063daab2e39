/** Words that Berth does not know for the status of a node: a mock with the profile uses them, and a check notices when they change. */
import { describe, expect, it } from "vitest"
import { compare } from "@berthkit/learn/check"
import { profileOf } from "@berthkit/learn/profileOf"
import { answer, mockUnder } from "./playing.ts"
import { evidenceOf, survey } from "@berthkit/learn/testing/record"
import { startQuay } from "@berthkit/learn/testing/services/quay"

const learned = async (word: string | ((id: number) => string)) => {
  const record = (fields: Record<string, unknown>, id: number) => ({
    ...fields,
    status: typeof word === "string" ? word : word(id)
  })
  await using service = await startQuay({ record, nodes: 30 })
  return profileOf(evidenceOf(await survey(service)))
}

describe("another word for running", () => {
  it.each([
    ["ACTIVE", "UP"],
    ["running", "UP"],
    ["UP", "running"]
  ])("from %s to %s is a difference", async (before, now) => {
    const { differences } = compare(await learned(before), await learned(now))
    expect(differences).toContainEqual(expect.objectContaining({ what: "statuses.running", before, now }))
  })

  it("is none as long as it stays", async () => {
    const some = (id: number) => (id % 9 === 0 ? "power-off" : id % 10 === 0 ? "created" : "ACTIVE")
    expect(compare(await learned("ACTIVE"), await learned(some)).differences).toEqual([])
    expect(compare(await learned(some), await learned("ACTIVE")).differences).toEqual([])
  })

  it("is a difference if only some nodes have it", async () => {
    const some = (id: number) => (id % 10 === 0 ? "MIGRATING" : "running")
    const { differences } = compare(await learned("running"), await learned(some))
    expect(differences).toContainEqual({ what: "statuses added", before: "none", now: "MIGRATING" })
  })

  it("is what the mock says", async () => {
    const mock = await mockUnder(await learned("ACTIVE"), 3)
    expect((await answer(mock.url, "/nodes/")).body).toContain('"status":"ACTIVE"')
  })
})

const times = { "content-type": "application/json", date: "x" }

/** An entry of a HAR, some seconds after the first one. */
const entry = (seconds: number, method: string, path: string, status: number, data?: unknown) => {
  const at = Date.UTC(2026, 4, 1) + seconds * 1000
  const text = data === undefined ? "" : JSON.stringify({ message: "Success", code: 200, data, errors: {} })
  return {
    startedDateTime: new Date(at).toISOString(),
    time: 0,
    request: { method, url: `https://a.example/myaccount/api/v1${path}`, headers: [] },
    response: {
      status,
      headers: Object.entries({ ...times, date: new Date(at).toUTCString() }).map(([name, value]) => ({ name, value })),
      content: { size: text.length, text }
    }
  }
}

/** A node that is created, gets these statuses second by second, is deleted, gets the others and is gone. */
const life = (created: unknown, early: ReadonlyArray<string>, late: ReadonlyArray<string>, from = 0) => {
  const node = (status: string) => ({ id: 5, name: "n", status })
  const looks = (words: ReadonlyArray<string>, at: number) =>
    words.map((word, index) => entry(at + index, "GET", "/nodes/5/", 200, node(word)))
  const end = from + 1 + early.length
  return [
    entry(from, "POST", "/nodes/", 202, created),
    ...looks(early, from + 1),
    entry(end, "DELETE", "/nodes/5/", 204),
    ...looks(late, end + 1),
    entry(end + 1 + late.length, "GET", "/nodes/5/", 404)
  ]
}

describe("the life of a node in words that Berth does not know", () => {
  const node = { id: 5, name: "n", status: "QUEUED" }

  it("is what the profile says", () => {
    const early = ["BUILDING", "BUILDING", "ACTIVE", "ACTIVE"]
    const { behaviour } = profileOf(evidenceOf(life(node, early, ["ACTIVE", "DELETING"])))
    expect(behaviour.statuses).toEqual({
      create: "QUEUED",
      created: "BUILDING",
      running: "ACTIVE",
      terminate: "DELETING"
    })
  })

  it("is what the mock says, from its create on", async () => {
    const profile = profileOf(evidenceOf(life(node, ["BUILDING", "ACTIVE"], ["DELETING"])))
    const mock = await mockUnder(profile, 1)
    const send = async (method: string, path: string, body?: object) => {
      const reply = await fetch(`${mock.url}/myaccount/api/v1${path}`, {
        method,
        headers: { authorization: "Bearer berth-token", "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return reply.status === 204 ? undefined : ((await reply.json()) as any).data
    }
    const order = { name: "n", region: "ncr", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }
    const { id, status } = await send("POST", "/nodes/", order)
    const seen = [status, (await send("GET", `/nodes/${id}/`)).status]
    await send("DELETE", `/nodes/${id}/`)
    expect([...seen, (await send("GET", `/nodes/${id}/`)).status]).toEqual(["QUEUED", "BUILDING", "DELETING"])
  })
})

describe("the status of a create", () => {
  it("is played where the records of creates were seen without any other field", async () => {
    const profile = profileOf(evidenceOf([entry(0, "POST", "/nodes/", 202, { id: 5, status: "Accepted" })]))
    expect(profile.behaviour.statuses.create).toBe("Accepted")
  })
})

describe("a duration", () => {
  const node = { id: 5, name: "n", status: "Create" }
  const looked = (gap: number) =>
    Array.from({ length: 6 }, (_, at) => {
      const from = at * 1000
      const own = { ...node, id: 5 + at }
      const as = (entries: ReadonlyArray<ReturnType<typeof entry>>) =>
        entries.map((each) => ({
          ...each,
          request: { ...each.request, url: each.request.url.replace("/nodes/5/", `/nodes/${5 + at}/`) },
          response: {
            ...each.response,
            content: { ...each.response.content, text: each.response.content.text.replace('"id":5', `"id":${5 + at}`) }
          }
        }))
      return as([
        entry(from, "POST", "/nodes/", 202, own),
        ...(gap === 0 ? [entry(from + 1, "GET", "/nodes/5/", 200, { ...node, status: "created" })] : []),
        entry(from + 3 + gap, "GET", "/nodes/5/", 200, { ...node, status: "running" })
      ])
    }).flat()

  it("is no difference if the evidence has a gap of two minutes", () => {
    const [often, seldom] = [looked(0), looked(240)].map((entries) => profileOf(evidenceOf(entries)))
    expect(often!.behaviour.provisioningMillis).toHaveLength(6)
    expect(compare(often!, seldom!).differences).toEqual([])
    expect(compare(seldom!, often!).differences).toEqual([])
  })
})
