/**
 * Every change has a person's consent to exactly that request, at that price, and within its time. Nothing else is sent, and nothing is
 * sent twice.
 */
import { createHash } from "node:crypto"
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { berth } from "../berth.ts"
import { serve } from "../ScriptedServer.ts"
import { stateFolder } from "../stateFolder.ts"
import { type Agent, type AgentOptions, changes, order, startAgent } from "./Agent.ts"

const everything = ["--allow", "create,delete,commit"]
const web = { ...order, name: "web" }

const call = (agent: Agent, name: string, args: object) => Effect.promise(() => agent.call(name, args))

const propose = (agent: Agent, args: object = web) =>
  Effect.map(call(agent, "propose", args), ({ content, isError, structuredContent }) => {
    assert.notStrictEqual(isError, true, content[0]?.text)
    return structuredContent as { readonly id: string; readonly expiresAt: string; readonly summary: string }
  })

const execute = (agent: Agent, proposal: string) => call(agent, "execute", { proposal })

/** The only proposal in a state folder. */
const proposalFile = async (state: string): Promise<string> => {
  const accounts = join(state, "berth", "accounts")
  for (const account of await readdir(accounts)) {
    const folder = join(accounts, account, "records/proposal")
    const found = (await readdir(folder).catch(() => [])).find((name) => /^p[0-9a-z]{19}\.json$/.test(name))
    if (found !== undefined) return join(folder, found)
  }
  throw new Error("there is no proposal")
}

/** A proposal with changed content, stored under the hash of the new content, so that the store accepts it. */
const forged = async (file: string, change: (content: string) => string, beside: object = {}): Promise<string> => {
  const stored = JSON.parse(await readFile(file, "utf8")) as { readonly content: string }
  const changed = change(stored.content)
  const hash = createHash("sha256").update(changed).digest("hex").slice(0, 24)
  const id = `p${BigInt(`0x${hash}`).toString(36).padStart(19, "0")}`
  await writeFile(join(dirname(file), `${id}.json`), JSON.stringify({ ...stored, id, content: changed, ...beside }))
  return id
}

const live = (
  title: string,
  test: (state: string) => Effect.Effect<void, never, TestServer | import("effect").Scope.Scope>
) =>
  it.live(title, () =>
    Effect.flatMap(stateFolder, test).pipe(Effect.scoped, Effect.provide(TestServer.layer({ scenario: { fleet: 2 } })))
  )

const startIn = (state: string, args: ReadonlyArray<string>, options: AgentOptions = {}) =>
  startAgent(args, { ...options, env: { XDG_STATE_HOME: state, ...options.env } })

describe.each([["2025-11-25"], ["2026-07-28"]])("in a program with a dialog, of revision %s", (revision) => {
  live("a person sees the request and the price, and it is sent once", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { revision, person: () => "accept" })
      const { id, summary } = yield* propose(agent)
      assert.isEmpty(yield* changes)
      assert.match(summary, /^Creating web on C-2VCPU-8RAM-50DISK from Ubuntu-22\.04: ₹6\.46 per hour/)
      const { structuredContent } = yield* execute(agent, id)
      assert.deepInclude(structuredContent, { proposal: id, outcome: "created", repeated: false })
      const again = yield* Effect.all([execute(agent, id), execute(agent, id)], { concurrency: 2 })
      for (const each of again) assert.deepInclude(each.structuredContent, { outcome: "created", repeated: true })
      assert.deepStrictEqual(yield* changes, ["POST"])
      const [question] = agent.questions
      assert.lengthOf(agent.questions, 1)
      assert.include(question?.message, "Create a node: ₹6.46 per hour")
      assert.include(question?.message, "\nPlan: C-2VCPU-8RAM-50DISK\nImage: Ubuntu-22.04\nName: web\nAccount: ")
      assert.include(question?.message, 'Request: POST /myaccount/api/v1/nodes/ {"name":"web"')
      assert.deepStrictEqual(question?.requestedSchema, { type: "object", properties: {} })
    })
  )

  live("a no is a result, and stays one", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { revision, person: () => "decline" })
      const { id } = yield* propose(agent, { action: "delete", node: "fleet-1" })
      for (let time = 0; time < 2; time++) {
        const { isError, structuredContent } = yield* execute(agent, id)
        assert.notStrictEqual(isError, true)
        assert.deepInclude(structuredContent, { outcome: "declined" })
      }
      assert.lengthOf(agent.questions, 1)
      assert.match(agent.questions[0]?.message ?? "", /^Delete a node: its disk is deleted too\.\nNode \d+: fleet-1, /)
      assert.isEmpty(yield* changes)
    })
  )

  live("a dialog that is closed leaves the proposal as it was", (state) =>
    Effect.gen(function* () {
      let answer: "cancel" | "accept" = "cancel"
      const agent = yield* startIn(state, everything, { revision, person: () => answer })
      const { id } = yield* propose(agent, { action: "delete", node: "fleet-1" })
      assert.deepInclude((yield* execute(agent, id)).structuredContent, { outcome: "cancelled" })
      assert.isEmpty(yield* changes)
      answer = "accept"
      assert.deepInclude((yield* execute(agent, id)).structuredContent, { outcome: "deleting" })
      assert.deepStrictEqual(yield* changes, ["DELETE"])
    })
  )
})

describe("without sessions", () => {
  live("an answer to a question that was not asked, or was answered before, counts for nothing", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { revision: "2026-07-28", person: () => "accept" })
      const { id } = yield* propose(agent)
      const inputResponses = { approval: { action: "accept", content: {} } }
      const params = { name: "execute", arguments: { proposal: id } }
      const asked = yield* Effect.promise(() => agent.request("tools/call", params))
      for (const requestState of ["", "forged", id]) {
        const forgedReply = yield* Effect.promise(() =>
          agent.request("tools/call", { ...params, requestState, inputResponses })
        )
        assert.strictEqual(forgedReply.result.resultType, "input_required")
      }
      // The answer to one question does not consent to another proposal.
      const other = yield* propose(agent, { action: "delete", node: "fleet-1" })
      const { requestState } = asked.result
      const crossed = { name: "execute", arguments: { proposal: other.id }, requestState, inputResponses }
      const reply = yield* Effect.promise(() => agent.request("tools/call", crossed))
      assert.strictEqual(reply.result.resultType, "input_required")
      assert.isEmpty(yield* changes)
    })
  )
})

describe("in a program whose dialog gives no answer that there is", () => {
  live("a person has to approve in a terminal", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { person: () => "no such answer" })
      const { id } = yield* propose(agent)
      assert.deepInclude((yield* execute(agent, id)).structuredContent, { outcome: "approval_needed" })
      assert.isEmpty(yield* changes)
    })
  )
})

describe("in two programs at once", () => {
  live("the first answer counts", (state) =>
    Effect.gen(function* () {
      const first = yield* startIn(state, everything, { person: () => "never" })
      const second = yield* startIn(state, everything, { person: () => "decline" })
      const { id } = yield* propose(first)
      const late = first.request("tools/call", { name: "execute", arguments: { proposal: id } })
      yield* Effect.promise(() => first.program.printed('"elicitation/create"'))
      assert.deepInclude((yield* execute(second, id)).structuredContent, { outcome: "declined" })
      const asked = JSON.parse(first.lines.at(-1) ?? "") as { readonly id: unknown }
      first.write(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: { action: "accept", content: {} } }))
      const { result } = yield* Effect.promise(() => late)
      assert.deepInclude(result.structuredContent, { outcome: "declined" })
      assert.isEmpty(yield* changes)
    })
  )
})

describe("in a program without a dialog", () => {
  live("a person has to approve in a terminal, which no program can do", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything)
      const { id } = yield* propose(agent)
      const { structuredContent } = yield* execute(agent, id)
      assert.deepInclude(structuredContent, { outcome: "approval_needed" })
      assert.include(structuredContent["message"], `berth approve ${id}`)
      const { code, stderr } = yield* berth(["approve", id], { env: { XDG_STATE_HOME: state }, input: "y\ny\n" })
      assert.deepStrictEqual(
        [code, stderr.split("\n")[0]],
        [2, "error: Cannot approve: this is not a terminal, and only a person may approve."]
      )
      assert.deepInclude((yield* execute(agent, id)).structuredContent, { outcome: "approval_needed" })
      assert.isEmpty(yield* changes)
    })
  )
})

describe("a proposal", () => {
  live("that was edited on the disk is refused", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { person: () => "accept" })
      const { id } = yield* propose(agent)
      const file = yield* Effect.promise(() => proposalFile(state))
      const text = yield* Effect.promise(() => readFile(file, "utf8"))
      for (const [edited, because] of [
        [text.replaceAll("8RAM", "9RAM"), "its record was changed"],
        ...[text.slice(0, -9), "{}", ""].map((damaged) => [damaged, "is damaged"] as const)
      ] as const) {
        yield* Effect.promise(() => writeFile(file, edited))
        const { content, isError } = yield* execute(agent, id)
        assert.isTrue(isError)
        assert.include(content[0]?.text, because)
      }
      assert.isEmpty(yield* changes)
      assert.isEmpty(agent.questions)
    })
  )

  live("that has expired, or is of another account, is refused", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { person: () => "accept" })
      yield* propose(agent)
      const file = yield* Effect.promise(() => proposalFile(state))
      const old = yield* Effect.promise(() =>
        forged(file, (content) => content.replace(/"expiresMillis":\d+/, '"expiresMillis":1'))
      )
      const expired = yield* execute(agent, old)
      assert.isTrue(expired.isError)
      assert.include(expired.content[0]?.text, `The proposal ${old} expired at 1970-01-01T00:00:00Z.`)

      // This could be a proposal from before the clock was set back.
      const late = yield* Effect.promise(() =>
        forged(file, (content) => content.replace(/"expiresMillis":\d+/, '"expiresMillis":4102444800000'))
      )
      assert.include((yield* execute(agent, late)).content[0]?.text, `The proposal ${late} expired`)

      const { makeWorld } = yield* TestServer
      const { accessToken, apiKey } = yield* makeWorld()
      const { value } = yield* Effect.promise(() => import("effect/Redacted"))
      const other = yield* startIn(state, everything, {
        person: () => "accept",
        env: { BERTH_API_KEY: value(apiKey), BERTH_ACCESS_TOKEN: value(accessToken) }
      })
      const { id } = yield* propose(agent)
      const strange = yield* execute(other, id)
      assert.include(strange.content[0]?.text, `This account has no proposal ${id}.`)
      // This holds even for a copy in that account's folder.
      yield* Effect.promise(async () => {
        const accounts = join(state, "berth", "accounts")
        for (const account of await readdir(accounts)) {
          const folder = join(accounts, account, "records/proposal")
          await mkdir(folder, { recursive: true, mode: 0o700 })
          await copyFile(join(dirname(file), `${id}.json`), join(folder, `${id}.json`))
        }
      })
      assert.include((yield* execute(other, id)).content[0]?.text, `This account has no proposal ${id}.`)
      assert.isEmpty(yield* changes)
    })
  )

  live("whose record does not say what came of it sends the agent to look", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, everything, { person: () => "accept" })
      yield* propose(agent)
      const file = yield* Effect.promise(() => proposalFile(state))
      const id = yield* Effect.promise(() =>
        forged(file, (content) => content.replace(/"expiresMillis":\d+/, '"expiresMillis":1'), {
          answer: "approved",
          wasSent: true
        })
      )
      const sent = yield* execute(agent, id)
      assert.include(
        sent.content[0]?.text,
        "expired at 1970-01-01T00:00:00Z, and its request may have been carried out."
      )
      assert.include(sent.content[0]?.text, "To see the outcome: list_nodes")
      assert.isEmpty(yield* changes)
    })
  )

  it.live("is refused where the price is another one by the time of consent", () =>
    Effect.gen(function* () {
      let price = "6.46"
      const sent: Array<string> = []
      const url = yield* serve(({ method, path }) => {
        if (method !== "GET") sent.push(method)
        if (!path.startsWith("/images")) return ok(method === "GET" ? [] : nodeRecord({ id: 5, name: "web" }))
        const os = { name: "Ubuntu", version: null, image: "11" }
        const specs = { price_per_hour: price, price_per_month: null, min_billing_amount: null }
        return ok([{ name: "Ubuntu", plan: web.plan, image: web.image, os, zone: { slug_name: "ncr" }, specs }])
      })
      const account = { BERTH_BASE_URL: url, BERTH_API_KEY: "price-key", BERTH_ACCESS_TOKEN: "price-token" }
      const agent = yield* startAgent(everything, {
        env: account,
        person: () => {
          price = "9.00"
          return "accept"
        }
      })
      const { id, summary } = yield* propose(agent)
      assert.include(summary, "₹6.46 per hour")
      const { content, isError } = yield* execute(agent, id)
      assert.isTrue(isError)
      assert.include(content[0]?.text, "₹9.00 per hour")
      assert.include(content[0]?.text, "Nothing was sent. Propose it again.")
      assert.lengthOf(agent.questions, 1)
      assert.isEmpty(sent)
    }).pipe(Effect.scoped)
  )
})

describe("the bounds of a server", () => {
  live("hold for what is proposed and for what is executed", (state) =>
    Effect.gen(function* () {
      const args = ["--allow", "create", "--max-cost", "7", "--max-nodes", "1"]
      const agent = yield* startIn(state, args, { person: () => "accept" })
      const dear = yield* call(agent, "propose", { ...web, plan: "C-4VCPU-16RAM-100DISK" })
      assert.include(dear.content[0]?.text, "The nodes of this server would cost ₹12.92 per hour, more than ₹7.00.")
      const deletion = yield* call(agent, "propose", { action: "delete", node: "fleet-1" })
      assert.include(deletion.content[0]?.text, "This server may not delete: it may create.")
      const first = yield* propose(agent)
      const second = yield* propose(agent, { ...web, name: "web-2" })
      assert.deepInclude((yield* execute(agent, first.id)).structuredContent, { outcome: "created" })
      const beyond = yield* execute(agent, second.id)
      assert.include(beyond.content[0]?.text, "This server may create 1 nodes, and has created 1.")
      // The person is not asked about a refused change.
      assert.lengthOf(agent.questions, 1)
      assert.deepStrictEqual(yield* changes, ["POST"])
      // A server that may not create does not carry out the proposal of a server that may.
      const readOnly = yield* startIn(state, [], { person: () => "accept" })
      assert.isTrue((yield* execute(readOnly, second.id)).isError)
      assert.deepStrictEqual(yield* changes, ["POST"])
    })
  )

  live("refuse before a person is told to approve in a terminal", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, ["--allow", "create", "--max-cost", "1000"])
      const { id } = yield* propose(agent)
      const poorer = yield* startIn(state, ["--allow", "create", "--max-cost", "1"])
      const { content, isError } = yield* execute(poorer, id)
      assert.isTrue(isError)
      assert.include(content[0]?.text, "more than ₹1.00.")
      assert.isEmpty(yield* changes)
    })
  )

  live("let a commitment be set", (state) =>
    Effect.gen(function* () {
      const agent = yield* startIn(state, ["--allow", "commit"], { person: () => "accept" })
      const args = { action: "commit", node: "fleet-1", setting: "auto_terminate" }
      const { id, summary } = yield* propose(agent, args)
      assert.match(summary, /^Setting the commitment of fleet-1 \(\d+\): at its end the node is terminated\.$/)
      const { content, structuredContent } = yield* execute(agent, id)
      assert.deepInclude(structuredContent, { outcome: "set" }, content[0]?.text)
      assert.lengthOf(yield* changes, 1)
    })
  )
})
