import { expect, it } from "@effect/vitest"
import { exitCode } from "@berthkit/terminal/exitCode"

it("no exit code changes: scripts rely on them", () => {
  expect(exitCode).toEqual({
    done: 0,
    fault: 1,
    usage: 2,
    denied: 3,
    notFound: 4,
    rejected: 5,
    rateLimited: 6,
    unavailable: 7,
    outcomeUnknown: 8,
    someFailed: 9,
    localFile: 10,
    different: 11,
    hungUp: 129,
    interrupted: 130,
    terminated: 143
  })
})
