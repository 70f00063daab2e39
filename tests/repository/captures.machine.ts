/** Checks that the pages show the real output of the programs: runs their commands again and compares the output. */
import { assert, it } from "@effect/vitest"
import { capturedPages, withoutTimes } from "@berthkit/scripts/captures"

it("the captures in the READMEs are what the programs print", async () => {
  for (const { after, before, page } of await capturedPages()) {
    assert.strictEqual(withoutTimes(before), withoutTimes(after), `renew ${page}: node scripts/captures.ts`)
  }
})
