/**
 * The oracle of the catalogue in full size: 2000 histories, or as many as `ORACLE_HISTORIES`. Their seeds differ from those in
 * `oracle.test.ts`.
 */
import { seed } from "@berthkit/testing/chance"
import { expect, it } from "@effect/vitest"
import { complaintsOf } from "./history.ts"

const count = Number(process.env["ORACLE_HISTORIES"] ?? 2000)
const batch = Math.min(200, count)
const base = 100_000 + seed
const seeds = Array.from({ length: Math.ceil(count / batch) }, (_, index) => base + index * batch)

it.each(seeds)(`${batch} random histories of a catalogue from seed %d are reported as they were`, (first) => {
  expect(complaintsOf(first, batch)).toEqual([])
})
