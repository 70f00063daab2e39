/**
 * A proof for each fault: what a client sees while the fault is armed, and what it sees otherwise. `slow.test.ts` has the proofs that
 * need the clock.
 */
import { Effect } from "effect"
import type { FaultName } from "../../src/injection/catalogue.ts"
import type { Fault } from "../../src/injection/catalogue.ts"
import type { TestWorld } from "../../src/testing.ts"
import type { Outcome } from "../http/service.ts"
import { ask, countNodes, create, get, list, rawList } from "./client.ts"

export interface Proof {
  readonly fault: Fault
  /** Reads a client's view of the world: once while the fault is armed, and once without the fault. */
  readonly view: (world: TestWorld) => Effect.Effect<unknown>
  /** The view while the fault is armed. */
  readonly armed: unknown
  readonly honest: unknown
}

const proof = (fault: Fault, view: Proof["view"], armed: unknown, honest: unknown): Proof => ({
  fault,
  view,
  armed,
  honest
})

const listed = (see: (outcome: Outcome) => unknown) => (world: TestWorld) => Effect.map(list(world), see)

/** How a create ends, and how many nodes it makes. */
const createAndCount = (world: TestWorld) =>
  Effect.gen(function* () {
    const before = yield* countNodes(world)
    const { failure, json, status } = yield* create(world)
    return [failure ?? status, json?.code, (yield* countNodes(world)) - before]
  })

const firstId = Effect.fnUntraced(function* (world: TestWorld) {
  const nodes = yield* Effect.orDie(world.control.nodes.list({ params: { world: world.id }, query: {} }))
  return nodes[0]!.id
})

/** The first node as get shows it. */
const firstNode = (see: (outcome: Outcome) => unknown) => (world: TestWorld) =>
  Effect.map(
    Effect.flatMap(firstId(world), (id) => get(world, id)),
    see
  )

const documentedFields = [
  "backups",
  "created_at",
  "disk",
  "id",
  "locked",
  "name",
  "private_ip_address",
  "public_ip_address",
  "status",
  "tags",
  "vcpus"
]
const documentedTypes = { id: "number", name: "string", locked: "boolean", vcpus: "number" }
const typesOf = (record: any) =>
  Object.fromEntries(
    Object.keys(documentedTypes).map((name) => [name, Array.isArray(record[name]) ? "array" : typeof record[name]])
  )

const isWholeNumber = (text: string | null): boolean => /^\d+$/.test(text ?? "") && Number.isSafeInteger(Number(text))
const allowance = ({ headers }: Outcome) =>
  ["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`))

const http: ReadonlyArray<Proof> = [
  proof(
    { fault: "status", status: 418 },
    listed(({ json, status }) => [status, json.code]),
    [418, 418],
    [200, 200]
  ),
  proof(
    { fault: "rate-limited", retryAfter: 7 },
    listed(({ headers, status }) => [status, headers.get("retry-after"), headers.get("ratelimit-remaining") === "0"]),
    [429, "7", true],
    [200, null, false]
  ),
  proof(
    { fault: "rate-limited-bare" },
    listed((outcome) => [outcome.status, outcome.headers.get("retry-after"), allowance(outcome)[0]]),
    [429, null, null],
    [200, null, "1200"]
  ),
  proof(
    { fault: "html-error" },
    listed(({ headers, status, text }) => [status, headers.get("content-type"), text.startsWith("<html>")]),
    [502, "text/html", true],
    [200, "application/json", false]
  ),
  proof(
    { fault: "wrong-content-type" },
    listed(({ headers, json }) => [headers.get("content-type"), json.code]),
    ["text/html", 200],
    ["application/json", 200]
  ),
  proof(
    { fault: "headers-missing" },
    listed((reply) => allowance(reply)[1] === null),
    true,
    false
  ),
  proof(
    { fault: "headers-garbage" },
    listed((reply) => allowance(reply).every(isWholeNumber)),
    false,
    true
  ),
  proof(
    { fault: "date-skew", by: "-5m" },
    listed(({ headers }) => headers.get("date")),
    "Wed, 31 Dec 2025 23:55:00 GMT",
    "Thu, 01 Jan 2026 00:00:00 GMT"
  ),
  proof({ fault: "success-with-failure-code", code: 503 }, createAndCount, [200, 503, 0], [202, 200, 1])
]

const wire: ReadonlyArray<Proof> = [
  proof({ fault: "reset-before-request" }, createAndCount, ["ECONNRESET", undefined, 0], [202, 200, 1]),
  proof({ fault: "reset-after-request" }, createAndCount, ["ECONNRESET", undefined, 1], [202, 200, 1]),
  ...(["reset-mid-body", "truncated-body"] as const).map((fault) =>
    proof(
      { fault },
      (world) =>
        Effect.map(rawList(world), ({ bytes, ended }) => {
          const text = bytes.toString()
          return [
            ended,
            text.startsWith("HTTP/1.1 200 OK\r\n"),
            text.includes('{"message":'),
            text.endsWith('"errors":{}}')
          ]
        }),
      [fault === "truncated-body" ? "end" : "reset", true, true, false],
      ["kept", true, true, true]
    )
  ),
  proof(
    { fault: "malformed-json" },
    listed(({ failure, json, text }) => [failure, json === undefined, text.length > 100]),
    [undefined, true, true],
    [undefined, false, true]
  ),
  proof(
    { fault: "garbage-bytes", bytes: 32 },
    (world) =>
      Effect.map(rawList(world), ({ bytes, ended }) => [
        ended,
        bytes.length === 32,
        bytes.toString().startsWith("HTTP")
      ]),
    ["end", true, false],
    ["kept", false, true]
  )
]

/** All ids that a listing in pages of two sees. */
const sweep = (world: TestWorld) =>
  Effect.map(
    Effect.forEach(["1", "2", "3"], (page) => list(world, { page_no: page, per_page: "2" })),
    (pages) => new Set(pages.flatMap(({ json }) => json.data.map(({ id }: { id: number }) => id))).size
  )

const semantic: ReadonlyArray<Proof> = [
  proof({ fault: "create-lost-reply" }, createAndCount, ["ECONNRESET", undefined, 1], [202, 200, 1]),
  proof({ fault: "create-false-negative", status: 503 }, createAndCount, [503, 503, 1], [202, 200, 1]),
  proof({ fault: "duplicate-create" }, createAndCount, [202, 200, 2], [202, 200, 1]),
  proof(
    { fault: "id-reuse" },
    (world) =>
      Effect.gen(function* () {
        const first = (yield* create(world)).json.data.id
        yield* ask(world, "DELETE", `/nodes/${first}/`)
        yield* world.advance("2 seconds")
        const again = yield* create(world)
        const { id } = again.json.data
        return [
          id === first,
          again.headers.get("location") === `/myaccount/api/v1/nodes/${id}/`,
          (yield* get(world, id)).status
        ]
      }),
    [true, true, 200],
    [false, true, 200]
  ),
  proof(
    { fault: "stuck-provisioning" },
    (world) =>
      Effect.gen(function* () {
        const { id } = (yield* create(world)).json.data
        yield* world.advance("1 day")
        return (yield* get(world, id)).json.data.status
      }),
    "created",
    "running"
  ),
  proof(
    { fault: "list-stale", age: "30 seconds" },
    (world) =>
      Effect.gen(function* () {
        const { id } = (yield* create(world)).json.data
        const isListed = Effect.map(list(world), ({ json }) => json.data.some((node: { id: number }) => node.id === id))
        const atOnce = yield* isListed
        yield* world.advance("30 seconds")
        return [atOnce, yield* isListed]
      }),
    [false, true],
    [true, true]
  ),
  proof({ fault: "list-shifts" }, sweep, 4, 5),
  proof(
    { fault: "listed-but-404" },
    firstNode(({ json, status }) => [status, json.code]),
    [404, 404],
    [200, 200]
  ),
  proof(
    { fault: "get-lags" },
    (world) =>
      Effect.gen(function* () {
        const { id } = (yield* create(world)).json.data
        const atOnce = (yield* get(world, id)).status
        yield* world.advance("10 seconds")
        return [atOnce, (yield* get(world, id)).json.data.status]
      }),
    [404, "created"],
    [200, "running"]
  ),
  proof(
    { fault: "empty-list" },
    listed(({ json }) => json.data.length),
    0,
    5
  ),
  proof(
    { fault: "status-unknown" },
    firstNode(({ json }) => json.data.status === "running"),
    false,
    true
  ),
  proof(
    { fault: "field-missing", field: "vcpus" },
    firstNode(({ json }) => Object.keys(json.data).sort()),
    documentedFields.filter((name) => name !== "vcpus"),
    documentedFields
  ),
  proof(
    { fault: "field-extra", field: "project_id" },
    firstNode(({ json }) => Object.keys(json.data).sort()),
    [...documentedFields, "project_id"].sort(),
    documentedFields
  ),
  proof(
    { fault: "field-type-changed", field: "id" },
    firstNode(({ json }) => typesOf(json.data)),
    { ...documentedTypes, id: "string" },
    documentedTypes
  ),
  proof(
    { fault: "window-changes", limit: 2 },
    (world) =>
      Effect.map(
        Effect.forEach([1, 2, 3], () => list(world)),
        (replies) => [replies.map(({ status }) => status), allowance(replies[2]!)[0]]
      ),
    [[200, 200, 429], "2"],
    [[200, 200, 200], "1200"]
  )
]

export const proofs: ReadonlyArray<Proof> = [...http, ...wire, ...semantic]

/** The faults that `slow.test.ts` proves. */
export const provenWithTheClock: ReadonlyArray<FaultName> = ["latency", "slow-body", "hang"]
