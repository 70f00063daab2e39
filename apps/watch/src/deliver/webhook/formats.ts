/**
 * What a webhook posts: the event itself, or a message about it in the format of a chat.
 */
import type { Format } from "../SinkOptions.ts"

export interface Post {
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** Chats take no more. */
const maxText = 1500

const shorten = (text: string) => (text.length > maxText ? `${text.slice(0, maxText - 1)}…` : text)

const word = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null))

/** An event in one sentence for people. Names come from outside: they may not become markup, nor mention people. */
const sentenceOf = (json: string): string => {
  const { data, source, subject, type } = JSON.parse(json)
  const account = decodeURIComponent(String(source).slice("/accounts/".length))
  const { name } = data.after ?? data.before ?? {}
  const node = typeof name === "string" ? `${name} (${String(subject).slice("nodes/".length)})` : String(subject)
  const sentence = (): string => {
    switch (type) {
      case "berth.node.created":
        return `${node} was created.`
      case "berth.node.discovered":
        return `${node} exists and is ${word(data.after?.status)}.`
      case "berth.node.status_changed":
        return `${node} is ${word(data.to)} (was ${word(data.from)}).`
      case "berth.node.changed":
        return `${node} was changed.`
      case "berth.node.deleted":
        return `${node} was deleted.`
      case "berth.node.stuck":
        return `${node} is stuck.`
      case "berth.node.unstuck":
        return `${node} goes on.`
      case "berth.watch.degraded":
        return `Degraded: ${word(data.message)}`
      case "berth.watch.recovered":
        return `Recovered.`
      case "berth.sink.disabled":
        return `The sink ${word(data.sink)} is disabled: ${word(data.message)}`
      default:
        return subject === undefined ? `${type}.` : `${type}: ${node}.`
    }
  }
  return shorten(`[${account}] ${sentence()}`)
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
      return asJson({ text: forSlack(sentenceOf(json)) })
    case "discord":
      return asJson({ content: sentenceOf(json), allowed_mentions: { parse: [] } })
    case "ntfy": {
      const title = String(JSON.parse(json).type).replaceAll(/[^\w.]/g, "")
      return { contentType: "text/plain; charset=utf-8", body: sentenceOf(json), headers: { title } }
    }
  }
}
