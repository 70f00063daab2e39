/** What the accounts spent this month, day by day. Accounts without known nodes are left out. */
import { account, costs } from "./board.ts"
import { spendingOf } from "./spending.ts"

const Note = ({ text }: { readonly text: string }) => (text === "" ? null : <p class="note">{text}</p>)

export const Spending = () => {
  const accounts = costs.value.filter((each) => account.value === "" || each.account === account.value)
  if (accounts.length === 0) return null
  const { budget, days, doubt, expected, highest, isOverBudget, spent } = spendingOf(accounts)
  return (
    <section id="spending" class="sheet" aria-labelledby="spending-title">
      <h2 id="spending-title" class="unseen">
        What was spent
      </h2>
      <div class="spending-head">
        <div>
          <h3>Spent this month</h3>
          <p class="amount" id="spent">
            {spent}
          </p>
        </div>
        <div>
          <h3>Expected by its end</h3>
          <p class={isOverBudget ? "amount over" : "amount"} id="expected">
            {expected}
          </p>
        </div>
      </div>
      <div class="spending-days">
        <ol id="days" aria-label="Spent by day">
          {days.map(({ height, isAhead, name, text }) => (
            <li key={name} title={text}>
              <i class={isAhead ? "ahead" : ""} style={{ height: `${height}%` }} />
              <span class="unseen">{text}</span>
            </li>
          ))}
        </ol>
        <div class="spending-notes">
          <Note text={budget} />
          <Note text={highest} />
          <Note text={doubt} />
        </div>
      </div>
    </section>
  )
}
