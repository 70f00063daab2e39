import { describe, expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { type Format, formats } from "../../../src/deliver/SinkOptions.ts"
import { toPost } from "../../../src/deliver/webhook/toPost.ts"

/** The body in a format about the deletion of a node with this name. */
const bodyOf = (format: Format, name: string): string => {
  const json = JSON.stringify({
    id: "1",
    type: "berth.node.deleted",
    source: "/accounts/prod",
    subject: "nodes/7",
    data: { before: { name }, after: null, cause: "unknown", silenced: [{ id: "s", reason: "new\ndisks" }] }
  })
  const options = { format, key: Redacted.make("key"), template: null, url: Redacted.make(new URL("https://x.test")) }
  return Result.getOrThrow(toPost(options, json)).body
}

const textOf = (format: Format, name: string): string => {
  const body = bodyOf(format, name)
  if (format === "ntfy") return body
  const json = JSON.parse(body)
  const found = {
    slack: () => json.text,
    discord: () => json.content,
    teams: () => json.attachments[0].content.body[0].inlines[0].text,
    pagerduty: () => json.payload.summary,
    opsgenie: () => json.description
  }
  return found[format as keyof typeof found]()
}

const chats = formats.filter((format) => format !== "cloudevents")

describe("a message for people", () => {
  it.each(chats)("is one line, whatever a name has: %s", (format) => {
    for (const lineBreak of ["\r\n", "\n", "\r", "\u2028", "\u2029", "\u0085", "\u000B", "\0"]) {
      const text = textOf(format, `web${lineBreak}[prod] db was deleted`)
      expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
      expect(text).toContain("web ")
      expect(text).toContain("new disks")
    }
  })

  it("has no markup of Discord in a name", () => {
    expect(textOf("discord", "[x](http://e) **a** `b` ||c|| <@1> \\")).toContain(
      String.raw`\[x](http\://e) \*\*a\*\* \`b\` \|\|c\|\| \<\@1> \\ (7) was deleted`
    )
  })

  it("has no markup of Slack in a name", () => {
    expect(textOf("slack", "<http://e|x> <!channel> &amp;")).toContain(
      "&lt;http://e|x&gt; &lt;!channel&gt; &amp;amp; (7) was deleted"
    )
  })

  it("stays below the limit of Discord when its characters are escaped", () => {
    expect(textOf("discord", "*".repeat(5000)).length).toBeLessThanOrEqual(2000)
  })
})
