import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { checkRuntime } from "../../../src/client/options/Runtime.ts"

describe("the check of the runtime", () => {
  it.each(["12.22.12", "20.20.2", "22.18.0"])("refuses Node %s, and names both versions", (node) => {
    const { message, version } = Result.getOrThrow(Result.flip(checkRuntime({ node })))
    expect({ message, version }).toEqual({
      message: `The client needs Node 22.19 or newer; this is Node ${node}.`,
      version: node
    })
  })

  it.each([
    { node: "22.19.0" },
    { node: "24.0.0" },
    { node: "26.10.0-nightly" },
    // Runtimes that implement an older Node, and browsers, some of which have a `process`.
    { node: "20.11.1", bun: "1.1.0" },
    { node: "20.11.1", deno: "2.0.0" },
    {},
    undefined
  ])("accepts %o", (versions) => {
    expect(Result.isSuccess(checkRuntime(versions))).toBe(true)
  })

  it("refuses what the manifest refuses", () => {
    const { engines } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"))
    expect(engines.node).toBe(">=22.19")
  })
})
