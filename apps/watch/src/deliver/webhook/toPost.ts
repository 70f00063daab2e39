/**
 * Makes the post of a webhook about an event: the event itself, a message for people in the format of a chat, or an alert that opens or
 * closes an incident. Pure.
 */
import { Redacted, Result } from "effect"
import { hashOf } from "../../events/Event.ts"
import { type EventTone, sentenceOf } from "../../events/sentences.ts"
import { accountOf, messageOf, shorten } from "../messages.ts"
import type { WebhookOptions } from "../SinkOptions.ts"

export interface Post {
  readonly url: URL
  readonly contentType: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
}

/** PagerDuty's maximum length of a summary is 1024, Opsgenie's of a message 130. */
const maxSummary = 1024
const maxMessage = 130

/** Escapes Slack's three markup characters. */
const forSlack = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

/** Maximum length of a message of Discord, with the backslashes. */
const maxDiscord = 2000

/** Escapes everything that Discord reads as Markdown, a mention or a link. */
const forDiscord = (text: string) => shorten(text.replaceAll(/[\\*_~`|[<@]|:(?=\/)/g, String.raw`\$&`), maxDiscord)

/** A card of Teams. A `TextRun` shows its text as it is, without Markdown. */
const teamsCard = (text: string) => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      contentUrl: null,
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [{ type: "RichTextBlock", inlines: [{ type: "TextRun", text }] }]
      }
    }
  ]
})

/** The alert that an event opens or ends. Alerts with the same parts are one alert. */
interface Alert {
  readonly ends: boolean
  readonly parts: ReadonlyArray<unknown>
}

/** An event that no other event ends opens an alert of its own, which a person closes. */
const alertOf = ({ data, id, source, subject, type }: any): Alert => {
  switch (type) {
    case "berth.node.stuck":
      return { ends: false, parts: [source, subject, "stuck"] }
    case "berth.node.unstuck":
      return { ends: true, parts: [source, subject, "stuck"] }
    case "berth.node.deleted":
      // Somebody asked for the deletion, so nobody needs to look at the node.
      return data.cause === "unknown" ? { ends: false, parts: [id] } : { ends: true, parts: [source, subject, "stuck"] }
    case "berth.watch.degraded":
    case "berth.watch.recovered":
      return { ends: type === "berth.watch.recovered", parts: [source, data.trouble] }
    case "berth.watch.trouble":
    case "berth.watch.trouble_ended":
      return {
        ends: type === "berth.watch.trouble_ended",
        parts: [source, data.trouble, data.about.kind, data.about.name]
      }
    default:
      return { ends: false, parts: [id] }
  }
}

/** A key of fixed length, because receivers bound it. */
const keyOf = ({ parts }: Alert) => hashOf(parts)

const severities: Readonly<Record<EventTone, string>> = { bad: "critical", warm: "warning", good: "info", off: "info" }
const priorities: Readonly<Record<EventTone, string>> = { bad: "P1", warm: "P3", good: "P5", off: "P5" }

/** An event of PagerDuty's Events API v2. */
const forPagerDuty = (event: any, routingKey: string) => {
  const alert = alertOf(event)
  const common = { routing_key: routingKey, dedup_key: keyOf(alert) }
  if (alert.ends) return { ...common, event_action: "resolve" }
  return {
    ...common,
    event_action: "trigger",
    client: "berth-watch",
    payload: {
      summary: shorten(messageOf(event), maxSummary),
      source: accountOf(event),
      severity: severities[sentenceOf(event).tone],
      ...(event.time !== undefined && { timestamp: event.time }),
      ...(event.subject !== undefined && { component: event.subject }),
      class: event.type,
      custom_details: event
    }
  }
}

/** A request of Opsgenie's Alert API: the path below the address, and the body. */
const forOpsgenie = (event: any) => {
  const alert = alertOf(event)
  const alias = keyOf(alert)
  const common = { source: "berth-watch" }
  if (alert.ends) return { path: `/${alias}/close`, body: { ...common, note: messageOf(event) } }
  return {
    path: "",
    body: {
      ...common,
      alias,
      message: shorten(messageOf(event), maxMessage),
      description: messageOf(event),
      priority: priorities[sentenceOf(event).tone],
      entity: event.subject ?? accountOf(event),
      details: { account: accountOf(event), type: event.type, event: event.id }
    }
  }
}

/** The post about the event `json`. Fails if the user's own template fails. */
export const toPost = (
  { template, ...options }: Pick<WebhookOptions, "format" | "key" | "template" | "url">,
  json: string
): Result.Result<Post, string> => {
  if (template === null) return Result.succeed(inFormat(options, json))
  const { contentType, render } = template
  return Result.map(render(json), (body) => ({ url: Redacted.value(options.url), contentType, body, headers: {} }))
}

/** The post about an event in the format of the receiver. */
const inFormat = (
  { format, key, url: secretUrl }: Pick<WebhookOptions, "format" | "key" | "url">,
  json: string
): Post => {
  const url = Redacted.value(secretUrl)
  const asJson = (value: unknown): Post => ({
    url,
    contentType: "application/json",
    body: JSON.stringify(value),
    headers: {}
  })
  const secretKey = key === null ? "" : Redacted.value(key)
  switch (format) {
    case "cloudevents":
      return { url, contentType: "application/cloudevents+json", body: json, headers: {} }
    case "slack":
      return asJson({ text: forSlack(messageOf(JSON.parse(json))) })
    case "discord":
      return asJson({ content: forDiscord(messageOf(JSON.parse(json))), allowed_mentions: { parse: [] } })
    case "teams":
      return asJson(teamsCard(messageOf(JSON.parse(json))))
    case "ntfy": {
      const event = JSON.parse(json)
      const title = String(event.type).replaceAll(/[^\w.]/g, "")
      return { url, contentType: "text/plain; charset=utf-8", body: messageOf(event), headers: { title } }
    }
    case "pagerduty":
      return asJson(forPagerDuty(JSON.parse(json), secretKey))
    case "opsgenie": {
      const { body, path } = forOpsgenie(JSON.parse(json))
      const target = new URL(url)
      if (path !== "") {
        target.pathname = `${url.pathname.replace(/\/$/, "")}${path}`
        target.searchParams.set("identifierType", "alias")
      }
      return { ...asJson(body), url: target, headers: { authorization: `GenieKey ${secretKey}` } }
    }
  }
}
