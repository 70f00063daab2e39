/** The rules for a fleet with silences and troubles: what each sink must have received, and what each process must have shown. Pure. */
import { grouped, type LoggedEvent } from "./faltering.ts"

export interface Silenced {
  readonly id: string
  readonly accounts: ReadonlyArray<string>
  /** The names of sinks; empty for all sinks. */
  readonly sinks: ReadonlyArray<string>
  readonly fromMillis: number
  readonly untilMillis: number
  readonly isDropped: boolean
}

/** Near its start and its end, a silence may or may not cover an event, because the silence is just being written. */
const unsureMillis = 3000

/** Whether a silence covers an event; null if both are possible. */
const covers = ({ accounts, fromMillis, sinks, untilMillis }: Silenced, sink: string, account: string, at: number) => {
  if (!accounts.includes(account) || (sinks.length > 0 && !sinks.includes(sink))) return false
  if (at < fromMillis - unsureMillis || at > untilMillis + unsureMillis) return false
  return at > fromMillis + unsureMillis && at < untilMillis - unsureMillis ? true : null
}

const timeOf = ({ body }: LoggedEvent): number => Date.parse(JSON.parse(body).time)

/**
 * Checks that every event is received except those that silences drop, no event before its silences end, and the events of each node in
 * order.
 */
export const deliveryComplaints = (given: {
  readonly sink: string
  readonly log: ReadonlyArray<LoggedEvent>
  readonly silences: ReadonlyArray<Silenced>
  /** When each event was first received, in this order. */
  readonly takenAtMillis: ReadonlyMap<string, number>
}) => {
  const { log, silences, sink, takenAtMillis } = given
  const complaints: Array<string> = []
  let held = 0
  let dropped = 0
  for (const event of log) {
    const { account, id, seq } = event
    if (account === "_daemon") continue
    const at = timeOf(event)
    const near = silences.map((each) => ({ each, covers: covers(each, sink, account, at) }))
    const sure = near.filter(({ covers }) => covers === true).map(({ each }) => each)
    const unsure = near.filter(({ covers }) => covers === null).map(({ each }) => each)
    const takenMillis = takenAtMillis.get(id)
    const mayBeDropped =
      [...sure, ...unsure].some(({ isDropped }) => isDropped) && sure.every(({ isDropped }) => isDropped)
    const isDropped =
      sure.length > 0 && sure.every(({ isDropped }) => isDropped) && unsure.every(({ isDropped }) => isDropped)
    if (sure.length > 0) held++
    if (isDropped) dropped++
    if (takenMillis === undefined && !mayBeDropped) complaints.push(`${account}/${seq} was not received`)
    if (takenMillis === undefined) continue
    if (isDropped) complaints.push(`${account}/${seq} was received, and dropped`)
    const end = Math.max(...sure.map(({ untilMillis }) => untilMillis))
    if (takenMillis < end - unsureMillis)
      complaints.push(`${account}/${seq} was received ${end - takenMillis} ms too early`)
  }
  const known = new Map(log.map((event) => [event.id, event]))
  const ids = Array.from(takenAtMillis.keys())
  complaints.push(...ids.filter((id) => !known.has(id)).map((id) => `${id} is not in the log`))
  const received = ids.map((id) => known.get(id)).filter((event) => event !== undefined)
  for (const [subject, events] of grouped(received, ({ account, node }) => `${account}/${node}`)) {
    for (const [index, { seq }] of events.entries()) {
      const before = events[index - 1]
      if (before !== undefined && before.seq > seq)
        complaints.push(`${subject}: ${seq} was received after ${before.seq}`)
    }
  }
  return { complaints, held, dropped }
}

/** A cause of troubles, which lasts for a time. */
export interface Cause {
  /** The sink or account. */
  readonly key: string
  /** While the cause lasts, one of these troubles exists, once it has shown. */
  readonly names: ReadonlyArray<string>
  readonly fromMillis: number
  toMillis: number
}

/** The troubles that a process shows at one instant. */
export interface Sample {
  readonly slot: number
  readonly askedMillis: number
  readonly answeredMillis: number
  /** Since when the process has been running with a connection to the store. */
  readonly wellSinceMillis: number
  /** Such as `sink-down ops`. */
  readonly troubles: ReadonlyArray<string>
}

const maxShownMillis = 15_000

interface TroubleEvent {
  readonly trouble: string
  readonly about: { readonly name: string | null }
}

/**
 * Checks that once a trouble has shown, every process shows it within 15 s and until its cause ends, and that the log does not report its
 * end before that.
 */
export const troubleComplaints = (given: {
  readonly causes: ReadonlyArray<Cause>
  readonly samples: ReadonlyArray<Sample>
  readonly log: ReadonlyArray<LoggedEvent>
}) => {
  const complaints: Array<string> = []
  let shown = 0
  let judged = 0
  const told = given.log
    .filter(({ type }) => type.startsWith("berth.watch.trouble"))
    .map((event) => ({ type: event.type, atMillis: timeOf(event), ...(JSON.parse(event.body).data as TroubleEvent) }))
  for (const { fromMillis, key, names, toMillis } of given.causes) {
    const shows = ({ troubles }: Sample) => names.some((name) => troubles.includes(`${name} ${key}`))
    const meanwhile = given.samples.filter(
      ({ answeredMillis, askedMillis }) => askedMillis > fromMillis && answeredMillis < toMillis
    )
    const first = meanwhile.find(shows)
    if (first === undefined) continue
    shown++
    const since = first.answeredMillis
    for (const sample of meanwhile) {
      const { askedMillis, slot, wellSinceMillis } = sample
      if (askedMillis <= Math.max(since, wellSinceMillis) + maxShownMillis) continue
      judged++
      if (!shows(sample)) {
        complaints.push(
          `${slot} does not show ${names.join(" or ")} of ${key}, ${askedMillis - since} ms after ${first.slot} did, but ${sample.troubles.join(", ")}`
        )
      }
    }
    const open = new Set<string>()
    for (const { about, atMillis, trouble, type } of told) {
      if (about.name !== key || !names.includes(trouble) || atMillis < fromMillis || atMillis >= toMillis) continue
      if (type === "berth.watch.trouble") open.add(trouble)
      else if (open.delete(trouble) && open.size === 0) {
        const both = told.some(
          (other) =>
            other.about.name === key &&
            other.type === "berth.watch.trouble" &&
            names.includes(other.trouble) &&
            other.atMillis === atMillis
        )
        if (!both) complaints.push(`${trouble} of ${key} ends ${toMillis - atMillis} ms too early in the log`)
      }
    }
  }
  return { complaints, shown, judged }
}
