/** The receivers of `docs/watch-receivers.md`, as a user runs them: with the packed package and the published frameworks. */
import { createHmac, randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createServer } from "node:net"
import { Program } from "@berthkit/testing/Program"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Project } from "./Project.ts"
import { nodes, runtimes } from "./runtimes.ts"
import { tarballs } from "./tarballs.ts"

const page = new URL("../../docs/watch-receivers.md", import.meta.url)
const frameworks = ["express@5.3.0", "hono@4.13.19", "@hono/node-server@2.1.9"]
const names = ["http", "express", "hono"] as const

let project: Project

const blocksOf = (markdown: string, language: string) =>
  Array.from(markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm")), ([, text]) => text!)

beforeAll(async () => {
  const watch = tarballs().find((path) => path.includes("berthkit-watch-"))!
  project = await Project.with([watch, ...frameworks])
  const markdown = await readFile(page, "utf8")
  const programs = blocksOf(markdown, "js")
  expect(programs).toHaveLength(names.length)
  for (const [i, name] of names.entries()) await project.write(`${name}.mjs`, programs[i]!)
  const [typed] = blocksOf(markdown, "ts")
  await project.write("typed.ts", `${typed}\nexport { nameOf }\n`)
})

afterAll(async () => {
  await project?.[Symbol.asyncDispose]()
})

const secret = `whsec_${randomBytes(32).toString("base64")}`
const event = {
  specversion: "1.0",
  id: "e1",
  source: "/accounts/main",
  type: "berth.node.deleted",
  subject: "nodes/7",
  time: "2026-03-01T10:00:00.000Z",
  datacontenttype: "application/json",
  data: { before: { id: 7, name: "web" }, after: null }
}
const body = JSON.stringify(event)

const headersOf = (text: string) => {
  const seconds = String(Math.floor(new Date().getTime() / 1000))
  const key = Buffer.from(secret.slice("whsec_".length), "base64")
  const signature = createHmac("sha256", key).update(`e1.${seconds}.${text}`).digest("base64")
  return {
    "content-type": "application/cloudevents+json",
    "webhook-id": "e1",
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${signature}`
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })

const post = (url: string, text: string, headers: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(url, { method: "POST", headers, body: text })

describe.each([
  ...names.map((name) => [name, "Node", [process.execPath]] as const),
  ["http", "Node 22", [nodes["22.19.0"]]] as const,
  ...Object.entries(runtimes).map(([runtime, command]) => ["hono", runtime, command] as const)
])("the receiver with %s on %s", (name, _runtime, [command, ...before]) => {
  it("accepts signed bodies, and refuses changed ones", async () => {
    const port = await freePort()
    await using receiver = new Program(command, [...before, `${name}.mjs`], {
      cwd: project.folder,
      env: { OPS_SECRET: secret, PORT: String(port) }
    })
    await receiver.printed(/^listening$/m)
    const url = `http://127.0.0.1:${port}/`
    expect((await post(url, body, headersOf(body))).status).toBe(204)
    await receiver.printed(/^web is gone$/m)
    const refused = await post(url, body.replace("web", "db"), headersOf(body))
    expect([refused.status, await refused.text()]).toEqual([
      400,
      "No signature of the delivery matches any of the secrets."
    ])
  })
})

it.each(["nodenext", "bundler"] as const)(
  "its types narrow by the type, with the resolution %s",
  async (resolution) => {
    expect(await project.typeFaults(resolution)).toBe("")
  }
)

it("a CommonJS script requires it", async () => {
  const { stderr, stdout } = await project.require(
    `console.log(typeof require("@berthkit/watch").verify, require("@berthkit/watch/events.json").title)`
  )
  expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "function The events that berth-watch delivers\n" })
})
