// The events that a sink gave up on: why, since when, and one by one once more.
import { empty, isolated, make, paintRows, plain, setText } from "@berthkit/web/rows.js"
import { now } from "./model.js"
import { meaningOf, nodeKeyOf, nodeNameOf } from "./timeline.js"
import { instantText, pluralText } from "./wording.js"

/** More are not looked at one by one: `berth-watch sinks dead` prints all. */
export const maxDeadLetters = 100

const deadLetterDialog = document.getElementById("dead-letters")

const deadLetterRow = ({ attempts, event, id, reason, since }, sink, onRetry) => {
  const [tone, ...meaning] = meaningOf(event)
  const name = nodeKeyOf(event) === undefined ? [] : [make("strong", { children: [isolated(nodeNameOf(event))] }), " "]
  const retry = make("button", { type: "button", className: "quiet small", text: "Retry" })
  retry.ariaLabel = `Retry ${id}`
  retry.onclick = () => onRetry(sink, id)
  const when = make("time", { dateTime: since, text: instantText(Date.parse(since), now()) })
  return make("li", {
    className: tone,
    children: [
      make("p", { className: "what", children: [...name, ...meaning] }),
      make("small", { children: [when, ` · ${pluralText(attempts, "attempt")} · ${plain(reason)}`] }),
      retry
    ]
  })
}

/** What became of the last attempt. */
export const replyAboutDeadLetter = (text) => setText(document.getElementById("dead-letters-reply"), text)

/** The sink whose dead letters are shown, if any. */
export const sinkOfDeadLetters = () => (deadLetterDialog.open ? deadLetterDialog.dataset.sink : undefined)

/** Shows those of a sink; `count` is how many it has. */
export const paintDeadLetters = (sink, letters, count, onRetry) => {
  const rest = count > letters.length ? `, the first ${letters.length} of ${count}` : ""
  setText(document.getElementById("dead-letters-title"), `Dead letters of ${plain(sink)}${rest}`)
  const parent = document.getElementById("dead-letter-rows")
  if (letters.length > 0) {
    paintRows(
      parent,
      letters,
      ({ id }) => id,
      (letter) => deadLetterRow(letter, sink, onRetry)
    )
  } else {
    paintRows(
      parent,
      ["None is left."],
      () => "none",
      (text) => empty(text)
    )
  }
  if (sinkOfDeadLetters() === undefined) {
    deadLetterDialog.dataset.sink = sink
    replyAboutDeadLetter("")
    deadLetterDialog.showModal()
  }
}

export const hideDeadLetters = () => deadLetterDialog.close()

document.getElementById("dead-letters-close").onclick = hideDeadLetters
deadLetterDialog.onclick = ({ target }) => {
  if (target === deadLetterDialog) hideDeadLetters()
}
