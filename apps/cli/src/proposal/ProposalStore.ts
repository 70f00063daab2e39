/**
 * The proposals of an account that wait for a person, their outcomes, and the text that a person reads. They are in the state folder, which
 * the MCP server and `berth approve` share. The id of a proposal is the hash of everything that a person consents to, so that an edited
 * proposal is not found under its id. The answer, the note that the request was sent, and the result are separate files. They are never
 * changed, with two exceptions: a yes may become a no, and the note is removed if the service has certainly done nothing.
 */
import { type FileFault, withFiles } from "@berthkit/core/client/files/StateFiles"
import { commitmentSettings } from "@berthkit/core/domain/Commitment"
import { NodeId } from "@berthkit/core/domain/Node"
import { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import type { Connection } from "@berthkit/terminal/Connection"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { LocalFileFault, ProposalNotFound, ProposalRefused } from "../failure/CliFailure.ts"
import { filesIn } from "../files/ownFiles.ts"
import { fileReason } from "../failure/fileReason.ts"
import { accountFolderOf } from "../settings/account.ts"
import { factsOf, nameIn, Proposal } from "./Proposal.ts"
import { jsonLine } from "../output/json.ts"

/** How long a person has to consent. */
const maxAgeMillis = 600_000

/** How long the result of a proposal is kept, so that a repeated call gets it. */
const keptMillis = 7 * 86_400_000

/** Most proposals that are kept: an agent in a loop fills no disk. */
const maxKept = 1000

/** What is to be done, in the terms of the client. */
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

/** The node that a change is about, as far as it tells one node from another. */
const About = Schema.Struct({
  id: NodeId,
  name: Schema.String,
  createdAt: Schema.NullOr(Schema.String),
  publicIp: Schema.NullOr(Schema.String)
})

/** What a person consents to, besides when and for whom: the order, its exact request and price, and the node that it is about. */
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

const File = Schema.fromJsonString(Schema.Struct({ version: Schema.Literal(1), content: Schema.String }))
const decodeFile = Schema.decodeUnknownOption(File)
const encodeFile = Schema.encodeSync(File)

const encodeTerms = Schema.encodeSync(Schema.fromJsonString(Terms))

/** Whether two proposals are the same in all that a person consents to. */
export const isSame = (a: Terms, b: Terms): boolean => encodeTerms(a) === encodeTerms(b)

/** A proposal that is kept. */
export interface Kept {
  readonly id: string
  /** The account in words: its service, and the beginning of its hash. */
  readonly account: string
  readonly expiresMillis: number
  readonly terms: Terms
}

/** The instant at which it expires, to the second. */
export const expiryOf = ({ expiresMillis }: Pick<Kept, "expiresMillis">): string =>
  DateTime.formatIso(DateTime.makeUnsafe(expiresMillis)).replace(/\.\d+Z$/, "Z")

/** The text that a person consents to must fit on a screen or two, because a long dialog hides its end. */
const maxShownLength = 6000

/** Makes all white space except single spaces visible, because a long gap could move text out of sight. */
const visible = (text: string): string =>
  escapeControls(text).replace(/ {2,}|[^\S ]/gu, (gap) =>
    Array.from(gap, (each) => `\\u{${(each.codePointAt(0) ?? 0).toString(16)}}`).join("")
  )

/**
 * What a person reads before they consent to a proposal, one fact per line, the price first, and no line cut. The agent's dialog and the
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

/** Refuses a proposal that is too long to be shown whole. */
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

/** What came of a proposal. */
const Outcome = Schema.Struct({
  proposal: Schema.String,
  outcome: Schema.String,
  message: Schema.String,
  node: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

const outcomeText = Schema.fromJsonString(Outcome)
const encodeOutcome = Schema.encodeSync(outcomeText)
const decodeOutcome = Schema.decodeUnknownOption(outcomeText)

/** A clock that is corrected by less is on time. */
const clockStepMillis = 60_000

/** Whether a proposal may be approved and carried out. By a clock that was set back to before it was made it may not. */
export const isCurrent = ({ expiresMillis }: Kept, nowMillis: number): boolean =>
  nowMillis < expiresMillis && expiresMillis - nowMillis <= maxAgeMillis + clockStepMillis

/** What a person answered. */
const answers = ["approved", "declined"] as const
export type Answer = (typeof answers)[number]

const idPattern = /^p[0-9a-z]{19}$/

/** 96 bits of the hash: nobody finds another content with it. */
const idOf = Effect.fnUntraced(function* (content: string) {
  const { createHash } = yield* Effect.promise(() => import("node:crypto"))
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 24)
  return `p${BigInt(`0x${hash}`).toString(36).padStart(19, "0")}`
})

const drawNonce = Effect.promise(async () => (await import("node:crypto")).randomBytes(12).toString("hex"))

const failed = (folder: string) => (fault: FileFault) =>
  new LocalFileFault({
    path: fault.path ?? folder,
    message: `Proposals cannot be kept in ${folder}: ${fileReason(fault)}.`,
    hint: "Make the folder writable for you alone; berth doctor shows where it is."
  })

const unreadable = (id: string) =>
  new ProposalRefused({
    proposal: id,
    message: `The proposal ${id} is not what was proposed: its file was changed.`,
    hint: "Nothing was sent. Ask the agent to propose it again."
  })

const lostOutcome = (id: string) =>
  new ProposalRefused({
    proposal: id,
    message: `The proposal ${id} was carried out, and the file with its result was changed.`,
    hint: "See what came of it: berth node list"
  })

const declined = (id: string) =>
  new ProposalRefused({
    proposal: id,
    message: `The proposal ${id} was declined by a person after it had been approved.`,
    hint: "Nothing was sent. Ask the agent to propose it again."
  })

/** The files of a proposal besides its own. */
type Kind = "answer" | "sent" | "result"

export class ProposalStore extends Context.Service<ProposalStore, Effect.Success<ReturnType<typeof make>>>()(
  "@berthkit/cli/proposal/ProposalStore"
) {
  /** The store of a connection's account; fails where the user has no state folder. */
  static readonly layer = (connection: Connection) => Layer.effect(ProposalStore, make(connection))
}

const make = Effect.fnUntraced(function* (connection: Connection) {
  const of = accountFolderOf(connection)
  if (of === undefined) {
    return yield* new LocalFileFault({
      path: "",
      message: "Proposals cannot be kept: there is no state folder.",
      hint: "Set HOME or XDG_STATE_HOME to a folder that can be written."
    })
  }
  const { id: account } = of
  const { baseUrl, location, project } = connection.options
  const place = project === undefined ? "" : `, project ${project} in ${location}`
  const inWords = `${account.slice(0, 8)} at ${baseUrl}${place}`
  const folder = `${of.folder}/proposals`
  const nameOf = (id: string, kind?: Kind) => `${id}${kind === undefined ? "" : `.${kind}`}.json`
  const { makeFolder, names, read, remove, write, ...files } = filesIn(Effect.succeed(folder), failed(folder))
  const locked = <A, E, R>(name: string, use: Effect.Effect<A, E, R>) =>
    Effect.andThen(makeFolder, files.locked(name, use))

  const answerOf = (id: string): Effect.Effect<Answer | undefined, LocalFileFault> =>
    Effect.map(read(nameOf(id, "answer")), (text) =>
      answers.find((each) => Option.contains(text, JSON.stringify({ id, answer: each })))
    )

  const wasSent = (id: string) => Effect.map(read(nameOf(id, "sent")), Option.isSome)

  /** Removes what is older than results are kept. Gives how many proposals are left. */
  const prune = Effect.fnUntraced(function* (nowMillis: number) {
    let left = 0
    for (const name of yield* names) {
      const about = yield* Effect.option(withFiles((fs) => fs.stat(`${folder}/${name}`)))
      if (Option.isNone(about) || !about.value.isFile()) continue
      if (nowMillis - about.value.mtimeMs > keptMillis) yield* Effect.ignore(remove(name))
      else if (idPattern.test(name.replace(/\.json$/, ""))) left++
    }
    return left
  })

  return {
    /** Keeps a new proposal, which expires ten minutes from now. */
    keep: Effect.fnUntraced(function* (terms: Terms) {
      const nowMillis = yield* Clock.currentTimeMillis
      if ((yield* prune(nowMillis)) >= maxKept) {
        return yield* new ProposalRefused({
          proposal: "",
          message: `There are ${maxKept} proposals of the last week already.`,
          hint: `Carry some out, or remove files from ${folder}.`
        })
      }
      const expiresMillis = nowMillis + maxAgeMillis
      const content = encodeContent({ account, nonce: yield* drawNonce, expiresMillis, terms })
      const kept: Kept = { id: yield* idOf(content), account: inWords, expiresMillis, terms }
      yield* ensureShowable(kept)
      yield* write(nameOf(kept.id), encodeFile({ version: 1, content }))
      return kept
    }),
    /** The proposal of an id. Fails where its file was edited, or is that of another account. */
    find: Effect.fnUntraced(function* (id: string) {
      const text = idPattern.test(id) ? yield* read(nameOf(id)) : Option.none<string>()
      if (Option.isNone(text)) return yield* new ProposalNotFound({ proposal: id.slice(0, 100) })
      const content = Option.map(decodeFile(text.value), (file) => file.content)
      if (Option.isNone(content) || (yield* idOf(content.value)) !== id) return yield* unreadable(id)
      const found = decodeContent(content.value)
      if (Option.isNone(found)) return yield* unreadable(id)
      if (found.value.account !== account) return yield* new ProposalNotFound({ proposal: id })
      const { expiresMillis, terms } = found.value
      return { id, account: inWords, expiresMillis, terms } satisfies Kept
    }),
    /**
     * Keeps an answer, and returns the one that counts. A no is final; a yes can become a no until the request is about to be sent. If two
     * answers come at once, the second waits for the first.
     */
    answer: (id: string, answer: Answer) =>
      locked(
        `${id}.answer`,
        Effect.gen(function* () {
          const before = yield* answerOf(id)
          if (before === answer || before === "declined" || (before === "approved" && (yield* wasSent(id))))
            return before
          yield* write(nameOf(id, "answer"), JSON.stringify({ id, answer }))
          return answer
        })
      ),
    answerOf,
    /** Notes that the request is about to be sent, unless it was declined in the meantime. The note is on the disk when this ends. */
    markSent: (id: string) =>
      locked(
        `${id}.answer`,
        Effect.gen(function* () {
          if ((yield* answerOf(id)) === "declined") return yield* declined(id)
          yield* write(nameOf(id, "sent"), JSON.stringify({ id }))
        })
      ),
    /** Takes that note back: the service has certainly not done it. */
    unmarkSent: (id: string) => remove(nameOf(id, "sent")),
    wasSent,
    finish: (id: string, outcome: Outcome) => write(nameOf(id, "result"), encodeOutcome(outcome)),
    /** Its result; undefined before it was carried out. Fails where that was edited. */
    resultOf: Effect.fnUntraced(function* (id: string) {
      const text = yield* read(nameOf(id, "result"))
      if (Option.isNone(text)) return undefined
      const outcome = decodeOutcome(text.value)
      return Option.isNone(outcome) ? yield* lostOutcome(id) : outcome.value
    }),
    /** Runs `use` while no other process carries out the same proposal. */
    locked
  }
})
