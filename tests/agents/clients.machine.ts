/**
 * `berth mcp` with other people's clients from npm: the official SDK for the protocol revisions with sessions, the official client for the
 * revision without sessions, the inspector's command line, and the conformance suite.
 *
 * The suite talks to servers only over HTTP, so `tools/bridge.mjs` passes its messages on to stdio. Only the checks that apply to any
 * server run here. The suite's other scenarios call tools such as `test_simple_text`, which only its example server has.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Program } from "@berthkit/testing/Program"
import { mockService } from "../core/promise/Service.ts"
import { install } from "../document/installTools.ts"

const tools = fileURLToPath(new URL("tools", import.meta.url))
const binary = fileURLToPath(new URL("../../apps/cli/bin/berth.mjs", import.meta.url))
const modules = join(tools, "node_modules/@modelcontextprotocol")

/** The command that starts the server, in the form that other clients use. */
const server = [process.execPath, binary, "mcp", "--allow", "create"]

const names = ["list_nodes", "get_node", "list_plans", "list_images", "account", "wait", "propose", "execute"]

const state = mkdtempSync(join(tmpdir(), "berth-agents-"))
let service: Awaited<ReturnType<typeof mockService>>
let env: Readonly<Record<string, string>>

beforeAll(async () => {
  await install(tools)
  service = await mockService({ scenario: { fleet: 3 } })
  const { accessToken, apiKey } = service.options
  env = {
    HOME: state,
    XDG_STATE_HOME: state,
    BERTH_BASE_URL: service.baseUrl,
    BERTH_API_KEY: String(apiKey),
    BERTH_ACCESS_TOKEN: String(accessToken)
  }
})

afterAll(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(state, { recursive: true })
})

interface Report {
  readonly tools: ReadonlyArray<string>
  readonly nodes: number
  readonly outcome: string
  readonly refused: boolean
  readonly questions: ReadonlyArray<string>
}

describe("the official client", () => {
  it.each([["sdkClient.mjs"], ["statelessClient.mjs"]])(
    "of %s looks, and changes what its dialog consents to",
    async (name) => {
      const printed = await Program.ofNode(join(tools, name), server, { env }).succeeded()
      const { outcome, questions, refused, tools: listed } = JSON.parse(printed) as Report
      assert.deepStrictEqual([listed, outcome, refused], [names, "created", true])
      assert.lengthOf(questions, 1)
      assert.match(
        questions[0] ?? "",
        /^Create a node: ₹6\.46 per hour.*\nPlan: .*\nImage: .*\nName: .*\nAccount: .*\nRequest: POST .*\nProposal p[0-9a-z]{19}, until /
      )
    }
  )
})

describe("the official client with less patience than a wait takes", () => {
  it("hears of its progress, and gets its result", async () => {
    const args = ["12", "8", ...server]
    const printed = await Program.ofNode(join(tools, "waits.mjs"), args, { env }).succeeded()
    const { heard, text } = JSON.parse(printed) as { readonly heard: number; readonly text: string }
    assert.strictEqual(heard, 2)
    assert.include(text, "after 12")
  })
})

describe("the inspector", () => {
  const inspect = (...args: ReadonlyArray<string>) => {
    const config = join(state, "inspector.json")
    const [command, ...rest] = server
    writeFileSync(config, JSON.stringify({ mcpServers: { berth: { command, args: rest, env } } }))
    const launcher = join(modules, "inspector/clients/launcher/build/index.js")
    const own = ["--cli", "--config", config, "--server", "berth", ...args]
    return Program.ofNode(launcher, own, { env: { HOME: state } }).succeeded()
  }

  it("lists and calls the tools", async () => {
    const listed = await inspect("--method", "tools/list")
    for (const name of names) assert.include(listed, `"${name}"`)
    const called = await inspect("--method", "tools/call", "--tool-name", "list_nodes", "--tool-arg", "limit=2")
    assert.include(called, "fleet-1")
  })
})

describe("the conformance suite", () => {
  it.each([
    ["server-initialize"],
    ["ping"],
    ["tools-list"],
    ["resources-list"],
    ["resources-subscribe"],
    ["resources-unsubscribe"],
    ["prompts-list"],
    ["logging-set-level"]
  ])("passes %s through the bridge", async (scenario) => {
    await using bridge = Program.ofNode(join(tools, "bridge.mjs"), server, { env, isInputOpen: true })
    const url = (await bridge.printed(/http\S+\n/)).trim()
    const suite = join(modules, "conformance/dist/index.js")
    const args = ["server", "--url", url, "--scenario", scenario]
    const printed = await Program.ofNode(suite, args, { env: { HOME: state } }).succeeded()
    assert.match(printed, /Passed: (\d+)\/\1, 0 failed/)
  })
})
