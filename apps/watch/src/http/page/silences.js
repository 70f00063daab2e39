// Silences: which there are, a new one, and the end of one.
import { isolated, make, plain, setText, tag } from "@berthkit/web/rows.js"
import { model, now } from "./model.js"
import { byId, closeByReader, paintChoices, paintRowsOrNone, smallButton } from "./parts.js"
import { countText, offsetText, pluralText, shortText, spanText } from "./wording.js"

const silenceDialog = byId("silences")
const newSilence = byId("new-silence")

const silenceTones = { planned: "off", active: "warm", over: "off" }

/** What a silence covers, in words. */
const coveredText = ({ accounts, nodes, sinks }) => {
  const ofAccounts = accounts.length === 0 ? "" : ` of ${accounts.map(plain).join(", ")}`
  const what = nodes.length === 0 ? `Everything${ofAccounts}` : `${nodes.map(plain).join(", ")}${ofAccounts}`
  return sinks.length === 0 ? what : `${what}, for ${sinks.map(plain).join(", ")}`
}

const silenceTimeText = ({ from, state, until }) => {
  const end = shortText(Date.parse(until), now())
  if (state === "planned") return `from ${shortText(Date.parse(from), now())} until ${end}`
  return state === "over" ? `ended ${end}` : `until ${end}, ${spanText(Date.parse(until) - now())} left`
}

const silenceCountsText = ({ dropped, held, state, then }) => {
  const parts = state === "over" && held === 0 ? [] : [`${countText(held)} held`]
  if (dropped > 0) parts.push(`${countText(dropped)} dropped`)
  if (state !== "over") parts.push(then === "deliver" ? "delivered at the end" : "dropped at the end")
  return parts.map((part) => ` · ${part}`).join("")
}

const silenceRow = (silence, onEnd) => {
  const { held, id, reason, state } = silence
  const covered = coveredText(silence)
  const end = (text, then) => smallButton(text, `${text}: ${covered}`, () => onEnd(id, then))
  const ends =
    state === "over"
      ? []
      : state === "planned"
        ? [end("Cancel")]
        : held === 0
          ? [end("End")]
          : [end("End, deliver", "deliver"), end("End, drop", "drop")]
  return make("li", {
    children: [
      make("p", {
        className: "what",
        children: [make("strong", { children: [isolated(covered)] }), " ", tag(state, silenceTones[state])]
      }),
      make("p", { children: [isolated(reason)] }),
      make("small", { text: silenceTimeText(silence) + silenceCountsText(silence) }),
      make("div", { className: "actions", children: ends })
    ]
  })
}

/** Silences that are active, in a line beside the sinks that they are about. */
export const paintSilenceLine = () => {
  const active = model.status.silences.filter(({ state }) => state === "active")
  const held = active.reduce((sum, silence) => sum + silence.held, 0)
  const line = `${pluralText(active.length, "silence")} active, ${pluralText(held, "event")} held`
  setText(byId("silence-line"), active.length === 0 ? "" : line)
}

export const areSilencesShown = () => silenceDialog.open

/** What became of the last action. */
export const replyAboutSilence = (text) => setText(byId("silences-reply"), text)

export const paintSilences = (silences, onEnd) => {
  const accounts = model.status.accounts.map(({ account }) => account)
  const sinks = model.status.sinks.filter(({ state }) => state !== "removed").map(({ sink }) => sink)
  paintChoices(newSilence.elements.account, "All accounts", accounts)
  paintChoices(newSilence.elements.sink, "All sinks", sinks)
  const minute = Math.floor(now() / 60_000)
  paintRowsOrNone(
    byId("silence-rows"),
    silences.toReversed().map((silence) => ({ ...silence, minute })),
    ({ id }) => id,
    (silence) => silenceRow(silence, onEnd),
    "No silence. During one, sinks get no events until it ends; the timeline shows them at once."
  )
}

/** The offset of the time that is written, which on another day may be another one. */
const paintZone = () => {
  const { value } = newSilence.elements.from
  const written = value === "" ? new Date(now()) : new Date(value)
  setText(byId("begins-zone"), offsetText(-written.getTimezoneOffset()))
}

export const openSilences = () => {
  replyAboutSilence("")
  paintZone()
  silenceDialog.showModal()
}

export const hideSilences = () => silenceDialog.close()

/** What its reader has written, as the daemon takes it. Instants are those of the daemon's clock. */
const silenceOf = ({ account, atEnd, from, lasting, nodes, reason, sink }) => {
  const fromMillis = from.value === "" ? now() : new Date(from.value).getTime()
  return {
    nodes: nodes.value.split(/[\s,]+/).filter((pattern) => pattern !== ""),
    accounts: account.value === "" ? [] : [account.value],
    sinks: sink.value === "" ? [] : [sink.value],
    ...(from.value === "" ? {} : { from: new Date(fromMillis).toISOString() }),
    until: new Date(fromMillis + Number(lasting.value) * 1000).toISOString(),
    reason: reason.value.trim(),
    then: atEnd.value
  }
}

/** `onAdd` gives whether there is a new silence now. */
export const startSilences = ({ onAdd }) => {
  closeByReader(silenceDialog)
  newSilence.elements.from.oninput = paintZone
  newSilence.onsubmit = async (event) => {
    event.preventDefault()
    if (await onAdd(silenceOf(newSilence.elements))) {
      newSilence.reset()
      paintZone()
    }
  }
}
