/**
 * The proposals of an account that wait for a person, and what became of them: in its state folder, where the server that proposes and
 * `berth approve` meet; and what a person reads of one. The id of a proposal is the hash of all that is consented to, so that a proposal
 * which was edited is not found under it. What is written is never changed: an answer, that it was sent and its result are files of their
 * own. Only that it was sent is taken back, where the service has certainly done nothing.
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
import { nameIn, Proposal, questionOf } from "./Proposal.ts"
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
  createdAt: Schema.String,
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
  readonly expiresMillis: number
  readonly terms: Terms
}

const maxLine = 1500

const line = (text: string): string => {
  const safe = escapeControls(text)
  return safe.length > maxLine ? `${safe.slice(0, maxLine)}…` : safe
}

/** The instant at which it expires, to the second. */
export const expiryOf = ({ expiresMillis }: Pick<Kept, "expiresMillis">): string =>
  DateTime.formatIso(DateTime.makeUnsafe(expiresMillis)).replace(/\.\d+Z$/, "Z")

/**
 * What a person reads before they consent to a proposal, a fact in each line: the same in a dialog of the agent's program and in a terminal.
 * Names in it are other people's words, which cannot end a line.
 */
export const consentLines = (kept: Kept): ReadonlyArray<string> => {
  const { about, proposal } = kept.terms
  const { body, method, path } = proposal.request
  return [
    questionOf([proposal]),
    ...(about === null
      ? []
      : [
          `Node ${about.id}: ${nameIn(about.name)}, created ${about.createdAt}, public address ${about.publicIp ?? "none"}.`
        ]),
    `Request: ${method} ${path}${body === null ? "" : ` ${jsonLine(body)}`}`,
    `Proposal ${kept.id}, until ${expiryOf(kept)}.`
  ].map(line)
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

/** The files of a proposal besides its own. */
type Kind = "answer" | "sent" | "result"

export class ProposalStore extends Context.Service<ProposalStore, Effect.Success<ReturnType<typeof make>>>()(
  "@berthkit/cli/proposal/ProposalStore"
) {
  /** The store of a connection's account; fails where the user has no state folder. */
  static readonly layer = (connection: Connection) => Layer.effect(ProposalStore, make(accountFolderOf(connection)))
}

const make = Effect.fnUntraced(function* (of: ReturnType<typeof accountFolderOf>) {
  if (of === undefined) {
    return yield* new LocalFileFault({
      path: "",
      message: "Proposals cannot be kept: there is no state folder.",
      hint: "Set HOME or XDG_STATE_HOME to a folder that can be written."
    })
  }
  const { id: account } = of
  const folder = `${of.folder}/proposals`
  const nameOf = (id: string, kind?: Kind) => `${id}${kind === undefined ? "" : `.${kind}`}.json`
  const { makeFolder, names, read, remove, write, ...files } = filesIn(Effect.succeed(folder), failed(folder))
  const locked = <A, E, R>(name: string, use: Effect.Effect<A, E, R>) =>
    Effect.andThen(makeFolder, files.locked(name, use))

  const answerOf = (id: string): Effect.Effect<Answer | undefined, LocalFileFault> =>
    Effect.map(read(nameOf(id, "answer")), (text) =>
      answers.find((each) => Option.contains(text, JSON.stringify({ id, answer: each })))
    )

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
      const id = yield* idOf(content)
      yield* write(nameOf(id), encodeFile({ version: 1, content }))
      return { id, expiresMillis, terms } satisfies Kept
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
      return { id, expiresMillis, terms } satisfies Kept
    }),
    /**
     * Keeps an answer unless there is one, and gives the one that counts: what was declined is not approved later. Of two at once the second
     * waits for the first.
     */
    answer: (id: string, answer: Answer) =>
      locked(
        `${id}.answer`,
        Effect.gen(function* () {
          const before = yield* answerOf(id)
          if (before !== undefined) return before
          yield* write(nameOf(id, "answer"), JSON.stringify({ id, answer }))
          return answer
        })
      ),
    answerOf,
    /** Notes that its request is about to leave. It is on the disk when this ends. */
    markSent: (id: string) => write(nameOf(id, "sent"), JSON.stringify({ id })),
    /** Takes that note back: the service has certainly not done it. */
    unmarkSent: (id: string) => remove(nameOf(id, "sent")),
    wasSent: (id: string) => Effect.map(read(nameOf(id, "sent")), Option.isSome),
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
