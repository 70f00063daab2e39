/** What chats, alerts and mails say about an event, in one sentence for people. Pure. */
import { sentenceOf } from "../events/sentences.ts"

/** Maximum length of a message in characters; chats reject longer ones. */
const maxText = 1500

export const shorten = (text: string, max = maxText): string =>
  text.length > max ? `${text.slice(0, max - 1)}…` : text

/** A string on one line. Names come from outside, and a line break would begin another message, or another header of a mail. */
export const onOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim()

/** The name of the event's account. */
export const accountOf = ({ source }: { readonly source: unknown }): string =>
  decodeURIComponent(String(source).slice("/accounts/".length))

/**
 * An event in one sentence for people, on one line. Names come from outside: a format with markup has to escape the sentence, so that they
 * do not become markup or mention people.
 */
export const messageOf = (event: any): string => {
  const { data, subject } = event
  const { name } = data.after ?? data.before ?? {}
  const id = /^nodes\/(\d+)$/.exec(String(subject))?.[1]
  const node = id === undefined ? "" : typeof name === "string" ? `${name} (${id}) ` : `Node ${id} `
  const text = `${node}${sentenceOf(event).text}`
  const reasons: ReadonlyArray<string> = (data.silenced ?? []).map(({ reason }: { reason: string }) => reason)
  const late = reasons.length === 0 ? "" : ` (Held by a silence: ${reasons.join("; ")}.)`
  return shorten(onOneLine(`[${accountOf(event)}] ${text}${text.endsWith(".") ? "" : "."}${late}`))
}
