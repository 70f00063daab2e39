/** Checks what a simulation leaves behind: the log of each account, the belief about its nodes, and the received events. */
import { statusOf } from "../diff/oracle/World.ts"
import type { Cloud } from "./Cloud.ts"
import type { Tables } from "./Tables.ts"

interface Logged {
  readonly account: string
  readonly seq: number
  readonly id: string
  readonly type: string
  readonly node: number | null
  readonly data: any
}

const grouped = <A>(all: ReadonlyArray<A>, key: (each: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const each of all) {
    const group = groups.get(key(each))
    if (group === undefined) groups.set(key(each), [each])
    else group.push(each)
  }
  return groups
}

const subjectOf = ({ account, node }: Logged) => `${account}/${node}`

/** Checks the consecutive statuses of each node: each event must begin with the status with which the one before it ended. */
const chainProblems = (events: ReadonlyArray<Logged>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  // No event reports a node that was there at the beginning.
  let status: unknown = undefined
  for (const { data, seq, type } of events) {
    if (type === "berth.node.created" || type === "berth.node.discovered" || type === "berth.node.reappeared") {
      if (status !== undefined && status !== null) problems.push(`${seq} ${type} of one that is ${String(status)}`)
      status = data.after.status
    } else if (type === "berth.node.status_changed") {
      if (status !== undefined && data.from !== status)
        problems.push(`${seq} from ${data.from} of one that is ${String(status)}`)
      status = data.to
    } else if (type === "berth.node.deleted") {
      if (status === null) problems.push(`${seq} deletes one that is not there`)
      status = null
    }
  }
  return problems
}

export const problemsOf = ({
  clouds,
  tables,
  received
}: {
  readonly tables: Tables
  readonly clouds: ReadonlyMap<string, Cloud>
  readonly received: ReadonlyArray<string>
}): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const log = tables
    .rows("SELECT account, seq, id, type, node, body FROM event ORDER BY account, seq")
    .map(({ body, ...rest }) => ({ ...rest, data: JSON.parse(body).data }) as unknown as Logged)

  for (const [account, events] of grouped(log, ({ account }) => account)) {
    for (const [index, { seq }] of events.entries()) {
      if (seq !== index + 1) {
        problems.push(`${account}: event ${index + 1} has the sequence ${seq}`)
        break
      }
    }
  }
  for (const [subject, events] of grouped(
    log.filter(({ node }) => node !== null),
    subjectOf
  )) {
    for (const problem of chainProblems(events)) problems.push(`${subject}: ${problem}`)
  }

  for (const [account, { world }] of clouds) {
    const isBegun = log.some((event) => event.account === account && event.type === "berth.watch.baseline")
    if (!isBegun) problems.push(`${account}: was never read`)
    const believed = new Map(
      tables
        .rows("SELECT id, status, body FROM node WHERE account = ? AND gone_at IS NULL", [account])
        .map(({ body, id, status }) => [id as number, { status, name: JSON.parse(body).node.name }])
    )
    for (const life of world.alive) {
      const known = believed.get(life.id)
      believed.delete(life.id)
      const is = `${statusOf(life)} ${life.name}`
      const was = known === undefined ? "nothing" : `${known.status} ${known.name}`
      if (is !== was) problems.push(`${account}/${life.id}: is ${is}, known as ${was}`)
    }
    for (const id of believed.keys()) problems.push(`${account}/${id}: is gone, and known`)
    const deleted = log.filter((event) => event.account === account && event.type === "berth.node.deleted")
    for (const { node, seq } of deleted) {
      const lives = world.lives.filter(({ id }) => id === node)
      const ended = lives.filter(({ goneMillis }) => Number.isFinite(goneMillis)).length
      const reported = deleted.filter((other) => other.node === node && other.seq <= seq).length
      if (reported > ended) problems.push(`${account}/${node}: ${seq} deletes one that exists`)
    }
  }

  for (const { account, receiver } of tables.rows(
    "SELECT account, receiver FROM sink_cursor WHERE receiver IS NOT NULL"
  ))
    problems.push(`${account}: its receiver is kept as ${receiver}`)

  const byId = new Map(log.map((event) => [event.id, event]))
  const taken = new Set(received)
  const givenUp = new Set(
    tables.rows("SELECT id FROM silenced_event WHERE outcome = 'dropped'").map(({ id }) => id as string)
  )
  for (const { account, id, seq } of log) {
    if (!taken.has(id) && !givenUp.has(id)) problems.push(`${account}: ${seq} was not received`)
  }
  const first = Array.from(taken, (id) => byId.get(id)).filter((event) => event !== undefined)
  for (const [subject, events] of grouped(first, subjectOf)) {
    for (const [index, { seq }] of events.entries()) {
      const before = events[index - 1]
      if (before !== undefined && before.seq > seq) problems.push(`${subject}: ${seq} was received after ${before.seq}`)
    }
  }
  return problems
}
