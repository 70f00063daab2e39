/** What a mail about an event says: its subject, its text, and an id that every attempt repeats. Pure. */
import { messageOf, onOneLine, shorten } from "../messages.ts"
import { Result } from "effect"
import type { MailOptions } from "../SinkOptions.ts"
import { domainOf } from "./mailboxes.ts"

export interface Mail {
  readonly subject: string
  readonly text: string
  /** With its angle brackets. It has the domain of the sender, and depends on nothing else but the event. */
  readonly messageId: string
}

/** Maximum length of a subject in characters. Mail programs show less. */
const maxSubject = 200

/** The mail about the event `json` with the id `id`. Fails if the user's own subject or text fails. */
export const toMail = (
  { from, subject, template }: Pick<MailOptions, "from" | "subject" | "template">,
  id: string,
  json: string
): Result.Result<Mail, string> => {
  const event = JSON.parse(json)
  const sentence = messageOf(event)
  const usual = `${sentence}\n\nType: ${event.type}\nTime: ${event.time}\nEvent: ${id}\n`
  return Result.map(
    Result.all([subject?.(json) ?? Result.succeed(sentence), template?.(json) ?? Result.succeed(usual)]),
    ([subject, text]) => ({
      subject: shorten(onOneLine(subject), maxSubject),
      text,
      messageId: `<${id}@${domainOf(from)}>`
    })
  )
}
