import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { ensureReadyCommand, untilReady } from "../../src/applying/readyCommand.ts"
import { someNode } from "../nodes/someNode.ts"

describe("a ready command", () => {
  it.live.each<readonly [string, string | null, string]>([
    [" 192.0.2.7\n", null, "192.0.2.7"],
    ["-oProxyCommand=x", "10.0.0.7", "10.0.0.7"],
    ["-oProxyCommand=x", null, ""]
  ])("has the address of the node, and nothing that is none: %j, %j", ([publicIp, privateIp, expected]) =>
    Effect.gen(function* () {
      const node = { ...someNode(7), publicIp, privateIp }
      const isReady = yield* Effect.isSuccess(untilReady(`test "$BERTH_NODE_IP" = "${expected}"`, node, Duration.zero))
      assert.isTrue(isReady)
    })
  )

  it.live("gets the node as it is at each further try", () =>
    Effect.gen(function* () {
      const node = { ...someNode(7), publicIp: null, privateIp: "10.0.0.7" }
      const later = Effect.succeed({ ...node, publicIp: "192.0.2.7" })
      const ready = untilReady('test "$BERTH_NODE_IP" = 192.0.2.7', node, Duration.seconds(30), later)
      assert.isTrue(yield* Effect.isSuccess(ready))
    })
  )

  it.live("does not make the node ready if a real-time signal ends it", () =>
    Effect.gen(function* () {
      const ready = untilReady("kill -34 $$", someNode(7), Duration.zero)
      assert.isFalse(yield* Effect.isSuccess(ready))
    })
  )
})

describe("a ready command that cannot be run", () => {
  it.effect.each([
    "./missing",
    "  ./missing $BERTH_NODE_IP",
    "no-such-program-anywhere -v",
    "A=1 B= ./missing",
    "./missing; true",
    "./missing&",
    process.cwd(),
    "package.json/x",
    "echo 'open",
    "if true"
  ])("is refused: %s", (command) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(ensureReadyCommand(command))
      assert.match(failure.message, /^--ready-command cannot be run: /)
    })
  )

  it.effect.each([
    "true",
    "exit 3",
    "! ping -c 1 x",
    "[ 1 = 1 ]",
    "if true; then false; fi",
    "echo asking; sleep 300; true",
    'test -n "$BERTH_NODE_IP" -a -z "$BERTH_API_KEY"',
    "A=1 true",
    "(no-such-program-anywhere)",
    "$READY",
    "f() { true; }; f",
    process.execPath
  ])("is not: %s", (command) => ensureReadyCommand(command))
})
