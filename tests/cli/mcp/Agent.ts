/**
 * A minimal agent's program for the real `berth mcp`: it exchanges the protocol's messages, one per line.
 * `tests/document/mcpClients.document.ts` tests the same server with other clients.
 */
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { settingsOf } from "../../account.ts"
import { stateFolder } from "../stateFolder.ts"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

type Json = Readonly<Record<string, unknown>>

/** The parts of a reply that tests read. */
export interface Reply {
  readonly id: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly result: Json & {
    readonly isError?: boolean
    readonly structuredContent: Json
    readonly content: ReadonlyArray<{ readonly text: string }>
    readonly resultType?: string
    readonly requestState?: string
    readonly inputRequests?: Json
  }
}

/** A question of the server to the person. */
export interface Question {
  readonly message: string
  readonly requestedSchema: Json
}

export interface AgentOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** The revision of the protocol. Default `2025-11-25`. */
  readonly revision?: string
  /** How the person answers a question; without one the program has no dialog. */
  readonly person?: (question: Question) => "accept" | "decline" | "cancel" | "never" | "no such answer"
}

const stateless = "2026-07-28"

export class Agent {
  readonly program: Program
  /** Every line that the server wrote. */
  readonly lines: Array<string> = []
  /** Every question it asked. */
  readonly questions: Array<Question> = []
  readonly #options: AgentOptions
  readonly #waiting = new Map<unknown, (reply: Reply) => void>()
  #next = 1
  #rest = ""

  constructor(args: ReadonlyArray<string>, options: AgentOptions) {
    this.#options = options
    this.program = Program.ofNode(binary, ["mcp", ...args], { env: options.env ?? {}, isInputOpen: true })
    this.program.child.stdout.on("data", (text: string) => {
      const lines = `${this.#rest}${text}`.split("\n")
      this.#rest = lines.pop() ?? ""
      for (const line of lines) this.#take(line)
    })
  }

  #take(line: string): void {
    this.lines.push(line)
    const message = JSON.parse(line) as Reply & { readonly method?: string; readonly params?: Question }
    if (message.method === undefined) return this.#waiting.get(message.id)?.(message)
    if (message.method !== "elicitation/create" || message.params === undefined) return
    this.questions.push(message.params)
    const action = this.#options.person?.(message.params) ?? "never"
    if (action !== "never")
      this.write(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: { action, content: {} } }))
  }

  /** Writes a line unchanged. */
  write(line: string): void {
    this.program.child.stdin.write(`${line}\n`)
  }

  /** Sends a request and returns its reply. Rejects if the server ends first. */
  async request(method: string, params: Json = {}): Promise<Reply> {
    const id = this.#next++
    const { person, revision } = this.#options
    const meta = {
      "io.modelcontextprotocol/protocolVersion": stateless,
      "io.modelcontextprotocol/clientCapabilities": person === undefined ? {} : { elicitation: { form: {} } },
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" }
    }
    const reply = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve))
    const whole = revision === stateless ? { ...params, _meta: { ...meta, ...Object(params["_meta"]) } } : params
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params: whole }))
    const ended = this.program.ended.then(({ code, stderr }): never => {
      throw new Error(`the server ended with ${code}: ${stderr}`)
    })
    return Promise.race([reply, ended])
  }

  /** Begins the session as the revision requires. */
  async begin(): Promise<Reply> {
    const { person, revision = "2025-11-25" } = this.#options
    if (revision === stateless) return this.request("server/discover")
    const capabilities = person === undefined ? {} : { elicitation: {} }
    const clientInfo = { name: "test", version: "1" }
    const reply = await this.request("initialize", { protocolVersion: revision, capabilities, clientInfo })
    this.write(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }))
    return reply
  }

  /** Calls a tool. If a reply asks the person, it repeats the call with the answer. */
  async call(name: string, args: unknown = {}, more: Json = {}): Promise<Reply["result"]> {
    const { error, result } = await this.request("tools/call", { name, arguments: args, ...more })
    if (error !== undefined) throw new Error(`${error.code} ${error.message}`)
    const { person, revision } = this.#options
    if (revision !== stateless || result.resultType !== "input_required" || person === undefined) return result
    const asked = result.inputRequests?.["approval"] as { readonly params: Question }
    this.questions.push(asked.params)
    const inputResponses = { approval: { action: person(asked.params), content: {} } }
    return this.call(name, args, { requestState: result.requestState, inputResponses })
  }

  /** Closes stdin and returns how the server ended. */
  end() {
    this.program.child.stdin.end()
    return this.program.ended
  }
}

/** Starts an agent with the account of the service under test. Closing the scope ends it. */
export const startAgent = (args: ReadonlyArray<string>, options: AgentOptions = {}) =>
  Effect.gen(function* () {
    const server = yield* Effect.serviceOption(TestServer)
    const account = server._tag === "Some" ? settingsOf(server.value) : {}
    const env = { XDG_STATE_HOME: yield* stateFolder, ...account, ...options.env }
    let agent: Agent | undefined
    yield* Program.start(() => (agent = new Agent(args, { ...options, env })).program)
    yield* Effect.promise(() => agent!.begin())
    return agent!
  })

export const order = { action: "create", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }

/** The methods of all requests that the service received. */
export const methods = Effect.flatMap(TestServer, ({ journal }) =>
  Effect.map(journal, (entries) => entries.map(({ method }) => method))
)

/** The changes among them. */
export const changes = Effect.map(methods, (all) => all.filter((method) => method !== "GET"))
