/**
 * Records the requests that a run has sent. If a user stops the run, this record says what was changed and what may have been changed.
 * A stopped run prints the ids of the changed nodes nowhere else.
 */
import { quoted } from "@berthkit/terminal/quoted"
import { commitmentToSet, parseCommitment } from "../fleet/FleetCommitment.ts"
import type { Changed } from "../output/Output.ts"

/** A request that changes something. */
export interface Sent {
  readonly action: "create" | "delete" | "commit"
  readonly member: string
  /** Null for a node whose create has no outcome yet. */
  readonly id: number | null
  readonly name: string
  /** The commitment that was sent. */
  readonly commitment?: string
  /** `unknown` until a reply shows whether the request was carried out. */
  readonly outcome: "done" | "unknown"
}

/** The requests of one run, in the order in which they were sent. A request that was refused is not kept. */
export class SentLog {
  readonly #sent = new Map<symbol, Sent>()

  /** Records a request that is about to be sent. */
  begin(sent: Omit<Sent, "outcome">): symbol {
    const at = Symbol(sent.action)
    this.#sent.set(at, { ...sent, outcome: "unknown" })
    return at
  }

  /** Records that the request was carried out. */
  done(at: symbol, node: Pick<Sent, "id" | "name">): void {
    this.#sent.set(at, { ...this.#sent.get(at)!, id: node.id, name: node.name, outcome: "done" })
  }

  /** Removes a request that was not carried out. */
  drop(at: symbol): void {
    this.#sent.delete(at)
  }

  get all(): ReadonlyArray<Sent> {
    return Array.from(this.#sent.values())
  }
}

const shownNode = ({ id, name }: Sent): string => (id === null ? name : `${name} (${id})`)

const texts: Readonly<Record<Sent["action"], (sent: Sent) => string>> = {
  create: shownNode,
  delete: shownNode,
  commit: (sent) => `${sent.commitment} of ${shownNode(sent)}`
}

const verbs = {
  create: ["created", "It may have created"],
  delete: ["deleted", "It may have deleted"],
  commit: ["set the commitment", "It may have set the commitment"]
} as const

/** A commitment as the user types it; a placeholder if the days of its period are unknown. */
export const givenFor = (commitment: string): string => {
  const found = parseCommitment(commitment)
  if (found === undefined) return "SETTING"
  return commitmentToSet(commitment) === undefined ? found.setting : quoted(commitment)
}

/** The hint if it is unknown whether a commitment was set. */
export const seeCommitment = (id: number, member: string, given: string): string =>
  `Look in the account portal, and say what it shows: berth fleet adopt ${id} --as ${member} --commitment ${given}, or the same with none`

/** Says what a stopped run has changed, and what it may have changed. */
export const sentSoFar = (sent: ReadonlyArray<Sent>): Pick<Changed, "message" | "details"> => {
  const sentences = (["create", "delete", "commit"] as const).flatMap((action) => {
    const named = (outcome: Sent["outcome"]) =>
      sent.filter((each) => each.action === action && each.outcome === outcome).map(texts[action])
    const [done, open] = [named("done"), named("unknown")]
    const [verb, maybe] = verbs[action]
    const billed = action !== "create" ? "" : done.length === 1 ? ", which is billed" : ", which are billed"
    return [
      ...(done.length === 0 ? [] : [`It ${verb} ${done.join(", ")}${billed}.`]),
      ...(open.length === 0 ? [] : [`${maybe} ${open.join(", ")}: no reply came.`])
    ]
  })
  return { message: sentences.join(" "), details: { changes: sent } }
}
