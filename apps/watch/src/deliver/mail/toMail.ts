/** What a mail about an event says: its subject, its text, and an id that every attempt repeats. Pure. */
import { messageOf, shorten } from "../messages.ts"
import { domainOf, type Mailbox } from "./mailboxes.ts"

export interface Mail {
  readonly subject: string
  readonly text: string
  /** With its angle brackets. It has the domain of the sender, and depends on nothing else but the event. */
  readonly messageId: string
}

/** Maximum length of a subject in characters. Mail programs show less. */
const maxSubject = 200

/** A text on one line. Names come from outside, and a line break in a header would begin another header. */
export const onOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").trim()

/** The mail about the event `json` with the id `id`. */
export const toMail = (from: Mailbox, id: string, json: string): Mail => {
  const event = JSON.parse(json)
  const sentence = onOneLine(messageOf(event))
  return {
    subject: shorten(sentence, maxSubject),
    text: `${sentence}\n\nType: ${event.type}\nTime: ${event.time}\nEvent: ${id}\n`,
    messageId: `<${id}@${domainOf(from)}>`
  }
}
