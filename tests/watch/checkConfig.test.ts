import { describe, expect, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Daemon } from "./Daemon.ts"

const config = `
accounts:
  - name: eu
    baseUrl: https://api.example.com
    apiKey: { env: KEY }
    accessToken: { file: token }
sinks:
  - name: chat
    webhook: { url: { env: CHAT }, format: slack }
`

const env = { KEY: "key-that-must-not-show", CHAT: "https://hooks.example.com/services/secret" }

const check = async (text: string, more: Readonly<Record<string, string>> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "berth-config-"))
  try {
    writeFileSync(join(folder, "watch.yml"), text)
    writeFileSync(join(folder, "token"), "token-that-must-not-show\n")
    await using daemon = new Daemon(["check-config", join(folder, "watch.yml")], { ...env, ...more })
    const { code, stderr, stdout } = await daemon.finished()
    const withoutFolder = (lines: ReadonlyArray<string>) => lines.map((line) => line.replaceAll(`${folder}/`, ""))
    return { code, stderr: withoutFolder(stderr), stdout: withoutFolder(stdout) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("berth-watch check-config", () => {
  it("reports what a config would do, without its secrets", async () => {
    expect(await check(config)).toEqual({
      code: 0,
      stderr: [],
      stdout: [
        "watch.yml is usable: 1 account, 1 sink.",
        "store: berth-watch.db",
        "http: 127.0.0.1:9464",
        "account eu: https://api.example.com",
        "sink chat: webhook to https://hooks.example.com (slack, not signed)"
      ]
    })
  })

  it("says of a sink without an address where it is run, on a server that several processes share", async () => {
    const shared = `store: { env: DATABASE_URL }\n${config}  - { name: log, stdout: {} }\n  - { name: page, exec: { command: [page] } }\n`
    const { stdout } = await check(shared, { DATABASE_URL: "postgres://watch:secret@db.example.com/watch" })
    expect([stdout[1], ...stdout.slice(-3)]).toEqual([
      "store: PostgreSQL",
      "sink chat: webhook to https://hooks.example.com (slack, not signed)",
      "sink log: stdout, in the process that has the account",
      "sink page: exec page, in the process that has the account"
    ])
  })

  it("reports each fault with its place, and ends with 2", async () => {
    expect(await check(config.replace("env: KEY", "env: ABSENT").replace("slack", "irc"))).toEqual({
      code: 2,
      stderr: [
        "watch.yml:5:13: accounts[0].apiKey refers to ABSENT, which is not set.",
        "watch.yml:9:44: sinks[0].webhook.format has to be one of cloudevents, slack, discord, ntfy.",
        "berth-watch: watch.yml cannot be used."
      ],
      stdout: []
    })
  })

  it("reports a file that is not there", async () => {
    await using daemon = new Daemon(["check-config", "/nowhere/watch.yml"], env)
    expect(await daemon.finished()).toMatchObject({
      code: 2,
      stderr: ["/nowhere/watch.yml cannot be read (ENOENT).", "berth-watch: /nowhere/watch.yml cannot be used."]
    })
  })
})
