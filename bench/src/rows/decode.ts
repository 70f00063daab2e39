/**
 * Reading nodes: from parsed JSON to the domain, against parsing the JSON in the first place.
 */
import { Result } from "effect"
import { interpret } from "@berth/core/api/Reply"
import { nodeFromWire } from "@berth/core/api/NodeCodec"
import { many } from "@berth/core/client/Operation"
import { ratioAtMost, type Row } from "../Row.ts"

const count = 1000
const rounds = 50

const records = Array.from({ length: count }, (_, i) => ({
  id: 1000 + i,
  name: `node-${i}`,
  created_at: "2026-03-01T10:20:30.123456Z",
  public_ip_address: `164.52.${i >> 8}.${i & 255}`,
  private_ip_address: `10.1.${i >> 8}.${i & 255}`,
  backup: i % 2 === 0,
  disk: "100 GB",
  status: "running",
  vcpus: "4",
  memory: "16.00 GB",
  plan: "C-4VCPU-16RAM-100DISK",
  region: "ncr"
}))
const body = JSON.stringify({ message: "Success", code: 200, data: records, errors: {} })
const raw = { status: 200, headers: {}, body }
const decode = many(nodeFromWire)

const millis = (run: () => unknown) => {
  const startedAt = process.hrtime.bigint()
  for (let i = 0; i < rounds; i++) run()
  return Number(process.hrtime.bigint() - startedAt) / 1e6 / rounds
}

/** 1000 nodes of the list shape. */
export const decodeRow = (): Row => {
  const { data } = Result.getOrThrow(interpret(raw, {}, 0))
  if (Result.getOrThrow(decode(data, raw)).length !== count) throw new Error("not every record was read")
  return {
    name: "decode 1000 nodes",
    subject: "decode",
    baseline: "JSON.parse",
    unit: "ms",
    targets: [ratioAtMost(0.5)],
    pairs: 15,
    measure: () => ({ subject: millis(() => decode(data, raw)), baseline: millis(() => JSON.parse(body)) })
  }
}
