import { describe, expect, it } from "@effect/vitest"
import { type Access, type GuardedRequest, makeGuard } from "../src/guard.ts"

const guard = makeGuard({ name: "The daemon", token: "token", toAllow: (host) => `add ${host}` })

const request = (rest: Partial<GuardedRequest>): GuardedRequest => ({
  method: "GET",
  target: "data",
  headers: { host: "localhost:9464" },
  showsToken: false,
  ...rest
})

const open: Access = { scheme: "http", hosts: new Set(), needsToken: false }

describe("a guard", () => {
  it("refuses with the given message", () => {
    expect(guard(request({ headers: { host: "berth.test" } }), open)?.message).toBe(
      "The daemon is not served at berth.test: add berth.test."
    )
    expect(guard(request({ headers: { host: "localhost", origin: "http://evil.test" } }), open)?.message).toBe(
      "Pages of another origin may not use the daemon: open its own page, or call it from a program."
    )
    expect(guard(request({}), { ...open, needsToken: true })?.message).toBe(
      "The token is missing or wrong: Authorization: Bearer …"
    )
  })

  it("serves the pages of a public origin under whatever host a proxy names", () => {
    const access: Access = { ...open, publicOrigin: "https://berth.test" }
    const from = (origin: string) => guard(request({ headers: { host: "127.0.0.1:9464", origin } }), access)?.status
    expect(["https://berth.test", "http://127.0.0.1:9464", "http://berth.test"].map(from)).toEqual([
      undefined,
      undefined,
      403
    ])
  })

  it("serves any host on request, but no page of another origin, and no data without the token", () => {
    const access: Access = { scheme: "http", hosts: "any", needsToken: true }
    const named = { host: "berth.test:9464" }
    expect(guard(request({ target: "shell", headers: named }), access)).toBe(undefined)
    expect(guard(request({ headers: named }), access)?.status).toBe(401)
    expect(guard(request({ headers: named, showsToken: true }), access)).toBe(undefined)
    expect(
      guard(request({ headers: { ...named, origin: "http://evil.test" }, showsToken: true }), access)?.status
    ).toBe(403)
  })
})
