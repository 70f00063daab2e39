/** Shows how well the daemon watches each account. */
import { Badge } from "@berthkit/web/components/Badge"
import { Meter } from "@berthkit/web/components/Bar"
import { Fact } from "@berthkit/web/components/Fact"
import { Isolated } from "@berthkit/web/components/Isolated"
import { countText, pluralText } from "@berthkit/web/components/text"
import { shortText, spanText } from "@berthkit/web/components/times"
import { account, lostMillis, second, stale, status } from "./board.ts"
import { toneOf } from "./states.ts"
import type { AccountStatus } from "./watchApi.ts"
import { toneOfAllowance } from "./wording.ts"

/** The next sweep is unknown while the daemon cannot be reached. */
const nextSweepText = ({ nextSweepAt, state }: AccountStatus): string => {
  if (nextSweepAt === null || lostMillis.value !== undefined) return "–"
  const millis = Date.parse(nextSweepAt) - second.value
  return millis < 500 ? (state === "degraded" ? "being tried" : "under way") : `in ${spanText(millis)}`
}

const hourMillis = 3_600_000

const isElsewhere = ({ owner }: AccountStatus): boolean => owner?.isHere === false

/** Whether nothing new is known about the account since its last sweep. */
export const isOld = ({ account }: AccountStatus): boolean => stale.value.get(account)?.isBefore === false

/**
 * The age of the last sweep. If another process watches the account, this process knows of its last sweep up to a minute late, so the age
 * is an upper bound.
 */
export const lastSweepText = (shown: AccountStatus): string => {
  const { lastSweep } = shown
  if (lastSweep === null) return "no sweep yet"
  const millis = Date.parse(lastSweep.endedAt)
  const age = spanText(second.value - millis)
  if (isOld(shown)) return `${shortText(millis, second.value)} · ${age}`
  return isElsewhere(shown) ? `at most ${age} ago` : `${age} ago`
}

const refillText = (resetAt: string | null): string => {
  const millis = resetAt === null ? -1 : Date.parse(resetAt) - second.value
  return millis < 0 ? "" : `refills in ${spanText(millis)}`
}

/** How many requests the daemon may make, and what for. */
const requestsText = ({ lastSweep, requestsPerHour, sweepIntervalMillis }: AccountStatus): string | undefined => {
  if (requestsPerHour === null) return undefined
  const share = Math.round(requestsPerHour)
  const ofSweep = lastSweep?.requests ?? null
  if (ofSweep === null || sweepIntervalMillis === null) return `up to ${pluralText(share, "request")} an hour`
  const forSweeps = Math.min(Math.round((ofSweep * hourMillis) / sweepIntervalMillis), share)
  return `${countText(forSweeps)} of ${pluralText(share, "request")} an hour for sweeps`
}

const Head = ({ shown: { account, state } }: { readonly shown: AccountStatus }) => (
  <p class="account-head">
    <Isolated text={account} /> <Badge tone={toneOf("account", account, state, status.value.troubles)}>{state}</Badge>
  </p>
)

interface RowProps {
  readonly shown: AccountStatus
  /** Whether it is the only account. Its head is then shown as the head of the card. */
  readonly isOnly: boolean
}

const Row = ({ isOnly, shown }: RowProps) => {
  const { allowance, detectionLatencyMillis, lastSweep, state } = shown
  const isStale = isOld(shown) || (lastSweep === null && state === "degraded")
  const requests = requestsText(shown)
  return (
    <li class={[...(isStale ? ["stale"] : []), ...(isElsewhere(shown) ? ["elsewhere"] : [])].join(" ")}>
      {isOnly ? null : <Head shown={shown} />}
      {allowance === null ? null : (
        <div class="gauge">
          <Meter
            label="Allowance left"
            value={allowance.remaining}
            max={allowance.limit}
            tone={toneOfAllowance(allowance)}
          />
          <p>
            <span>{`${countText(allowance.remaining)} of ${countText(allowance.limit)} requests left`}</span>
            <span class="refill">{refillText(allowance.resetAt)}</span>
          </p>
        </div>
      )}
      <dl>
        <Fact name="Next sweep" class="next-sweep">
          {nextSweepText(shown)}
        </Fact>
        <Fact name="Last sweep" class="last-sweep">
          {lastSweepText(shown)}
        </Fact>
        <Fact name="Detection latency">{detectionLatencyMillis === null ? "–" : spanText(detectionLatencyMillis)}</Fact>
      </dl>
      {requests === undefined ? null : <p class="note share">{requests}</p>}
    </li>
  )
}

/** Accounts in trouble first, because there is room for few. */
export const Accounts = () => {
  const accounts = status.value.accounts
    .filter((each) => account.value === "" || each.account === account.value)
    .sort((a, b) => Number(a.state === "watching") - Number(b.state === "watching"))
  const isOnly = accounts.length === 1
  return (
    <section class="sheet" aria-labelledby="accounts-title">
      <div class="account-head">
        <h2 id="accounts-title">{isOnly ? "Account" : "Accounts"}</h2>
        {isOnly ? <Head shown={accounts[0]!} /> : null}
      </div>
      <ul id="accounts" class={isOnly ? "accounts" : "accounts compact"} tabIndex={0} aria-labelledby="accounts-title">
        {accounts.map((shown) => (
          <Row key={shown.account} shown={shown} isOnly={isOnly} />
        ))}
      </ul>
    </section>
  )
}
