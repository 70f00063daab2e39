/**
 * Text files that a user names: start scripts, bodies, SSH keys, fleet files, ledgers, profiles. Berth reads pipes and links, but refuses
 * anything that is not text before it sends a request.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { TestServer } from "@berthkit/server/testing"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { inDialect } from "../account.ts"
import { json, run, settings } from "./berth.ts"
import { invoke } from "./invoke.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

class Folder extends Context.Service<Folder, { readonly path: string }>()("@berthkit/tests/cli/givenFiles/Folder") {
  static readonly layer = Layer.effect(
    Folder,
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-files-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
      ),
      (path) => ({ path })
    )
  ).pipe(Layer.provideMerge(TestServer.layer(inDialect({ rateLimit: { limit: 100_000 } }))))
}

const file = Effect.fnUntraced(function* (name: string, content: string | Uint8Array) {
  const path = join((yield* Folder).path, name)
  writeFileSync(path, content)
  return path
})

const environment = Effect.gen(function* () {
  const { path } = yield* Folder
  return {
    ...(yield* settings),
    XDG_STATE_HOME: join(path, "state"),
    XDG_CACHE_HOME: join(path, "cache"),
    XDG_CONFIG_HOME: join(path, "config")
  }
})

interface Proposed {
  readonly request: { readonly body: { readonly start_scripts?: unknown; readonly ssh_keys?: unknown } }
}

const proposed = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
  const ended = yield* invoke(["node", "create", "web", ...order, ...flags, "--dry-run", "-o", "json"], {
    env: yield* environment
  })
  assert.strictEqual(ended.code, 0, ended.stderr)
  return json<Proposed>(ended).request.body
})

/** The error of a create with these flags. The create must send nothing. */
const refused = Effect.fnUntraced(function* (...flags: ReadonlyArray<string>) {
  const { journal } = yield* TestServer
  const before = (yield* journal).length
  const ended = yield* invoke(["node", "create", "web", ...order, ...flags], { env: yield* environment })
  assert.strictEqual(ended.code, 2, ended.stderr)
  assert.strictEqual((yield* journal).length, before)
  return ended.stderr
})

/** A public key that was made for this test. */
const publicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE1vbmV5IGlzIG5vdCBhIHB1YmxpYyBrZXkuLi4u me@home"
const privateKey = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0IG9mIG1pbmU=\n-----END OPENSSH PRIVATE KEY-----\n"

layer(Folder.layer, { excludeTestServices: true })("a start script", (it) => {
  it.effect("that is not UTF-8 text is refused with the first byte that is wrong", () =>
    Effect.gen(function* () {
      for (const [name, content, why] of [
        ["gzip", gzipSync("#!/bin/sh\n"), "it is not UTF-8 text: byte 1 is 0x8b."],
        ["latin1", Buffer.from("#!/bin/sh\necho caf\u00e9\n", "latin1"), "it is not UTF-8 text: byte 18 is 0xe9."],
        ["cut", Buffer.from("#\u20ac").subarray(0, 3), "it is not UTF-8 text: byte 1 is 0xe2."],
        ["utf16", Buffer.from("\ufeff#!", "utf16le"), "it is not UTF-8 text: byte 0 is 0xff."],
        ["nul", "#!/bin/sh\n\0", "it is not text: byte 10 is 0x00."],
        ["empty", "\n", "it is empty."],
        ["large", "#".repeat(1024 * 1024 + 1), "it is too large, more than 1024 KiB."]
      ] as const) {
        const path = yield* file(name, content)
        assert.include(yield* refused("--start-script", path), `--start-script cannot be ${path}: ${why}`)
      }
      assert.include(yield* refused("--start-script", "/dev/zero"), "it is not a file")
    })
  )

  it.effect("is sent as it is, without a byte order mark", () =>
    Effect.gen(function* () {
      const path = yield* file("fine", "\ufeff#!/bin/sh\necho \u20ac\r\n")
      const { path: folder } = yield* Folder
      symlinkSync(path, join(folder, "link"))
      for (const named of [path, join(folder, "link")]) {
        assert.deepStrictEqual((yield* proposed("--start-script", named)).start_scripts, ["#!/bin/sh\necho \u20ac\r\n"])
      }
    })
  )

  it.effect("is read from a pipe, and from stdin", () =>
    Effect.gen(function* () {
      const pipe = join((yield* Folder).path, "pipe")
      execFileSync("mkfifo", [pipe])
      spawn("sh", ["-c", 'sleep 0.2; printf "#!/bin/sh" > "$0"', pipe], { stdio: "ignore" })
      assert.deepStrictEqual((yield* proposed("--start-script", pipe)).start_scripts, ["#!/bin/sh"])
      const env = yield* environment
      for (const name of ["-", "/dev/stdin"]) {
        const ended = yield* run(
          ["node", "create", "web", ...order, "--start-script", name, "--dry-run", "-o", "json"],
          {
            env,
            input: "#!/bin/dash"
          }
        )
        assert.deepStrictEqual(json<Proposed>(ended).request.body.start_scripts, ["#!/bin/dash"])
      }
    })
  )

  it.effect("of a fleet file, and the body of a request, are held to the same", () =>
    Effect.gen(function* () {
      yield* file("bad.sh", Buffer.from([0x23, 0xe9]))
      const fleet = yield* file(
        "scripts.yaml",
        `fleet: s\nnodes: { web: { plan: ${order[1]}, image: ${order[3]}, startScripts: [bad.sh] } }\n`
      )
      const env = yield* environment
      const applied = yield* invoke(["apply", "-f", fleet, "--dry-run"], { env })
      assert.strictEqual(applied.code, 2)
      assert.include(applied.stderr, "bad.sh cannot be read: it is not UTF-8 text: byte 1 is 0xe9.")
      const body = yield* file("body.json", Buffer.from('{"name": "\xe9"}', "latin1"))
      const sent = yield* invoke(["api", "POST", "/nodes/", "-d", `@${body}`], { env })
      assert.strictEqual(sent.code, 2)
      assert.include(sent.stderr, "it is not UTF-8 text: byte 10 is 0xe9.")
    })
  )
})

layer(Folder.layer, { excludeTestServices: true })("an SSH key", (it) => {
  it.effect("is the text of a public key, from a file or as it is, or a fingerprint or an id", () =>
    Effect.gen(function* () {
      const path = yield* file("id.pub", `# mine\n\n${publicKey}\r\n`)
      for (const [given, sent] of [
        [path, publicKey],
        [publicKey, publicKey],
        ["SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8", "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"],
        ["SHA256:a/b+c", "SHA256:a/b+c"],
        ["7f:0a:11", "7f:0a:11"],
        ["12", "12"],
        ["key-1", "key-1"]
      ] as const) {
        assert.deepStrictEqual((yield* proposed("--ssh-key", given)).ssh_keys, [sent], given)
      }
      const fleet = yield* file(
        "keys.yaml",
        `fleet: s\nnodes: { web: { plan: ${order[1]}, image: ${order[3]}, sshKeys: [id.pub, key-1] } }\n`
      )
      const env = yield* environment
      assert.strictEqual((yield* invoke(["apply", "-f", fleet, "--yes"], { env })).code, 0)
      const { journal } = yield* TestServer
      const created = (yield* journal).findLast(({ method, path }) => method === "POST" && path.endsWith("/nodes/"))
      assert.deepStrictEqual(JSON.parse(created!.body!).ssh_keys, [publicKey, "key-1"])
    })
  )

  it.effect("is never a private key, a path, or nothing", () =>
    Effect.gen(function* () {
      const secret = yield* file("id_ed25519", privateKey)
      const told = yield* refused("--ssh-key", secret)
      assert.include(told, `--ssh-key cannot be ${secret}: it is a private key, which must never leave this machine.`)
      assert.notInclude(told, "c2VjcmV0")
      assert.notInclude(yield* refused("--ssh-key", privateKey), "c2VjcmV0")
      const other = yield* file("other.txt", "hello\n")
      assert.include(yield* refused("--ssh-key", other), "it is not a public key")
      assert.include(
        yield* refused("--ssh-key", yield* file("two.pub", `${publicKey}\n${publicKey}\n`)),
        "it has 2 keys"
      )
      assert.include(yield* refused("--ssh-key", "keys/id.pub"), "keys/id.pub: there is no such file")
      assert.include(yield* refused("--ssh-key", "~/none/id"), "there is no such file")
      assert.include(yield* refused("--ssh-key", "ssh-ed25519 AAAAnokey"), "it is not a public key")
      for (const flag of ["ssh-key", "tag", "start-script", "name", "label", "vpc", "plan", "image"]) {
        for (const nothing of ["", " "]) {
          assert.include(yield* refused(`--${flag}`, nothing), `--${flag} needs a value.`)
        }
      }
      const fleet = yield* file(
        "private.yaml",
        `fleet: s\nnodes: { web: { plan: ${order[1]}, image: ${order[3]}, sshKeys: [id_ed25519] } }\n`
      )
      const applied = yield* invoke(["apply", "-f", fleet, "--dry-run"], { env: yield* environment })
      assert.strictEqual(applied.code, 2)
      assert.include(applied.stderr, "nodes.web.sshKeys cannot be id_ed25519: it is a private key")
    })
  )
})

layer(Folder.layer, { excludeTestServices: true })("a link", (it) => {
  it.effect("to a fleet file, a ledger and profiles is followed, and stays", () =>
    Effect.gen(function* () {
      const { path } = yield* Folder
      const env = yield* environment
      const kept = join(path, "kept")
      mkdirSync(kept)
      mkdirSync(env.XDG_CONFIG_HOME)
      writeFileSync(join(kept, "fleet.yaml"), `fleet: l\nnodes: { web: { plan: ${order[1]}, image: ${order[3]} } }\n`)
      symlinkSync("kept/fleet.yaml", join(path, "fleet.yaml"))
      // The target of the link does not exist yet.
      symlinkSync("kept/ledger.json", join(path, "fleet.ledger.json"))
      const applied = yield* invoke(["apply", "-f", join(path, "fleet.yaml"), "--yes"], { env })
      assert.strictEqual(applied.code, 0, applied.stderr)
      assert.strictEqual(JSON.parse(readFileSync(join(kept, "ledger.json"), "utf8")).fleet, "l")
      assert.strictEqual(readlinkSync(join(path, "fleet.ledger.json")), "kept/ledger.json")
      assert.strictEqual((yield* invoke(["diff", "-f", join(path, "fleet.yaml")], { env })).code, 0)

      mkdirSync(join(kept, "berth"), { mode: 0o700 })
      symlinkSync(join(kept, "berth"), join(env.XDG_CONFIG_HOME, "berth"))
      const profiles = (name: string) => ({ baseUrl: env.BERTH_BASE_URL, apiKey: name, accessToken: "t" })
      writeFileSync(
        join(kept, "secret.json"),
        JSON.stringify({ version: 1, current: "one", profiles: { one: profiles("k"), two: profiles("l") } }),
        { mode: 0o600 }
      )
      symlinkSync("../secret.json", join(kept, "berth", "profiles.json"))
      const { BERTH_ACCESS_TOKEN: _, BERTH_API_KEY: __, BERTH_BASE_URL: ___, ...bare } = env
      const used = yield* invoke(["profile", "use", "two", "-o", "name"], { env: bare })
      assert.deepStrictEqual([used.code, used.stdout], [0, "two\n"], used.stderr)
      assert.strictEqual(JSON.parse(readFileSync(join(kept, "secret.json"), "utf8")).current, "two")
      assert.strictEqual(readlinkSync(join(kept, "berth", "profiles.json")), "../secret.json")
    })
  )
})
