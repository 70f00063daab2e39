/** How many nodes exist by status, and their monthly cost by plan and by tag. */
import { computed } from "@preact/signals"
import { Bar } from "@berthkit/web/components/Bar"
import { Folded } from "@berthkit/web/components/Folded"
import { Isolated } from "@berthkit/web/components/Isolated"
import { countText, plain, pluralText } from "@berthkit/web/components/text"
import { toneOfStatus } from "@berthkit/web/components/statuses"
import { account, choose, moment, nodesOfAccount, prices, stale, status, view } from "./board.ts"
import { costsOf, countsByStatus, type NodeRow } from "./nodes.ts"
import { asOfText, boundText, priceText } from "./wording.ts"

const planOf = ({ plan }: NodeRow): ReadonlyArray<string> => (plan === null ? [] : [plan])
const tagsOf = ({ tags }: NodeRow): ReadonlyArray<string> => tags

const byPlan = computed(() => costsOf(prices.value, nodesOfAccount.value, planOf))
const byTag = computed(() => costsOf(prices.value, nodesOfAccount.value, tagsOf))
const hasTags = computed(() => prices.value.size > 0 && nodesOfAccount.value.some(({ tags }) => tags.length > 0))

/** Whether no account was read yet, so that zero would not be a number of nodes. */
export const areUnknown = computed(() => {
  const accounts = status.value.accounts.filter((each) => account.value === "" || each.account === account.value)
  return nodesOfAccount.value.length === 0 && accounts.every(({ lastSweep }) => lastSweep === null)
})

const Statuses = () => {
  const counts = countsByStatus(nodesOfAccount.value)
  const chosen = view.value.status
  // Keep the chosen filter in the list, so that it can be removed after the last of its nodes has changed.
  if (chosen !== "" && !counts.has(chosen)) counts.set(chosen, 0)
  const statuses = Array.from(counts, ([name, count]) => ({ name, count, tone: toneOfStatus(name) }))
  return (
    <>
      <Bar parts={statuses.map(({ count, tone }) => ({ tone, share: count }))} />
      <ul class="legend" aria-label="Show only nodes of a status">
        {statuses.map(({ count, name, tone }) => (
          <li key={name}>
            <button
              type="button"
              class="bare"
              aria-pressed={name === chosen}
              onClick={() => choose({ status: name === chosen ? "" : name })}
            >
              <i class={`fill ${tone}`} />
              {plain(name)} <b>{countText(count)}</b>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The instant of the numbers, if they may be outdated. */
const asOf = computed(() => {
  if (stale.value.size === 0) return { isAll: false, text: "" }
  const accounts = [...new Set(nodesOfAccount.value.map(({ account }) => account))]
  const old = accounts.filter((each) => stale.value.has(each))
  const isAll = old.length > 0 && old.length === accounts.length
  const [oldest] = old.map((each) => stale.value.get(each)!).sort((a, b) => a.atMillis - b.atMillis)
  if (oldest === undefined) return { isAll, text: "" }
  const whose = old.length === 1 ? plain(old[0]!) : pluralText(old.length, "account")
  const from = oldest.isBefore ? "from " : ""
  return { isAll, text: `${isAll ? "All of it" : `Nodes of ${whose}`} ${from}${asOfText(oldest, moment.value)}` }
})

interface PricesProps {
  readonly title: string
  readonly costs: typeof byPlan
}

/** The prices are summed only while they are shown. */
const Prices = ({ costs, title }: PricesProps) => (
  <Folded
    class="prices"
    title={title}
    content={() => (
      <ul aria-label={title}>
        {costs.value.byName.map(({ name, nodes, price }) => (
          <li key={name}>
            <Isolated text={name} /> <small>{pluralText(nodes, "node")}</small> <b>{priceText(price)}</b>
          </li>
        ))}
      </ul>
    )}
  />
)

export const Totals = () => {
  const { total, unpriced } = byPlan.value
  const arePriced = prices.value.size > 0
  return (
    <section class={asOf.value.isAll ? "sheet totals old" : "sheet totals"} aria-labelledby="total-title">
      <h2 id="total-title" class="unseen">
        In total
      </h2>
      <div class="figures">
        <p>
          <b id="total">{areUnknown.value ? "–" : countText(nodesOfAccount.value.length)}</b>{" "}
          {nodesOfAccount.value.length === 1 ? "node" : "nodes"}
        </p>
        <p>
          <b id="cost">{arePriced ? boundText(total) : "–"}</b> per month
        </p>
      </div>
      <Statuses />
      {asOf.value.text === "" ? null : (
        <p id="as-of" class="note">
          {asOf.value.text}
        </p>
      )}
      {arePriced && unpriced > 0 ? (
        <p class="note">{`at least: ${pluralText(unpriced, "node")} without an exact price`}</p>
      ) : null}
      <div class="folds">
        {byPlan.value.byName.length === 0 ? null : <Prices title="Price by plan" costs={byPlan} />}
        {hasTags.value ? <Prices title="Price by tag" costs={byTag} /> : null}
      </div>
    </section>
  )
}
