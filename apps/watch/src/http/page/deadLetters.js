// The events that a sink gave up on: why, since when, and one by one once more.
import { make, plain, setText } from "@berthkit/web/rows.js"
import { now } from "./model.js"
import { byId, closeByReader, paintRowsOrNone, smallButton } from "./parts.js"
import { meaningOf, nodeTitle } from "./timeline.js"
import { instantText, pluralText } from "./wording.js"

/** More are not looked at one by one: `berth-watch sinks dead` prints all. */
export const maxDeadLetters = 100

const deadLetterDialog = byId("dead-letters")

const deadLetterRow = ({ attempts, event, id, reason, since }, sink, onRetry) => {
  const [tone, ...meaning] = meaningOf(event)
  const when = make("time", { dateTime: since, text: instantText(Date.parse(since), now()) })
  return make("li", {
    className: tone,
    children: [
      make("p", { className: "what", children: [...nodeTitle(event), ...meaning] }),
      make("small", { children: [when, ` · ${pluralText(attempts, "attempt")} · ${plain(reason)}`] }),
      smallButton("Retry", `Retry ${id}`, () => onRetry(sink, id))
    ]
  })
}

/** What became of the last attempt. */
export const replyAboutDeadLetter = (text) => setText(byId("dead-letters-reply"), text)

/** The sink whose dead letters are shown, if any. */
export const sinkOfDeadLetters = () => (deadLetterDialog.open ? deadLetterDialog.dataset.sink : undefined)

/** Shows those of a sink; `count` is how many it has. */
export const paintDeadLetters = (sink, letters, count, onRetry) => {
  const rest = count > letters.length ? `, the first ${letters.length} of ${count}` : ""
  setText(byId("dead-letters-title"), `Dead letters of ${plain(sink)}${rest}`)
  const rowOf = (letter) => deadLetterRow(letter, sink, onRetry)
  paintRowsOrNone(byId("dead-letter-rows"), letters, ({ id }) => id, rowOf, "None is left.")
  if (sinkOfDeadLetters() === undefined) {
    deadLetterDialog.dataset.sink = sink
    replyAboutDeadLetter("")
    deadLetterDialog.showModal()
  }
}

export const hideDeadLetters = () => deadLetterDialog.close()

closeByReader(deadLetterDialog)
