/**
 * Tells a fact: gives it its id, its place in the order, and the shape of an event.
 */
import { DateTime } from "effect"
import type { Fact, NodeFact } from "../diff/Fact.ts"
import { type Event, sequenceText } from "./Event.ts"
import { eventId } from "./eventId.ts"

const instant = (millis: number) => DateTime.makeUnsafe(millis)

/** The event that tells `fact` about `account` as number `sequence` of all that is told. */
export const fromFact = (fact: Fact, account: string, sequence: number): Event => {
  const common = {
    specversion: "1.0",
    source: `/accounts/${encodeURIComponent(account)}`,
    sequence: sequenceText(sequence),
    datacontenttype: "application/json"
  } as const
  const aboutAccount = (type: string, version: string, atMillis: number) => ({
    ...common,
    id: eventId({ account, nodeId: null, incarnation: null, kind: type, version }),
    time: instant(atMillis)
  })
  const aboutNode = (type: string, { between: [from, to], incarnation, version, ...fact }: NodeFact) => {
    const { id } = fact._tag === "Deleted" ? fact.before : fact.after
    return {
      ...common,
      id: eventId({ account, nodeId: id, incarnation, kind: type, version }),
      subject: `nodes/${id}`,
      time: instant(to),
      observed: { observedBetween: [instant(from), instant(to)], sweep: fact.sweep } as const
    }
  }

  switch (fact._tag) {
    case "Created": {
      const type = "berth.node.created"
      const { observed, ...attributes } = aboutNode(type, fact)
      return { ...attributes, type, data: { before: null, after: fact.after, ...observed } }
    }
    case "StatusChanged": {
      const type = "berth.node.status_changed"
      const { observed, ...attributes } = aboutNode(type, fact)
      const { after, before, from, to } = fact
      return { ...attributes, type, data: { from, to, before, after, ...observed } }
    }
    case "Deleted": {
      const type = "berth.node.deleted"
      const { observed, ...attributes } = aboutNode(type, fact)
      return { ...attributes, type, data: { before: fact.before, after: null, ...observed } }
    }
    case "Baseline": {
      const type = "berth.watch.baseline"
      const [from, to] = fact.between
      const observedBetween = [instant(from), instant(to)] as const
      return {
        ...aboutAccount(type, String(to), to),
        type,
        data: { nodes: fact.nodes, observedBetween, sweep: fact.sweep }
      }
    }
    case "Degraded": {
      const type = "berth.watch.degraded"
      const { expected, message, missing, sinceMillis, sweep, trouble } = fact
      return {
        ...aboutAccount(type, `${trouble}@${sinceMillis}`, sinceMillis),
        type,
        data: { trouble, message, expected, missing, sweep }
      }
    }
    case "Recovered": {
      const type = "berth.watch.recovered"
      const { atMillis, ending, sinceMillis, sweep, trouble } = fact
      return {
        ...aboutAccount(type, `${trouble}@${sinceMillis}`, atMillis),
        type,
        data: { trouble, ending, since: instant(sinceMillis), sweep }
      }
    }
  }
}
