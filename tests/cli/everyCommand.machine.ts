/**
 * Runs every command while something on the machine or in the account is wrong: the output cannot be written, there is no home folder, or
 * the token has expired. Each command prints one or two lines, has the right exit code, and changes nothing or names what it has changed.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { TestServer } from "@berthkit/server/testing"
import { isSoak } from "@berthkit/testing/chance"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { inDialect } from "../account.ts"
import { json, run, runFull, type RunOptions, settings } from "./berth.ts"
import { everyCommand, isLocal, lineOf, needsHome, printsFindings, withoutProfile } from "./everyCommand.ts"
import { invoke } from "./invoke.ts"
import { type Valid, validator } from "./matrix/check.ts"
import type { Row } from "./matrix/rows.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** The exit code of the ssh stub. */
const sshCode = 77

/** A service with the nodes that the rows name, the environment of a user with profiles, and a function that checks an error. */
class Machine extends Context.Service<
  Machine,
  {
    readonly env: Record<string, string>
    readonly isError: Valid
    /** The nodes with their statuses, in the order of their ids. */
    readonly nodes: Effect.Effect<
      ReadonlyArray<{ readonly id: number; readonly name: string; readonly status: unknown }>
    >
  }
>()("@berthkit/tests/cli/everyCommand/Machine") {
  static readonly layer = Layer.effect(
    Machine,
    Effect.gen(function* () {
      const { control, id: world } = yield* TestServer
      const account = yield* settings
      const home = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "berth-machine-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const config = join(home, ".config", "berth")
      const profile = { baseUrl: account.BERTH_BASE_URL, apiKey: "k", accessToken: "t" }
      yield* Effect.promise(async () => {
        await writeFile(join(home, "ssh"), `#!/bin/sh\nexit ${sshCode}\n`, { mode: 0o755 })
        await mkdir(config, { recursive: true, mode: 0o700 })
        const profiles = { version: 1, current: "web", profiles: { web: profile, spare: profile } }
        await writeFile(join(config, "profiles.json"), JSON.stringify(profiles), { mode: 0o600 })
      })
      for (const name of ["web", "web-1"]) yield* invoke(["node", "create", name, ...order], { env: account })
      const { error } = json<{ readonly error: object }>(yield* invoke(["schema"]))
      return {
        env: { ...account, HOME: home, PATH: `${home}${delimiter}${process.env["PATH"]}` },
        isError: validator(error),
        nodes: Effect.map(Effect.orDie(control.nodes.list({ params: { world }, query: {} })), (nodes) =>
          nodes.map(({ id, name, status }) => ({ id, name, status }))
        )
      }
    })
  ).pipe(Layer.provideMerge(TestServer.layer(inDialect({ rateLimit: { limit: 100_000 } }))))
}

/** Each create uses a new name, because two nodes of one name would be ambiguous. */
const argsOf = (row: Row, ...flags: ReadonlyArray<string>) =>
  lineOf(row, row.command === "node create" ? "made" : "web", flags)

const inputOf = ({ input }: Row): Pick<RunOptions, "input"> => (input === undefined ? {} : { input })

layer(Machine.layer, { excludeTestServices: true })("where the output cannot be written", (it) => {
  for (const row of everyCommand) {
    it.effect(`berth ${row.command} exits 10 and reports it in one line`, () =>
      Effect.gen(function* () {
        const { env, isError, nodes } = yield* Machine
        const before = yield* nodes
        // A watch prints titles with its first reading, but only as a table.
        const format = row.kind === "changes" ? [] : ["-o", "json"]
        const { code, stderr } = yield* runFull(argsOf(row, ...format), { env, ...inputOf(row) })
        if (row.kind === "nothing") return assert.deepStrictEqual([code, stderr], [0, ""])
        // The output of ssh is not ours.
        if (row.command === "node ssh") return assert.deepStrictEqual([code, stderr], [sshCode, ""])
        assert.strictEqual(code, 10, stderr)
        if (row.kind === "changes") {
          return assert.match(stderr, /^error: The output cannot be written: no space left on device\.\nhint: .+\n$/)
        }
        const { error, ...rest } = JSON.parse(stderr)
        isError({ error, ...rest }, stderr)
        assert.strictEqual(error.code, "StdoutFailed")
        assert.match(error.message, /^The output cannot be written: no space left on device\./)
        if (row.command !== "node create") return
        const made = (yield* nodes).filter(({ id }) => before.every((each) => each.id !== id))
        assert.lengthOf(made, 1)
        assert.include(error.message, `Node ${made[0]!.id} (made) was created, and is billed.`)
        assert.include(error.hint, `berth node get ${made[0]!.id}`)
        assert.deepStrictEqual(error.details, { nodes: [{ id: made[0]!.id, name: "made" }] })
      })
    )
  }

  for (const args of [["--help"], ["--version"], ["node", "list", "--help"]]) {
    it.effect(`berth ${args.join(" ")} reports it, too, in a sentence with a hint`, () =>
      Effect.gen(function* () {
        const { env } = yield* Machine
        const ended = yield* runFull(args, { env })
        assert.strictEqual(ended.code, 10)
        assert.match(ended.stderr, /^error: The output cannot be written: no space left on device\.\nhint: .+\.\n$/)
        const inJson = yield* runFull([...args, "-o", "json"], { env })
        assert.deepStrictEqual([inJson.code, JSON.parse(inJson.stderr).error.code], [10, "StdoutFailed"])
      })
    )
  }
})

/** Commands that work on files in the home folder, with their exit codes if there is no such folder. */
const needHome: Readonly<Record<string, number>> = {
  "auth login": 10,
  reap: 10,
  "auth logout": 2,
  "profile show": 2,
  "profile use": 2,
  "profile remove": 2,
  apply: 10,
  "fleet adopt": 10
}

layer(Machine.layer, { excludeTestServices: true })("where there is no home folder", (it) => {
  for (const row of everyCommand.filter(({ kind }, index) => kind !== "changes" && (isSoak || index % 2 === 0))) {
    it.effect(`berth ${row.command} does its work, or reports in two lines that it cannot`, () =>
      Effect.gen(function* () {
        const { env } = yield* Machine
        const { HOME: _, ...homeless } = env
        const { code, stderr } = yield* run(withoutProfile(argsOf(row)), { env: homeless, ...inputOf(row) })
        const expected = needHome[row.command] ?? (row.command === "node ssh" ? sshCode : 0)
        assert.strictEqual(code, expected, stderr)
        if (needHome[row.command] !== undefined) assert.match(stderr, /^error: .+\.\nhint: .+\n$/)
        else assert.notInclude(stderr, "error:")
      })
    )
  }
})

layer(Machine.layer, { excludeTestServices: true })("with a token that has expired", (it) => {
  for (const row of everyCommand.filter((each) => !isLocal(each))) {
    it.effect(`berth ${row.command} exits 3 with a sentence and a hint, and changes nothing`, () =>
      Effect.gen(function* () {
        const { env, nodes } = yield* Machine
        const { journal } = yield* TestServer
        const [before, { length }] = [yield* nodes, yield* journal]
        const { HOME = "", ...homeless }: Record<string, string> = { ...env, BERTH_ACCESS_TOKEN: "expired" }
        // Without a home folder, berth knows nothing from earlier commands.
        const { code, stderr, stdout } =
          row.input === undefined
            ? yield* invoke(withoutProfile(argsOf(row)), { env: needsHome(row) ? { ...homeless, HOME } : homeless })
            : yield* run(argsOf(row), { env: { ...homeless, HOME }, input: "berth-key\nexpired\n" })
        assert.strictEqual(code, 3, stderr)
        assert.match(stderr, /^error: .+\.\nhint: .+\n$/)
        if (!printsFindings(row) && row.command !== "api") assert.strictEqual(stdout, "")
        const asked = (yield* journal).slice(length)
        assert.isNotEmpty(asked)
        for (const { status } of asked) assert.strictEqual(status, 401)
        assert.deepStrictEqual(yield* nodes, before)
      })
    )
  }
})

layer(Machine.layer, { excludeTestServices: true })("without a network", (it) => {
  // `exitCode.test.ts` tests the commands that read nothing from stdin.
  for (const row of everyCommand.filter(({ input }) => input !== undefined)) {
    it.effect(`berth ${row.command} exits 7 with a sentence and a hint, and changes nothing`, () =>
      Effect.gen(function* () {
        const { env } = yield* Machine
        const profiles = Effect.promise(() => readFile(join(env["HOME"]!, ".config", "berth", "profiles.json"), "utf8"))
        const before = yield* profiles
        const offline = { ...env, BERTH_BASE_URL: "http://127.0.0.1:1" }
        // A login to a named profile uses that profile's address, unless a flag sets another address.
        const args = argsOf(row, "--base-url", offline.BERTH_BASE_URL)
        const { code, stderr, stdout } = yield* run(args, { env: offline, ...inputOf(row) })
        assert.deepStrictEqual([code, stdout], [7, ""])
        assert.match(stderr, /(?:^|\n)error: .+\.\nhint: .+\n$/)
        assert.strictEqual(yield* profiles, before)
      })
    )
  }
})
