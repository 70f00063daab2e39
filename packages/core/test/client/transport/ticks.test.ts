/** Bodies that are made to keep a program busy do not block its event loop, over every transport. The program is a separate process. */
import { HttpService } from "@berthkit/testing/HttpService"
import { isSoak } from "@berthkit/testing/chance"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"
import type { ServerResponse } from "node:http"
import { fileURLToPath } from "node:url"
import type { Tick } from "./ticker.ts"

const ticker = fileURLToPath(new URL("ticker.ts", import.meta.url))

/**
 * The maximum CPU time of a turn. The promised limit is 100 ms (`bench`, row `tick`), but a slow machine may take longer, and a body that
 * blocks takes seconds.
 */
const maxTurnMillis = 1000
const bodyBytes = 16 * 1024 * 1024

/** Endless strings: each has a beginning, and a part that repeats. */
const endless: Record<string, readonly [beginning: string, repeated: string | ((at: number) => string)]> = {
  brackets: ["", "["],
  backslashes: ["", "\\"],
  "backslashes in a string": ['{"message":"', "\\\\"],
  quotes: ["", '"'],
  objects: ["[", "{},"],
  names: ['{"":0', (at) => `,"k${at}":1`],
  "a line of HTML": ["<html>", '<a href="/nodes/?apikey=x">log in</a>']
}

/** Whole bodies that come close to every bound. */
const whole: Record<string, string> = {
  names: `{"code":422,"errors":{"":[]${Array.from({ length: 49_000 }, (_, at) => `,"k${at}":1`).join("")}}}`,
  records: `{"code":200,"data":[${Array.from({ length: 28_000 }, (_, at) => `{"id":${at + 1}}`).join(",")}]}`,
  shapes: `{"code":200,"data":[${Array.from({ length: 28_000 }, (_, at) => `{"k${at}":1}`).join(",")}]}`,
  backslashes: `{"code":422,"errors":{"name":["${"\\\\".repeat(1_000_000)}"]}}`,
  messages: `{"code":422,"errors":[${Array.from({ length: 99_000 }, () => `"no"`).join(",")}]}`
}

const pieceOf = (repeated: string | ((at: number) => string)) => {
  const one = typeof repeated === "string" ? () => repeated : repeated
  let piece = ""
  for (let at = 0; piece.length < 65_536; at++) piece += one(at)
  return Buffer.from(piece)
}

const writeEndless = (response: ServerResponse, beginning: string, piece: Buffer) => {
  let left = bodyBytes - beginning.length
  response.write(beginning)
  const more = () => {
    while (left > 0 && !response.destroyed) {
      const chunk = piece.subarray(0, left)
      left -= chunk.length
      if (!response.write(chunk)) return
    }
    response.end()
  }
  response.on("drain", more)
  more()
}

interface Page {
  readonly name: string
  readonly status: number
  readonly answer: (response: ServerResponse) => void
}

const allPages: ReadonlyArray<Page> = [
  ...Object.entries(endless).flatMap(([name, [beginning, repeated]]) => {
    const piece = pieceOf(repeated)
    return [200, 500].flatMap((status) =>
      [true, false].map((hasLength) => ({
        name: `${name}, ${status}, ${hasLength ? "with" : "without"} a length`,
        status,
        answer: (response: ServerResponse) => {
          response.writeHead(status, hasLength ? { "content-length": String(bodyBytes) } : {})
          writeEndless(response, beginning, piece)
        }
      }))
    )
  }),
  ...Object.entries(whole).flatMap(([name, body]) =>
    [200, 500].map((status) => ({
      name: `whole ${name}, ${status}`,
      status,
      answer: (response: ServerResponse) => response.writeHead(status).end(body)
    }))
  )
]

const pages = isSoak ? allPages : allPages.filter((_, index) => index % 3 === 0)

describe("a program continues while a reply is read", () => {
  it(`for every kind of body that could keep it busy: ${pages.length} bodies over every transport`, async () => {
    await using service = await HttpService.listen((request, response) => {
      const page = Number(new URL(request.url!, "http://service").searchParams.get("page_no"))
      pages[page - 1]!.answer(response)
    })
    await using program = Program.ofNode(ticker, [service.url, String(pages.length)])
    const ticks: ReadonlyArray<Tick> = JSON.parse(await program.succeeded())
    assert.lengthOf(ticks, 5 * pages.length)
    for (const { outcome, page, transport, turnMillis } of ticks) {
      const { name, status } = pages[page - 1]!
      const which = `${name}, over ${transport}`
      if (status === 500) assert.strictEqual(outcome, "ServiceFault", which)
      else if (!name.startsWith("whole")) assert.strictEqual(outcome, "UnexpectedResponse", which)
      assert.isBelow(turnMillis, maxTurnMillis, which)
    }
  })
})
