/**
 * Stores an account's proposals, the persons' answers and the outcomes, for the MCP server and `berth approve`. A
 * proposal's id is the hash of everything that a person consents to, so an edited proposal is not found under its id.
 * The record also holds the answer, whether the request was sent, and the result. They are final, with two exceptions:
 * a yes may become a no, and a sent request counts as not sent again if the service has certainly done nothing.
 */
import { commitmentSettings } from "@berthkit/core/domain/Commitment"
import { NodeId } from "@berthkit/core/domain/Node"
import { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import type { Connection } from "@berthkit/terminal/Connection"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, DateTime, Effect, Option, Schema } from "effect"
import { ProposalNotFound, ProposalRefused } from "../failure/CliFailure.ts"
import { accountFolderOf } from "../settings/account.ts"
import { faultOf, noStore, recordsOf, underLock } from "../state/Kind.ts"
import { factsOf, nameIn, Proposal } from "./Proposal.ts"
import { jsonLine } from "../output/json.ts"

/** How long a person has to consent. */
const maxAgeMillis = 600_000

/** How long a result is kept for a repeated call. */
const keptMillis = 7 * 86_400_000

/** Maximum number of stored proposals, so that an agent in a loop does not fill the disk. */
const maxKept = 1000

/** The action, in the client's terms. */
export const Order = Schema.Union([
  Schema.Struct({ action: Schema.Literal("create"), spec: NodeSpec }),
  Schema.Struct({ action: Schema.Literal("delete"), id: NodeId }),
  Schema.Struct({
    action: Schema.Literal("commit"),
    id: NodeId,
    setting: Schema.Literals(commitmentSettings),
    skuId: Schema.NullOr(Schema.Int)
  })
])
export type Order = typeof Order.Type

/** The node of a change, with the fields that distinguish it from others. */
const About = Schema.Struct({
  id: NodeId,
  name: Schema.String,
  createdAt: Schema.NullOr(Schema.String),
  publicIp: Schema.NullOr(Schema.String)
})

/** What a person consents to, apart from time and account: the order, its exact request and price, and its node. */
export const Terms = Schema.Struct({ order: Order, proposal: Proposal, about: Schema.NullOr(About) })
export interface Terms extends Schema.Schema.Type<typeof Terms> {}

const Content = Schema.Struct({
  account: Schema.String,
  nonce: Schema.String,
  expiresMillis: Schema.Int,
  terms: Terms
})

const contentText = Schema.fromJsonString(Content)
const encodeContent = Schema.encodeSync(contentText)
const decodeContent = Schema.decodeUnknownOption(contentText)

const encodeTerms = Schema.encodeSync(Schema.fromJsonString(Terms))

/** Whether two proposals are equal in everything that a person consents to. */
export const isSame = (a: Terms, b: Terms): boolean => encodeTerms(a) === encodeTerms(b)

/** A stored proposal. */
export interface Kept {
  readonly id: string
  /** The account in words: its service, and the beginning of the account's hash. */
  readonly account: string
  readonly expiresMillis: number
  readonly terms: Terms
  /** The person's answer; null before it. */
  readonly answer: Answer | null
  /** Whether the request was sent, or was about to be sent. */
  readonly wasSent: boolean
  /** The outcome; null until the proposal has been carried out. */
  readonly result: Outcome | null
}

/** The expiry time, to the second. */
export const expiryOf = ({ expiresMillis }: Pick<Kept, "expiresMillis">): string =>
  DateTime.formatIso(DateTime.makeUnsafe(expiresMillis)).replace(/\.\d+Z$/, "Z")

/** Maximum length of the text that a person consents to. It must fit on a screen or two, because a long dialog hides its end. */
const maxShownLength = 6000

/** Makes all white space except single spaces visible, because a long gap could move text out of sight. */
const visible = (text: string): string =>
  escapeControls(text).replace(/ {2,}|[^\S ]/gu, (gap) =>
    Array.from(gap, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`).join("")
  )

/**
 * The text that a person reads before consenting: one fact per line, the price first, and no line shortened. The agent's dialog and the
 * terminal show the same lines. Names come from other people, so they must not be able to start a new line.
 */
export const consentLines = ({ account, terms: { about, proposal }, ...kept }: Kept): ReadonlyArray<string> => {
  const { body, method, path } = proposal.request
  return [
    ...factsOf(proposal),
    ...(about === null
      ? []
      : [
          `Node ${about.id}: ${nameIn(about.name)}, created ${about.createdAt ?? "at a time that is not known"}, public address ${about.publicIp ?? "none"}.`
        ]),
    `Account: ${account}`,
    `Request: ${method} ${path}${body === null ? "" : ` ${jsonLine(body)}`}`,
    `Proposal ${kept.id}, until ${expiryOf(kept)}.`
  ].map(visible)
}

/** Refuses a proposal that is too long to be shown in full. */
const ensureShowable = (kept: Kept) => {
  const length = consentLines(kept).join("\n").length
  return length <= maxShownLength
    ? Effect.void
    : Effect.fail(
        new ProposalRefused({
          proposal: "",
          message: `The proposal cannot be shown to a person as a whole: it takes ${length} characters, and ${maxShownLength} are allowed.`,
          hint: "Nothing was kept or sent. Use shorter names, and fewer tags and SSH keys."
        })
      )
}

/** The outcome of a proposal. */
const Outcome = Schema.Struct({
  proposal: Schema.String,
  outcome: Schema.String,
  message: Schema.String,
  node: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

/** A clock that is set back by less than this counts as corrected. */
const clockStepMillis = 60_000

/**
 * Whether a proposal may still be approved and carried out. It may not if the clock was set back to a time before the proposal was made.
 */
export const isCurrent = ({ expiresMillis }: Kept, nowMillis: number): boolean =>
  nowMillis < expiresMillis && expiresMillis - nowMillis <= maxAgeMillis + clockStepMillis

/** The possible answers. */
const answers = ["approved", "declined"] as const
export type Answer = (typeof answers)[number]

const Stored = Schema.Struct({
  version: Schema.Literal(1),
  id: Schema.String,
  madeMillis: Schema.Int,
  /** The text whose hash is the id. */
  content: Schema.String,
  answer: Schema.NullOr(Schema.Literals(answers)),
  wasSent: Schema.Boolean,
  result: Schema.NullOr(Outcome)
})
type Stored = typeof Stored.Type

const cannot = "Proposals cannot be kept"
const records = recordsOf({ kind: "proposal", schema: Stored, keyOf: ({ id }) => id, cannot })

const idPattern = /^p[0-9a-z]{19}$/

/** The first 96 bits of the hash. Nobody can find another content with the same 96 bits. */
const idOf = Effect.fnUntraced(function* (content: string) {
  const { createHash } = yield* Effect.promise(() => import("node:crypto"))
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 24)
  return `p${BigInt(`0x${hash}`).toString(36).padStart(19, "0")}`
})

const drawNonce = Effect.promise(async () => (await import("node:crypto")).randomBytes(12).toString("hex"))

const unreadable = (id: string) =>
  new ProposalRefused({
    proposal: id,
    message: `The proposal ${id} is not what was proposed: its record was changed.`,
    hint: "Nothing was sent. Ask the agent to propose it again."
  })

const declined = (id: string) =>
  new ProposalRefused({
    proposal: id,
    message: `The proposal ${id} was declined by a person after it had been approved.`,
    hint: "Nothing was sent. Ask the agent to propose it again."
  })

const notFound = (id: string) => new ProposalNotFound({ proposal: id.slice(0, 100) })

/** The proposals of a connection's account; fails if the user has no state folder. */
export const proposalsOf = Effect.fnUntraced(function* (connection: Connection) {
  const own = accountFolderOf(connection)
  if (own === undefined) return yield* faultOf(cannot)(noStore)
  const { id: account } = own
  const { baseUrl, location, project } = connection.options
  const place = project === undefined ? "" : `, project ${project} in ${location}`
  const inWords = `${account.slice(0, 8)} at ${baseUrl}${place}`

  /** Removes expired results, and returns how many proposals are left. */
  const prune = Effect.fnUntraced(function* (nowMillis: number) {
    const { values } = yield* records.all
    const old = values.filter(({ madeMillis }) => nowMillis - madeMillis > keptMillis)
    for (const { id } of old) yield* records.remove(id)
    return values.length - old.length
  })

  /** Changes a proposal's record while no other process can. */
  const change = <A, E>(id: string, by: (before: Stored) => Effect.Effect<readonly [A, after?: Partial<Stored>], E>) =>
    records.change(
      id,
      Effect.fnUntraced(function* (before) {
        if (before === undefined) return yield* notFound(id)
        const [result, after] = yield* by(before)
        if (after !== undefined) yield* records.put({ ...before, ...after })
        return result
      })
    )

  return {
    /** Stores a new proposal, which expires after ten minutes. */
    keep: Effect.fnUntraced(function* (terms: Terms) {
      const madeMillis = yield* Clock.currentTimeMillis
      if ((yield* prune(madeMillis)) >= maxKept) {
        return yield* new ProposalRefused({
          proposal: "",
          message: `There are ${maxKept} proposals of the last week already.`,
          hint: "Carry some out, or propose again when a week has passed."
        })
      }
      const expiresMillis = madeMillis + maxAgeMillis
      const content = encodeContent({ account, nonce: yield* drawNonce, expiresMillis, terms })
      const id = yield* idOf(content)
      const beside = { answer: null, wasSent: false, result: null }
      const kept: Kept = { id, account: inWords, expiresMillis, terms, ...beside }
      yield* ensureShowable(kept)
      yield* records.put({ version: 1, id, madeMillis, content, ...beside })
      return kept
    }),
    /** Reads the current proposal of an id. Fails if it was edited or belongs to another account. */
    find: Effect.fnUntraced(function* (id: string) {
      const stored = idPattern.test(id) ? yield* records.get(id) : undefined
      if (stored === undefined) return yield* notFound(id)
      const { answer, content, result, wasSent } = stored
      const found = decodeContent(content)
      if ((yield* idOf(content)) !== id || Option.isNone(found)) return yield* unreadable(id)
      if (found.value.account !== account) return yield* notFound(id)
      const { expiresMillis, terms } = found.value
      return { id, account: inWords, expiresMillis, terms, answer, wasSent, result } satisfies Kept
    }),
    /**
     * Stores an answer and returns the effective one. A no is final; a yes can become a no until the request is about to be sent. If two
     * answers arrive at once, the second waits for the first.
     */
    answer: (id: string, answer: Answer) =>
      change(id, ({ answer: before, wasSent }) =>
        Effect.succeed(
          before === answer || before === "declined" || (before === "approved" && wasSent)
            ? ([before] as const)
            : ([answer, { answer }] as const)
        )
      ),
    /**
     * Records that the request is about to be sent, unless the proposal was declined in the meantime. The record is on disk when this
     * returns.
     */
    markSent: (id: string) =>
      change(id, ({ answer }) =>
        answer === "declined" ? Effect.fail(declined(id)) : Effect.succeed([undefined, { wasSent: true }] as const)
      ),
    /** Removes the mark of `markSent`, because the service has certainly done nothing. */
    unmarkSent: (id: string) => change(id, () => Effect.succeed([undefined, { wasSent: false }] as const)),
    finish: (id: string, result: Outcome) => change(id, () => Effect.succeed([undefined, { result }] as const)),
    /** Runs `use` while no other process carries out the same proposal. */
    carryingOut: <A, E, R>(id: string, use: Effect.Effect<A, E, R>) =>
      underLock(cannot, `proposal.${id}.carrying-out`, use)
  }
})

export type ProposalStore = Effect.Success<ReturnType<typeof proposalsOf>>
