/**
 * The flags of `berth node create`, and the nodes that they describe.
 */
import { isKey } from "@berth/core/client/creation/Creator"
import type { NodeSpec } from "@berth/core/domain/NodeSpec"
import { durationFlag } from "@berth/terminal/durationFlag"
import { wholeNumberFlag } from "@berth/terminal/wholeNumber"
import { Option, Result } from "effect"
import { Argument, type Command, Flag } from "effect/cli"
import { UsageFault } from "../../failure/CliFailure.ts"
import { switchFlag } from "../../settings/switches.ts"

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))
const id = (name: string, description: string) =>
  wholeNumberFlag(name, 0).pipe(Flag.withMetavar("ID"), Flag.withDescription(description), Flag.optional)

const maxNameLength = 255
/** Most nodes of one command. */
const maxCount = 1000

const isName = (name: string): boolean => name.trim() !== "" && name.length <= maxNameLength
const nameExpected = `expected 1 to ${maxNameLength} characters`

export const flags = {
  name: Argument.String("NAME").pipe(
    Argument.withMetavar(""),
    Argument.withDescription("Name of the node"),
    Argument.filter(isName, () => nameExpected),
    Argument.optional
  ),
  nameFlag: text("name", "NAME", "Another way to give NAME").pipe(
    Flag.filter(isName, () => nameExpected),
    Flag.optional
  ),
  plan: text("plan", "PLAN", "Plan, see berth plan list").pipe(Flag.optional),
  image: text("image", "IMAGE", "Image slug or id, see berth image list").pipe(Flag.optional),
  sshKeys: text("ssh-key", "KEY", "Fingerprint or id of a key for root; repeatable").pipe(Flag.atLeast(0)),
  tags: text("tag", "TAG", "Tag to attach; repeatable").pipe(Flag.atLeast(0)),
  backups: switchFlag("backups", "Automated backups; cannot be turned on later"),
  savedImage: id("saved-image", "Template id (required for saved images)"),
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
  ifAbsent: switchFlag("if-absent", "Do nothing if a node with this name, plan and image exists"),
  key: text("idempotency-key", "KEY", "Re-running with the same key never creates a second node (per machine)").pipe(
    Flag.withAlias("key"),
    Flag.filter(
      isKey,
      () => "expected 1 to 128 letters, digits, dots, dashes or underscores, the first a letter or digit"
    ),
    Flag.optional
  ),
  count: wholeNumberFlag("count", 1, maxCount).pipe(
    Flag.withDescription("Create N nodes, NAME-1 to NAME-N"),
    Flag.optional
  ),
  maxCost: Flag.String("max-cost").pipe(
    Flag.withMetavar("₹/HOUR"),
    Flag.withDescription("Abort if the total price per hour is higher"),
    Flag.filterMap(
      (given) => (/^\d+(?:\.\d+)?$/.test(given) ? Option.some(Number(given)) : Option.none()),
      () => "expected rupees per hour, such as 12.5"
    ),
    Flag.optional
  ),
  wait: switchFlag("wait", "Wait until the node runs"),
  timeout: durationFlag("timeout").pipe(Flag.withDescription("Maximum time to wait; default 10m"), Flag.optional),
  force: switchFlag("force", "Send even if the plan or image is not listed"),
  dryRun: switchFlag("dry-run", "Show the request and the price, and stop"),
  yes: switchFlag("yes", "Do not ask")
}

export type Options = Command.Command.Config.Infer<typeof flags>

const some = <A>(values: ReadonlyArray<A>) => (values.length === 0 ? undefined : values)

/** What has to be given: by flags, or in the guided form. */
export interface Essentials {
  readonly name: string
  readonly plan: string
  readonly image: string
}

/** What was given of it. */
export const givenOf = ({ image, name, nameFlag, plan }: Options): Partial<Essentials> => ({
  ...Option.match(
    Option.orElse(name, () => nameFlag),
    { onNone: () => ({}), onSome: (name) => ({ name }) }
  ),
  ...Option.match(plan, { onNone: () => ({}), onSome: (plan) => ({ plan }) }),
  ...Option.match(image, { onNone: () => ({}), onSome: (image) => ({ image }) })
})

/** What is missing, as a usage error. */
export const missingFault = ({ image, name, plan }: Partial<Essentials>): UsageFault | undefined => {
  const missing =
    name === undefined ? "NAME" : plan === undefined ? "--plan" : image === undefined ? "--image" : undefined
  return (
    missing && new UsageFault({ message: `berth node create needs ${missing}.`, hint: "See berth node create --help." })
  )
}

/** The node that the options describe. For an option that is not given the service's default holds. */
export const specOf = ({ image, name, plan }: Essentials, options: Options): NodeSpec => {
  const sshKeys = some(options.sshKeys)
  const tags = some(options.tags)
  const startScripts = some(options.startScripts)
  return {
    name,
    plan,
    image: /^\d+$/.test(image) ? Number(image) : image,
    ...(sshKeys && { sshKeys }),
    ...(tags && { tags }),
    ...(startScripts && { startScripts }),
    ...(options.backups && { backups: true }),
    ...(options.noPublicIp && { publicIp: false }),
    ...(options.ipv6 && { ipv6: true }),
    ...(options.disablePassword && { disablePassword: true }),
    ...(Option.isSome(options.savedImage) && { savedImageTemplateId: options.savedImage.value }),
    ...(Option.isSome(options.committedSku) && { committedSkuId: options.committedSku.value }),
    ...(Option.isSome(options.securityGroup) && { securityGroupId: options.securityGroup.value }),
    ...(Option.isSome(options.vpc) && { vpcId: options.vpc.value }),
    ...(Option.isSome(options.label) && { label: options.label.value })
  }
}

/** One node to create, and the key of its create. */
export interface Wanted {
  readonly spec: NodeSpec
  readonly key: string | undefined
}

/** All nodes: one, or NAME-1 to NAME-N under KEY-1 to KEY-N. */
export const wantedNodes = (
  spec: NodeSpec,
  { count, key }: Options
): Result.Result<ReadonlyArray<Wanted>, UsageFault> => {
  const keyOf = (suffix: string) => Option.getOrUndefined(Option.map(key, (each) => each + suffix))
  if (Option.isNone(count)) return Result.succeed([{ spec, key: keyOf("") }])
  const wanted = Array.from({ length: count.value }, (_, i): Wanted => {
    const suffix = `-${i + 1}`
    return { spec: { ...spec, name: spec.name + suffix }, key: keyOf(suffix) }
  })
  const last = wanted.at(-1)
  return last !== undefined && (!isName(last.spec.name) || (last.key !== undefined && !isKey(last.key)))
    ? Result.fail(
        new UsageFault({ message: "With --count the name or the key is too long.", hint: "Choose a shorter one." })
      )
    : Result.succeed(wanted)
}

/** Flags that contradict each other. */
export const contradiction = ({ name, nameFlag, timeout, wait }: Options): UsageFault | undefined => {
  if (Option.isSome(name) && Option.isSome(nameFlag) && name.value !== nameFlag.value) {
    return new UsageFault({ message: "NAME and --name are two different names.", hint: "Leave one of them out." })
  }
  if (Option.isSome(timeout) && !wait) {
    return new UsageFault({ message: "--timeout needs --wait.", hint: "Add --wait, or omit --timeout." })
  }
  return undefined
}
