import { afterEach, expect, it, vi } from "vitest"
import { builtin } from "../../../src/client/options/builtin.ts"

afterEach(() => vi.unstubAllGlobals())

it("is the module of this process", () => {
  expect(builtin("node:path")?.sep).toBe("/")
})

it.each([
  ["no `process`", undefined],
  ["a `process` without modules", { env: {} }],
  [
    "a `process` that throws",
    {
      get getBuiltinModule() {
        throw new Error("A Node.js API is used which is not supported in the Edge Runtime.")
      }
    }
  ]
])("is undefined in a runtime with %s", (_runtime, process) => {
  vi.stubGlobal("process", process)
  expect(builtin("node:fs")).toBeUndefined()
})
