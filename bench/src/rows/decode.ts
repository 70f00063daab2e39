/**
 * Measures decoding nodes, from parsed JSON to the domain, against parsing the JSON. Every repetition parses the page again, as a call
 * does, so that no string is already in the caches.
 */
import { Result } from "effect"
import { interpret } from "@berthkit/core/api/Reply"
import { nodeFromWire } from "@berthkit/core/api/NodeCodec"
import { many } from "@berthkit/core/client/call/Operation"
import { variedNode } from "../listedNode.ts"
import type { Row } from "../Row.ts"

const count = 1000
const repetitions = 50

const data = Array.from({ length: count }, (_, i) => variedNode(i))
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
    targets: [],
    pairs: 15,
    measure: halves
  }
}
