/**
 * Checks the configuration for agents' programs in `docs/agents.md`: reads the JSON of the page, and starts the command in it as such a
 * program does.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Program } from "@berthkit/testing/Program"
import { mockService } from "../core/promise/Service.ts"

const page = readFileSync(new URL("../../docs/agents.md", import.meta.url), "utf8")
const binary = fileURLToPath(new URL("../../apps/cli/bin/berth.mjs", import.meta.url))

const blocks = (language: string) =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), ([, code]) => code!)

interface Server {
  readonly command: string
  readonly args: ReadonlyArray<string>
}

const configured = blocks("json").map((text) => {
  const config = JSON.parse(text) as Partial<Record<"mcpServers" | "servers", Readonly<Record<"berth", Server>>>>
  return (config.mcpServers ?? config.servers)!.berth
})

/** A home folder of a user who has installed `berth` and has saved an account. */
const home = mkdtempSync(join(tmpdir(), "berth-agent-"))
const env = { HOME: home, PATH: [home, dirname(process.execPath), process.env["PATH"]].join(delimiter) }
let service: Awaited<ReturnType<typeof mockService>>

beforeAll(async () => {
  service = await mockService({})
  writeFileSync(join(home, "berth"), `#!/bin/sh\nexec "${process.execPath}" "${binary}" "$@"\n`)
  chmodSync(join(home, "berth"), 0o755)
  const { accessToken, apiKey } = service.options
  const [login = ""] = blocks("sh")
  const args = login.replace("https://HOST", service.baseUrl).trim().split(" ").slice(1)
  await new Program("berth", args, { env, input: `${apiKey}\n${accessToken}\n` }).succeeded()
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(home, { recursive: true })
})

describe("docs/agents.md", () => {
  it("has three configurations", () => assert.lengthOf(configured, 3))

  it.each(configured.map(({ args, command }) => [command, args.join(" ")]))("starts %s %s", async (command, args) => {
    const hello = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "page", version: "1" }
    }
    const messages = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "account", arguments: {} } }
    ]
    const input = messages.map((message) => `${JSON.stringify(message)}\n`).join("")
    const { code, stderr, stdout } = await new Program(command!, args!.split(" "), { env, input }).ended
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.include(stdout, '"profile":"work"')
    const allowed = /--allow (\S+)/.exec(args!)?.[1]?.split(",") ?? []
    assert.include(stdout, `"allow":${JSON.stringify(allowed)}`)
  })

  it("shows the same command for a program whose command line sets it", () => {
    const [, added = ""] = blocks("sh")
    const [server] = configured
    assert.strictEqual(added.trim().split(" -- ")[1], [server?.command, ...(server?.args ?? [])].join(" "))
  })

  it("lists every option", () => {
    const options = Array.from(page.matchAll(/^\| `(--[a-z-]+)/gm), ([, option]) => option)
    assert.deepStrictEqual(options, [
      "--allow",
      "--max-cost",
      "--max-commitment",
      "--max-nodes",
      "--share",
      "--deadline"
    ])
  })
})
