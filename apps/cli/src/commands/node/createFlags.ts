/**
 * The flags of `berth node create`, and the nodes that they describe.
 */
import { extraFault, wireNames } from "@berthkit/core/api/NodeCodec"
import { placeParameters } from "@berthkit/core/api/Routes"
import { parseJson } from "@berthkit/core/api/parseJson"
import { isKey } from "@berthkit/core/client/creation/Creator"
import type { FileFault } from "@berthkit/core/client/files/StateFiles"
import { CommitmentSetting } from "@berthkit/core/domain/Commitment"
import { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import type { SettingFault } from "@berthkit/terminal/Connection"
import { Effect, Result, Schema, type Stdio } from "effect"
import {
  duration,
  flag,
  flags,
  type GlobalSettings,
  oneOf,
  optionalArgument,
  switchFlag,
  switchOr,
  text,
  type Value,
  type Values,
  wholeNumber,
  withoutUndefined
} from "../../commandLine/Parameter.ts"
import { type LocalFileFault, UsageFault } from "../../failure/CliFailure.ts"
import { ensureWaits } from "../../nodes/waitFor.ts"
import { maxCommitmentFlag, maxMinimumFlag, rupeesPerHour } from "../../proposal/limits.ts"
import { imageOf } from "../../proposal/offer.ts"
import { fileReason } from "../../failure/fileReason.ts"
import { notEmpty, readGivenText } from "../../files/givenFile.ts"
import { sshKeyOf } from "../../proposal/sshKey.ts"

const id = wholeNumber(0, undefined, "ID")

const maxNameLength = 255
/** Maximum number of nodes that one command creates. */
const maxCount = 1000

const isName = (name: string): boolean => name.trim() !== "" && name.length <= maxNameLength
/** Parses the name of a node. */
export const nodeName = (metavar: string) => text(metavar, isName, `expected 1 to ${maxNameLength} characters`)

const keyExpected = "expected 1 to 128 letters, digits, dots, dashes or underscores, the first a letter or digit"

/** The flag for each field of a node; undefined for a field that `--extra` takes by its name in the request. */
const flagOf: { readonly [Field in Exclude<keyof NodeSpec, "extra">]-?: string | undefined } = {
  name: "--name",
  region: undefined,
  plan: "--plan",
  image: "--image",
  sshKeys: "--ssh-key",
  backups: "--backups",
  tags: "--tag",
  savedImageTemplateId: "--saved-image",
  committedSkuId: "--committed-sku",
  commitmentSetting: "--commitment",
  disk: "--disk",
  label: "--label",
  securityAgent: undefined,
  disablePassword: "--disable-password",
  reservedIp: undefined,
  ipv6: "--ipv6",
  vpcId: "--vpc",
  publicIp: "--no-public-ip",
  containerId: undefined,
  securityGroupId: "--security-group",
  startScripts: "--start-script"
}

type Field = keyof typeof flagOf

const fieldNamed = (wire: string) =>
  Object.entries(wireNames).find(([, name]) => name === wire)?.[0] as Field | undefined

/** Why a field of the request cannot be set with `--extra`; undefined if it can. */
const extraRefusal = (name: string, value: unknown): string | undefined => {
  const field = fieldNamed(name)
  if (field !== undefined) {
    const flag = flagOf[field]
    if (flag !== undefined) return `use ${flag}`
    return Schema.is(NodeSpec.fields[field])(value) ? undefined : `the service takes no such ${name}`
  }
  if (name === "is_saved_image") return `use ${flagOf.savedImageTemplateId}`
  if (name === placeParameters.project) return "use --project"
  if (name === placeParameters.location) return "use --location"
  return extraFault(name)
}

type ExtraField = readonly [name: string, value: unknown]

/** Parses `FIELD=JSON` into a field of a request and its value; or returns why it is invalid, as the end of a sentence. */
const fieldIn = (
  given: string,
  refusals: Readonly<Record<string, string | undefined>>
): Result.Result<ExtraField, string> => {
  const [, name, json] = /^([a-z_]\w*)=(.+)$/is.exec(given) ?? []
  if (name === undefined) return Result.fail("expected FIELD=JSON, such as zone=1")
  const value = json === undefined ? undefined : parseJson(json)
  if (value === undefined) return Result.fail(`expected JSON after ${name}=, such as 1, true or '"a text"'`)
  const refusal = refusals[name] ?? extraRefusal(name, value)
  return refusal === undefined ? Result.succeed([name, value]) : Result.fail(refusal)
}

/** The flag `--extra`. `refusals` maps each field that the command does not send to the reason. */
export const extraFlag = (refusals: Readonly<Record<string, string>> = {}) =>
  flags(
    "extra",
    {
      metavar: "FIELD=JSON",
      parse: (given) => Result.getSuccess(fieldIn(given, refusals)),
      expected: (given) => Result.match(fieldIn(given, refusals), { onFailure: (why) => why, onSuccess: () => "" })
    } satisfies Value<ExtraField>,
    "Field of the request that has no flag; repeatable"
  )

/** The fields of `--extra`. Fields that Berth has a name for get that name; others stay as they are. */
const extraOf = (given: NodeOptions["extra"]): Partial<NodeSpec> => {
  const own = given.flatMap(([name, value]) => {
    const field = fieldNamed(name)
    return field === undefined ? [] : [[field, value]]
  })
  const further = given.filter(([name]) => fieldNamed(name) === undefined)
  return { ...Object.fromEntries(own), ...(further.length > 0 && { extra: Object.fromEntries(further) }) }
}

export const parameters = {
  name: optionalArgument("NAME", nodeName(""), "Name of the node"),
  nameFlag: flag("name", nodeName("NAME"), "Another way to give NAME"),
  plan: flag("plan", text("PLAN"), "Plan, see berth plan list"),
  image: flag("image", text("IMAGE"), "Image slug or id, see berth image list"),
  sshKeys: flags("ssh-key", text("KEY"), "Public key for root: file, text or id; repeatable"),
  tags: flags("tag", text("TAG"), "Tag to attach; repeatable"),
  backups: switchFlag("backups", "Automated backups; cannot be turned on later"),
  savedImage: flag("saved-image", id, "Template id, required if --image is a saved image"),
  committedSku: flag("committed-sku", id, "Id of the commitment to buy, see berth plan get"),
  commitment: flag("commitment", oneOf(CommitmentSetting.literals, "SETTING"), "What happens when the commitment ends"),
  disk: flag("disk", wholeNumber(1, undefined, "GB"), "Size of the disk; some series require it"),
  securityGroup: flag("security-group", id, "Security group"),
  vpc: flag("vpc", text("ID"), "Virtual private cloud"),
  startScripts: flags("start-script", text("FILE"), "Script to run at first boot; - for stdin; repeatable"),
  noPublicIp: switchFlag("no-public-ip", "Do not assign a public address"),
  ipv6: switchFlag("ipv6", "Assign an IPv6 address"),
  label: flag("label", text("LABEL"), "Label"),
  extra: extraFlag(),
  disablePassword: switchFlag("disable-password", "Log in with keys only"),
  ifAbsent: switchFlag("if-absent", "Do nothing if a node has this name, plan and image"),
  key: flag(
    "idempotency-key",
    text("KEY", isKey, keyExpected),
    "At most one node per KEY in a state folder or database",
    "key"
  ),
  count: flag("count", wholeNumber(1, maxCount), "Create N nodes, NAME-1 to NAME-N"),
  maxCost: flag("max-cost", rupeesPerHour, "Abort above this hourly price (monthly prices ÷ 730)"),
  maxCommitment: maxCommitmentFlag,
  maxMinimum: maxMinimumFlag,
  wait: switchOr("wait", "ssh", "Wait until the node runs (--wait=ssh: ssh answers)"),
  timeout: flag("timeout", duration(), "Maximum time to wait; default 10m"),
  force: switchFlag("force", "Send even if the plan or image is not listed"),
  dryRun: switchFlag("dry-run", "Show the request and the price, and stop"),
  yes: switchFlag("yes", "Do not ask")
}

export type Options = Values<typeof parameters>

/** The options that describe the node itself. */
type NodeOptions = Omit<
  Options,
  | "ifAbsent"
  | "key"
  | "count"
  | "maxCost"
  | "maxCommitment"
  | "maxMinimum"
  | "wait"
  | "timeout"
  | "force"
  | "dryRun"
  | "yes"
>

const some = <A>(values: ReadonlyArray<A>) => (values.length === 0 ? undefined : values)

const scriptFault = (name: string) => (why: FileFault) =>
  new UsageFault({
    message: `--start-script cannot be ${name}: ${why.code === "ENOENT" ? "there is no such file" : fileReason(why)}.`,
    hint: "See berth node create --help."
  })

/** Reads each file of `--start-script`. */
const readStartScripts = (given: ReadonlyArray<string>) =>
  Effect.forEach(given, (name) => Effect.mapError(notEmpty(readGivenText(name)), scriptFault(name)))

const readSshKeys = (given: ReadonlyArray<string>) => Effect.forEach(given, (word) => sshKeyOf("--ssh-key", word, "."))

/** The specification that the options describe. The service's default applies to omitted options. */
export const specOf = (
  options: NodeOptions
): Effect.Effect<Partial<NodeSpec>, UsageFault | LocalFileFault | SettingFault, Stdio.Stdio | GlobalSettings> =>
  Effect.map(
    Effect.all([readStartScripts(options.startScripts), readSshKeys(options.sshKeys)]),
    ([startScripts, sshKeys]) =>
      withoutUndefined({
        name: options.name ?? options.nameFlag,
        plan: options.plan,
        image: options.image === undefined ? undefined : imageOf(options.image),
        sshKeys: some(sshKeys),
        tags: some(options.tags),
        startScripts: some(startScripts),
        backups: options.backups || undefined,
        publicIp: options.noPublicIp ? false : undefined,
        ipv6: options.ipv6 || undefined,
        disablePassword: options.disablePassword || undefined,
        savedImageTemplateId: options.savedImage,
        committedSkuId: options.committedSku,
        disk: options.disk,
        commitmentSetting: options.commitment,
        ...extraOf(options.extra),
        securityGroupId: options.securityGroup,
        vpcId: options.vpc,
        label: options.label
      })
  )

/** Whether the specification is complete. */
export const isWhole = (spec: Partial<NodeSpec>): spec is NodeSpec =>
  spec.name !== undefined && spec.plan !== undefined && spec.image !== undefined

/** The missing options, as a usage error. */
export const missingFault = ({ name, plan }: Partial<NodeSpec>): UsageFault => {
  const missing = name === undefined ? "NAME" : plan === undefined ? "--plan" : "--image"
  return new UsageFault({ message: `berth node create needs ${missing}.`, hint: "See berth node create --help." })
}

/** One node to create, and its idempotency key. */
export interface Wanted {
  readonly spec: NodeSpec
  readonly key: string | undefined
}

/** All nodes: one, or NAME-1 to NAME-N with KEY-1 to KEY-N. */
export const wantedNodes = (
  spec: NodeSpec,
  { count, key }: Options
): Result.Result<ReadonlyArray<Wanted>, UsageFault> => {
  if (count === undefined) return Result.succeed([{ spec, key }])
  const wanted = Array.from({ length: count }, (_, i): Wanted => {
    const suffix = `-${i + 1}`
    return { spec: { ...spec, name: spec.name + suffix }, key: key && key + suffix }
  })
  const last = wanted.at(-1)
  return last !== undefined && (!isName(last.spec.name) || (last.key !== undefined && !isKey(last.key)))
    ? Result.fail(
        new UsageFault({ message: "With --count the name or the key is too long.", hint: "Choose a shorter one." })
      )
    : Result.succeed(wanted)
}

/** Fails if flags contradict each other. */
export const ensureConsistent = (options: Options): Effect.Effect<void, UsageFault> => {
  if (options.name !== undefined && options.nameFlag !== undefined && options.name !== options.nameFlag) {
    return Effect.fail(
      new UsageFault({ message: "NAME and --name are two different names.", hint: "Leave one of them out." })
    )
  }
  return options.commitment !== undefined && options.committedSku === undefined
    ? Effect.fail(
        new UsageFault({
          message: "--commitment needs --committed-sku: without it the node has no commitment that could end.",
          hint: "Add --committed-sku, see berth plan list; or omit --commitment."
        })
      )
    : ensureWaits(options)
}
