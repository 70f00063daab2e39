// Which process watches which account, where several have one store: nothing is shown of it where one process has a file.
import { isolated, make, paintRows, setText, tag } from "@berthkit/web/rows.js"
import { lastSweepText } from "./overview.js"
import { model, now, staleAccounts } from "./model.js"
import { byId } from "./parts.js"
import { instantText, pluralText } from "./wording.js"

/** Of thousands of accounts, those that were taken over the last: they are what changed. */
const maxOwned = 100

const processRow = ({ accounts, isHeard, isHere, process }) => {
  const notes = [
    ...(isHere ? [" ", tag("this page", "coming")] : []),
    // What the fleet sees to by itself is no alarm.
    ...(isHeard ? [] : [" ", tag("not heard of", "warm")])
  ]
  return make("li", {
    children: [isolated(process), " ", make("b", { text: pluralText(accounts, "account") }), ...notes]
  })
}

const ownedRow = ({ account, from, process, since }) => {
  const name = make("th", { className: "of-account", scope: "row", children: [isolated(account)] })
  const cells = [
    ["of-owner", [isolated(process)]],
    ["of-since", [make("time", { dateTime: since, text: instantText(Date.parse(since), now()) })]],
    ["of-former", from === null ? [] : [isolated(from)]],
    ["of-sweep", []]
  ].map(([className, children]) => make("td", { className, children }))
  const row = make("tr", { children: [name, ...cells] })
  row.dataset.account = account
  return row
}

const ownedAccounts = (account) =>
  model.status.accounts
    .filter((status) => status.owner !== undefined && (account === "" || status.account === account))
    .sort((a, b) => Date.parse(b.owner.since) - Date.parse(a.owner.since) || (a.account < b.account ? -1 : 1))

/** `account`: the one that is shown alone, or empty. */
export const paintFleet = (account) => {
  const { processes } = model.status
  byId("fleet").hidden = processes.length === 0
  if (processes.length === 0) return
  paintRows(byId("processes"), processes, ({ process }) => process, processRow)
  const owned = ownedAccounts(account)
  const today = new Date(now()).toDateString()
  paintRows(
    byId("owners"),
    owned
      .slice(0, maxOwned)
      .map(({ account, owner: { from, process, since } }) => ({ account, from, process, since, today })),
    ({ account }) => account,
    ownedRow
  )
  const more = owned.length - maxOwned
  setText(byId("more-owned"), more > 0 ? `and ${pluralText(more, "account")} taken over before` : "")
  paintFleetTimes()
}

/** `lostMillis`: since when the daemon cannot be reached. */
export const paintFleetTimes = (lostMillis) => {
  if (byId("fleet").hidden) return
  const accounts = new Map(model.status.accounts.map((status) => [status.account, status]))
  const stale = staleAccounts(model.status, lostMillis)
  for (const row of byId("owners").children) {
    const status = accounts.get(row.dataset.account)
    if (status === undefined) continue
    const isStale = stale.get(status.account)?.isBefore === false
    setText(row.querySelector(".of-sweep"), lastSweepText(status, isStale))
    row.classList.toggle("stale", isStale)
  }
}
