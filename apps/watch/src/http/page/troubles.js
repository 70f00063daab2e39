// What is wrong at the moment, in one place above all else: the connection, accounts, their allowances, sinks.
import { isolated, make, paintRows, plain } from "@berth/web/rows.js"
import { model, now } from "./model.js"
import { instantText, isLow, pluralText } from "./wording.js"

/** There is to be room for the nodes. */
const maxLines = 8

/** Accounts of the same trouble that are named. */
const maxNamed = 8

const since = (millis) => `since ${instantText(millis, now())}`

const unreachable = (lostMillis) => ({
  key: "daemon",
  tone: "bad",
  subject: "The daemon cannot be reached",
  text: ` ${since(lostMillis)}. What is shown is from then; this page tries again by itself.`
})

const namesText = (accounts) => {
  const names = accounts.slice(0, maxNamed).map(({ account }) => account)
  const rest = accounts.length - names.length
  return names.join(", ") + (rest > 0 ? ` and ${rest} more` : "")
}

/** A service that is down is one trouble, however many accounts are there. */
const accountTroubles = (accounts) =>
  Array.from(
    Map.groupBy(
      accounts.filter(({ trouble }) => trouble !== null),
      ({ state, trouble }) => `${state} ${trouble.message}`
    ),
    ([key, alike]) => {
      const [{ account, state, trouble }] = alike
      const beginMillis = Math.min(...alike.map(({ trouble }) => Date.parse(trouble.since)))
      const isOne = alike.length === 1
      return {
        key: isOne ? `account ${account}` : `accounts ${key}`,
        tone: state === "frozen" ? "warm" : "bad",
        subject: isOne ? `${account} is ${state}` : `${pluralText(alike.length, "account")} are ${state}`,
        text: ` ${since(beginMillis)}: ${trouble.message}${isOne ? "" : ` (${namesText(alike)})`}`
      }
    }
  )

const unreadableTroubles = (accounts) =>
  accounts
    .filter(({ unreadable }) => unreadable !== null)
    .map(({ account, unreadable: { count, example } }) => ({
      key: `unreadable ${account}`,
      tone: "warm",
      subject: `${pluralText(count, "record")} of ${account} cannot be read`,
      text: `: ${example}`
    }))

const allowanceTroubles = (accounts) => {
  const low = accounts.filter(({ allowance }) => allowance !== null && isLow(allowance))
  if (low.length === 0) return []
  const subject = low.length === 1 ? "The allowance is low" : "Allowances are low"
  return [{ key: "allowance", tone: "warm", subject, text: `: ${namesText(low)}` }]
}

const sinkTroubles = (sinks) =>
  sinks
    .filter(({ state }) => state !== "up")
    .map(({ failingSince, message, sink, state }) => ({
      key: `sink ${sink}`,
      tone: "bad",
      subject: `Sink ${sink} is ${state}`,
      text:
        (failingSince === null ? "" : ` ${since(Date.parse(failingSince))}`) + (message === null ? "" : `: ${message}`)
    }))

/** The worst first. `account` is empty for all; sinks are those of all accounts. `lostMillis`: since when nothing comes in. */
export const troublesOf = (account, lostMillis) => {
  const accounts = model.status.accounts.filter((status) => account === "" || status.account === account)
  return [
    ...(lostMillis === undefined ? [] : [unreachable(lostMillis)]),
    ...accountTroubles(accounts),
    ...sinkTroubles(model.status.sinks),
    ...unreadableTroubles(accounts),
    ...allowanceTroubles(accounts)
  ]
}

/** A line for each, and one for those that there is no room for. */
const linesOf = (troubles) =>
  troubles.length <= maxLines
    ? troubles
    : [
        ...troubles.slice(0, maxLines - 1),
        {
          key: "more",
          tone: "warm",
          subject: `${troubles.length - maxLines + 1} more`,
          text: ", which are marked below"
        }
      ]

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
