import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { readConfig } from "../../src/config/Config.ts"
import { eventTypes } from "../../src/events/Event.ts"

const page = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8")

describe("the docs of the daemon", () => {
  it("have a line for each type of event, and for no other", () => {
    const documented = Array.from(page("watch-events.md").matchAll(/^\| `(berth\.[\w.]+)` \|/gm), ([, type]) => type)
    expect(documented.toSorted()).toEqual(eventTypes.toSorted())
  })

  it.each([
    ["watch.md", 3],
    ["reference/daemon.md", 5]
  ])("show a config that is taken as it is: %s", (name, sinks) => {
    const [, yaml = ""] = /```yaml\n([^]*?)```/.exec(page(name)) ?? []
    const secret = `whsec_${Buffer.alloc(32).toString("base64")}`
    const variables: Record<string, string> = {
      OPS_SECRET: secret,
      CHAT_URL: "https://chat.example.com/1",
      BEAT_URL: "https://beat.example.com"
    }
    const found = readConfig(yaml, {
      path: "/etc/berth/watch.yml",
      variable: (name) => variables[name] ?? "secret-0123456789",
      file: () => "token-0123456789"
    })
    expect(Result.isFailure(found) ? found.failure : found.success.sinks).toHaveLength(sinks)
  })
})
