import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { serve } from "../../src/http/HttpInterface.ts"
import { ask, served } from "./http.ts"
import { makeMemoryDaemon } from "./memoryDaemon.ts"

const token = Redacted.make("correct-horse-battery")
const bearer = { authorization: "Bearer correct-horse-battery" }

describe("without a token", () => {
  it.live("programs on this machine are served, no other host name, no page of another origin, no form", () =>
    Effect.gen(function* () {
      const { url } = yield* served()
      for (const [headers, expected] of [
        [{}, 200],
        [{ host: "localhost:9464" }, 200],
        [{ host: "rebound.test:9464" }, 403],
        [{ origin: "http://evil.test" }, 403],
        [{ "sec-fetch-site": "cross-site" }, 403],
        [{ "sec-fetch-site": "same-origin" }, 200]
      ] as const) {
        for (const path of ["/api/status", "/metrics", "/sd?port=1"]) {
          const { status } = yield* ask(url + path, { headers })
          expect([path, headers, status === 503 ? 200 : status]).toEqual([path, headers, expected])
        }
      }
      const form = { "content-type": "application/x-www-form-urlencoded" }
      const posted = yield* ask(`${url}/api/sinks/ops/replay`, { method: "POST", headers: form, body: "after=" })
      expect(posted.status).toBe(415)
    })
  )

  it.live("nothing but loopback is listened on", () =>
    Effect.gen(function* () {
      const { layer } = makeMemoryDaemon()
      for (const host of ["0.0.0.0", "::", "192.0.2.1"]) {
        const refused = yield* Effect.flip(Effect.provide(serve({ host, port: 0 }), layer))
        expect(refused.message).toBe(`listen: ${host} is reachable from other machines, but no token is set.`)
      }
    })
  )
})

describe("with a token", () => {
  it.live("data need it, under any host name; the page, health and readiness do not", () =>
    Effect.gen(function* () {
      const { url } = yield* served(token)
      for (const path of ["/api/status", "/api/nodes", "/events", "/metrics", "/sd", "/api/openapi.json", "/nothing"]) {
        const reply = yield* ask(url + path)
        expect([path, reply.status, reply.headers["www-authenticate"]]).toEqual([path, 401, "Bearer"])
        expect((yield* ask(url + path, { headers: { authorization: "Bearer wrong" } })).status).toBe(401)
      }
      expect((yield* ask(`${url}/api/status`, { headers: { ...bearer, host: "watch.internal:9464" } })).status).toBe(
        200
      )
      expect((yield* ask(`${url}/`, { headers: { host: "watch.internal" } })).status).toBe(200)
      expect((yield* ask(`${url}/healthz`)).status).toBe(200)
      expect((yield* ask(`${url}/readyz`)).json).toEqual({ ready: false })
      expect((yield* ask(`${url}/readyz`, { headers: bearer })).json.accounts).toHaveLength(1)
    })
  )

  it.live("a login gives a cookie that scripts cannot read, that works at this daemon and at the next one", () =>
    Effect.gen(function* () {
      const { url } = yield* served(token)
      const login = (body: unknown, headers = {}) => ask(`${url}/api/session`, { method: "POST", body, headers })
      expect((yield* login({ token: "wrong" })).status).toBe(401)
      expect((yield* login({ token: Redacted.value(token) }, { origin: "http://evil.test" })).status).toBe(403)
      const reply = yield* login({ token: Redacted.value(token) })
      const [set] = reply.headers["set-cookie"]!
      expect([reply.status, set]).toEqual([
        204,
        expect.stringMatching(/^berth_watch_0=[\w.-]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/)
      ])
      expect(set).not.toContain(Redacted.value(token))
      const cookie = set!.split(";")[0]!
      expect((yield* ask(`${url}/api/status`, { headers: { cookie } })).status).toBe(200)
      const { url: next } = yield* served(token)
      expect((yield* ask(`${next}/api/status`, { headers: { cookie } })).status).toBe(200)
      const { url: changed } = yield* served(Redacted.make("another"))
      expect((yield* ask(`${changed}/api/status`, { headers: { cookie } })).status).toBe(401)
      const tampered = cookie.replace(/=(\d+)/, (_, end) => `=${Number(end) + 1}`)
      expect((yield* ask(`${url}/api/status`, { headers: { cookie: tampered } })).status).toBe(401)
      const out = yield* ask(`${url}/api/session`, { method: "DELETE", headers: { cookie } })
      expect([out.status, out.headers["set-cookie"]![0]]).toEqual([204, expect.stringContaining("Max-Age=0")])
    })
  )
})

describe("behind a proxy with TLS", () => {
  const origin = "https://watch.example.com"
  const proxied = { host: "127.0.0.1:9464", origin, "sec-fetch-site": "same-origin" }

  it.live("its origin may log in and act, with a cookie for TLS alone; no other origin may", () =>
    Effect.gen(function* () {
      const { url } = yield* served(token, { origin, path: "" })
      const body = { token: Redacted.value(token) }
      const login = (headers: Record<string, string>) => ask(`${url}/api/session`, { method: "POST", body, headers })
      const reply = yield* login(proxied)
      expect([reply.status, reply.headers["set-cookie"]![0]]).toEqual([204, expect.stringMatching(/; Secure(;|$)/)])
      const cookie = reply.headers["set-cookie"]![0]!.split(";")[0]!
      const acted = yield* ask(`${url}/api/sinks/ops/retry`, { method: "POST", headers: { ...proxied, cookie } })
      expect(acted.json.message).toBe("There is no sink ops.")
      for (const other of ["https://evil.test", "http://watch.example.com", "https://watch.example.com:8443"]) {
        expect((yield* login({ ...proxied, origin: other })).status).toBe(403)
      }
      // From this machine, without the proxy.
      const direct = yield* login({})
      expect([direct.status, direct.headers["set-cookie"]![0]]).toEqual([204, expect.not.stringContaining("Secure")])
    })
  )

  it.live("it may have a path, which the proxy takes away or not", () =>
    Effect.gen(function* () {
      const { url } = yield* served(token, { origin, path: "/tools/watch" })
      const body = { token: Redacted.value(token) }
      const headers = { authorization: `Bearer ${Redacted.value(token)}` }
      for (const path of ["", "/tools/watch"]) {
        const page = yield* ask(`${url}${path}/`)
        expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"])
        expect((yield* ask(`${url}${path}/api/status?x=1`, { headers })).status).toBe(200)
        expect((yield* ask(`${url}${path}/healthz`)).status).toBe(200)
        const login = yield* ask(`${url}${path}/api/session`, { method: "POST", body, headers: proxied })
        expect(login.headers["set-cookie"]![0]).toMatch(/; Path=\/tools\/watch(;|$)/)
        const direct = yield* ask(`${url}${path}/api/session`, { method: "POST", body })
        expect(direct.headers["set-cookie"]![0]).toMatch(/; Path=\/(;|$)/)
      }
      expect((yield* ask(`${url}/tools/watch`)).status).toBe(200)
      expect((yield* ask(`${url}/tools/watch?token=1`)).status).toBe(200)
      for (const other of ["/tools/watchers/", "/tools/", "/tools/watch/tools/watch/healthz"]) {
        expect((yield* ask(`${url}${other}`, { headers })).status).toBe(404)
      }
      expect((yield* ask(`${url}/tools/watch/api/status`)).status).toBe(401)
    })
  )

  it.live("wrong tokens of one client slow no other client of the proxy", () =>
    Effect.gen(function* () {
      const { url } = yield* served(token, { origin, path: "" })
      const shows = (text: string, client: string) =>
        ask(`${url}/api/status`, {
          headers: { authorization: `Bearer ${text}`, "x-forwarded-for": `203.0.113.9, ${client}` }
        })
      for (let i = 0; i < 10; i++) expect((yield* shows("wrong", "192.0.2.1")).status).toBe(401)
      const guesses = yield* Effect.forEach(Array.from({ length: 6 }), () =>
        Effect.forkChild(shows("wrong", "192.0.2.1"), { startImmediately: true })
      )
      const turnedAway = yield* Effect.raceAllFirst(guesses.map((guess) => Fiber.join(guess)))
      expect([turnedAway.status, turnedAway.headers["retry-after"]]).toEqual([429, "3"])
      expect((yield* shows(Redacted.value(token), "192.0.2.2")).status).toBe(200)
    })
  )
})

describe("a port that is taken", () => {
  it.live("is one clear sentence", () =>
    Effect.gen(function* () {
      const { layer, url } = yield* served()
      const { port } = new URL(url)
      const refused = yield* Effect.flip(Effect.provide(serve({ host: "127.0.0.1", port: Number(port) }), layer))
      expect(refused.message).toBe(`listen: 127.0.0.1:${port} is taken.`)
    })
  )
})
