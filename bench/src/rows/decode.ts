/**
 * Decodes nodes, from parsed JSON to the domain, against parsing the JSON. Every repetition parses the page anew, as a call
 * does, so that no string is already in the caches.
 */
import { Result } from "effect"
import { interpret } from "@berth/core/api/Reply"
import { nodeFromWire } from "@berth/core/api/NodeCodec"
import { many } from "@berth/core/client/call/Operation"
import { listedNode } from "../listedNode.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const count = 1000
const repetitions = 50

/** Series, vCPUs, GB of memory and GB of disk of the fleet's plans. */
const plans = [
  ["A", 1, 2, 20],
  ["B", 2, 6, 75],
  ["C", 4, 16, 100],
  ["B", 4, 12, 150],
  ["C", 8, 32, 200],
  ["C", 16, 64, 400],
  ["B", 16, 48, 600]
] as const
const roles = ["web", "db-replica", "worker", "ci-runner-linux", "cache"]
const statuses = ["running", "running", "running", "power-off", "running", "created", "running", "terminate"] as const

/** Instants all over 2024 and 2025, in no order, each once. */
const createdAt = (i: number) => {
  const minutes = (i * 104_729) % (2 * 365 * 24 * 60)
  const millis = Date.UTC(2024, 0, 1) + minutes * 60_000 + ((i * 7919) % 60_000)
  return new Date(millis).toISOString().replace("Z", `${String((i * 37) % 1000).padStart(3, "0")}Z`)
}

const record = (i: number) => {
  const [series, vcpus, memoryGb, diskGb] = plans[(i * 5 + (i >> 3)) % plans.length]!
  return listedNode(97_000 + i, {
    name: `${roles[i % roles.length]}-${i}`,
    created_at: createdAt(i),
    public_ip_address: `164.52.${i >> 8}.${i & 255}`,
    private_ip_address: `10.1.${i >> 8}.${i & 255}`,
    backup: i % 3 === 0,
    disk: `${diskGb} GB`,
    status: statuses[(i * 3 + (i >> 4)) % statuses.length]!,
    vcpus: String(vcpus),
    memory: `${memoryGb}.00 GB`,
    plan: `${series}-${vcpus}VCPU-${memoryGb}RAM-${diskGb}DISK`
  })
}

const data = Array.from({ length: count }, (_, i) => record(i))
const body = JSON.stringify({ message: "Success", code: 200, data, errors: {} })
const raw = { status: 200, headers: {}, body }
const decode = many(nodeFromWire)

const now = () => Number(process.hrtime.bigint()) / 1e6

/** Milliseconds of both halves, parsing and decoding. */
const halves = () => {
  let parsing = 0
  let reading = 0
  for (let i = 0; i < repetitions; i++) {
    const startedAt = now()
    const parsed = JSON.parse(body)
    const parsedAt = now()
    decode(parsed.data)
    parsing += parsedAt - startedAt
    reading += now() - parsedAt
  }
  return { subject: reading / repetitions, baseline: parsing / repetitions }
}

/** 1000 nodes in the record shape of the list. */
export const decodeRow = (): Row => {
  const { data } = Result.getOrThrow(interpret(raw, {}, 0))
  if (Result.getOrThrow(decode(data)).length !== count) throw new Error("not every record was read")
  return {
    name: "decode 1000 nodes",
    subject: "decode",
    baseline: "JSON.parse",
    unit: "ms",
    targets: [ratioAtMost(0.5)],
    pairs: 15,
    measure: halves
  }
}
