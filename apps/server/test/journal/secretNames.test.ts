/**
 * A secret under each of its usual names, in every place of a request: neither the journal nor an archive shows it, nor what is learned
 * from a recording.
 */
import { Effect, Result } from "effect"
import { expect, layer } from "@effect/vitest"
import { pageOf, reportOf, tableOf } from "@berthkit/learn/report"
import { profileOf } from "@berthkit/learn/profileOf"
import { readEvidence } from "@berthkit/learn/readEvidence"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { ask } from "../injection/client.ts"
import { harOf } from "@berthkit/learn/testing/record"

const names = ["x-auth", "x-functions-key", "x-amz-signature", "sessionid", "jwt", "user_passphrase", "client_secret"]

const canary = "canary-7f3a9c51d2"

const number = 90817263

/** The shapes in which programs write a secret. */
const shapes: Readonly<
  Record<string, { headers?: Record<string, string>; query?: Record<string, string>; body?: unknown }>
> = {
  "a number": { body: { token: number } },
  "a list": { body: { passwords: [canary, number], otps: [[canary]] } },
  "an object": { body: { name: "web", secret: { v: canary, n: [{ w: number }] } } },
  "a name in escapes": { body: `{"pass\\u0077ord":"${canary}"}` },
  "JSON within JSON": { body: { data: JSON.stringify({ token: canary }) } },
  "a body that was cut off": { body: `{"secret":{"a":["${canary}",{"b":"${canary}` },
  "an address in a header": { headers: { referer: `https://h/?token=${canary}&a=b` } },
  "the user of an address": { headers: { referer: `https://me:${canary}@h/` }, body: { u: `https://me:${canary}@h/` } },
  "a scheme in a header": { headers: { "x-note": `Bearer ${canary}` }, body: { note: `Bearer ${canary}` } },
  "an address in an address": { query: { next: `https://h/?next=${encodeURIComponent(`/?token=${canary}`)}` } },
  "an address in that, too": { query: { next: encodeURIComponent(encodeURIComponent(`/?token=${canary}`)) } },
  "a form": { headers: { "content-type": "application/x-www-form-urlencoded" }, body: `a=b&password=${canary}&c=d` },
  "a form with parts": {
    headers: { "content-type": "multipart/form-data; boundary=x" },
    body: `--x\r\nContent-Disposition: form-data; name="password"\r\nContent-Type: text/plain\r\n\r\n${canary}\r\n--x--\r\n`
  }
}

const archived = ({ body, headers = {}, query = {} }: (typeof shapes)[string]) => {
  const text = typeof body === "string" ? body : JSON.stringify(body ?? {})
  const reply = {
    code: 400,
    message: "Bad",
    errors: {},
    ...(typeof body === "object" ? body : { text, headers, query })
  }
  return {
    startedDateTime: "2026-01-01T00:00:00Z",
    time: 5,
    request: {
      method: "POST",
      url: `https://api.example/myaccount/api/v1/nodes/?${new URLSearchParams(query).toString()}`,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      postData: { text }
    },
    response: { status: 400, headers: [], content: { text: JSON.stringify(reply) } }
  }
}

layer(TestServer.layer())("a secret that is called", (it) => {
  it.effect.each(Object.keys(shapes))("by its name and written as %s is in no journal and no archive", (shape) =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ seed: 7 })
      const { body, ...rest } = shapes[shape]!
      yield* ask(world, "POST", "/nodes/", typeof body === "string" ? { ...rest, raw: body } : { ...rest, body })
      for (const path of ["requests", "requests.har"]) {
        const { text } = yield* control("GET", `/worlds/${world.id}/${path}`)
        expect(text).toContain("<redacted>")
        for (const secret of [canary, String(number)]) expect(text).not.toContain(secret)
      }
    })
  )

  it.effect.each(Object.keys(shapes))("by its name and written as %s is in nothing that is learned", (shape) =>
    Effect.sync(() => {
      const entry = archived(shapes[shape]!)
      // A profile has the reply of a failure, and a field that is the same in all records.
      const listed = {
        ...entry,
        request: { ...entry.request, method: "GET", postData: undefined },
        response: {
          status: 200,
          headers: [],
          content: {
            text: JSON.stringify({ code: 200, data: [1, 2].map((id) => ({ id, ...(shapes[shape]!.body as object) })) })
          }
        }
      }
      const evidence = Result.getOrThrow(readEvidence(harOf([entry as never, listed as never])))
      const profile = profileOf(evidence)
      const report = reportOf(evidence, profile)
      for (const text of [JSON.stringify(profile), JSON.stringify(report), pageOf(report), tableOf(report)]) {
        for (const secret of [canary, String(number)]) expect(text).not.toContain(secret)
      }
    })
  )

  it.effect.each(names)("%s is in no journal and no archive", (name) =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ seed: 7 })
      yield* ask(world, "POST", "/nodes/", {
        headers: { [name]: canary },
        query: { [name]: canary },
        body: { name: "web", [name]: canary }
      })
      for (const path of ["requests", "requests.har"]) {
        const { text } = yield* control("GET", `/worlds/${world.id}/${path}`)
        expect(text).toContain("<redacted>")
        expect(text).not.toContain(canary)
      }
    })
  )

  it.effect.each(names)("%s is in nothing that is learned from a recording", (name) =>
    Effect.sync(() => {
      const repeated = { code: 404, message: `no ${canary}`, errors: {} }
      const entryOf = (place: { query?: string; sent?: boolean; replied?: boolean; reply?: object }) => ({
        startedDateTime: "2026-01-01T00:00:00Z",
        time: 5,
        request: {
          method: "GET",
          url: `https://api.example/myaccount/api/v1/nodes/${place.query ?? ""}`,
          headers: place.sent ? [{ name, value: canary }] : []
        },
        response: {
          status: 404,
          headers: place.replied ? [{ name, value: canary }] : [],
          content: { text: JSON.stringify(place.reply ?? repeated) }
        }
      })
      const entries = [
        entryOf({ query: `?${name}=${canary}` }),
        entryOf({ sent: true }),
        entryOf({ replied: true }),
        entryOf({ reply: { ...repeated, [name]: canary } }),
        entryOf({ reply: { ...repeated, message: `see /?to=/?${name}=${canary}` } })
      ]
      for (const entry of entries) {
        const evidence = Result.getOrThrow(readEvidence(harOf([entry as never])))
        const profile = profileOf(evidence)
        const report = reportOf(evidence, profile)
        const texts = [JSON.stringify(profile), JSON.stringify(report), pageOf(report), tableOf(report)]
        for (const text of texts) expect(text).not.toContain(canary)
      }
    })
  )
})
