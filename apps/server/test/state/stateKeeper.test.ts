import { expect, it } from "@effect/vitest"
import { pauseAfterSaveMillis } from "../../src/state/stateKeeper.ts"

it("a change that just missed a save is in the file within a second, where a save takes up to 400 ms", () => {
  const noticeMillis = 50
  for (const tookMillis of [0, 2, 50, 120, 250, 400]) {
    const waited = tookMillis + pauseAfterSaveMillis(tookMillis) + noticeMillis + tookMillis
    expect([tookMillis, waited]).toEqual([tookMillis, 850])
  }
  expect(pauseAfterSaveMillis(1_000)).toBe(0)
})
