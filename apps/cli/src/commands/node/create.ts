/**
 * `berth node create`: shows what the node will cost, and creates it.
 */
import { isKey } from "@berth/core/client/creation/Creator"
import { IntentStore } from "@berth/core/client/creation/IntentStore"
import { createRequest } from "@berth/core/client/NodeRequests"
import { Nodes } from "@berth/core/client/Nodes"
import { Plans } from "@berth/core/client/Plans"
import type { NodeSpec } from "@berth/core/domain/NodeSpec"
import type { Plan } from "@berth/core/domain/Plan"
import { durationFlag } from "@berth/terminal/durationFlag"
import { didYouMean, nearest } from "@berth/terminal/usage"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { Interrupted, UsageFault } from "../../failure/CliFailure.ts"
import { problemOf } from "../../failure/Problem.ts"
import { withListed } from "../../nodes/allNodes.ts"
import { resumable, waitFor } from "../../nodes/waitFor.ts"
import { quoted, rupees } from "../../output/format.ts"
import { printNote } from "../../output/Output.ts"
import { OutputFormat } from "../../output/OutputFormat.ts"
import { printOne } from "../../output/print.ts"
import { withProgress } from "../../output/progress.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { type Proposal, proposalRecord, propose } from "../../proposal/Proposal.ts"
import { nodeRecord } from "../../records/node.ts"
import { creatingClient } from "../../settings/client.ts"
import { switchFlag } from "../../settings/switches.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))
const id = (name: string, description: string) =>
  wholeNumberFlag(name, 0).pipe(Flag.withMetavar("ID"), Flag.withDescription(description), Flag.optional)

const flags = {
  name: text("name", "NAME", "Name of the node").pipe(
    Flag.filter(
      (name) => name.trim() !== "" && name.length <= 255,
      () => "expected 1 to 255 characters"
    )
  ),
  plan: text("plan", "PLAN", "Plan, see berth plan list"),
  image: text("image", "IMAGE", "Image slug or id, see berth image list"),
  sshKeys: text("ssh-key", "KEY", "Fingerprint or id of a key for root; repeatable").pipe(Flag.atLeast(0)),
  tags: text("tag", "TAG", "Tag to attach; repeatable").pipe(Flag.atLeast(0)),
  backups: switchFlag("backups", "Automated backups; cannot be turned on later"),
  savedImage: switchFlag("saved-image", "IMAGE is a saved image; needs --template"),
  template: id("template", "Template id of the saved image"),
  committedSku: id("committed-sku", "Committed option of the plan"),
  securityGroup: id("security-group", "Security group"),
  vpc: text("vpc", "ID", "Virtual private cloud").pipe(Flag.optional),
  startScripts: Flag.FileText("start-script").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Script to run at the start; repeatable"),
    Flag.atLeast(0)
  ),
  noPublicIp: switchFlag("no-public-ip", "Without a public address"),
  ipv6: switchFlag("ipv6", "With an IPv6 address"),
  label: text("label", "LABEL", "Label").pipe(Flag.optional),
  disablePassword: switchFlag("disable-password", "Log in with keys only"),
  key: text("key", "KEY", "Names this create: the same key again creates no second node").pipe(
    Flag.filter(
      isKey,
      () => "expected 1 to 128 letters, digits, dots, dashes or underscores, the first a letter or digit"
    ),
    Flag.optional
  ),
  wait: switchFlag("wait", "Wait until the node runs"),
  timeout: durationFlag("timeout").pipe(Flag.withDescription("Maximum time to wait; default 10m"), Flag.optional),
  dryRun: switchFlag("dry-run", "Show the request and the price, and stop")
}

type Options = Command.Command.Config.Infer<typeof flags>

const some = <A>(values: ReadonlyArray<A>) => (values.length === 0 ? undefined : values)

/** The node that the options describe. For an option that is not given the service's default holds. */
const specOf = (options: Options): NodeSpec => {
  const sshKeys = some(options.sshKeys)
  const tags = some(options.tags)
  const startScripts = some(options.startScripts)
  return {
    name: options.name,
    plan: options.plan,
    image: /^\d+$/.test(options.image) ? Number(options.image) : options.image,
    ...(sshKeys && { sshKeys }),
    ...(tags && { tags }),
    ...(startScripts && { startScripts }),
    ...(options.backups && { backups: true }),
    ...(options.noPublicIp && { publicIp: false }),
    ...(options.ipv6 && { ipv6: true }),
    ...(options.disablePassword && { disablePassword: true }),
    ...(Option.isSome(options.template) && { savedImageTemplateId: options.template.value }),
    ...(Option.isSome(options.committedSku) && { committedSkuId: options.committedSku.value }),
    ...(Option.isSome(options.securityGroup) && { securityGroupId: options.securityGroup.value }),
    ...(Option.isSome(options.vpc) && { vpcId: options.vpc.value }),
    ...(Option.isSome(options.label) && { label: options.label.value })
  }
}

/** Flags that make sense only together. */
const check = (options: Options): Option.Option<UsageFault> => {
  if (options.savedImage !== Option.isSome(options.template)) {
    const [has, lacks] = options.savedImage ? ["--saved-image", "--template"] : ["--template", "--saved-image"]
    return Option.some(
      new UsageFault({
        message: `${has} needs ${lacks}.`,
        hint: "See berth image saved for the account's saved images."
      })
    )
  }
  if (Option.isSome(options.timeout) && !options.wait) {
    return Option.some(new UsageFault({ message: "--timeout needs --wait.", hint: "Add --wait, or omit --timeout." }))
  }
  return Option.none()
}

/** The proposal of a create, and a warning where its price is not known. */
const proposalOf = (spec: NodeSpec, plans: ReadonlyArray<Plan>) => {
  const plan = plans.find((each) => each.plan === spec.plan)
  const option = plan?.committedOptions.find(({ skuId }) => skuId === spec.committedSkuId)
  const proposal = propose(createRequest(spec), {
    action: "create",
    id: null,
    name: spec.name,
    pricePerHourInr: plan?.pricePerHourInr ?? null,
    pricePerMonthInr: plan?.pricePerMonthInr ?? null,
    committedPriceInr: option?.priceInr ?? null,
    outcome: option === undefined ? "billed by the hour until deleted" : `committed for ${option.days} days`
  })
  return { proposal, warning: priceWarning(spec, plan === undefined ? plans : plan) }
}

/** Why the price is not known, from the plan or, where no plan has the name, from all plans. */
const priceWarning = ({ committedSkuId, plan }: NodeSpec, found: Plan | ReadonlyArray<Plan>): Option.Option<string> => {
  if (!("plan" in found)) {
    const near = nearest(
      plan,
      found.map((each) => each.plan)
    )
    return Option.some(`The service lists no plan ${plan}, so the price is not known${didYouMean(near.slice(0, 3))}`)
  }
  return committedSkuId === undefined || found.committedOptions.some(({ skuId }) => skuId === committedSkuId)
    ? Option.none()
    : Option.some(`The plan ${plan} lists no committed option ${committedSkuId}, so the price is not known.`)
}

const priceText = ({ committedPriceInr, pricePerHourInr, pricePerMonthInr, outcome }: Proposal): string => {
  if (committedPriceInr !== null) return `₹${rupees(committedPriceInr)}, ${outcome}`
  if (pricePerHourInr === null) return "price not known"
  return `₹${rupees(pricePerHourInr)} per hour, ₹${rupees(pricePerMonthInr)} per month`
}

const listByName = (name: string) => `berth node list --name ${quoted(name)}`

/** Reports, once, the creates of which a killed process left no result. */
const reportAbandoned = Effect.gen(function* () {
  const abandoned = yield* Effect.orElseSucceed((yield* IntentStore)?.takeAbandoned ?? Effect.succeed([]), () => [])
  for (const { name, sentAt } of abandoned) {
    const when = DateTime.formatIso(DateTime.makeUnsafe(sentAt?.wallMillis ?? 0))
    yield* printNote(
      `An earlier create of ${name} was interrupted (${when}). Check whether it exists: ${listByName(name)}`
    )
  }
})

/** Whether an earlier create had this key. A store that cannot be read fails later, where it is needed. */
const wasUsed = Effect.fnUntraced(function* (key: Option.Option<string>) {
  const store = yield* IntentStore
  if (Option.isNone(key) || store === undefined) return false
  return Option.isSome(yield* Effect.orElseSucceed(store.find(key.value), Option.none))
})

/** What Ctrl-C leaves open, and how to find out. */
const reportInterrupted = ({ key, name }: Options) =>
  Effect.gen(function* () {
    const interrupted = new Interrupted({
      message: "Interrupted before the reply came; the node may exist.",
      hint: Option.isSome(key)
        ? "Run the same command again to finish."
        : `Check whether it exists: ${listByName(name)}`
    })
    yield* reportProblem(problemOf(interrupted), yield* OutputFormat)
  })

export const create = Command.make(
  "create",
  flags,
  Effect.fnUntraced(function* (options) {
    const fault = check(options)
    if (Option.isSome(fault)) return yield* fault.value
    const { key, timeout } = options
    const spec = specOf(options)
    const nodes = yield* Nodes
    const { proposal, warning } = proposalOf(spec, yield* (yield* Plans).list())
    if (Option.isSome(warning)) yield* printNote(warning.value)
    if (options.dryRun) return yield* printOne(proposalRecord, proposal)

    yield* reportAbandoned
    const again = yield* wasUsed(key)
    yield* printNote(`Creating ${spec.name} on ${spec.plan} from ${spec.image}: ${priceText(proposal)}.`)
    if (again) yield* printNote("The key was used before: if it created a node, no other is created.")
    const { node, outcome } = yield* Effect.onInterrupt(nodes.create(spec, { key: Option.getOrUndefined(key) }), () =>
      reportInterrupted(options)
    )
    const found = Option.isSome(key) ? " earlier with the same key" : " (the reply was lost; found it by name)"
    yield* printNote(`Created node ${node.id}${outcome === "created" ? "" : found}.`)
    if (!options.wait) return yield* printOne(nodeRecord, node)

    const wait = { goal: "running", timeout } as const
    const running = yield* withProgress(wait.goal, (show) =>
      waitFor({ id: node.id, node: Option.some(node) }, wait, show)
    ).pipe(
      resumable([String(node.id)], wait),
      // The node exists all the same.
      Effect.tapError(() => printOne(nodeRecord, node))
    )
    yield* printOne(
      nodeRecord,
      Option.match(running, { onNone: () => node, onSome: (later) => withListed(later, node) })
    )
  })
).pipe(
  Command.withDescription("Create a node"),
  Command.provide(({ key }) => creatingClient(key))
)
