/** The oracle in full size. Seeds apart from those of `oracle.test.ts`. */
import { expect, it } from "@effect/vitest"
import { complaintsOf } from "./history.ts"

const batches = Array.from({ length: 20 }, (_, index) => 100_000 + index * 150)

it.each(batches)("150 random histories from seed %d are reported as they were", (seed) => {
  expect(complaintsOf(seed, 150)).toEqual([])
})
