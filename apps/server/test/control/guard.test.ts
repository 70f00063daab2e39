import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { type Access, type GuardedRequest, readHostName } from "@berthkit/web/guard"
import { refusalOf } from "../../src/control/plane.ts"

const open: Access = { scheme: "http", hosts: new Set(), needsToken: false }
const own = { host: "localhost:8787" }

const request = (headers: Readonly<Record<string, string>>, rest: Partial<GuardedRequest> = {}): GuardedRequest => ({
  method: "POST",
  target: "data",
  headers: { ...own, ...headers },
  showsToken: false,
  ...rest
})

const status = (asked: GuardedRequest, access: Access = open) => refusalOf(asked, access)?.status

describe("the host of a request", () => {
  it("is loopback, by any of its names, at any port", () => {
    for (const name of ["localhost", "LOCALHOST", "localhost.", "app.localhost", "127.0.0.1", "127.8.9.10", "[::1]"]) {
      for (const port of ["", ":80", ":8787", ":65535"]) expect(status(request({ host: name + port }))).toBe(undefined)
    }
  })

  it("is no other unless it is allowed, and the refusal names the flag", () => {
    for (const host of ["berth.test", "localhost.evil.test", "evillocalhost", "127.0.0.1.evil.test", "128.0.0.1"]) {
      expect(refusalOf(request({ host }), open)).toMatchObject({
        status: 403,
        message: `The control plane is not served at ${host}: start with --allow-host ${host}.`
      })
    }
    for (const host of [
      "",
      "0.0.0.0",
      "[::]",
      "[::ffff:127.0.0.1]",
      "evil@localhost",
      "localhost/x",
      "localhost:x",
      "a b"
    ])
      expect([host, status(request({ host }))]).toEqual([host, 403])
  })

  it("is allowed by name, in any of its forms", () => {
    const names = ["Berth-Server", "10.0.0.7", "fd00::7", "[fd00::8]"]
    const access = { ...open, hosts: new Set(names.map((name) => readHostName(name)!)) }
    for (const host of ["berth-server:4010", "BERTH-SERVER", "10.0.0.7:80", "[fd00::7]:1", "[FD00:0:0::8]"]) {
      expect(status(request({ host }), access)).toBe(undefined)
    }
    expect(status(request({ host: "berth-server.evil.test" }), access)).toBe(403)
  })

  it("does not matter where the control token is shown, nor where HTTP/1.0 leaves it out", () => {
    const access = { ...open, needsToken: true }
    expect(status(request({ host: "berth-server:4010" }, { showsToken: true }), access)).toBe(undefined)
    expect(refusalOf(request({ host: "berth-server" }), access)?.message).toContain("or show the control token")
    expect(refusalOf({ ...request({}), headers: {} }, open)).toBe(undefined)
  })

  it("is read from a flag as a name or an address, and as nothing else", () => {
    for (const text of ["", "*", "a:80", "http://a", "a/b", "a b", "::1:x", "1.2.3.999", "é"]) {
      expect([text, readHostName(text)]).toEqual([text, undefined])
    }
  })
})

describe("the page that asks", () => {
  it("is of the same origin or none", () => {
    for (const origin of ["http://localhost:8787"]) expect(status(request({ origin }))).toBe(undefined)
    for (const origin of [
      "null",
      "",
      "http://localhost",
      "http://localhost:8788",
      "https://localhost:8787",
      "http://127.0.0.1:8787",
      "http://evil.test",
      "chrome-extension://abc"
    ]) {
      expect([origin, status(request({ origin }))]).toEqual([origin, 403])
      // Even the right token does not help a program that a page controls.
      expect(status(request({ origin }, { showsToken: true }), { ...open, needsToken: true })).toBe(403)
    }
  })

  it("has the scheme by which the server is reached, and may leave out its port", () => {
    const tls = { ...open, scheme: "https" } as const
    expect(status(request({ origin: "https://localhost:8787" }), tls)).toBe(undefined)
    expect(status(request({ origin: "http://localhost:8787" }), tls)).toBe(403)
    expect(status(request({ host: "localhost:443", origin: "https://localhost" }), tls)).toBe(undefined)
    expect(status(request({ host: "localhost:80", origin: "http://localhost" }))).toBe(undefined)
  })

  it("is of the same site by the browser's word, whatever it asks", () => {
    for (const site of ["same-origin", "none"]) expect(status(request({ "sec-fetch-site": site }))).toBe(undefined)
    for (const site of ["cross-site", "same-site", "unknown", ""]) {
      for (const method of ["GET", "HEAD", "POST", "PUT", "OPTIONS"]) {
        for (const target of ["data", "open", "shell"] as const) {
          expect(status(request({ "sec-fetch-site": site }, { method, target }))).toBe(403)
        }
      }
    }
  })

  it("may link only to the page of the worlds, and may not frame it", () => {
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }
    const follow = (headers: object, rest: Partial<GuardedRequest> = {}) =>
      status(request({ ...link, ...headers }, { method: "GET", target: "shell", ...rest }))
    expect(follow({})).toBe(undefined)
    expect(follow({ "sec-fetch-dest": "iframe" })).toBe(403)
    expect(follow({ "sec-fetch-mode": "no-cors" })).toBe(403)
    expect(follow({}, { target: "data" })).toBe(403)
    expect(follow({}, { target: "open" })).toBe(403)
    expect(follow({}, { method: "POST" })).toBe(403)
    expect(follow({ host: "evil.test" })).toBe(403)
    expect(follow({ origin: "null" })).toBe(403)
  })
})

describe("the control token", () => {
  const guarded = { ...open, needsToken: true }

  it("is asked for by everything but the page and the health", () => {
    expect(refusalOf(request({}), guarded)).toMatchObject({ status: 401, headers: { "www-authenticate": "Bearer" } })
    for (const target of ["shell", "open"] as const) {
      expect(status(request({}, { method: "GET", target }), guarded)).toBe(undefined)
    }
    expect(status(request({}, { showsToken: true }), guarded)).toBe(undefined)
  })
})

describe("a body", () => {
  const json = "application/json"

  it("is JSON by its media type", () => {
    for (const length of [{ "content-length": "2" }, { "transfer-encoding": "chunked" }]) {
      for (const type of [json, "Application/JSON; charset=utf-8", "application/merge-patch+json"]) {
        expect(status(request({ ...length, "content-type": type }))).toBe(undefined)
      }
      for (const type of [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=application/json",
        "text/plain, application/json",
        "application/json, text/plain",
        "application/jsonp"
      ]) {
        expect([type, status(request({ ...length, "content-type": type }))]).toEqual([type, 415])
      }
      expect(status(request(length))).toBe(415)
    }
  })

  it("that is not there needs no type", () => {
    expect(status(request({}))).toBe(undefined)
    expect(status(request({ "content-length": "0", "content-type": "text/plain" }))).toBe(undefined)
  })
})

describe("any request", () => {
  const odd = fc.constantFrom("__proto__", "constructor", "toString", "localhost\0", "[", "]:1", "[::1]x", "..", "%6c")
  const text = fc.oneof(odd, fc.string(), fc.webUrl(), fc.domain())
  const headers = fc.dictionary(
    fc.constantFrom("host", "origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "content-type"),
    text
  )

  it("passes only if its host and its origin are known, and never throws", () => {
    fc.assert(
      fc.property(
        headers,
        fc.constantFrom("GET", "POST"),
        fc.constantFrom("shell", "open", "data"),
        (given, method, target) => {
          const refusal = refusalOf({ method, target, headers: given, showsToken: false }, open)
          const { host, origin } = given
          if (refusal !== undefined) expect(refusal.message).toMatch(/^[A-Z].+\.$/s)
          else if (host !== undefined) {
            const url = URL.parse(`http://${host}`)
            expect(url?.hostname).toMatch(/localhost\.?$|^127|^\[::1\]$/)
            expect([undefined, url?.origin]).toContain(origin)
          } else expect(origin).toBe(undefined)
        }
      ),
      { numRuns: 2000 }
    )
  })
})
