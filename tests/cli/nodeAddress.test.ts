/** `berth node ip` and `berth node ssh`, with a stub instead of ssh. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect } from "../account.ts"
import { berth as berthProcess, json, settings } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const created = (name: string) =>
  Effect.map(berth(["node", "create", name, ...order, "-o", "json"]), (ended) =>
    json<{ readonly id: number; readonly publicIp: string; readonly privateIp: string }>(ended)
  )

/** A folder with an `ssh` stub that writes its arguments to a file and exits with this code. */
const stubSsh = (code: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = await mkdtemp(join(tmpdir(), "berth-ssh-"))
      const source = `#!/bin/sh\nfor each in "$@"; do printf '%s\\n' "$each"; done > '${folder}/arguments'\nenv > '${folder}/environment'\ncat\nexit ${code}\n`
      await writeFile(join(folder, "ssh"), source)
      await chmod(join(folder, "ssh"), 0o755)
      return folder
    }),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )

const textIn = (folder: string, name: string) => Effect.promise(() => readFile(join(folder, name), "utf8"))

const pathWith = (folder: string) => `${folder}${delimiter}${process.env["PATH"]}`

describe("node ip", () => {
  it.live("prints the address alone, and in JSON with what it belongs to", () =>
    Effect.gen(function* () {
      const { id, privateIp, publicIp } = yield* created("web")
      assert.deepStrictEqual(yield* berth(["node", "ip", "web"]), { code: 0, stdout: `${publicIp}\n`, stderr: "" })
      const shown = json(yield* berth(["node", "ip", String(id), "-o", "json"]))
      assert.deepStrictEqual(shown, { id, name: "web", publicIp, privateIp })
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("of a node that runs without one does not end in a wait", () =>
    Effect.gen(function* () {
      const url = yield* serve(({ path }) => {
        const node = nodeRecord({ id: 7, name: "web", public_ip_address: "" })
        return ok(path === "/nodes/7/" ? node : [node])
      })
      const { code, stderr } = yield* invoke(["node", "ip", "web"], {
        env: { ...(yield* settings), BERTH_BASE_URL: url }
      })
      assert.strictEqual(code, 4)
      assert.include(stderr, "hint: See which addresses it has: berth node get 7\n")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  const none = ["0.0.0.0", "::", "0.0.0.0/0", "None", " "]
  // These addresses belong to the connecting machine itself or to its local link.
  const ownMachine = ["127.0.0.1", "127.8.9.1", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1"]
  const ownLink = ["169.254.169.254", "fe80::1", "fe80::1%eth0", "FEBF::1"]
  for (const written of [...none, ...ownMachine, ...ownLink]) {
    it.live(
      `of a node whose address is ${JSON.stringify(written)} says that it has none, as do the commands that reach hosts`,
      () =>
        Effect.gen(function* () {
          const url = yield* serve(({ path }) => {
            const addresses = { public_ip_address: written, private_ip_address: { ip_address: written } }
            const node = nodeRecord({ id: 7, name: "web", ...addresses })
            return ok(path === "/nodes/7/" ? node : [node])
          })
          const env = { ...(yield* settings), BERTH_BASE_URL: url }
          for (const command of [
            ["node", "ip"],
            ["node", "ssh"]
          ]) {
            const { code, stderr, stdout } = yield* invoke([...command, "web"], { env })
            assert.deepStrictEqual([code, stdout], [4, ""])
            assert.include(stderr, "error: Node web (7) has no public address.\n")
          }
          for (const command of [["inventory", "--ansible"], ["ssh-config"]]) {
            const { code, stderr, stdout } = yield* invoke(command, { env })
            assert.strictEqual(code, 0)
            assert.notMatch(stdout, /ansible_host|HostName/)
            if (command[0] === "ssh-config") assert.include(stderr, "1 node without an address: left out.")
          }
          const shown = json<{ readonly publicIp: unknown }>(
            yield* invoke(["node", "get", "web", "-o", "json"], { env })
          )
          assert.isNull(shown.publicIp)
        }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
    )
  }
})

describe("node ssh", () => {
  it.live("runs ssh as root or another user at the address, with the command as it is given", () =>
    Effect.gen(function* () {
      const { publicIp } = yield* created("web")
      const folder = yield* stubSsh(0)
      const env = { PATH: pathWith(folder) }
      for (const [args, expected] of [
        [["web"], [`root@${publicIp}`]],
        [["web", "--user", "ubuntu"], [`ubuntu@${publicIp}`]],
        [
          ["web", "--", "ls", "-la", "a b", "--yes", "$HOME"],
          [`root@${publicIp}`, "ls", "-la", "a b", "--yes", "$HOME"]
        ]
      ] as const) {
        const { code, stderr } = yield* berthProcess(["node", "ssh", ...args], { env })
        assert.deepStrictEqual([code, stderr], [0, ""])
        assert.deepStrictEqual((yield* textIn(folder, "arguments")).trimEnd().split("\n"), [...expected])
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("gives ssh the environment without the credentials", () =>
    Effect.gen(function* () {
      yield* created("web")
      const folder = yield* stubSsh(0)
      const { BERTH_ACCESS_TOKEN, BERTH_API_KEY } = yield* settings
      const env = { PATH: pathWith(folder), SSH_AUTH_SOCK: "/tmp/agent" }
      assert.strictEqual((yield* berthProcess(["node", "ssh", "web"], { env })).code, 0)
      const environment = yield* textIn(folder, "environment")
      assert.include(environment, "SSH_AUTH_SOCK=/tmp/agent\n")
      for (const secret of [BERTH_API_KEY, BERTH_ACCESS_TOKEN, "BERTH_API_KEY", "BERTH_ACCESS_TOKEN"]) {
        assert.notInclude(environment, secret)
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("ends with the code of ssh, reports nothing of its own, and passes the streams on", () =>
    Effect.gen(function* () {
      yield* created("web")
      for (const code of [1, 3, 255]) {
        const env = { PATH: pathWith(yield* stubSsh(code)) }
        const ended = yield* berthProcess(["node", "ssh", "web"], { env, input: "typed" })
        assert.deepStrictEqual(ended, { code, stdout: "typed", stderr: "" })
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("needs the exact name, a plain user, and an ssh", () =>
    Effect.gen(function* () {
      yield* created("123")
      const folder = yield* stubSsh(0)
      const env = { PATH: pathWith(folder) }
      for (const [args, code] of [
        [["123"], 4],
        [["12*"], 4],
        [["name:123", "--user", "-oProxyCommand=x"], 2]
      ] as const) {
        const ended = yield* berthProcess(["node", "ssh", ...args], { env })
        assert.deepStrictEqual([ended.code, ended.stdout], [code, ""], args.join(" "))
      }
      assert.strictEqual((yield* berthProcess(["node", "ssh", "name:123"], { env })).code, 0)
      const without = yield* berthProcess(["node", "ssh", "name:123"], { env: { PATH: "/nowhere" } })
      assert.strictEqual(without.code, 2)
      assert.include(without.stderr, "ssh cannot be run: it is not on the PATH.")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
