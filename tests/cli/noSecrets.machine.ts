/**
 * No output of a command contains the key or the token of a profile, even with `--debug`, except the one that `auth token` prints on
 * stdout. They are in no file except the profiles file, and other users can read no file.
 */
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tree } from "@berthkit/cli/commands"
import { verbsOf } from "@berthkit/cli/commandTree"
import { TestServer } from "@berthkit/server/testing"
import { seenOf } from "@berthkit/testing/spellings"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inDialect, placeFlags } from "../account.ts"
import { run, settings, start } from "./berth.ts"

const apiKey = "k3y/with+odd=chars&more-of-it"
const accessToken = "t0ken.with-odd~chars-and-more"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const fleet = "fleet: shop\nnodes:\n  web: { count: 1, plan: C-2VCPU-8RAM-50DISK, image: Ubuntu-22.04 }\n"

/** The arguments with which each command runs to its end. A command that is not listed needs none. */
const argumentsOf = (file: string): Readonly<Record<string, ReadonlyArray<string>>> => ({
  "node get": ["web"],
  "node create": ["web", ...order, "--key", "job"],
  "node delete": ["web", "--yes"],
  "node wait": ["web"],
  "node watch": ["web", "--interval", "1s"],
  "node ip": ["web"],
  "node ssh": ["web", "--", "true"],
  run: [...order, "--", "true"],
  inventory: ["--ansible"],
  "commitment get": ["web"],
  "commitment set": ["web", "hourly_billing", "--yes"],
  "plan get": ["C-2VCPU-8RAM-50DISK"],
  apply: ["-f", file, "--yes"],
  diff: ["-f", file],
  destroy: ["-f", file, "--yes", "--max-deletes", "9"],
  "fleet adopt": ["web", "--as", "web-2", "-f", file],
  "fleet forget": ["web-2", "-f", file],
  "profile show": ["other"],
  "profile use": ["test"],
  "profile remove": ["other"],
  completion: ["bash"],
  approve: ["p0123456789abcdefghi"],
  api: ["/nodes/", "-i"]
})

/** `approve` needs a person at a terminal, and the others need a database. */
const refused: ReadonlySet<string> = new Set(["approve", "state migrate", "state accept"])

/** Logins run first, because the others need them. Then come the commands that make nodes. */
const first = ["auth login", "node create", "apply"]
/** Commands that delete something run last. */
const last = ["fleet forget", "destroy", "node delete", "profile remove", "auth logout"]

const rank = ({ path }: { readonly path: ReadonlyArray<string> }) => {
  const name = path.join(" ")
  return first.includes(name) ? first.indexOf(name) : first.length + 1 + last.indexOf(name)
}

/** All files below a folder. */
const filesOf = async (folder: string) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

const home = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-home-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const account = { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }

describe("the credentials of a profile", () => {
  it.live(
    "are in no output of any command with --debug, and in no file but that of the profiles, which is the user's alone",
    () =>
      Effect.gen(function* () {
        const { BERTH_BASE_URL } = yield* settings
        const folder = yield* home
        // An ssh stub that prints its arguments and connects to nothing.
        yield* Effect.promise(() => writeFile(join(folder, "ssh"), "#!/bin/sh\necho $*\n", { mode: 0o700 }))
        const env = { HOME: folder, PATH: `${folder}:${process.env["PATH"]}` }
        const file = join(folder, "fleet.yaml")
        yield* Effect.promise(() => writeFile(file, fleet, { mode: 0o600 }))
        const argumentsWith = argumentsOf(file)
        const input = `${apiKey}\n${accessToken}\n`
        const login = (name: string) =>
          run(["auth", "login", "--profile", name, "--base-url", BERTH_BASE_URL, ...placeFlags], { env, input })
        assert.strictEqual((yield* login("other")).code, 0)
        const ensureNone = (text: string, where: string) =>
          assert.deepStrictEqual(seenOf(text, [apiKey, accessToken]), [], where)
        for (const { path } of verbsOf(tree).toSorted((a, b) => rank(a) - rank(b))) {
          const name = path.join(" ")
          const args = [...path, "--debug", ...(argumentsWith[name] ?? [])]
          if (name === "auth login") {
            const { code, stderr, stdout } = yield* login("test")
            assert.strictEqual(code, 0, stderr)
            ensureNone(stdout + stderr, name)
          } else if (name === "node watch") {
            const watching = yield* start(args, { env })
            yield* watching.untilStderr("GET ")
            yield* watching.kill("SIGINT")
            const { stderr, stdout } = yield* watching.ended
            ensureNone(stdout + stderr, name)
          } else if (name === "auth token") {
            for (const [flags, secret] of [
              [["-o", "json"], accessToken],
              [["--api-key"], apiKey]
            ] as const) {
              const { stderr, stdout } = yield* run([...args, ...flags, "--profile", "test"], { env })
              assert.strictEqual(stdout, `${secret}\n`)
              ensureNone(stderr, name)
            }
          } else {
            const { code, stderr, stdout } = yield* run(args, { env })
            if (!refused.has(name)) assert.strictEqual(code, 0, `${name}: ${stderr}`)
            ensureNone(stdout + stderr, name)
          }
        }
        yield* login("test")
        const listed = yield* run(["node", "list", "-o", "json", "--profile", "test"], { env })
        assert.strictEqual(listed.code, 0, listed.stderr)
        const files = yield* Effect.promise(() => filesOf(folder))
        assert.isAtLeast(files.length, 3)
        for (const file of files) {
          const [text, { mode }] = yield* Effect.promise(() => Promise.all([readFile(file, "utf8"), stat(file)]))
          assert.strictEqual(mode & 0o077, 0, file)
          if (!file.endsWith("profiles.json")) ensureNone(text + file, file)
        }
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", accounts: [account] }))))
  )
})
