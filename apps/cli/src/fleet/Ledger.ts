/**
 * The ledger lists the nodes of a fleet by id, never by a pattern of names. It is a file next to the fleet file, contains no secrets,
 * belongs in git, and has one line per member so that people can merge it. This module is pure; `applying/LedgerFile.ts` reads and writes
 * the file.
 *
 * The state of a member is `creating`, `made` (it has a node), `deleting` (the deletion of its node was requested), or `none`. The line
 * of a member stays even without a node, because the member's next node needs a new generation.
 */
import { isSameNode, proofOf } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import { DateTime, Option, Result, Schema, Struct } from "effect"
import { byMember, memberText, type Member, parseMember } from "./Member.ts"

const ledgerVersion = 1

/** A node in the ledger. */
const Owned = Schema.Struct({
  id: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  name: Schema.String,
  plan: Schema.NullOr(Schema.String),
  image: Schema.NullOr(Schema.String),
  /** The creation time that the service reported; null if unknown. It distinguishes two nodes to which the service gave the same id. */
  createdAt: Schema.NullOr(Schema.String),
  /**
   * The committed period that was bought together with the node, if the machine that adopted the node knows it. After the period the node
   * is billed by the hour.
   */
  period: Schema.optional(Schema.Struct({ days: Schema.Int, until: Schema.String }))
})
export interface Owned extends Schema.Schema.Type<typeof Owned> {}

/** Sent fields that cannot be read back: fields of the order, and digests of start scripts. */
const Sent = Schema.Record(Schema.String, Schema.Unknown)
export type Sent = typeof Sent.Type

/** The node that is being replaced, with the fields that the line had for it. */
const Previous = Schema.Struct({
  ...Owned.fields,
  sent: Schema.optional(Schema.NullOr(Sent)),
  commitment: Schema.optional(Schema.String),
  committing: Schema.optional(Schema.String),
  named: Schema.optional(Schema.String)
})
interface Previous extends Schema.Schema.Type<typeof Previous> {}

/** A create request whose outcome is unknown. */
const Pending = Schema.Struct({
  name: Schema.String,
  plan: Schema.String,
  image: Schema.Union([Schema.String, Schema.Int]),
  /** The random name of the machine that sends the create. */
  by: Schema.String,
  /** When the create was last sent. If it was not sent yet: when it was recorded. */
  since: Schema.String,
  /** Whether `since` is the service's time, which does not jump like a machine's clock. */
  byService: Schema.optional(Schema.Boolean),
  /** Whether the create was sent; unset if it was only recorded. */
  isSent: Schema.optional(Schema.Boolean)
})
export interface Pending extends Schema.Schema.Type<typeof Pending> {}

/** The fields of a line, always in this order. */
const Entry = Schema.Struct({
  member: Schema.String,
  /** Counts the member's nodes so far. */
  generation: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  state: Schema.Literals(["creating", "made", "deleting", "none"]),
  node: Schema.optional(Owned),
  pending: Schema.optional(Pending),
  /** The node that is being replaced and still exists. */
  previous: Schema.optional(Previous),
  /** Whether the deletion of the previous node was requested. */
  previousAsked: Schema.optional(Schema.Boolean),
  /** Null if berth did not create the node. */
  sent: Schema.optional(Schema.NullOr(Sent)),
  /** The name in the file, if the node has another name because the service spells the name differently or because the node was adopted. */
  named: Schema.optional(Schema.String),
  commitment: Schema.optional(Schema.String),
  /** A commitment request that got no reply. It is not sent again. */
  committing: Schema.optional(Schema.String),
  protect: Schema.optional(Schema.Boolean),
  /**
   * Set if an earlier plan wanted to delete the node, or if a person adopted the node. Removed when a run sees the node
   * running. Until then the node may be meant to replace a younger node.
   */
  awaited: Schema.optional(Schema.Boolean)
})
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

const Head = Schema.Struct({
  version: Schema.Literal(ledgerVersion),
  account: Schema.String,
  fleet: Schema.String,
  /** A random id of this ledger. Because of it, another ledger of a fleet with the same name uses other idempotency keys. */
  lineage: Schema.String,
  members: Schema.Array(Entry)
})
const decodeHead = Schema.decodeUnknownOption(Head)

export interface Ledger {
  readonly account: string
  readonly fleet: string
  readonly lineage: string
  readonly members: ReadonlyMap<string, Entry>
}

/** Why a string is not a usable ledger. */
export type LedgerFault =
  | { readonly _tag: "Damaged"; readonly why: string }
  /** Two lines for one member. A merge of two branches can produce them. */
  | { readonly _tag: "Doubled"; readonly member: string; readonly ids: ReadonlyArray<number> }
  | { readonly _tag: "Later" }

const damaged = (why: string) => Result.fail<LedgerFault>({ _tag: "Damaged", why })

/** Checks that an entry has exactly the fields of its state. */
const isConsistent = ({ node, pending, previous, state }: Entry): boolean => {
  switch (state) {
    case "creating":
      return pending !== undefined && node === undefined
    case "made":
      return node !== undefined && pending === undefined
    case "deleting":
      return node !== undefined && pending === undefined
    case "none":
      return node === undefined && pending === undefined && previous === undefined
  }
}

/** The ids of the nodes in a line. */
const idsOf = ({ node, previous }: Pick<Entry, "node" | "previous">): ReadonlyArray<number> =>
  [node, previous].flatMap((owned) => owned?.id ?? [])

/** The first node that is in a ledger twice, and the two members. */
export const sharedNode = (
  entries: Iterable<Entry>
): { readonly id: number; readonly members: readonly [string, string] } | undefined => {
  const owners = new Map<number, string>()
  for (const entry of entries) {
    for (const id of idsOf(entry)) {
      const owner = owners.get(id)
      if (owner !== undefined) return { id, members: [owner, entry.member] }
      owners.set(id, entry.member)
    }
  }
  return undefined
}

/** Why the lines of a ledger contradict each other; undefined if they do not. Berth neither reads nor writes such a ledger. */
export const contradictionIn = (members: ReadonlyMap<string, Entry>): string | undefined => {
  const entries = Array.from(members.values())
  const unsound = entries.find((entry) => !isConsistent(entry))
  if (unsound !== undefined) return `the line of ${unsound.member} contradicts itself`
  const shared = sharedNode(entries)
  return shared && `node ${shared.id} is both ${shared.members.join(" and ")}`
}

/** Decodes a ledger strictly, without repairing anything. */
export const decodeLedger = (text: string): Result.Result<Ledger, LedgerFault> => {
  if (/^(?:<{7}|={7}|>{7})/m.test(text)) return damaged("it has the marks of a merge conflict")
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return damaged("it is not JSON")
  }
  const version = (json as { readonly version?: unknown } | null)?.version
  if (typeof version === "number" && version > ledgerVersion) return Result.fail({ _tag: "Later" })
  const found = decodeHead(json)
  if (Option.isNone(found)) return damaged("it does not have the form of a ledger")
  const { members, ...head } = found.value
  const byName = new Map<string, Entry>()
  for (const entry of members) {
    const { member } = entry
    if (parseMember(member) === undefined) return damaged(`${JSON.stringify(member)} is no member`)
    const other = byName.get(member)
    if (other !== undefined) {
      const both = [...idsOf(other), ...idsOf(entry)]
      return Result.fail<LedgerFault>({ _tag: "Doubled", member, ids: Array.from(new Set(both)) })
    }
    byName.set(member, entry)
  }
  const contradiction = contradictionIn(byName)
  if (contradiction !== undefined) return damaged(contradiction)
  return Result.succeed({ account: head.account, fleet: head.fleet, lineage: head.lineage, members: byName })
}

/** The member of an entry; the decoder has checked its name. */
export const memberOf = ({ member }: Pick<Entry, "member">): Member => parseMember(member)!

/** The entries in file order. */
export const entriesOf = ({ members }: Ledger): ReadonlyArray<Entry> =>
  Array.from(members.values()).toSorted((a, b) => byMember(memberOf(a), memberOf(b)))

const lineOf = (entry: Entry): string =>
  JSON.stringify(
    Object.fromEntries(
      Struct.keys(Entry.fields).flatMap((key) => (entry[key] === undefined ? [] : [[key, entry[key]]]))
    )
  )

export const encodeLedger = (ledger: Ledger): string => {
  const { account, fleet, lineage } = ledger
  const head = Object.entries({ version: ledgerVersion, account, fleet, lineage }).map(
    ([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`
  )
  const lines = entriesOf(ledger).map((entry) => `    ${lineOf(entry)}`)
  return `{\n${head.join("")}  "members": [${lines.length === 0 ? "" : `\n${lines.join(",\n")}\n  `}]\n}\n`
}

export const newLedger = (account: string, fleet: string, lineage: string): Ledger => ({
  account,
  fleet,
  lineage,
  members: new Map()
})

/** The idempotency key of a member's create, the same for all attempts to make this node. */
export const keyOf = (
  { account, fleet, lineage }: Ledger,
  { generation, member }: Pick<Entry, "member" | "generation">
) => `fleet.${account.slice(0, 8)}.${fleet}.${lineage}.${member}.${generation}`

/** The ids of the fleet's nodes. */
export const ownedIds = ({ members }: Ledger): ReadonlySet<number> =>
  new Set(Array.from(members.values()).flatMap(idsOf))

export const ownedOf = ({ createdAt, id, image, name, plan }: Node): Owned => ({
  id,
  name,
  plan,
  image,
  createdAt: createdAt && DateTime.formatIso(createdAt)
})

/** Whether a node is the node in the ledger, and not another one to which the service gave the same id. */
export const isOwned = ({ createdAt, id, name }: Owned, node: Node): boolean =>
  isSameNode({ id, name, createdMillis: createdAt === null ? null : Date.parse(createdAt) }, proofOf(node))

// The functions below record changes of a member.

const put = (ledger: Ledger, entry: Entry): Ledger => ({
  ...ledger,
  members: new Map(ledger.members).set(entry.member, entry)
})

const entryOf = ({ members }: Ledger, member: string): Entry =>
  members.get(member) ?? { member, generation: 1, state: "none" }

/** The data that is recorded when a create begins. */
export interface Beginning {
  readonly pending: Pending
  readonly sent: Sent
  readonly protect: boolean
}

/** Turns the node of a line into its previous node. */
const asPrevious = ({ commitment, committing, named, node, sent }: Entry): Previous | undefined =>
  node && {
    ...node,
    ...(sent !== undefined && { sent }),
    ...(named !== undefined && { named }),
    ...(commitment !== undefined && { commitment }),
    ...(committing !== undefined && { committing })
  }

/** Turns the previous node of a line back into its node. */
const fromPrevious = ({ commitment, committing, named, sent = null, ...node }: Previous) => ({
  state: "made" as const,
  node,
  sent,
  ...(named !== undefined && { named }),
  ...(commitment !== undefined && { commitment }),
  ...(committing !== undefined && { committing })
})

/**
 * The fields that keep the nodes of a line whose member gets another node. A line loses a node only if the node is
 * certainly gone. A node whose deletion was requested also becomes the previous node, because the service may have done
 * nothing. A line with two nodes cannot get a third, and the planner makes none for it.
 */
const keptBeside = (entry: Entry): Pick<Entry, "previous" | "previousAsked"> => {
  const { previous = asPrevious(entry), previousAsked = entry.state === "deleting" } = entry
  return { ...(previous && { previous, ...(previousAsked && { previousAsked }) }) }
}

/** Records that a create is about to be sent. The member's node, if any, becomes the previous one. */
export const begun = (ledger: Ledger, member: Member, { pending, protect, sent }: Beginning): Ledger => {
  const name = memberText(member)
  const before = ledger.members.get(name)
  return put(ledger, {
    member: name,
    generation: (before?.generation ?? 0) + 1,
    state: "creating",
    pending,
    sent,
    ...(protect && { protect }),
    ...(before?.awaited && { awaited: true }),
    ...(before && keptBeside(before))
  })
}

/**
 * Records the time at which a create request is sent, for each attempt. Another machine with this ledger measures its wait from that time.
 */
export const sending = (
  ledger: Ledger,
  member: string,
  { by, byService, since }: Pick<Pending, "by" | "since" | "byService">
): Ledger => {
  const entry = entryOf(ledger, member)
  if (entry.pending === undefined) return ledger
  const { byService: _before, ...pending } = entry.pending
  return put(ledger, { ...entry, pending: { ...pending, by, since, ...(byService && { byService }), isSent: true } })
}

/** Records the node that the create has made. */
export const made = (ledger: Ledger, member: string, node: Owned): Ledger => {
  const { pending, ...entry } = entryOf(ledger, member)
  const isNamed = pending === undefined || pending.name === node.name
  return put(ledger, { ...entry, state: "made", node, ...(!isNamed && { named: pending.name }) })
}

/** The line of a member after its previous node, if any, has become its node again. */
export const restored = ({ awaited, generation, member, previous, protect }: Entry): Entry => ({
  member,
  generation,
  ...(previous === undefined ? { state: "none" } : fromPrevious(previous)),
  ...(protect && { protect }),
  ...(awaited && { awaited })
})

/**
 * Records that the create has certainly made nothing, or that its node is gone. The previous node, if any, becomes the member's node again.
 */
export const notMade = (ledger: Ledger, member: string): Ledger => {
  const entry = entryOf(ledger, member)
  const wasDeleting = entry.state === "creating" && entry.previousAsked === true && entry.previous !== undefined
  return put(ledger, { ...restored(entry), ...(wasDeleting && { state: "deleting" }) })
}

/** Reverts a replacement: keeps the old node, and gives up the new one. */
export const takenBack = (ledger: Ledger, member: string): Ledger => {
  const entry = entryOf(ledger, member)
  const next = asPrevious(entry)
  return entry.previous === undefined || next === undefined
    ? ledger
    : put(ledger, { ...restored(entry), previous: next })
}

/** Records that the member's node is about to be deleted. */
export const deleting = (ledger: Ledger, member: string): Ledger => {
  const { pending: _pending, ...entry } = entryOf(ledger, member)
  return put(ledger, { ...entry, state: "deleting" })
}

/** Records that a node still exists although its deletion was requested. */
export const notDeleted = (ledger: Ledger, member: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), state: "made" })

/** Records that the nodes with these ids are gone. If the line has another node, it stays as it is, and the next run settles it. */
export const waitedFor = (ledger: Ledger, member: string, ids: ReadonlySet<number>): Ledger =>
  idsOf(entryOf(ledger, member)).every((id) => ids.has(id)) ? ended(ledger, member) : ledger

/** Records that the member has no node. */
export const ended = (ledger: Ledger, member: string): Ledger =>
  put(ledger, { member, generation: entryOf(ledger, member).generation, state: "none" })

/** Records that the previous node is about to be deleted. */
export const previousDeleting = (ledger: Ledger, member: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), previousAsked: true })

/** Records that the previous node is gone. */
export const released = (ledger: Ledger, member: string): Ledger => {
  const { previous: _previous, previousAsked: _asked, ...entry } = entryOf(ledger, member)
  return put(ledger, entry)
}

/**
 * Records an existing node as the member's; `named` is its name in the file. If the member was being replaced, or if the deletion of its
 * node was requested, its old node stays.
 */
export const adopted = (ledger: Ledger, member: string, node: Owned, protect: boolean, named = node.name): Ledger => {
  const entry = entryOf(ledger, member)
  return put(ledger, {
    member,
    generation: ledger.members.has(member) ? entry.generation + 1 : 1,
    state: "made",
    node,
    ...keptBeside(entry),
    sent: null,
    ...(named !== node.name && { named }),
    ...(protect && { protect }),
    awaited: true
  })
}

/** Records that the commitment is about to be sent. */
export const committing = (ledger: Ledger, member: string, commitment: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), committing: commitment })

/** Records that the commitment was certainly not set. */
export const notCommitted = (ledger: Ledger, member: string): Ledger => {
  const { committing: _sent, ...entry } = entryOf(ledger, member)
  return put(ledger, entry)
}

const withCommitment = <A extends Pick<Entry, "commitment" | "committing">>(of: A, commitment: string | null) => {
  const { commitment: _before, committing: _sent, ...rest } = of
  return commitment === null ? rest : { ...rest, commitment }
}

/** Records the commitment of the node; null means none. */
export const committed = (ledger: Ledger, member: string, commitment: string | null): Ledger =>
  put(ledger, withCommitment(entryOf(ledger, member), commitment))

/** Records the commitment of the node with this id, which may be the previous node. */
export const nodeCommitted = (ledger: Ledger, member: string, id: number, commitment: string | null): Ledger => {
  const { previous, ...entry } = entryOf(ledger, member)
  return previous?.id === id
    ? put(ledger, { ...entry, previous: withCommitment(previous, commitment) })
    : committed(ledger, member, commitment)
}

/** Records whether the file protects a member. The record is needed after the group is removed from the file. */
export const protectedBy = (ledger: Ledger, member: string, protect: boolean): Ledger => {
  const { protect: _before, ...entry } = entryOf(ledger, member)
  return put(ledger, protect ? { ...entry, protect } : entry)
}

/** Records whether a run still has to see the member's node running before it deletes anything that the node may replace. */
export const awaiting = (ledger: Ledger, member: string, awaited: boolean): Ledger => {
  const { awaited: before = false, ...entry } = entryOf(ledger, member)
  if (before === awaited || entry.state === "none") return ledger
  return put(ledger, awaited ? { ...entry, awaited } : entry)
}
