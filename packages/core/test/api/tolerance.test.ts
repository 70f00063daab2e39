import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import * as fc from "fast-check"
import { imageFromWire } from "../../src/api/ImageCodec.ts"
import { nodeFromWire } from "../../src/api/NodeCodec.ts"
import { RecordFault } from "../../src/api/fields/RecordReader.ts"
import { interpret } from "../../src/api/Reply.ts"
import type { KnownStatus } from "../../src/domain/NodeStatus.ts"

/** An address that may lead to a node. */
const ip = fc.ipV4().filter((ip) => !/^(?:0|127|169\.254)\./.test(ip))

/** A random node, which the service may write in any of its shapes. */
const machine = fc.record({
  id: fc.integer({ min: 1 }),
  name: fc.string({ minLength: 1 }),
  createdAtMillis: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  vcpus: fc.integer({ min: 1, max: 256 }),
  memoryGb: fc.integer({ min: 1, max: 4096 }),
  diskGb: fc.integer({ min: 1, max: 100_000 }),
  backups: fc.boolean(),
  publicIp: fc.option(ip),
  privateIp: ip,
  status: fc.constantFrom<KnownStatus>("created", "running", "power-off", "terminate")
})
type Machine = typeof machine extends fc.Arbitrary<infer A> ? A : never

const spelled = (status: string) =>
  fc
    .tuple(fc.constantFrom("-", " ", "_", ""), fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }))
    .map(([separator, upper]) =>
      Array.from(status.replace("-", separator), (c, i) => (upper[i] ? c.toUpperCase() : c)).join("")
    )

const none = fc.constantFrom(null, "", "[]", [], {})
const address = (ip: string | null) =>
  ip === null ? none : fc.constantFrom(ip, { ip_address: ip }, { address: ip }, { ip }, { netmask: "x", ip })

/** The ways to write a node: each field in any spelling of any shape. */
const written = (m: Machine) =>
  fc.record({
    id: fc.constantFrom<unknown>(m.id, String(m.id)),
    name: fc.constant(m.name),
    created_at: fc.constantFrom(
      new Date(m.createdAtMillis).toISOString(),
      new Date(m.createdAtMillis).toISOString().replace("Z", "999Z"),
      new Date(m.createdAtMillis).toISOString().replace("Z", "")
    ),
    vcpus: fc.constantFrom<unknown>(m.vcpus, String(m.vcpus), `${m.vcpus}.0`),
    memory: fc.constantFrom<unknown>(m.memoryGb * 1024, `${m.memoryGb}.00 GB`, `${m.memoryGb * 1024} MB`),
    disk: fc.constantFrom<unknown>(m.diskGb, `${m.diskGb} GB`, `${m.diskGb}GB`),
    backup: fc.constantFrom<unknown>(m.backups, m.backups ? 1 : 0),
    public_ip_address: address(m.publicIp),
    private_ip_address: address(m.privateIp),
    status: spelled(m.status)
  })

const anyJson = fc.jsonValue({ maxDepth: 4 })
const bodies = fc.oneof(
  fc.string(),
  anyJson.map((json) => JSON.stringify(json)),
  fc
    .record(
      {
        message: anyJson,
        code: fc.oneof(fc.integer(), anyJson),
        status_code: fc.oneof(fc.integer(), anyJson),
        data: anyJson,
        errors: fc.oneof(fc.constant(true), fc.constant(null), fc.array(fc.dictionary(fc.string(), anyJson)), anyJson),
        detail: anyJson
      },
      { requiredKeys: [] }
    )
    .map((body) => JSON.stringify(body)),
  fc.constant("<html><title>502 Bad Gateway</title></html>"),
  fc.constant("[".repeat(50_000)),
  fc.constant(`{"code":200,"errors":{},"data":${"[".repeat(50_000)}${"]".repeat(50_000)}}`),
  fc.constant(`{"code":400,"errors":${"[".repeat(50_000)}${"]".repeat(50_000)}}`)
)
const headers = fc.dictionary(
  fc.constantFrom("retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "date", "location"),
  fc.oneof(fc.string(), fc.integer().map(String), fc.constant("Fri, 20 Nov 2026 10:00:30 GMT"))
)

describe("tolerance of the codecs", () => {
  it("a machine reads the same in any shape, spelling and casing", () => {
    fc.assert(
      fc.property(
        machine.chain((m) => fc.tuple(fc.constant(m), written(m))),
        ([m, wire]) => {
          const node = nodeFromWire(wire)
          if (node instanceof RecordFault) return assert.fail(`${node.path}: expected ${node.expected}`)
          assert.deepStrictEqual(
            {
              id: node.id as number,
              name: node.name,
              createdAtMillis: DateTime.toEpochMillis(node.createdAt!),
              vcpus: node.vcpus,
              memoryGb: node.memoryMib === null ? null : node.memoryMib / 1024,
              diskGb: node.diskGb,
              backups: node.backups,
              publicIp: node.publicIp,
              privateIp: node.privateIp,
              status: node.status
            },
            m
          )
        }
      ),
      { numRuns: 200 }
    )
  })

  it("any JSON in place of a record is a node, an image, or a fault that names the place", () => {
    const record = fc.oneof(
      anyJson,
      fc.record(
        Object.fromEntries(
          ["id", "name", "created_at", "status", "disk", "memory", "vcpus", "tags", "backup", "image", "plan", "specs"]
            .concat(["public_ip_address", "locked", "os", "zone", "size"])
            .map((name) => [name, fc.oneof(anyJson, fc.string(), fc.integer(), fc.constant("2026-03-01T10:20:30Z"))])
        ),
        { requiredKeys: [] }
      )
    )
    fc.assert(
      fc.property(record, (wire) => {
        for (const read of [nodeFromWire, imageFromWire]) {
          const record = read(wire)
          if (record instanceof RecordFault) assert.isNotEmpty(record.expected)
        }
      }),
      { numRuns: 400 }
    )
  })

  it("any status, headers and body mean a success or a reason, never a crash", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 999 }),
        headers,
        bodies,
        fc.boolean(),
        (status, heads, body, emptyAllowed) => {
          const result = interpret({ status, headers: heads, body }, { emptyAllowed }, 0)
          if (Result.isFailure(result)) {
            assert.isNotEmpty(result.failure.message)
          } else {
            assert.isTrue(status >= 200 && status < 300)
          }
        }
      ),
      { numRuns: 600 }
    )
  })

  it("the reason follows the status, for any body of a failure", () => {
    const expected = (status: number) =>
      ({
        401: "Unauthorized",
        403: "Forbidden",
        404: "PathNotFound",
        407: "Unreachable",
        408: "ServiceUnavailable",
        409: "Conflict"
      })[status] ??
      ({ 412: "PreconditionFailed", 423: "Conflict", 429: "RateLimited" } as Record<number, string>)[status] ??
      ([502, 503, 504].includes(status) ? "ServiceUnavailable" : status < 500 ? "InvalidRequest" : "ServiceFault")
    fc.assert(
      fc.property(fc.integer({ min: 400, max: 599 }), headers, bodies, (status, heads, body) => {
        const result = interpret({ status, headers: heads, body }, {}, 0)
        assert.isTrue(Result.isFailure(result))
        if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, expected(status))
      }),
      { numRuns: 400 }
    )
  })
})
