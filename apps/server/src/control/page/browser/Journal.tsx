/** The requests to the world that match the filter, newest first. */
import { signal } from "@preact/signals"
import { Badge, type Tone } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Empty } from "@berthkit/web/components/Empty"
import { Isolated } from "@berthkit/web/components/Isolated"
import { once } from "@berthkit/web/components/sameValues"
import { quoted } from "@berthkit/terminal/quoted"
import { countText, plain, plainLines, pluralText } from "@berthkit/web/components/text"
import { downloadArchive, forgetRequests } from "./actions.ts"
import { commandOf, control, type JournalEntry, type JournalPage } from "./controlPlane.ts"
import { readOperations } from "./questions.tsx"
import { headerText, isFiltering, letsThrough, readable, statusFilters, targetText } from "./wording.ts"
import { filter, filterRequests, maxEntries, world } from "./world.ts"

const toneOf = (status: number | null): Tone =>
  status === null || status >= 500 ? "bad" : status >= 400 ? "warm" : "good"

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

interface SideProps {
  readonly name: string
  readonly headers: JournalEntry["headers"]
  readonly body: string | null
  /** Length of the whole body in bytes, if the journal keeps only its beginning. */
  readonly bytes: number | undefined
  /** The text that is shown if there is no body. */
  readonly otherwise: string
}

const Block = ({ text, title }: { readonly title: string; readonly text: string }) => (
  <>
    <p>{title}</p>
    <pre tabIndex={0}>{plainLines(indented(text))}</pre>
  </>
)

/** The request or its reply: headers, and the body or the reason why none is shown. */
const Side = ({ body, bytes, headers, name, otherwise }: SideProps) => {
  const lines = headerText(headers)
  const title = bytes === undefined ? "Body" : `Body, the beginning of ${countText(bytes)} bytes`
  return (
    <div>
      <h3>{name}</h3>
      {lines === "" ? null : <Block title="Headers" text={lines} />}
      {body === null || body === "" ? <p>{otherwise}</p> : <Block title={title} text={body} />}
    </div>
  )
}

const Exchange = ({ entry }: { readonly entry: JournalEntry }) => {
  const { body, bodyBytes, durationMillis, headers, operation, reply, replyBytes, replyHeaders, seq, status } = entry
  const answered =
    status === null ? "a fault prevented the reply" : `answered in ${countText(durationMillis)} ms of world time`
  const noReply = status === null ? "None." : reply === "" ? "No body." : "The body of a success is not kept."
  return (
    <>
      <p>{`Request ${seq} · ${operation ?? "no operation"} · ${answered}`}</p>
      <div class="sides">
        <Side name="Request" headers={headers} body={body} bytes={bodyBytes} otherwise="No body." />
        <Side
          name={status === null ? "Reply" : `Reply ${status}`}
          headers={replyHeaders}
          body={reply}
          bytes={replyBytes}
          otherwise={noReply}
        />
      </div>
    </>
  )
}

const rowOf = once((entry: JournalEntry) => {
  const { at, change, durationMillis, faults, method, seq, status } = entry
  return (
    <li key={seq}>
      <details>
        <summary>
          <span class="at">{readable(at)}</span>
          <span class="method">{plain(method)}</span>
          <span>
            <Badge tone={toneOf(status)}>{status ?? "none"}</Badge>
          </span>
          <span class="what">
            <Isolated text={targetText(entry)} />
            {faults.map((name) => (
              <>
                {" "}
                <Badge tone="bad">{name}</Badge>
              </>
            ))}
            {change === undefined ? null : (
              <>
                {" "}
                <Badge tone="warm">the world was {change}</Badge>
              </>
            )}
          </span>
          {/* Show no duration in a world with a frozen clock, because nothing takes time there. */}
          <span class="took">{durationMillis === 0 ? null : `${countText(durationMillis)} ms`}</span>
        </summary>
        {change === undefined ? <Exchange entry={entry} /> : null}
      </details>
    </li>
  )
})

/** How many requests exist, and how many are shown. */
const countsText = (isFiltered: boolean, matching: number, shown: number, requests: number, total: number): string => {
  const latest = (number: number) => `latest ${countText(number)} of ${countText(total)}`
  if (total === 0) return ""
  if (!isFiltered) return shown < total ? latest(shown) : countText(total)
  const searched = requests < total ? latest(requests) : pluralText(total, "request")
  return `${countText(matching)} of the ${searched}${shown < matching ? `: the last ${shown} are shown` : ""}`
}

/** The operations to filter by. They are loaded as soon as the server answers. */
const operations = signal<ReadonlyArray<string>>([])
let areOffered = false

/** Loads the operations of the interface for the filter. */
export const offerOperations = (): void => {
  if (areOffered) return
  areOffered = true
  readOperations().then(
    (names) => (operations.value = names),
    () => (areOffered = false)
  )
}

const FilterForm = ({ isLiving }: { readonly isLiving: boolean }) => {
  const { operation, status, text } = filter.value
  return (
    <form
      id="filter-form"
      class="actions"
      role="search"
      aria-label="Requests"
      onSubmit={(event) => event.preventDefault()}
    >
      <input
        id="filter-text"
        type="search"
        aria-label="Text in a request or its reply"
        placeholder="Search requests"
        autocomplete="off"
        spellcheck={false}
        defaultValue={text}
        onInput={({ currentTarget }) => filterRequests({ text: currentTarget.value.trim() })}
      />
      <select
        aria-label="Operation"
        value={operation}
        onChange={({ currentTarget }) => filterRequests({ operation: currentTarget.value })}
      >
        <option value="">Every operation</option>
        {operations.value.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <select
        aria-label="Status"
        value={status}
        onChange={({ currentTarget }) => filterRequests({ status: currentTarget.value })}
      >
        <option value="">Every status</option>
        {Array.from(statusFilters, ([value, { name }]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <span class="actions">
        <Button onClick={downloadArchive}>Download HAR</Button>
        {isLiving ? <Button onClick={forgetRequests}>Forget requests</Button> : null}
      </span>
    </form>
  )
}

const commandsOf = (): ReadonlyArray<string> => {
  const params = { world: world.value }
  const archive = control.prepare("GET /_mock/worlds/:world/requests.har", { params })
  const forgetting = control.prepare("DELETE /_mock/worlds/:world/requests", { params })
  return [`${commandOf(archive)} > ${quoted(`${world.value}.har`)}`, commandOf(forgetting)]
}

interface JournalProps {
  readonly journal: JournalPage
  /** Whether the world is running, so that more requests may come. */
  readonly isLiving: boolean
}

/** The list of requests. In `requests`, the oldest entry comes first. */
export const Journal = ({ isLiving, journal: { count, requests } }: JournalProps) => {
  const isFiltered = isFiltering(filter.value)
  const matching = isFiltered ? requests.filter(letsThrough(filter.value)) : requests
  const shown = matching.slice(-maxEntries)
  const none =
    requests.length > 0
      ? "No request matches the filter."
      : isLiving
        ? "No requests yet. Those with the credentials of this world appear here as they come."
        : "Nothing was asked with the credentials of this world."
  return (
    <section class="sheet" aria-labelledby="journal-title">
      <div class="folds">
        <h2 id="journal-title">
          {isLiving ? "Journal" : "Last journal"}{" "}
          <span class="note" role="status">
            {countsText(isFiltered, matching.length, shown.length, requests.length, count)}
          </span>
        </h2>
        {isLiving || count > 0 ? <FilterForm isLiving={isLiving} /> : null}
        <Commands commands={isLiving ? commandsOf() : []} />
      </div>
      <ol id="journal">{shown.length === 0 ? <Empty>{none}</Empty> : shown.toReversed().map(rowOf)}</ol>
    </section>
  )
}
