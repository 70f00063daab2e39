/** Which process watches which account, if several processes share a store. Empty if one process has a file. */
import { Badge } from "@berthkit/web/components/Badge"
import { Folded } from "@berthkit/web/components/Folded"
import { Isolated } from "@berthkit/web/components/Isolated"
import { pluralText } from "@berthkit/web/components/text"
import { instantText } from "@berthkit/web/components/times"
import { isOld, lastSweepText } from "./Accounts.tsx"
import { account, moment, status } from "./board.ts"
import type { AccountStatus, Status } from "./watchApi.ts"

/** At most this many accounts are shown: those that were taken over last, because only they have changed. */
const maxOwned = 100

const Process = ({ process }: { readonly process: Status["processes"][number] }) => (
  <li>
    <Isolated text={process.process} /> <b>{pluralText(process.accounts, "account")}</b>
    {process.isHere ? (
      <>
        {" "}
        <Badge tone="coming">this page</Badge>
      </>
    ) : null}
    {/* The processes repair this themselves, so it is no alarm. */}
    {process.isHeard ? null : (
      <>
        {" "}
        <Badge tone="warm">not heard of</Badge>
      </>
    )}
  </li>
)

interface Owned extends AccountStatus {
  readonly owner: NonNullable<AccountStatus["owner"]>
}

const Row = ({ owned }: { readonly owned: Owned }) => {
  const { from, process, since } = owned.owner
  return (
    <tr class={isOld(owned) ? "stale" : ""}>
      <th scope="row">
        <Isolated text={owned.account} />
      </th>
      <td class="of-owner">
        <Isolated text={process} />
      </td>
      <td class="of-since">
        <time dateTime={since}>{instantText(Date.parse(since), moment.value)}</time>
      </td>
      <td class="of-former">{from === null ? null : <Isolated text={from} />}</td>
      <td class="of-sweep">{lastSweepText(owned)}</td>
    </tr>
  )
}

const Owners = () => {
  const owned = status.value.accounts
    .filter(
      (each): each is Owned => each.owner !== undefined && (account.value === "" || each.account === account.value)
    )
    .sort((a, b) => Date.parse(b.owner.since) - Date.parse(a.owner.since) || (a.account < b.account ? -1 : 1))
  const more = owned.length - maxOwned
  return (
    <>
      <div class="owners" tabIndex={0} role="region" aria-label="Who watches which account">
        <table>
          <thead>
            <tr>
              {["Account", "Watched by", "Since", "Taken over from", "Last sweep"].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody id="owners">
            {owned.slice(0, maxOwned).map((each) => (
              <Row key={each.account} owned={each} />
            ))}
          </tbody>
        </table>
      </div>
      {more > 0 ? <p class="note">{`and ${pluralText(more, "account")} taken over before`}</p> : null}
    </>
  )
}

export const Fleet = () => {
  const { processes } = status.value
  if (processes.length === 0) return null
  return (
    <section id="fleet" class="sheet folds" aria-labelledby="fleet-title">
      <h2 id="fleet-title">Processes</h2>
      <ul id="processes" aria-labelledby="fleet-title">
        {processes.map((process) => (
          <Process key={process.process} process={process} />
        ))}
      </ul>
      <Folded title="Who watches which account" content={() => <Owners />} />
    </section>
  )
}
