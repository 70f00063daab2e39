/**
 * What a webhook posts: the event itself, or a message about it in the format of a chat.
 */
import { sentenceOf } from "../../events/sentences.js"
import type { Format } from "../SinkOptions.ts"

export interface Post {
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Chats take no more. */
const maxText = 1500

const shorten = (text: string) => (text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text)

/** An event in one sentence for people. Names come from outside: they may not become markup, nor mention people. */
const messageOf = (json: string): string => {
  const event = JSON.parse(json)
  const { data, source, subject } = event
  const account = decodeURIComponent(String(source).slice("/accounts/".length))
  const { name } = data.after ?? data.before ?? {}
  const id = /^nodes\/(\d+)$/.exec(String(subject))?.[1]
  const node = id === undefined ? "" : typeof name === "string" ? `${name} (${id}) ` : `Node ${id} `
  const text = `${node}${sentenceOf(event).text}`
  const reasons: ReadonlyArray<string> = (data.silenced ?? []).map(({ reason }: { reason: string }) => reason)
  const late = reasons.length === 0 ? "" : ` (Held by a silence: ${reasons.join("; ")}.)`
  return shorten(`[${account}] ${text}${text.endsWith(".") ? "" : "."}${late}`)
}

/** Slack's three characters of markup. */
const forSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const asJson = (value: unknown): Post => ({
  contentType: "application/json",
  body: JSON.stringify(value),
  headers: {}
})

export const toPost = (format: Format, json: string): Post => {
  switch (format) {
    case "cloudevents":
      return { contentType: "application/cloudevents+json", body: json, headers: {} }
    case "slack":
      return asJson({ text: forSlack(messageOf(json)) })
    case "discord":
      return asJson({ content: messageOf(json), allowed_mentions: { parse: [] } })
    case "ntfy": {
      const title = String(JSON.parse(json).type).replaceAll(/[^\w.]/g, "")
      return { contentType: "text/plain; charset=utf-8", body: messageOf(json), headers: { title } }
    }
  }
}
