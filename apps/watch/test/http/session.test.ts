import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { isSession, sessionOf, sessionSeconds } from "../../src/http/session.ts"

const token = Redacted.make("correct-horse-battery")
const now = 1_700_000_000_000
const end = now + sessionSeconds * 1000

describe("a session", () => {
  it("lasts until its end and no longer", () => {
    const session = sessionOf(token, now)
    expect([now, end - 1, end, end + 1].map((millis) => isSession(session, token, millis))).toEqual([
      true,
      true,
      false,
      false
    ])
  })

  it("is none with another end, another seal, of another token or as anything else", () => {
    const session = sessionOf(token, now)
    const [seconds, seal] = session.split(".") as [string, string]
    for (const forged of [
      `${Number(seconds) + 1}.${seal}`,
      `${seconds}.${seal.slice(0, -1)}${seal.endsWith("A") ? "B" : "A"}`,
      `${seconds}.`,
      seconds,
      `.${seal}`,
      "",
      `${"9".repeat(400)}.${seal}`,
      `${seconds}.${seal}.${seal}`
    ]) {
      expect([forged, isSession(forged, token, now)]).toEqual([forged, false])
    }
    expect(isSession(session, Redacted.make("another"), now)).toBe(false)
  })
})
