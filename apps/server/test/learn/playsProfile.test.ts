import { Effect, Scope, Exit } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { quantile } from "../../src/learn/advice.ts"
import { profileOf } from "../../src/learn/profileOf.ts"
import { nextChange } from "../../src/lifecycle/NodeLife.ts"
import { listen } from "../../src/listen.ts"
import type { Profile } from "../../src/profile/Profile.ts"
import { readProfile } from "../../src/profile/Profile.ts"
import { settingsUnder } from "../../src/profile/settingsUnder.ts"
import { defaultTimeouts } from "../../src/transport/limits.ts"
import { begin } from "../../src/world/scenario.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { Worlds } from "../../src/world/Worlds.ts"
import { evidenceOf, lives, type Service, survey } from "./record.ts"
import { startHarbour } from "./services/harbour.ts"
import { startMeadow } from "./services/meadow.ts"

const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** A mock under a profile, with nodes. */
const mockUnder = async (profile: Profile, nodes: number) => {
  const settings = {
    ...settingsUnder(profile, defaults, 0),
    clock: "frozen" as const,
    auth: "off" as const,
    scenario: { fleet: nodes }
  }
  const worlds = new Worlds(begin(settings, Date.UTC(2026, 0, 1)))
  const listening = listen(worlds, {
    host: "127.0.0.1",
    port: 0,
    timeouts: { ...defaultTimeouts, drainMillis: 0 },
    checkReplies: false,
    profile
  })
  const { url } = await Effect.runPromise(Effect.provideService(listening, Scope.Scope, scope))
  return { url, worlds }
}

const textShape = (key: string, text: string): string => {
  if (/^(status|message|region|detail|errors)$/.test(key)) return text.replace(/\d+/g, "0")
  if (/_at$|^(disk|memory|ram)$/.test(key)) return text.replace(/\d/g, "0").replace(/^0+/, "0")
  return /^\d+\.\d+\.\d+\.\d+$/.test(text) ? "address" : "text"
}

/** Of a list the record with the most fields: some may lack one. */
const shapesOf = (list: ReadonlyArray<unknown>, key: string) =>
  list
    .toSorted((a, b) => Object.keys(b ?? {}).length - Object.keys(a ?? {}).length)
    .slice(0, 1)
    .map((each) => shapeOf(each, key))

/** The shape of a reply, for comparison byte by byte: its keys in their order, types, forms of texts; of a list its first record. */
const shapeOf = (value: unknown, key = ""): unknown => {
  if (value === null) return null
  if (Array.isArray(value)) return shapesOf(value, key)
  if (typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner, name)]))
  if (typeof value === "string") return textShape(key, value)
  return typeof value === "number"
    ? key === "code"
      ? value
      : Number.isInteger(value)
        ? "integer"
        : "number"
    : typeof value
}

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
  readonly length: number | undefined
}

const answer = async (url: string, path: string): Promise<Answer> => {
  const reply = await fetch(`${url}/myaccount/api/v1${path}`, {
    headers: { authorization: "Bearer berth-token", "x-api-key": "berth-key" }
  })
  const text = await reply.text()
  let value: any
  try {
    value = JSON.parse(text)
  } catch {
    return { status: reply.status, type: reply.headers.get("content-type"), body: text, length: undefined }
  }
  const list = Array.isArray(value) ? value : (value.data ?? value.images)
  return {
    status: reply.status,
    type: reply.headers.get("content-type"),
    body: JSON.stringify(shapeOf(value)),
    length: Array.isArray(list) && path.startsWith("/nodes") ? list.length : undefined
  }
}

const idsOf = async (url: string, query: string): Promise<ReadonlyArray<number>> => {
  const reply = await fetch(`${url}/myaccount/api/v1/nodes/${query}`, {
    headers: { authorization: "Bearer berth-token" }
  })
  return ((await reply.json()) as any).data.map(({ id }: { id: unknown }) => Number(id))
}

const asked = [
  "/nodes/",
  "/nodes/?per_page=100",
  "/nodes/?per_page=101",
  "/nodes/?page=2&per_page=2",
  "/nodes/?page_no=1000000",
  "/nodes/?page_no=0",
  "/nodes/?page_no=abc",
  "/nodes/999999999/",
  "/images/",
  "/images/?image_type=no-such-type",
  "/berth-learn-no-such-path/"
]

const services = [
  { name: "harbour", nodes: 120, start: startHarbour },
  { name: "meadow", nodes: 150, start: startMeadow }
]

const learned = async (service: Service) => profileOf(evidenceOf(await survey(service)))

describe.each(services)("the mock under the profile of $name", ({ nodes, start }) => {
  it("answers as the service does, and reads the same from its file", async () => {
    await using service = await start()
    const profile = await learned(service)
    const read = readProfile(JSON.stringify(profile))
    expect(read).toMatchObject({ _tag: "Success" })
    const mock = await mockUnder(profile, nodes)
    for (const path of asked)
      expect([path, await answer(mock.url, path)]).toEqual([path, await answer(service.url, path)])
    // A node of each, by its own id.
    const [own] = await idsOf(service.url, "?per_page=1")
    const [mocked] = await idsOf(mock.url, "?per_page=1")
    expect(await answer(mock.url, `/nodes/${mocked}/`)).toEqual(await answer(service.url, `/nodes/${own}/`))
    const isAscending = (ids: ReadonlyArray<number>) => ids[0]! < ids[1]!
    expect(isAscending(await idsOf(mock.url, "?per_page=2"))).toBe(isAscending(await idsOf(service.url, "?per_page=2")))
  })
})

describe("times that were learned", () => {
  it("are those of the service, within a tenth", async () => {
    await using service = await startHarbour()
    // Skewed, as provisioning is: most are quick and some take three times as long.
    const durations = Array.from({ length: 24 }, (_, at) =>
      Math.round(40_000 * Math.exp(0.5 * Math.sin(at * 2.4) + at / 60))
    )
    service.takes(durations)
    const profile = profileOf(evidenceOf(await lives(service, durations.length, 4_000)))
    const { lifecycle } = settingsUnder(profile, defaults, 0)
    const node = (id: number) => ({ id, name: "n", createdAt: 0, deletedAt: null, commitment: null })
    const played = Array.from({ length: 2_000 }, (_, id) => nextChange(1, lifecycle, node(id), 0)!.at).toSorted(
      (a, b) => a - b
    )
    const real = durations.toSorted((a, b) => a - b)
    for (const share of [0.1, 0.5, 0.9, 0.95]) {
      expect(Math.abs(quantile(played, share) / quantile(real, share) - 1)).toBeLessThan(0.1)
    }
  })
})
