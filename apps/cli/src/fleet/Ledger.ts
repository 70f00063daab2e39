/**
 * Which nodes are a fleet's: a list of ids, never a pattern of names. A file beside the fleet file, without secrets, meant for git, with
 * one line per member so that merges can be read. Pure; `applying/LedgerFile.ts` reads and writes it.
 *
 * A member is being created (`creating`), has a node (`made`), has one that was asked to go (`deleting`), or has none now (`none`): then
 * its line stays, because its next node needs a new generation.
 */
import { isSameNode, proofOf } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import { DateTime, Option, Result, Schema, Struct } from "effect"
import { byMember, memberText, type Member, parseMember } from "./Member.ts"

const ledgerVersion = 1

/** A node as the ledger knows it. */
const Owned = Schema.Struct({
  id: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  name: Schema.String,
  plan: Schema.NullOr(Schema.String),
  image: Schema.NullOr(Schema.String),
  /** When the service accepted it, which no other node of that id has; null where it is not known. */
  createdAt: Schema.NullOr(Schema.String)
})
export interface Owned extends Schema.Schema.Type<typeof Owned> {}

/** What was sent and cannot be read back: fields of the order, and digests of start scripts. */
const Sent = Schema.Record(Schema.String, Schema.Unknown)
export type Sent = typeof Sent.Type

/** A node that is being replaced, with what the ledger knew of it. */
const Previous = Schema.Struct({
  ...Owned.fields,
  sent: Schema.optional(Schema.NullOr(Sent)),
  commitment: Schema.optional(Schema.String),
  committing: Schema.optional(Schema.String),
  named: Schema.optional(Schema.String)
})
interface Previous extends Schema.Schema.Type<typeof Previous> {}

/** A create that is not known to have ended. */
const Pending = Schema.Struct({
  name: Schema.String,
  plan: Schema.String,
  image: Schema.Union([Schema.String, Schema.Int]),
  /** The machine, by a name that berth drew for it. */
  by: Schema.String,
  /** When it was sent last, or began if it was not sent yet. */
  since: Schema.String,
  /** Whether `since` is on the clock of the service, which does not step as that of a machine may. */
  byService: Schema.optional(Schema.Boolean),
  /** Whether it was sent; unset if it only began. */
  isSent: Schema.optional(Schema.Boolean)
})
export interface Pending extends Schema.Schema.Type<typeof Pending> {}

/** The fields of a line in their order, whichever step wrote them last. */
const Entry = Schema.Struct({
  member: Schema.String,
  /** Counts the nodes that it had. */
  generation: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  state: Schema.Literals(["creating", "made", "deleting", "none"]),
  node: Schema.optional(Owned),
  pending: Schema.optional(Pending),
  /** The node that this one replaces, which is still there. */
  previous: Schema.optional(Previous),
  /** Whether that was asked to go. */
  previousAsked: Schema.optional(Schema.Boolean),
  /** Null where berth did not create the node. */
  sent: Schema.optional(Schema.NullOr(Sent)),
  /** The name in the file, if the node's name differs: the service spells it differently, or the node was adopted. */
  named: Schema.optional(Schema.String),
  commitment: Schema.optional(Schema.String),
  /** A commitment that was sent and got no reply. It is not sent again. */
  committing: Schema.optional(Schema.String),
  protect: Schema.optional(Schema.Boolean),
  /** No run has seen its node run since a plan was to delete it or a person took it in: it may replace a node that is younger. */
  awaited: Schema.optional(Schema.Boolean)
})
export interface Entry extends Schema.Schema.Type<typeof Entry> {}

const Head = Schema.Struct({
  version: Schema.Literal(ledgerVersion),
  account: Schema.String,
  fleet: Schema.String,
  /** Drawn when the ledger began: another ledger of the same name has other keys. */
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

/** Why a text is no ledger that can be used. */
export type LedgerFault =
  | { readonly _tag: "Damaged"; readonly why: string }
  /** Two lines for one member, which a merge of two branches can leave. */
  | { readonly _tag: "Doubled"; readonly member: string; readonly ids: ReadonlyArray<number> }
  | { readonly _tag: "Later" }

const damaged = (why: string) => Result.fail<LedgerFault>({ _tag: "Damaged", why })

/** What an entry of each state has, so that no state is half a one. */
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

/** The nodes of a line. */
const idsOf = ({ node, previous }: Pick<Entry, "node" | "previous">): ReadonlyArray<number> =>
  [node, previous].flatMap((owned) => owned?.id ?? [])

/** Reads a ledger; nothing is guessed. */
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
  const ids = new Map<number, string>()
  for (const entry of members) {
    const { member, node, previous } = entry
    if (parseMember(member) === undefined) return damaged(`${JSON.stringify(member)} is no member`)
    const twin = byName.get(member)
    if (twin !== undefined) {
      const both = [...idsOf(twin), ...idsOf(entry)]
      return Result.fail<LedgerFault>({ _tag: "Doubled", member, ids: Array.from(new Set(both)) })
    }
    if (!isConsistent(entry)) return damaged(`the line of ${member} contradicts itself`)
    for (const owned of [node, previous]) {
      if (owned === undefined) continue
      const owner = ids.get(owned.id)
      if (owner !== undefined) return damaged(`node ${owned.id} is both ${owner} and ${member}`)
      ids.set(owned.id, member)
    }
    byName.set(member, entry)
  }
  return Result.succeed({ account: head.account, fleet: head.fleet, lineage: head.lineage, members: byName })
}

/** The member of an entry; the decoder has checked its name. */
export const memberOf = ({ member }: Pick<Entry, "member">): Member => parseMember(member)!

/** The entries in the order of the file. */
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

/** The key of a member's create: the same for all attempts to make this very node. */
export const keyOf = (
  { account, fleet, lineage }: Ledger,
  { generation, member }: Pick<Entry, "member" | "generation">
) => `fleet.${account.slice(0, 8)}.${fleet}.${lineage}.${member}.${generation}`

/** The ids that are the fleet's. */
export const ownedIds = ({ members }: Ledger): ReadonlySet<number> =>
  new Set(Array.from(members.values()).flatMap(idsOf))

export const ownedOf = ({ createdAt, id, image, name, plan }: Node): Owned => ({
  id,
  name,
  plan,
  image,
  createdAt: createdAt && DateTime.formatIso(createdAt)
})

/** Whether a node is the one that the ledger has by that id, and not another that came to have it. */
export const isOwned = ({ createdAt, id, name }: Owned, node: Node): boolean =>
  isSameNode({ id, name, createdMillis: createdAt === null ? null : Date.parse(createdAt) }, proofOf(node))

// What happens to a member, as changes of the ledger.

const put = (ledger: Ledger, entry: Entry): Ledger => ({
  ...ledger,
  members: new Map(ledger.members).set(entry.member, entry)
})

const entryOf = ({ members }: Ledger, member: string): Entry =>
  members.get(member) ?? { member, generation: 1, state: "none" }

/** What a create that begins is to make. */
export interface Beginning {
  readonly pending: Pending
  readonly sent: Sent
  readonly protect: boolean
}

/** The node of a line with its fields, as the node that is being replaced. */
const asPrevious = ({ commitment, committing, named, node, sent }: Entry): Previous | undefined =>
  node && {
    ...node,
    ...(sent !== undefined && { sent }),
    ...(named !== undefined && { named }),
    ...(commitment !== undefined && { commitment }),
    ...(committing !== undefined && { committing })
  }

/** The fields of a line that has its previous node again. */
const fromPrevious = ({ commitment, committing, named, sent = null, ...node }: Previous) => ({
  state: "made" as const,
  node,
  sent,
  ...(named !== undefined && { named }),
  ...(commitment !== undefined && { commitment }),
  ...(committing !== undefined && { committing })
})

/** A create is about to be sent. The node that the member has, if any, is the one that it replaces. */
export const begun = (ledger: Ledger, member: Member, { pending, protect, sent }: Beginning): Ledger => {
  const name = memberText(member)
  const before = ledger.members.get(name)
  const previous = before?.state === "made" ? asPrevious(before) : undefined
  return put(ledger, {
    member: name,
    generation: (before?.generation ?? 0) + 1,
    state: "creating",
    pending,
    sent,
    ...(protect && { protect }),
    ...(before?.awaited && { awaited: true }),
    ...(previous && { previous })
  })
}

/**
 * An open create is about to be sent: later than it began, because others came first, or again. Another machine that gets the ledger waits
 * from that instant on.
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

/** The create has made this node. */
export const made = (ledger: Ledger, member: string, node: Owned): Ledger => {
  const { pending, ...entry } = entryOf(ledger, member)
  const isNamed = pending === undefined || pending.name === node.name
  return put(ledger, { ...entry, state: "made", node, ...(!isNamed && { named: pending.name }) })
}

/** The line of a member that gets its previous node back, if it had one. */
export const restored = ({ awaited, generation, member, previous, protect }: Entry): Entry => ({
  member,
  generation,
  ...(previous === undefined ? { state: "none" } : fromPrevious(previous)),
  ...(protect && { protect }),
  ...(awaited && { awaited })
})

/** The create has certainly made nothing, or its node is gone, so the member gets its previous node back, if it had one. */
export const notMade = (ledger: Ledger, member: string): Ledger => put(ledger, restored(entryOf(ledger, member)))

/** Reverts a replacement: the old node stays, and the new one goes. */
export const takenBack = (ledger: Ledger, member: string): Ledger => {
  const entry = entryOf(ledger, member)
  const next = asPrevious(entry)
  return entry.previous === undefined || next === undefined
    ? ledger
    : put(ledger, { ...restored(entry), previous: next })
}

/** The member's node is about to be deleted. */
export const deleting = (ledger: Ledger, member: string): Ledger => {
  const { pending: _pending, ...entry } = entryOf(ledger, member)
  return put(ledger, { ...entry, state: "deleting" })
}

/** A node that was asked to go is there all the same. */
export const notDeleted = (ledger: Ledger, member: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), state: "made" })

/** The member has no node any more. */
export const ended = (ledger: Ledger, member: string): Ledger =>
  put(ledger, { member, generation: entryOf(ledger, member).generation, state: "none" })

/** The node that was replaced is about to be asked to go. */
export const previousDeleting = (ledger: Ledger, member: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), previousAsked: true })

/** The node that was replaced is gone. */
export const released = (ledger: Ledger, member: string): Ledger => {
  const { previous: _previous, previousAsked: _asked, ...entry } = entryOf(ledger, member)
  return put(ledger, entry)
}

/** Takes an existing node as the member; `named` is its name in the file. If the member was being replaced, its old node stays. */
export const adopted = (ledger: Ledger, member: string, node: Owned, protect: boolean, named = node.name): Ledger => {
  const { generation, previous, state } = entryOf(ledger, member)
  return put(ledger, {
    member,
    generation: ledger.members.has(member) ? generation + 1 : 1,
    state: "made",
    node,
    ...(state === "creating" && previous && { previous }),
    sent: null,
    ...(named !== node.name && { named }),
    ...(protect && { protect }),
    awaited: true
  })
}

/** The commitment is about to be sent. */
export const committing = (ledger: Ledger, member: string, commitment: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), committing: commitment })

/** The commitment was certainly not set. */
export const notCommitted = (ledger: Ledger, member: string): Ledger => {
  const { committing: _sent, ...entry } = entryOf(ledger, member)
  return put(ledger, entry)
}

const withCommitment = <A extends Pick<Entry, "commitment" | "committing">>(of: A, commitment: string | null) => {
  const { commitment: _before, committing: _sent, ...rest } = of
  return commitment === null ? rest : { ...rest, commitment }
}

/** The node has this commitment; null: none. */
export const committed = (ledger: Ledger, member: string, commitment: string | null): Ledger =>
  put(ledger, withCommitment(entryOf(ledger, member), commitment))

/** The same for the node of that id, which may be the one that is being replaced. */
export const nodeCommitted = (ledger: Ledger, member: string, id: number, commitment: string | null): Ledger => {
  const { previous, ...entry } = entryOf(ledger, member)
  return previous?.id === id
    ? put(ledger, { ...entry, previous: withCommitment(previous, commitment) })
    : committed(ledger, member, commitment)
}

/** Whether the file protects a member, for when it is not in the file any more. */
export const protectedBy = (ledger: Ledger, member: string, protect: boolean): Ledger => {
  const { protect: _before, ...entry } = entryOf(ledger, member)
  return put(ledger, protect ? { ...entry, protect } : entry)
}

/** Whether a run still has to see the node of a member run before anything that it may replace is deleted. */
export const awaiting = (ledger: Ledger, member: string, awaited: boolean): Ledger => {
  const { awaited: before = false, ...entry } = entryOf(ledger, member)
  if (before === awaited || entry.state === "none") return ledger
  return put(ledger, awaited ? { ...entry, awaited } : entry)
}
