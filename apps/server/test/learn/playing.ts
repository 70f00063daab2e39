/** A mock under a profile and its answers, to compare with the service that the profile was learned from. */
import { Effect, Exit, Scope } from "effect"
import { afterAll } from "vitest"
import { listen } from "../../src/listen.ts"
import type { Profile } from "@berthkit/profile/Profile"
import { settingsUnder } from "../../src/profile/settingsUnder.ts"
import { defaultTimeouts } from "../../src/transport/limits.ts"
import { begin } from "../../src/world/scenario.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { Worlds } from "../../src/world/Worlds.ts"

const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** A mock under a profile, with nodes. */
export const mockUnder = async (profile: Profile, nodes: number) => {
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
  if (/^(status|message|region|detail|errors)$/.test(key)) return text.replace(/(?=[\w-]*\d)[\w-]{8,}|\d+/g, "0")
  if (/_at$|^(disk|memory|ram)$/.test(key)) return text.replace(/\d/g, "0").replace(/^0+/, "0")
  return /^\d+\.\d+\.\d+\.\d+$/.test(text) ? "address" : text === "[]" ? text : "text"
}

/** From a list, takes the record with the most fields, because a field may be missing from some records. */
const shapesOf = (list: ReadonlyArray<unknown>, key: string) =>
  list
    .toSorted((a, b) => Object.keys(b ?? {}).length - Object.keys(a ?? {}).length)
    .slice(0, 1)
    .map((each) => shapeOf(each, key))

/** The shape of a reply, for comparison byte by byte: its keys in their order, types, forms of strings; of a list its first record. */
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

export const answer = async (url: string, path: string): Promise<Answer> => {
  const reply = await fetch(`${url}/myaccount/api/v1${path}`, {
    headers: { authorization: "Bearer berth-token", "x-api-key": "berth-key" },
    redirect: "manual"
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

export const idsOf = async (url: string, query: string): Promise<ReadonlyArray<number>> => {
  const reply = await fetch(`${url}/myaccount/api/v1/nodes/${query}`, {
    headers: { authorization: "Bearer berth-token" }
  })
  return ((await reply.json()) as any).data.map(({ id }: { id: unknown }) => Number(id))
}

/** The requests to both. */
export const asked = [
  "/nodes/",
  "/nodes/?per_page=100",
  "/nodes/?per_page=101",
  "/nodes/?page=2&per_page=2",
  "/nodes/?page=1000000&page_no=1&per_page=2",
  "/nodes/?page_no=1000000",
  "/nodes/?page_no=0",
  "/nodes/?page_no=abc",
  "/nodes/999999999/",
  "/images/",
  "/images/?image_type=no-such-type",
  "/images/?os=no-such-system",
  "/nodes?page_no=1&per_page=2",
  "/nodes/?page_no=1&page_no=2&per_page=2",
  "/nodes/?page_no=1&per_page=",
  "/nodes/?page_no=1&project_id=1",
  "/berth-learn-no-such-path/"
]
