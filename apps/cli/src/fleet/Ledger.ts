/**
 * Which nodes are a fleet's: a list of ids, never a pattern of names. A file beside the fleet file, without secrets, meant for git, with
 * one line per member so that merges can be read. Pure; `applying/LedgerFile.ts` reads and writes it.
 *
 * A member is being created (`creating`), has a node (`made`), has one that was asked to go (`deleting`), or has none now (`none`): then
 * its line stays, because its next node needs a new generation.
 */
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

/** A create that is not known to have ended. */
const Pending = Schema.Struct({
  name: Schema.String,
  plan: Schema.String,
  image: Schema.Union([Schema.String, Schema.Int]),
  /** The machine, by a name that berth drew for it. */
  by: Schema.String,
  since: Schema.String
})
interface Pending extends Schema.Schema.Type<typeof Pending> {}

/** The fields of a line in their order, whichever step wrote them last. */
const Entry = Schema.Struct({
  member: Schema.String,
  /** Counts the nodes that it had. */
  generation: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  state: Schema.Literals(["creating", "made", "deleting", "none"]),
  node: Schema.optional(Owned),
  pending: Schema.optional(Pending),
  /** The node that this one replaces, which is still there. */
  previous: Schema.optional(Owned),
  /** Whether that was asked to go. */
  previousAsked: Schema.optional(Schema.Boolean),
  /** Null where berth did not create the node. */
  sent: Schema.optional(Schema.NullOr(Sent)),
  commitment: Schema.optional(Schema.String),
  protect: Schema.optional(Schema.Boolean)
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
export type LedgerFault = { readonly _tag: "Damaged"; readonly why: string } | { readonly _tag: "Later" }

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
    if (byName.has(member)) return damaged(`${member} is in it twice`)
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
  new Set(
    Array.from(members.values()).flatMap(({ node, previous }) => [node, previous].flatMap((each) => each?.id ?? []))
  )

export const ownedOf = ({ createdAt, id, image, name, plan }: Node): Owned => ({
  id,
  name,
  plan,
  image,
  createdAt: DateTime.formatIso(createdAt)
})

/** The replies of a service need not state the same instant for one node, but two nodes of one id are further apart. */
const toleranceMillis = 60_000

/** Whether a node is the one that the ledger has by that id, and not another that came to have it. */
export const isSameNode = (owned: Owned, node: Node): boolean =>
  owned.id === node.id &&
  owned.name === node.name &&
  (owned.createdAt === null ||
    Math.abs(Date.parse(owned.createdAt) - node.createdAt.epochMilliseconds) <= toleranceMillis)

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

/** A create is about to be sent. The node that the member has, if any, is the one that it replaces. */
export const begun = (ledger: Ledger, member: Member, { pending, protect, sent }: Beginning): Ledger => {
  const name = memberText(member)
  const before = ledger.members.get(name)
  const previous = before?.state === "made" ? before.node : undefined
  return put(ledger, {
    member: name,
    generation: (before?.generation ?? 0) + 1,
    state: "creating",
    pending,
    sent,
    ...(protect && { protect }),
    ...(previous && { previous })
  })
}

/** The create has made this node. */
export const made = (ledger: Ledger, member: string, node: Owned): Ledger => {
  const { pending: _pending, ...entry } = entryOf(ledger, member)
  return put(ledger, { ...entry, state: "made", node })
}

/**
 * The create has certainly made nothing, or its node is gone: the member has the node that it had before, or none. What was sent for that one is
 * not known any more.
 */
export const notMade = (ledger: Ledger, member: string): Ledger => {
  const { generation, previous, protect } = entryOf(ledger, member)
  return previous === undefined
    ? put(ledger, { member, generation, state: "none" })
    : put(ledger, { member, generation, state: "made", node: previous, sent: null, ...(protect && { protect }) })
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

/** The node was there before, and is the member from now on. */
export const adopted = (ledger: Ledger, member: string, node: Owned, protect: boolean): Ledger =>
  put(ledger, {
    member,
    generation: (ledger.members.get(member)?.generation ?? 0) + 1,
    state: "made",
    node,
    sent: null,
    ...(protect && { protect })
  })

export const committed = (ledger: Ledger, member: string, commitment: string): Ledger =>
  put(ledger, { ...entryOf(ledger, member), commitment })

/** Whether the file protects a member, for when it is not in the file any more. */
export const protectedBy = (ledger: Ledger, member: string, protect: boolean): Ledger => {
  const { protect: _before, ...entry } = entryOf(ledger, member)
  return put(ledger, protect ? { ...entry, protect } : entry)
}
