/**
 * The READMEs show what the programs print: their commands run once more, and print the same.
 */
import { assert, it } from "@effect/vitest"
import { capturedPages } from "@berth/scripts/captures"

/** How long a wait took is the machine's. */
const withoutTimes = (page: string) => page.replaceAll(/\(\d+ s\)$/gm, "(0 s)")

it("the captures in the READMEs are what the programs print", { timeout: 120_000 }, async () => {
  for (const { after, before, page } of await capturedPages()) {
    assert.strictEqual(withoutTimes(before), withoutTimes(after), `renew ${page}: node scripts/captures.ts`)
  }
})
