/**
 * Waits until the ssh server of a node answers. The service reports a node as running before its network and its ssh server are ready.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { Clock, Effect } from "effect"
import { addressOf, hostOf } from "../inventory/Host.ts"
import type { ShowState } from "../output/progress.ts"

const sshPort = 22

/** The pause between two tries, and the time limit of each try. */
const pauseMillis = 1000
const tryMillis = 5000

/** Whether the server sends SSH's first line (RFC 4253, section 4.2). An open port may belong to a gateway. */
const answersAsSsh = (host: string, port: number, millis: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    // Do not import this at the top, because other commands do not need it.
    const socket = process.getBuiltinModule("node:net").connect({ host, port })
    let received = ""
    const end = (answers: boolean) => {
      socket.destroy()
      resume(Effect.succeed(answers))
    }
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text
      // Other lines may come first.
      if (/^SSH-/m.test(received)) end(true)
      else if (received.length > 4096) end(false)
    })
    socket.on("error", () => end(false)).on("close", () => end(false))
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.succeed(false) }))

/** The result of a wait for ssh if no server answered. */
export interface Silent {
  /** Null if the node has no address. */
  readonly address: string | null
  readonly port: number
  readonly waitedMillis: number
}

/** Tries the address of a running node until its ssh server answers. If the time runs out, returns the address that it has tried. */
export const untilSsh = Effect.fnUntraced(function* (
  node: Node,
  maxMillis: number,
  show: ShowState
): Effect.fn.Return<Silent | undefined> {
  const address = addressOf(hostOf(node))
  if (address === null) return { address, port: sshPort, waitedMillis: 0 }
  const what = `${node.name} (${node.id})`
  const startedAt = yield* Clock.currentTimeMillis
  for (;;) {
    const left = startedAt + maxMillis - (yield* Clock.currentTimeMillis)
    if (yield* answersAsSsh(address, sshPort, Math.max(1, Math.min(tryMillis, left)))) break
    const waitedMillis = (yield* Clock.currentTimeMillis) - startedAt
    if (waitedMillis + pauseMillis >= maxMillis) return { address, port: sshPort, waitedMillis }
    yield* show({ what, state: `running, and ssh at ${address} does not answer yet` })
    yield* Effect.sleep(pauseMillis)
  }
  yield* show({ what, state: "running" })
  return undefined
})
