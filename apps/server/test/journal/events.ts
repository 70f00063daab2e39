/** Reads the event stream as a client in any language could, without language-specific features. */
import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"

export interface Received {
  readonly id: string
  readonly event: string
  readonly data: any
}

const read = (text: string): ReadonlyArray<Received> =>
  text
    .split("\n\n")
    .slice(0, -1)
    .filter((block) => !block.startsWith(":"))
    .map((block) => {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)))
      return { id: fields["id"], event: fields["event"], data: JSON.parse(fields["data"]) }
    })

/** Watches the events until the scope closes, at the server or through a proxy. From the moment it returns, no event is missed. */
export const watchEvents = (query = "", lastEventId?: string, proxyUrl?: string) =>
  Effect.gen(function* () {
    const baseUrl = proxyUrl ?? (yield* TestServer).baseUrl
    const controller = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const headers: Record<string, string> = lastEventId === undefined ? {} : { "last-event-id": lastEventId }
    const response = yield* Effect.promise(() =>
      fetch(`${baseUrl}/_mock/events${query}`, { headers, signal: controller.signal })
    )
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    expect(response.headers.get("content-encoding")).toBe(null)
    // nginx buffers replies without this header.
    expect(response.headers.get("x-accel-buffering")).toBe("no")
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    let isOver = false
    const more = Effect.promise(async () => {
      const { done, value } = await reader.read()
      text += value ?? ""
      isOver = done
    })
    // The opening comment.
    while (!text.includes("\n\n")) yield* more
    text = text.slice(text.indexOf("\n\n") + 2)
    return {
      /** The first `count` events. */
      next: (count: number): Effect.Effect<ReadonlyArray<Received>> =>
        Effect.gen(function* () {
          while (read(text).length < count) yield* more
          return read(text)
        }),
      /** All events, once the server has ended the stream. */
      untilEnd: Effect.gen(function* () {
        while (!isOver) yield* more
        return read(text)
      })
    }
  })
