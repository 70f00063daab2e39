import { afterEach, expect, jest, test } from "@jest/globals"
import { everyMethod } from "./node_modules/@berthkit/everyMethod.mjs"

const load = () => Promise.all([import("@berthkit/core"), import("@berthkit/server/testing/promise")])

afterEach(() => jest.useRealTimers())

// Only the first test loads the modules; the second gets the same ones.
test.each(["before", "after"])("every method settles when the time is faked %s the import", async () => {
  jest.useFakeTimers()
  expect((await everyMethod(...(await load()))).at(-1)).toBe("close of the server")
})
