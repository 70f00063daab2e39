/** What happened, latest first. Nothing moves while the reader reads further down. */
import { signal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { Select } from "@berthkit/web/components/Select"
import { countText, pluralText } from "@berthkit/web/components/text"
import { instantText, spanText } from "@berthkit/web/components/times"
import { useRef } from "preact/hooks"
import { account, areEventsRead, events, eventsSince, moment, spanMillis } from "./board.ts"
import { EventRows } from "./EventRow.tsx"
import { causedBy, comingsAndGoings, eventsOf, maxKeptEvents } from "./Knowledge.ts"
import { openNode } from "./NodeDetails.tsx"
import type { WatchEvent } from "./watchApi.ts"

/** Events that are shown at first, and how many more each time the reader reaches the end. */
const eventsAtOnce = 50

/** The events that were there when the reader scrolled. */
const held = signal<ReadonlyArray<WatchEvent> | undefined>(undefined)
const count = signal(eventsAtOnce)

const causes = [
  { value: "", text: "All events" },
  { value: "unknown", text: "Unexpected deletions" },
  { value: "requested", text: "Requested deletions" },
  { value: "lease", text: "Ended leases" },
  { value: "commitment", text: "Ended commitments" }
]

const causeIn = (search: string): string => {
  const given = new URLSearchParams(search).get("cause")
  return causes.find(({ value }) => value === given)?.value ?? ""
}

/** The cause of the deletions that are shown; "" for all events. The address has it, so that it can be a link. */
const cause = signal(causeIn(location.search))

const chooseCause = (chosen: string): void => {
  const url = new URL(location.href)
  if (chosen === "") url.searchParams.delete("cause")
  else url.searchParams.set("cause", chosen)
  history.replaceState(history.state, "", url)
  cause.value = chosen
  toLatestEvents()
}

/** Shows the new events when the list is scrolled to the top. */
export const toLatestEvents = (): void => {
  held.value = undefined
  count.value = eventsAtOnce
  document.getElementById("events")?.scrollTo(0, 0)
}

/** The creations and deletions within the time of the histories, or as far back as the page knows all of them. */
const recentText = (): string => {
  if (!areEventsRead.value) return `– created, – deleted in the last ${spanText(spanMillis.value)}`
  const fromMillis = moment.value - spanMillis.value
  const since = eventsSince.value
  const isPart = events.value.length >= maxKeptEvents && since > fromMillis
  const { created, deleted } = comingsAndGoings(events.value, account.value, isPart ? since : fromMillis)
  const time = isPart ? `since ${instantText(since, moment.value)}` : `in the last ${spanText(spanMillis.value)}`
  return `${countText(created)} created, ${countText(deleted)} deleted ${time}`
}

export const Timeline = () => {
  const list = useRef<HTMLOListElement>(null)
  const all = causedBy(eventsOf(events.value, account.value), cause.value)
  const shown = held.value ?? all
  const last = shown.at(-1)
  const news = last === undefined ? all.length : all.length - 1 - all.lastIndexOf(last)
  const note = () => {
    const { clientHeight, scrollHeight, scrollTop } = list.current!
    if (scrollTop === 0) {
      held.value = undefined
      count.value = eventsAtOnce
      return
    }
    held.value ??= all
    const isAtEnd = scrollTop + clientHeight > scrollHeight - clientHeight
    if (isAtEnd && count.value < held.value.length) count.value += eventsAtOnce
  }
  const showNews = () => {
    toLatestEvents()
    requestAnimationFrame(() => list.current?.querySelector("summary")?.focus())
  }
  return (
    <section class="sheet timeline" aria-labelledby="events-title">
      <div class="timeline-head">
        <h2 id="events-title">Events</h2>
        <p class="note">{recentText()}</p>
        <label>
          <span class="unseen">Which events</span>
          <Select id="cause" value={cause.value} options={causes} onChange={chooseCause} />
        </label>
        {held.value === undefined || news === 0 ? null : (
          <Button isSmall onClick={showNews}>
            ↑ {pluralText(news, "new event")}
          </Button>
        )}
      </div>
      <ol id="events" class="events" aria-labelledby="events-title" ref={list} onScroll={note}>
        <EventRows
          events={shown}
          count={count.value}
          emptyText={
            !areEventsRead.value
              ? "reading"
              : cause.value === ""
                ? "No events yet. Changes to the nodes appear here as they happen."
                : "No such deletions among the latest events."
          }
          onNode={openNode}
        />
      </ol>
    </section>
  )
}
