import { execFileSync } from "node:child_process"
import { describe, expect, it } from "@effect/vitest"
import { quoted, quotedFlag } from "../src/quoted.ts"

/** The words that a shell makes of a command. */
const wordsOf = (command: string): ReadonlyArray<string> =>
  execFileSync("sh", ["-c", `printf '%s\\0' ${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1)

describe("quoted", () => {
  it.each([
    "web-1",
    "two words",
    "it's",
    `say "hi"`,
    "$(reboot)",
    "`id`",
    "a;b&c|d",
    "web-*",
    "~",
    "",
    "line\nline",
    "ü"
  ])("%j is one word", (text) => {
    expect(wordsOf(quoted(text))).toEqual([text])
  })

  it("leaves a text alone that needs no quotes", () => {
    expect(quoted("user@host:/a_b.c,d=1%+2")).toBe("user@host:/a_b.c,d=1%+2")
  })
})

describe("quotedFlag", () => {
  it("attaches a value that looks like a flag", () => {
    expect(quotedFlag("nodes", "web-*")).toBe("--nodes 'web-*'")
    expect(quotedFlag("reason", "-v or not")).toBe("--reason='-v or not'")
  })
})
