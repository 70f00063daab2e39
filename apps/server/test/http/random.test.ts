import { isSoak, seed } from "@berthkit/testing/chance"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { serve } from "../cli/berthServer.ts"
import { type Exchange, exchange, type RawReply } from "../transport/rawSocket.ts"
import { type RandomRequest, randomRequests } from "./randomRequests.ts"
import { expectFailure, prefix } from "./service.ts"

const count = isSoak ? 5000 : 1000

const successes = new Set([200, 202, 204])
const failures = new Set([400, 401, 404, 405, 409, 413, 414, 415, 422, 431])

const checkReply = (reply: RawReply): void => {
  if (successes.has(reply.status)) {
    if (reply.status === 204) expect(reply.body).toBe("")
    return
  }
  assert(failures.has(reply.status), `a status of ${reply.status}: ${reply.body.slice(0, 200)}`)
  expectFailure(reply.status, reply.headers["content-type"], JSON.parse(Buffer.from(reply.body, "latin1").toString()))
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "date"]) {
    assert(reply.headers[name] !== undefined, `no ${name}`)
  }
}

const checkExchange = ({ headReplies, replies: expected }: RandomRequest, { replies, rest }: Exchange): void => {
  for (const [index, reply] of replies.entries()) {
    if (!headReplies.includes(index)) checkReply(reply)
    else assert(successes.has(reply.status) || failures.has(reply.status), `a status of ${reply.status}`)
  }
  // A client that hangs up in the middle of a request may get the beginning of a reply, but no other bytes.
  expect(rest).toMatch(expected === null ? /^(HTTP\/1\.1 200 OK\r\n|$)/ : /^$/)
  const last = replies.at(-1)
  // A connection may end early, but then the last reply announces it.
  if (expected !== null && replies.length !== expected) expect(last?.headers["connection"]).toBe("close")
}

describe("any bytes whatever", () => {
  it.live(`${count} random requests are all answered in the envelope, none with 500, and the service goes on`, () =>
    Effect.gen(function* () {
      const server = yield* serve(["--port", "0", "--scenario", "fleet:50", "--rate-limit", "100000000/1h"])
      const { url } = server.ready
      const list = `GET ${prefix}/nodes/?apikey=berth-key HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer berth-token\r\n\r\n`
      const [listed] = (yield* exchange(url, [list], { enough: 1 })).replies
      const ids = JSON.parse(listed!.body).data.map(({ id }: { id: number }) => id)
      const requests = yield* randomRequests(seed, count, ids)
      const seen = new Map<number, number>()
      yield* Effect.forEach(
        requests,
        (request, index) =>
          Effect.gen(function* () {
            const { headReplies, pieces, replies } = request
            const options = replies === null ? { halfClose: true } : { enough: replies, headReplies }
            const done = yield* Effect.exit(
              exchange(url, pieces, options).pipe(
                Effect.timeout("4 minutes"),
                Effect.tap((got) => Effect.sync(() => checkExchange(request, got)))
              )
            )
            if (Exit.isSuccess(done)) {
              for (const { status } of done.value.replies) seen.set(status, (seen.get(status) ?? 0) + 1)
              return
            }
            const bytes = JSON.stringify(
              Buffer.concat([...pieces])
                .toString("latin1")
                .slice(0, 2_000)
            )
            assert.fail(`request ${index} of seed ${seed}: ${String(done.cause)}\n${bytes}`)
          }),
        { concurrency: 16, discard: true }
      )
      // The test proves something only if the requests produce every status.
      for (const status of [200, 202, 204, 400, 401, 404, 405, 415, 422])
        expect(Array.from(seen.keys())).toContain(status)
      expect((yield* exchange(url, [list], { enough: 1 })).replies[0]?.status).toBe(200)
      expect(yield* server.stop("SIGTERM")).toMatchObject({ code: 0, stderr: "" })
    })
  )
})
