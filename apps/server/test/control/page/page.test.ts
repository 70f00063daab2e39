import { hash } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../../src/testing.ts"
import { errorsOf, send } from "../../http/service.ts"

layer(TestServer.layer())("the document at /_mock/", (it) => {
  it.effect("may run its own script and style, and load nothing from anywhere", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const path of ["/_mock/", "/_mock", "/_mock/?x=y"]) {
        const reply = yield* send(`${baseUrl}${path}`)
        expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
        const policy = reply.headers.get("content-security-policy")!.split("; ")
        expect(policy).toContain("default-src 'none'")
        for (const [name, tag] of [
          ["style-src", "style"],
          ["script-src", "script"]
        ]) {
          const [, content] = new RegExp(`<${tag}[^>]*>([^]*)</${tag}>`).exec(reply.text)!
          expect(policy).toContain(`${name} 'sha256-${hash("sha256", content!, "base64")}'`)
        }
        expect(reply.text).not.toMatch(/(src|href)="?(https?:)?\/\//)
      }
    })
  )

  it.effect("is not sent again to a browser that has the same one", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const first = yield* send(`${baseUrl}/_mock/`)
      const etag = first.headers.get("etag")!
      const again = yield* send(`${baseUrl}/_mock/`, { headers: { "if-none-match": `"other", W/${etag}` } })
      expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag])
      // A browser uses the headers of the last reply.
      expect(again.headers.get("content-security-policy")).toBe(first.headers.get("content-security-policy"))
      const another = yield* send(`${baseUrl}/_mock/`, { headers: { "if-none-match": '"other"' } })
      expect([another.status, another.text]).toEqual([200, first.text])
    })
  )

  it.effect("answers HEAD and OPTIONS, and nothing that would change it", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const head = yield* send(`${baseUrl}/_mock/`, { method: "HEAD" })
      expect([head.status, head.text]).toEqual([200, ""])
      const options = yield* send(`${baseUrl}/_mock/`, { method: "OPTIONS" })
      expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"])
      errorsOf(yield* send(`${baseUrl}/_mock/`, { method: "POST" }), 405)
    })
  )
})
