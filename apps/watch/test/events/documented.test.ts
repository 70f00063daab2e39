import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { readConfig } from "../../src/config/readConfig.ts"
import { compileTemplate } from "../../src/deliver/template/compileTemplate.ts"
import { toPost } from "../../src/deliver/webhook/toPost.ts"
import { eventTypes } from "../../src/events/Event.ts"

const root = fileURLToPath(new URL("../../../..", import.meta.url))
const page = (path: string): string => readFileSync(join(root, path), "utf8")

/** All YAML blocks in pages that are a config of the daemon, or a part of one. */
const configs = globSync(["README.md", "{docs,apps,integrations}/**/*.md"], {
  cwd: root,
  exclude: (name) => name === "node_modules" || name === "dist"
})
  .toSorted()
  .flatMap((path) =>
    Array.from(page(path).matchAll(/^```yaml\n([^]*?)^```$/gm), ([, yaml]) => ({ path, yaml: yaml! })).filter(
      ({ yaml }) => /^(store|listen|accounts|sinks|heartbeat|retention):/m.test(yaml)
    )
  )

const account = `accounts:
  - { name: default, baseUrl: "https://api.example.com", apiKey: { env: API_KEY }, accessToken: { env: ACCESS_TOKEN } }
`

const read = (yaml: string) => {
  const addresses: Record<string, string> = {
    OPS_SECRET: `whsec_${Buffer.alloc(32).toString("base64")}`,
    CHAT_URL: "https://chat.example.com/1",
    BEAT_URL: "https://beat.example.com",
    DATABASE_URL: "postgres://watch:secret@db.example.com/watch"
  }
  return readConfig(/^accounts:/m.test(yaml) ? yaml : yaml + account, {
    path: "/etc/berth/watch.yml",
    // Variables of systemd or PostgreSQL are not set.
    variable: (name) => (/^(PG|STATE_)/.test(name) ? undefined : (addresses[name] ?? `secret-0123456789-${name}`)),
    file: () => "token-0123456789",
    compileTemplate
  })
}

describe("the docs of the daemon", () => {
  it("have a line for each type of event, and for no other", () => {
    const lines = page("docs/watch-events.md").matchAll(/^\| `(berth\.[\w.]+)` \|/gm)
    expect(Array.from(lines, ([, type]) => type).toSorted()).toEqual(eventTypes.toSorted())
  })

  it.each(configs)("show a config that is taken as it is: $path", ({ yaml }) => {
    expect(Result.getFailure(read(yaml))).toMatchObject({ _tag: "None" })
  })

  it("shows templates that give what they say", () => {
    const { yaml } = configs.find(({ yaml }) => yaml.includes("template:"))!
    const [phone, room] = Result.getOrThrow(read(yaml)).sinks.map(({ target }) => {
      if (target._tag !== "Webhook") throw new Error("not a webhook")
      return (event: object) => Result.getOrThrow(toPost(target, JSON.stringify(event)))
    })
    const deleted = { type: "berth.node.deleted", data: { before: { name: "web" }, after: null } }
    expect(phone!(deleted)).toMatchObject({ contentType: "text/plain", body: "web: deleted" })
    const degraded = { type: "berth.watch.degraded", data: { trouble: "list-empty", message: 'The "list" is empty.' } }
    const post = room!(degraded)
    expect(post.contentType).toBe("application/json")
    expect(JSON.parse(post.body)).toEqual({
      text: 'The "list" is empty.',
      fields: [{ title: "trouble", value: "list-empty" }]
    })
  })

  it.each([
    ["docs/watch.md", 3],
    ["docs/reference/daemon.md", 7]
  ])("show every sink: %s", (path, sinks) => {
    const { yaml } = configs.find((config) => config.path === path)!
    expect(Result.getOrUndefined(read(yaml))?.sinks).toHaveLength(sinks)
  })
})
