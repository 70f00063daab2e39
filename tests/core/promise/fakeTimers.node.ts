// A test file for `node --test`.
import assert from "node:assert/strict"
import { afterEach, mock, test } from "node:test"
import { everyMethod } from "./everyMethod.ts"

const load = () => Promise.all([import("@berthkit/core/promise"), import("@berthkit/server/testing/promise")])

afterEach(() => mock.timers.reset())

// Only the first test loads the modules; the second gets the same ones.
for (const when of ["before", "after"]) {
  test(`every method settles when the time is faked ${when} the import`, async () => {
    mock.timers.enable()
    assert.equal((await everyMethod(...(await load()))).at(-1), "close of the server")
  })
}
