/**
 * `berth node create`: says what the node will cost, and creates it.
 */
import { nodeSpecToWire } from "@berth/core/api/NodeCodec"
import { isKey } from "@berth/core/client/creation/Creator"
import { IntentStore } from "@berth/core/client/creation/IntentStore"
import { Nodes } from "@berth/core/client/Nodes"
import { Plans } from "@berth/core/client/Plans"
import type { NodeSpec } from "@berth/core/domain/NodeSpec"
import type { Plan } from "@berth/core/domain/Plan"
import { DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { creatingClient } from "../../config/client.ts"
import { durationFlag } from "../../config/duration.ts"
import { idFlag } from "../../config/wholeNumberFlag.ts"
import { paths } from "../../config/paths.ts"
import { Interrupted, UsageFault } from "../../failure/CliFailure.ts"
import { problemOf } from "../../failure/Problem.ts"
import { nearest } from "../../failure/usageFault.ts"
import { nodeView } from "../../output/nodeView.ts"
import { say } from "../../output/Output.ts"
import { OutputFormat } from "../../output/OutputFormat.ts"
import { type Preview, previewView } from "../../output/Preview.ts"
import { printOne } from "../../output/print.ts"
import { withProgress } from "../../output/progress.ts"
import { quoted } from "../../output/quoted.ts"
import { report } from "../../output/report.ts"
import { rupees } from "../../output/units.ts"
import { completed } from "../../target/completed.ts"
import { resumable, waitFor } from "../../target/waitFor.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))
const id = (name: string, description: string) => idFlag(name).pipe(Flag.withDescription(description), Flag.optional)
const toggle = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withoutNegation, Flag.withDescription(description), Flag.withDefault(false))

const flags = {
  name: text("name", "NAME", "Name of the node").pipe(
    Flag.filter(
      (name) => name.trim() !== "" && name.length <= 255,
      () => "a name has 1 to 255 characters"
    )
  ),
  plan: text("plan", "PLAN", "Plan, see berth plan list"),
  image: text("image", "IMAGE", "Image slug or id, see berth image list"),
  sshKeys: text("ssh-key", "KEY", "Fingerprint or id of a key for root; repeatable").pipe(Flag.atLeast(0)),
  tags: text("tag", "TAG", "Tag to attach; repeatable").pipe(Flag.atLeast(0)),
  backups: toggle("backups", "Automated backups; cannot be turned on later"),
  savedImage: toggle("saved-image", "IMAGE is a saved image; needs --template"),
  template: id("template", "Template id of the saved image"),
  committedSku: id("committed-sku", "Committed option of the plan"),
  securityGroup: id("security-group", "Security group"),
  vpc: text("vpc", "ID", "Virtual private cloud").pipe(Flag.optional),
  startScripts: Flag.FileText("start-script").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Script to run at the start; repeatable"),
    Flag.atLeast(0)
  ),
  noPublicIp: toggle("no-public-ip", "Without a public address"),
  ipv6: toggle("ipv6", "With an IPv6 address"),
  label: text("label", "LABEL", "Label").pipe(Flag.optional),
  disablePassword: toggle("disable-password", "Log in with keys only"),
  key: text("key", "KEY", "Names this create: asked for again under it, it makes no second node").pipe(
    Flag.filter(
      isKey,
      () => "a key has 1 to 128 letters, digits, dots, dashes or underscores, and begins with a letter or digit"
    ),
    Flag.optional
  ),
  wait: toggle("wait", "Wait until the node runs"),
  timeout: durationFlag("timeout").pipe(Flag.withDescription("Longest time to wait; default 10m"), Flag.optional),
  dryRun: toggle("dry-run", "Show the request and the price, and stop")
}

type Wish = Command.Command.Config.Infer<typeof flags>

const some = <A>(values: ReadonlyArray<A>) => (values.length === 0 ? undefined : values)

/** What is asked for, leaving out what was not said: the service's defaults hold for it. */
const specOf = (wish: Wish): NodeSpec => {
  const sshKeys = some(wish.sshKeys)
  const tags = some(wish.tags)
  const startScripts = some(wish.startScripts)
  return {
    name: wish.name,
    plan: wish.plan,
    image: /^\d+$/.test(wish.image) ? Number(wish.image) : wish.image,
    ...(sshKeys && { sshKeys }),
    ...(tags && { tags }),
    ...(startScripts && { startScripts }),
    ...(wish.backups && { backups: true }),
    ...(wish.noPublicIp && { publicIp: false }),
    ...(wish.ipv6 && { ipv6: true }),
    ...(wish.disablePassword && { disablePassword: true }),
    ...(Option.isSome(wish.template) && { savedImageTemplateId: wish.template.value }),
    ...(Option.isSome(wish.committedSku) && { committedSkuId: wish.committedSku.value }),
    ...(Option.isSome(wish.securityGroup) && { securityGroupId: wish.securityGroup.value }),
    ...(Option.isSome(wish.vpc) && { vpcId: wish.vpc.value }),
    ...(Option.isSome(wish.label) && { label: wish.label.value })
  }
}

/** Flags that make sense only together. */
const check = (wish: Wish): Option.Option<UsageFault> => {
  if (wish.savedImage !== Option.isSome(wish.template)) {
    const [has, lacks] = wish.savedImage ? ["--saved-image", "--template"] : ["--template", "--saved-image"]
    return Option.some(
      new UsageFault({
        message: `${has} needs ${lacks}.`,
        hint: "See berth image saved for the account's saved images."
      })
    )
  }
  if (Option.isSome(wish.timeout) && !wish.wait) {
    return Option.some(new UsageFault({ message: "--timeout needs --wait.", hint: "Add --wait, or leave it out." }))
  }
  return Option.none()
}

/** What the node will cost, and what is to be said where that is not known. */
const preview = (
  spec: NodeSpec,
  plans: ReadonlyArray<Plan>
): { readonly preview: Preview; readonly doubts: string[] } => {
  const plan = plans.find((each) => each.plan === spec.plan)
  const option = plan?.committedOptions.find(({ skuId }) => skuId === spec.committedSkuId)
  const doubts: Array<string> = []
  if (plan === undefined) {
    const near = nearest(
      spec.plan,
      plans.map((each) => each.plan)
    )
    const meant = near.length === 0 ? "" : `; did you mean ${near.slice(0, 3).join(" or ")}?`
    doubts.push(`The service lists no plan ${spec.plan}, so its price is not known${meant || "."}`)
  } else if (spec.committedSkuId !== undefined && option === undefined) {
    doubts.push(`The plan ${spec.plan} lists no committed option ${spec.committedSkuId}, so its price is not known.`)
  }
  return {
    doubts,
    preview: {
      action: "create",
      id: null,
      name: spec.name,
      request: { method: "POST", path: paths().nodes.create(), body: { ...nodeSpecToWire(spec) } },
      pricePerHourInr: plan?.pricePerHourInr ?? null,
      pricePerMonthInr: plan?.pricePerMonthInr ?? null,
      committedPriceInr: option?.priceInr ?? null,
      outcome: option === undefined ? "billed by the hour until deleted" : `committed for ${option.days} days`
    }
  }
}

const priceOf = ({ committedPriceInr, pricePerHourInr, pricePerMonthInr, outcome }: Preview): string => {
  if (committedPriceInr !== null) return `₹${rupees(committedPriceInr)}, ${outcome}`
  if (pricePerHourInr === null) return "price not known"
  return `₹${rupees(pricePerHourInr)} per hour, ₹${rupees(pricePerMonthInr)} per month`
}

/** Tells, once, of creates that were killed before they could say what came of them. */
const tellAbandoned = Effect.gen(function* () {
  const abandoned = yield* Effect.orElseSucceed((yield* IntentStore)?.takeAbandoned ?? Effect.succeed([]), () => [])
  for (const { name, sentAt } of abandoned) {
    const when = DateTime.formatIso(DateTime.makeUnsafe(sentAt?.wallMillis ?? 0))
    yield* say(`A create of ${name} (${when}) was cut off; whether it made a node: ${lookFor(name)}`)
  }
})

const lookFor = (name: string) => `berth node list --name ${quoted(name)}`

/** Whether something was asked for under this key before. What cannot be read is told when it is needed. */
const wasUsed = Effect.fnUntraced(function* (key: Option.Option<string>) {
  const store = yield* IntentStore
  if (Option.isNone(key) || store === undefined) return false
  return Option.isSome(yield* Effect.orElseSucceed(store.find(key.value), Option.none))
})

/** Says on Ctrl-C what is not known, and how to find out. */
const cutOff = ({ key, name }: Wish) =>
  Effect.gen(function* () {
    const interrupted = new Interrupted({
      message: "Interrupted before the reply came; the node may have been made.",
      hint: Option.isSome(key) ? "The same command finishes it." : `To see whether it was: ${lookFor(name)}`
    })
    yield* report(problemOf(interrupted), yield* OutputFormat)
  })

export const create = Command.make(
  "create",
  flags,
  Effect.fnUntraced(function* (wish) {
    const fault = check(wish)
    if (Option.isSome(fault)) return yield* fault.value
    const spec = specOf(wish)
    const nodes = yield* Nodes
    const { doubts, preview: coming } = preview(spec, yield* (yield* Plans).list())
    for (const doubt of doubts) yield* say(doubt)
    if (wish.dryRun) return yield* printOne(previewView, coming)

    yield* tellAbandoned
    const again = yield* wasUsed(wish.key)
    yield* say(`Creating ${spec.name} on ${spec.plan} from ${spec.image}: ${priceOf(coming)}.`)
    if (again) yield* say("The key was used before: if that made a node, no other is made.")
    const { node, outcome } = yield* Effect.onInterrupt(
      nodes.create(spec, { key: Option.getOrUndefined(wish.key) }),
      () => cutOff(wish)
    )
    const found = Option.isSome(wish.key) ? "found: the key has made it" : "found: its reply had been lost"
    yield* say(`Node ${node.id} is ${outcome === "created" ? "accepted" : found}.`)
    if (!wish.wait) return yield* printOne(nodeView, node)

    const wait = { goal: "running", timeout: wish.timeout } as const
    const running = yield* withProgress(wait.goal, (tell) => waitFor(node, wait, tell)).pipe(
      resumable([String(node.id)], wait),
      // The node is there all the same.
      Effect.tapError(() => printOne(nodeView, node))
    )
    yield* printOne(
      nodeView,
      Option.match(running, { onNone: () => node, onSome: (later) => completed(later, Option.some(node)) })
    )
  })
).pipe(
  Command.withDescription("Create a node"),
  Command.provide(({ key }) => creatingClient(key))
)
