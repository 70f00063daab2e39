// What is wrong at the moment, in one place above all else: the connection, and the troubles that the daemon reports.
import { isolated, make, paintRows, plain } from "@berth/web/rows.js"
import { model, now } from "./model.js"
import { instantText, pluralText } from "./wording.js"

/** There is to be room for the nodes. */
const maxLines = 8

/** Accounts of the same trouble that are named. */
const maxNamed = 8

const since = (millis) => ` Since ${instantText(millis, now())}.`

const unreachable = (lostMillis) => ({
  key: "daemon",
  tone: "bad",
  subject: "The daemon cannot be reached.",
  text: `${since(lostMillis)} What is shown is from then; this page tries again by itself.`,
  count: 1
})

const namesText = (troubles) => {
  const names = troubles.slice(0, maxNamed).map(({ about }) => about.name)
  const rest = troubles.length - names.length
  return names.join(", ") + (rest > 0 ? ` and ${rest} more` : "")
}

/** A service that is down is one trouble to look at, however many accounts are there. */
const lineOf = (alike) => {
  const [{ about, message, name, next, severity }] = alike
  const who = about.name === null ? "" : `${about.kind === "sink" ? "Sink " : ""}${namesText(alike)}: `
  return {
    key: `${name} ${alike.length === 1 ? about.name : message}`,
    tone: severity === "critical" ? "bad" : "warm",
    subject: `${who}${message}`,
    text: `${since(Math.min(...alike.map(({ since }) => Date.parse(since))))} ${next}`,
    count: alike.length
  }
}

/**
 * The worst first. `account` is empty for all; what is about no account is shown with each. `lostMillis`: since when nothing comes
 * in. `count` of a line is how many troubles it stands for.
 */
export const troublesOf = (account, lostMillis) => {
  const shown = model.status.troubles.filter(
    ({ about }) => account === "" || about.kind !== "account" || about.name === account
  )
  const groups = Map.groupBy(shown, ({ about, message, name }) =>
    about.kind === "account" ? `${name} ${message}` : `${name} ${about.name}`
  )
  return [...(lostMillis === undefined ? [] : [unreachable(lostMillis)]), ...Array.from(groups.values(), lineOf)]
}

const countOf = (lines) => lines.reduce((sum, { count }) => sum + count, 0)

/** A line for each, and one for those that there is no room for. */
const linesOf = (troubles) => {
  const shown = troubles.length <= maxLines ? troubles : troubles.slice(0, maxLines - 1)
  const rest = countOf(troubles) - countOf(shown)
  const head =
    troubles.length === 0
      ? { key: "head", tone: "good", subject: "All well.", text: "" }
      : { key: "head", tone: "head", subject: pluralText(countOf(troubles), "problem"), text: "" }
  const more = { key: "more", tone: "warm", subject: `${rest} more`, text: ", all of them in berth-watch status" }
  return [head, ...shown, ...(rest > 0 ? [more] : [])]
}

export const paintTroubles = (troubles) =>
  paintRows(
    document.getElementById("troubles"),
    linesOf(troubles),
    ({ key }) => key,
    ({ subject, text, tone }) =>
      make("p", {
        className: `trouble ${tone}`,
        children: [make("strong", { children: [isolated(subject)] }), make("span", { text: plain(text) })]
      })
  )
