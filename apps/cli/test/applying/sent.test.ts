import { assert, describe, it } from "@effect/vitest"
import { givenFor } from "../../src/applying/sent.ts"

describe("a commitment in a hint", () => {
  it("is one that fleet adopt accepts: days stand only next to a renewal", () =>
    assert.deepStrictEqual(["auto_renew 30d", "auto_terminate 30d", "hourly_billing", "auto_renew"].map(givenFor), [
      "'auto_renew 30d'",
      "auto_terminate",
      "hourly_billing",
      "SETTING"
    ]))
})
