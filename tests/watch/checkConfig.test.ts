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
        "account eu: 60% of the rate limit, 720 requests an hour until the service reports its limit. All nodes are read every 9s with 99 nodes, 14m with 3000 nodes or 19m with 10000 nodes. Of 1000 nodes that vanish at once, the last is reported up to 11h later than a single one.",
        "sink chat: webhook to https://hooks.example.com (slack, not signed)"
      ]
    })
  })

  it("warns of two accounts with one key", async () => {
    const account = /  - name: eu[^]*?(?=sinks:)/.exec(config)![0]
    const { code, stdout } = await check(config.replace(account, account + account.replace("eu", "us")))
    expect(code).toBe(0)
    expect(stdout).toContain(
      "account us: has the same key and service as account eu, so both report the same nodes and use one rate limit."
    )
  })

  it("refuses a proxy variable that names none, as run does", async () => {
    const refused = {
      code: 2,
      stdout: [],
      stderr: [
        "berth-watch: HTTPS_PROXY is not the address of an HTTP proxy.",
        "Set it to an address such as http://proxy.example.com:3128, or unset it."
      ]
    }
    const env = { HTTPS_PROXY: "socks5://me:hunter2@proxy.test:1" }
    expect(await check(config, env)).toEqual(refused)
    const account = {
      BERTH_BASE_URL: "https://api.example.com",
      BERTH_API_KEY: "a-key-1",
      BERTH_ACCESS_TOKEN: "a-token"
    }
    await using daemon = new Daemon(["run"], { ...account, ...env })
    expect(await daemon.finished()).toEqual(refused)
  })

  it("shows the method of the heartbeat, and how many headers a webhook adds", async () => {
    const more = `heartbeat: { url: "https://beat.example.com/push/secret", method: GET }\n`
    const webhook = "webhook: { url: { env: CHAT }, headers: { X-Room: ops, Authorization: { env: KEY } } }"
    const { stdout } = await check(config.replace(/webhook: .*/, webhook) + more)
    expect(stdout.slice(-2)).toEqual([
      "sink chat: webhook to https://hooks.example.com (cloudevents, not signed, 2 headers of its own)",
      "heartbeat: GET to https://beat.example.com"
    ])
  })

  it("names a template as what a webhook sends", async () => {
    const webhook = "webhook: { url: { env: CHAT }, template: '{{ type | json }}' }"
    const { stdout } = await check(config.replace(/webhook: .*/, webhook))
    expect(stdout.at(-1)).toBe("sink chat: webhook to https://hooks.example.com (template, not signed)")
  })

  it("says from how many nodes on the interval is too short for the share", async () => {
    const lines = async (interval: string, share: string) => {
      const set = config.replace("accessToken", `interval: ${interval}\n    share: ${share}\n    accessToken`)
      return (await check(set)).stdout.slice(5, -1)
    }
    expect(await lines("5s", "60%")).toEqual([
      "account eu: an interval of 5s is too short for its share, 720 requests an hour. With any number of nodes it is stretched, to 7s at least."
    ])
    expect(await lines("10s", "60%")).toEqual([
      "account eu: an interval of 10s is too short for its share, 720 requests an hour. With 100 nodes or more it is stretched, to 35s at least."
    ])
    expect(await lines("15m", "60%")).toMatchObject([expect.stringContaining("nodes or more")])
    expect(await lines("12h", "60%")).toEqual([])
    expect(await lines("auto", "60%")).toEqual([])
  })

  it("counts signing secrets", async () => {
    const secret = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
    const signed = async (secrets: string) => {
      const sink = `  - { name: ops, webhook: { url: { env: CHAT }, secrets: [${secrets}] } }\n`
      return (await check(config + sink, { ONE: secret, TWO: secret })).stdout.at(-1)
    }
    expect(await signed("{ env: ONE }")).toContain("1 signing secret)")
    expect(await signed("{ env: ONE }, { env: TWO }")).toContain("2 signing secrets)")
  })

  it("says where a sink without an address runs, if several processes share the store", async () => {
    const shared = `store: { env: DATABASE_URL }\n${config}  - { name: log, stdout: {} }\n  - { name: page, exec: { command: [page] } }\n`
    const { stdout } = await check(shared, { DATABASE_URL: "postgres://watch:secret@db.example.com/watch" })
    expect([stdout[1], ...stdout.slice(-3)]).toEqual([
      "store: PostgreSQL",
      "sink chat: webhook to https://hooks.example.com (slack, not signed)",
      "sink log: stdout, in the process that has the account",
      "sink page: exec page, in the process that has the account"
    ])
  })

  it("shows the server and the addresses of mail, and no login", async () => {
    const settings = "host: smtp.example.com, from: a@example.com, to: [b@example.com, C <c@example.com>]"
    const login = "user: { env: CHAT }, password: { env: KEY }"
    const mail = (...more: ReadonlyArray<string>) => `  - { name: mail, mail: { ${[settings, ...more].join(", ")} } }\n`
    const shown = async (sink: string) => (await check(config + sink)).stdout.at(-1)
    expect(await shown(mail())).toBe(
      "sink mail: mail to b@example.com, c@example.com by smtp.example.com:587 (starttls, no login)"
    )
    expect(await shown(mail(login, "tls: implicit"))).toMatch(/ by smtp\.example\.com:465 \(implicit, with a login\)$/)
    expect(await shown(mail("tls: none"))).toMatch(/ by smtp\.example\.com:25 \(no TLS, no login\)$/)
  })

  it("reports each fault with its place, and ends with 2", async () => {
    expect(await check(config.replace("env: KEY", "env: ABSENT").replace("slack", "irc"))).toEqual({
      code: 2,
      stderr: [
        "watch.yml:5:13: accounts[0].apiKey refers to ABSENT, which is not set.",
        "watch.yml:9:44: sinks[0].webhook.format has to be one of cloudevents, slack, discord, teams, ntfy, pagerduty, opsgenie.",
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
