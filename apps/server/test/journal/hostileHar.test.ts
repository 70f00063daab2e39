/** An archive of everything that a client may send: odd bytes in paths, queries and bodies, and every fault. */
import { HarValidator } from "@har-sdk/validator"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { catalogue } from "../../src/injection/catalogue.ts"
import { harOf } from "../../src/journal/har.ts"
import { Journals } from "../../src/journal/Journals.ts"
import * as World from "../../src/world/World.ts"
import { defaults } from "../../src/world/WorldSettings.ts"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { exchange } from "../transport/rawSocket.ts"

/** The validator's complaints, except about methods: it knows fifteen, but HAR 1.2 allows any. */
const problemsOf = (archive: unknown) =>
  Effect.map(
    Effect.promise(() => new HarValidator().verify(archive as never)),
    (problems) => problems.filter(({ instancePath }) => !instancePath.endsWith("/request/method"))
  )

/** Targets as the parser returns them, in which each byte is one character. */
const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
const target = fc
  .oneof(
    bytes,
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "*",
      "",
      "//x",
      "/%",
      "/%ED%A0%80",
      "/a b",
      "/a?b?c",
      "?",
      "/?%00&=&a",
      "/[",
      "http://other:1/x",
      "host:1"
    )
  )
  .chain((path) => fc.tuple(fc.constant(path), fc.oneof(fc.constant(""), bytes)))
  .map(([path, query]) => `${path}${query === "" ? "" : `?${query}`}`)
const body = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  // A body that is cut may end in the middle of a character.
  fc
    .integer({ min: 2040, max: 2060 })
    .map((length) => new TextEncoder().encode(`${"x".repeat(length)}🌙🌙🌙🌙🌙🌙🌙🌙`)),
  fc.constantFrom("🌙", "ü", "\u0000").map((text) => new TextEncoder().encode(text.repeat(1_100)))
)
const headers = fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), fc.stringMatching(/^[\t -~\x80-\xff]{0,40}$/))
const entry = fc.record({
  at: fc.integer({ min: 0, max: 4e12 }),
  durationMillis: fc.nat(),
  method: fc.constantFrom("GET", "M-SEARCH", "OPTIONS", "CONNECT", "QUERY"),
  url: target,
  headers,
  body: fc.option(body, { nil: undefined }),
  status: fc.option(fc.integer({ min: 100, max: 999 })),
  replyHeaders: fc
    .tuple(headers, fc.constantFrom("", "text/html; charset=ö", "\u0001", "x".repeat(300)))
    .map(([others, type]) => ({ ...others, "content-type": type })),
  replyBytes: fc.option(fc.nat(), { nil: undefined }),
  replyBody: fc.option(body, { nil: undefined }),
  faults: fc.subarray(catalogue.map(({ name }) => name as string))
})

describe("an archive", () => {
  it.effect("of any journal is one that a validator takes, of well-formed text, with URLs", () =>
    Effect.gen(function* () {
      for (const entries of fc.sample(fc.array(entry, { minLength: 5, maxLength: 20 }), { numRuns: 60, seed: 9 })) {
        const world = World.make(defaults, 0)
        const journals = new Journals()
        for (const one of entries) journals.record(world, one)
        const archive = JSON.parse(JSON.stringify(harOf(journals.of(world), "http://127.0.0.1:1")))
        expect(yield* problemsOf(archive)).toEqual([])
        expect(/\\u[dD][89a-fA-F]/.test(JSON.stringify(archive))).toBe(false)
        for (const [index, { request }] of archive.log.entries.entries()) {
          expect([entries[index]!.url, URL.canParse(request.url)]).toEqual([entries[index]!.url, true])
        }
      }
    })
  )

  it.effect("contains the bytes from the socket unchanged", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const odd = ["/%E9%80?a=%FF&%ED%A0%80", "http://other.test/x?y", '/%zz/[]|^`"', "//x", "/a?b?c#d"]
      const post = Buffer.from(
        "POST /myaccount/api/v1/nodes/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n\xff\x00{\xed\xa0",
        "latin1"
      )
      const gets = odd.map((target) =>
        Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\nX-Odd: \xff\r\n\r\n`, "latin1")
      )
      const { replies } = yield* exchange(baseUrl, [...gets, post], { enough: odd.length + 1 })
      expect(replies.length).toBe(odd.length + 1)
      expect(replies.filter(({ status }) => status >= 500)).toEqual([])
      const { json } = yield* control("GET", "/worlds/default/requests.har")
      expect(yield* problemsOf(json)).toEqual([])
      expect(json.log.entries.map(({ request }: any) => request.url)).toEqual([
        `${baseUrl}/%E9%80?a=%EF%BF%BD&%EF%BF%BD%EF%BF%BD%EF%BF%BD=`,
        `${baseUrl}/x?y=`,
        `${baseUrl}/%zz/%5B%5D%7C%5E%60%22`,
        `${baseUrl}//x`,
        `${baseUrl}/a?b%3Fc%23d=`,
        `${baseUrl}/myaccount/api/v1/nodes/`
      ])
      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 401])
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
