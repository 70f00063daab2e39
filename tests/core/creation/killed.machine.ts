/**
 * A process is killed at some step of a create with a key, and the next process uses the same key. The result is one node or
 * `OutcomeUnknown`, but never two nodes. The processes are real, and the service follows the script of the test.
 */
import { mkdtemp, rm } from "node:fs/promises"
import type { IncomingMessage, ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { HttpService } from "@berthkit/testing/HttpService"
import { isSoak } from "@berthkit/testing/chance"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it } from "@effect/vitest"

interface Node {
  readonly id: number
  readonly name: string
  readonly created_at: string
}

/** The service of one test: its nodes, the number of its requests, and what it does with each request. */
class Service {
  readonly nodes: Array<Node> = []
  posts = 0
  lists = 0
  /** Whether the first process has been killed. */
  isKilled = false
  allowance = { limit: 1000, remaining: 999, resetAt: 0 }
  readonly #killAt: Array<() => void> = []
  /** Resolves when the first process is to be killed. */
  readonly due = new Promise<void>((resolve) => this.#killAt.push(resolve))
  readonly kill = () => this.#killAt[0]!()
  readonly script: Script
  constructor(script: Script) {
    this.script = script
  }

  make() {
    const node = { id: 100 + this.nodes.length, name: "node", created_at: new Date().toISOString() }
    this.nodes.push(node)
    return node
  }

  reply(response: ServerResponse, status: number, data: unknown, headers: Record<string, string> = {}) {
    const { limit, remaining, resetAt } = this.allowance
    const reset = resetAt === 0 ? Math.ceil(Date.now() / 1000) + 3600 : resetAt
    response.writeHead(status, {
      "content-type": "application/json",
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": String(remaining),
      "ratelimit-reset": String(reset),
      ...headers
    })
    response.end(JSON.stringify({ message: "Success", code: status, data, errors: {} }))
  }

  async answer(request: IncomingMessage, response: ServerResponse) {
    await text(request)
    const listed = this.script.listed?.(this) ?? this.nodes
    if (request.method === "POST") {
      this.posts++
      await this.script.onPost(this, response)
      return
    }
    this.lists++
    const id = /nodes\/(\d+)\//.exec(request.url!)?.[1]
    if (id !== undefined)
      this.reply(
        response,
        200,
        this.nodes.find((node) => node.id === Number(id))
      )
    else if ((await this.script.onList?.(this)) !== "hang") {
      const page = Number(new URL(request.url!, "http://x").searchParams.get("page_no"))
      this.reply(response, 200, page > 1 ? [] : listed)
    }
  }
}

interface Script {
  readonly onPost: (service: Service, response: ServerResponse) => void | Promise<void>
  readonly onList?: (service: Service) => "hang" | void | Promise<"hang" | void>
  /** The nodes that the list shows. Default: all. */
  readonly listed?: (service: Service) => ReadonlyArray<Node>
}

const create = (service: Service, response: ServerResponse) => service.reply(response, 202, service.make())

const program = fileURLToPath(new URL("maker.ts", import.meta.url))

/** Starts a process that creates one node under the key `job-0`. */
const maker = (url: string, folder: string) => Program.ofNode(program, [url, "key", "token", folder, "1"])

/** The outcome of the second process, and the service's nodes after it. */
const run = async (script: Script) => {
  const service = new Service(script)
  const folder = await mkdtemp(join(tmpdir(), "berth-killed-"))
  await using http = await HttpService.listen((request, response) => void service.answer(request, response))
  try {
    await using first = maker(http.url, folder)
    await service.due
    await first.kill()
    service.isKilled = true
    await using second = maker(http.url, folder)
    const { stdout } = await second.ended
    const { outcome } = JSON.parse(stdout) as { outcome: string }
    return { outcome, nodes: service.nodes.length, posts: service.posts }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const steps: Record<string, { readonly script: Script; readonly expected: Awaited<ReturnType<typeof run>> }> = {
  "before it has read the list": {
    script: {
      onList: (service) => {
        service.kill()
        return service.isKilled ? undefined : "hang"
      },
      onPost: create
    },
    expected: { outcome: "created", nodes: 1, posts: 1 }
  },
  "in the queue, with nothing left of the allowance": {
    script: {
      onList: (service) => {
        if (!service.isKilled) void delay(1000).then(service.kill)
        service.allowance = service.isKilled
          ? { limit: 100, remaining: 99, resetAt: 0 }
          : { limit: 100, remaining: 0, resetAt: Math.ceil(Date.now() / 1000) + 30 }
      },
      onPost: create
    },
    expected: { outcome: "created", nodes: 1, posts: 1 }
  },
  "while a refusal makes it wait for 35 s": {
    script: {
      onPost: (service, response) => {
        if (service.isKilled) return create(service, response)
        void delay(1000).then(service.kill)
        service.reply(response, 429, {}, { "retry-after": "35" })
      }
    },
    expected: { outcome: "created", nodes: 1, posts: 2 }
  },
  "after it waited for 35 s and sent, its reply still to come": {
    script: {
      onList: (service) => {
        if (service.posts > 0) service.allowance = { limit: 100, remaining: 99, resetAt: 0 }
        else if (service.lists === 1) {
          service.allowance = { limit: 100, remaining: 0, resetAt: Math.ceil(Date.now() / 1000) + 35 }
        }
      },
      onPost: (service) => {
        service.make()
        service.kill()
      }
    },
    expected: { outcome: "adopted", nodes: 1, posts: 1 }
  },
  "after it was sent, its reply still to come": {
    script: {
      onPost: (service) => {
        service.make()
        service.kill()
      }
    },
    expected: { outcome: "adopted", nodes: 1, posts: 1 }
  },
  "after it was sent to a service that takes 40 s to make the node": {
    script: {
      onPost: async (service) => {
        service.kill()
        await delay(40_000)
        service.make()
      }
    },
    expected: { outcome: "adopted", nodes: 1, posts: 1 }
  },
  "a second after it was sent to a service that lost it": {
    script: { onPost: (service) => void delay(1000).then(service.kill) },
    expected: { outcome: "OutcomeUnknown", nodes: 0, posts: 1 }
  },
  "in the moment it was sent to a service that lost it": {
    script: { onPost: (service, response) => (service.isKilled ? create(service, response) : service.kill()) },
    expected: { outcome: "OutcomeUnknown", nodes: 0, posts: 1 }
  },
  "while it polls for a node that the list does not show yet": {
    script: {
      listed: (service) => (service.isKilled ? service.nodes : []),
      onList: (service) => {
        if (service.posts > 0) service.kill()
      },
      onPost: (service, response) => {
        service.make()
        response.destroy()
      }
    },
    expected: { outcome: "adopted", nodes: 1, posts: 1 }
  }
}

/** These cases wait for half a minute or longer. */
const long = [
  "while a refusal makes it wait for 35 s",
  "after it waited for 35 s and sent, its reply still to come",
  "after it was sent to a service that takes 40 s to make the node",
  "a second after it was sent to a service that lost it",
  "in the moment it was sent to a service that lost it"
]

describe.concurrent("a process that is killed with SIGKILL while it creates under a key", () => {
  for (const [when, { expected, script }] of Object.entries(steps)) {
    if (!isSoak && long.includes(when)) continue
    it(`${when}: the next one with that key ends as "${expected.outcome}", with ${expected.nodes} made`, async () => {
      assert.deepStrictEqual(await run(script), expected)
    })
  }
})
