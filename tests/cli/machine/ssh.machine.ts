/**
 * Tests waits for the ssh server of a node. The test gives the node's address to this machine, which needs root. Nodes run at once, as on a
 * service that reports nodes as running before their sshd answers.
 */
import { execFileSync } from "node:child_process"
import { createServer, type Server, type Socket } from "node:net"
import { nodeRecord, ok, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run, start } from "../berth.ts"
import { serve } from "../ScriptedServer.ts"
import { stateFolder } from "../stateFolder.ts"

/** An address from the range for benchmark tests (RFC 2544): no other machine has it, and berth treats it as a public address. */
const address = "198.18.77.1"

const ip = (change: "add" | "del") => execFileSync("ip", ["address", change, `${address}/32`, "dev", "lo"])

const ownAddress = Effect.acquireRelease(
  Effect.sync(() => ip("add")),
  () => Effect.sync(() => ip("del"))
)

/** A service whose only node has this address, and the environment of a user of the service. */
const user = Effect.gen(function* () {
  yield* ownAddress
  let created: ReturnType<typeof nodeRecord> | undefined
  const url = yield* serve(({ body, method, path }: Request) => {
    if (path.startsWith("/images")) return ok([])
    if (method === "POST") {
      const { name, plan } = body as { readonly name: string; readonly plan: string }
      const created_at = new Date().toISOString()
      created = nodeRecord({ id: 7, name, plan, created_at, public_ip_address: address })
      return { ...ok(created), status: 202 }
    }
    if (method === "DELETE") created = undefined
    if (path === "/nodes/") return ok(created === undefined ? [] : [created])
    return created === undefined ? { status: 404, headers: {}, body: "{}" } : ok(created)
  })
  return { BERTH_BASE_URL: url, BERTH_API_KEY: "k", BERTH_ACCESS_TOKEN: "t", XDG_STATE_HOME: yield* stateFolder }
})

/** Answers at port 22 of the address until the scope ends. */
const answering = (answer: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<Server>((resume) => {
      const server = createServer((socket) => answer(socket.on("error", () => {})))
      server.listen(22, address, () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )

const order = ["--plan", "P", "--image", "I", "--force", "--yes"]
const create = ["node", "create", "web", ...order]

describe("node create --wait=ssh", () => {
  it.live("ends once sshd answers, not with an open port alone", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { ended, untilStderr } = yield* start([...create, "--wait=ssh"], { env })
      yield* untilStderr(`web (7): running, and ssh at ${address} does not answer yet`)
      let tries = 0
      yield* answering((socket) => {
        if (++tries < 3) socket.end()
        else socket.write("Welcome to web.\r\nSSH-2.0-OpenSSH_9.6\r\n")
      })
      const created = yield* ended
      assert.strictEqual(created.code, 0, created.stderr)
      assert.match(created.stdout, /^ID +7\nNAME +web\n/)
      assert.strictEqual(tries, 3)
    }).pipe(Effect.scoped)
  )

  it.live("fails if it does not answer in time, and names the node, which is billed", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { code, stderr, stdout } = yield* run([...create, "--wait=ssh", "--timeout", "3s", "-o", "json"], { env })
      assert.strictEqual(code, 7)
      assert.match(
        stderr,
        /Node web \(7\) runs, but no ssh server has answered at 198\.18\.77\.1, port 22, within \d seconds\./
      )
      assert.include(stderr, "The node exists and is billed.")
      assert.include(stderr, "berth node delete 7")
      assert.deepInclude(JSON.parse(stdout), { id: 7 })
    }).pipe(Effect.scoped)
  )

  it.live("does not wait for a server that says something else for ever", () =>
    Effect.gen(function* () {
      const env = yield* user
      yield* answering((socket) => socket.write("220 mail\r\n"))
      const { code } = yield* run([...create, "--wait=ssh", "--timeout", "8s"], { env })
      assert.strictEqual(code, 7)
    }).pipe(Effect.scoped)
  )
})

describe("berth run", () => {
  const command = ["run", ...order, "--name", "job", "--", "echo", "started"]

  it.live("starts its command once the ssh server of its node answers", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { ended, untilStderr } = yield* start(command, { env })
      yield* untilStderr("does not answer yet")
      yield* answering((socket) => socket.write("SSH-2.0-test\r\n"))
      const { code, stderr, stdout } = yield* ended
      assert.deepStrictEqual([code, stdout], [0, "started\n"], stderr)
      assert.notInclude(stderr, "The command starts anyway")
    }).pipe(Effect.scoped)
  )

  it.live("starts it at once with --wait running", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { code, stderr, stdout } = yield* run(["run", "--wait", "running", ...command.slice(1)], { env })
      assert.deepStrictEqual([code, stdout], [0, "started\n"], stderr)
      assert.notInclude(stderr, "ssh")
    }).pipe(Effect.scoped)
  )

  it.live("starts it after a minute without an answer, and says so", () =>
    Effect.gen(function* () {
      const env = yield* user
      const { code, stderr, stdout } = yield* run(command, { env })
      assert.deepStrictEqual([code, stdout], [0, "started\n"], stderr)
      assert.match(
        stderr,
        /no ssh server has answered .* The command starts anyway\. To start it without this wait: --wait running/
      )
    }).pipe(Effect.scoped)
  )
})
