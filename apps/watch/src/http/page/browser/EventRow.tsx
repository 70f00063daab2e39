/** An event as a sentence that unfolds to show the state before and after. */
import { Badge, type Tone } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Isolated } from "@berthkit/web/components/Isolated"
import { quoted } from "@berthkit/terminal/quoted"
import { plain } from "@berthkit/web/components/text"
import { dayText, minuteText, wholeInstantText } from "@berthkit/web/components/times"
import { toneOfStatus } from "@berthkit/web/components/statuses"
import { useSignal } from "@preact/signals"
import { sentenceOf } from "../../../events/sentences.ts"
import { areMixed, readMillis, status, today } from "./board.ts"
import { accountOf, nodeKeyOf, ofTheDaemon } from "./Knowledge.ts"
import type { Fields, WatchEvent } from "./watchApi.ts"
import { nameText, statusText } from "./wording.ts"

/** If an event is a change of status, the two statuses say it best. */
const changeIn = ({ data: { from, to }, type }: WatchEvent) =>
  type === "berth.node.status_changed" && from !== undefined && to !== undefined
    ? { from: statusText(from), to: statusText(to) }
    : undefined

export const toneOfEvent = (event: WatchEvent): Tone => {
  const change = changeIn(event)
  return change === undefined ? sentenceOf(event).tone : toneOfStatus(change.to)
}

/** The name of the event's node, in front of what happened to it. */
export const NodeTitle = ({ event }: { readonly event: WatchEvent }) => {
  const { data, subject } = event
  const name = data.after?.["name"] ?? data.before?.["name"] ?? subject ?? ""
  return nodeKeyOf(event) === undefined ? null : (
    <>
      <strong>
        <Isolated text={nameText(String(name))} />
      </strong>{" "}
    </>
  )
}

export const Meaning = ({ event }: { readonly event: WatchEvent }) => {
  const change = changeIn(event)
  return change === undefined ? (
    <>{plain(sentenceOf(event).text)}</>
  ) : (
    <>
      <span class="from">{plain(change.from)}</span>{" "}
      <span class="to">
        → <Badge tone={toneOfStatus(change.to)}>{plain(change.to)}</Badge>
      </span>
    </>
  )
}

const fieldText = (value: unknown): string =>
  value === null || value === undefined ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value)

/** The fields in which two records differ; all fields if there is only one record. */
const differences = (before: Fields | null | undefined, after: Fields | null | undefined) =>
  [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
    .map((name) => [name, fieldText(before?.[name]), fieldText(after?.[name])] as const)
    .filter(([, from, to]) => from !== to)

const Differences = ({ event: { data } }: { readonly event: WatchEvent }) => (
  <table>
    <thead>
      <tr>
        {["Field", "Before", "After"].map((text) => (
          <th key={text} scope="col">
            {text}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {differences(data.before, data.after).map(([name, from, to]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>
            <Isolated text={from} />
          </td>
          <td>
            <Isolated text={to} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const observedText = ([first, last]: readonly [string, string]): string => {
  const [from, to] = [first, last].map((instant) => wholeInstantText(Date.parse(instant)))
  return from === to ? `Observed at ${to}.` : `Between ${from} and ${to}.`
}

/** Who asked for a deletion, and when. */
const askedText = ({ at, command, lease }: NonNullable<WatchEvent["data"]["causedBy"]>): string =>
  [
    `Asked for at ${wholeInstantText(Date.parse(at))}`,
    ...(command === null ? [] : [`with berth ${command}`]),
    ...(lease === null ? [] : [`for the lease ${lease}`])
  ].join(", ") + "."

/** The commands that set a sink back to before an event. A sink that gets no events of this type sends only the others. */
const replaysOf = (event: WatchEvent, cursor: string): ReadonlyArray<string> => {
  // Cursors count the events of all accounts.
  const before = cursor === "1" ? "" : String(Number(cursor) - 1)
  return status.value.sinks
    .filter(({ state }) => state !== "removed")
    .map(
      ({ sink }) =>
        `berth-watch replay --sink ${quoted(sink)} --account ${quoted(accountOf(event))} --after ${quoted(before)}`
    )
}

const Details = ({ event, onNode }: EventRowProps) => {
  const { after, afterGap, before, causedBy, observedBetween } = event.data
  const key = nodeKeyOf(event)
  return (
    <>
      {before === undefined && after === undefined ? null : <Differences event={event} />}
      {causedBy === undefined || causedBy === null ? null : (
        <p>
          <Isolated text={askedText(causedBy)} />
        </p>
      )}
      {observedBetween === undefined ? null : <p>{observedText(observedBetween)}</p>}
      <p>
        {`${event.type} · ${accountOf(event)} ${Number(event.sequence)}${afterGap === true ? " · may be from a gap" : ""}`}
      </p>
      {event.cursor === undefined ? null : (
        <Commands title="Deliver this and all later events again" commands={replaysOf(event, event.cursor)} />
      )}
      {key === undefined || onNode === undefined ? null : <Button onClick={() => onNode(key)}>Show the node</Button>}
    </>
  )
}

interface EventRowProps {
  readonly event: WatchEvent
  /** Called with the key of a node that the reader wants to see; absent if all events are about one node. */
  readonly onNode?: ((key: string) => void) | undefined
}

/** Because the row reads signals, it is rendered again only if one of these signals or a property changes. */
const EventRow = ({ event, onNode }: EventRowProps) => {
  // Rendered on demand, because most are never opened.
  const wasOpened = useSignal(false)
  const millis = Date.parse(event.time)
  const day = dayText(millis, today.value)
  const tone = toneOfEvent(event)
  return (
    <li class={millis > readMillis.value ? `${tone} new` : tone}>
      <details onToggle={({ currentTarget }) => (wasOpened.value ||= currentTarget.open)}>
        <summary>
          <time dateTime={event.time} title={wholeInstantText(millis)}>
            {minuteText(millis)}
            {day === undefined ? null : <small>{day}</small>}
          </time>
          <span class="what">
            <NodeTitle event={event} />
            <Meaning event={event} />
            {onNode !== undefined && areMixed.value && event.source !== ofTheDaemon ? (
              <>
                {" "}
                <small>
                  <Isolated text={accountOf(event)} />
                </small>
              </>
            ) : null}
          </span>
        </summary>
        {wasOpened.value ? <Details event={event} onNode={onNode} /> : null}
      </details>
    </li>
  )
}

const keyOfEvent = ({ id, sequence, source, time }: WatchEvent): string => `${id} ${source} ${sequence} ${time}`

interface EventListProps extends Pick<EventRowProps, "onNode"> {
  /** Oldest first. */
  readonly events: ReadonlyArray<WatchEvent>
  /** How many of the latest events to show. */
  readonly count: number
  readonly emptyText: string
}

/** Latest first. */
export const EventRows = ({ count, emptyText, events, onNode }: EventListProps) => {
  const latest = new Map(events.slice(-count).map((event) => [keyOfEvent(event), event]))
  return (
    <>
      {latest.size === 0 ? <li class="empty">{emptyText}</li> : null}
      {Array.from(latest, ([key, event]) => <EventRow key={key} event={event} onNode={onNode} />).toReversed()}
    </>
  )
}
