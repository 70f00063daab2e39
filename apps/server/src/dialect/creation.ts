/** The create call of today's dialect. It reads its body field by field, because the service ignores unknown fields. */
import { Effect, Predicate, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import type { CommitmentSetting } from "../lifecycle/CommitmentTerm.ts"
import type { Reply } from "../http/Exchange.ts"
import { readJson } from "../transport/readJson.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import type { Today } from "../world/Today.ts"
import { createTodaysNodes, type TodaysDraft, type TodaysRefusal } from "../world/todaysNodes.ts"
import * as World from "../world/World.ts"
import type { Asked } from "./Asked.ts"
import { succeeded } from "./envelope.ts"
import { refusal } from "./failures.ts"
import { createdToday } from "./records.ts"

/** Maximum number of nodes in one create. No console creates as many at once. */
const maxInstances = 100

const maxDiskGb = 100_000

/** A number, or a number written as a string. */
const numberOf = (value: unknown): number | undefined => {
  const text = typeof value === "number" ? String(value) : value
  return typeof text === "string" && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

type Reader = (value: unknown) => boolean

const isText: Reader = (value) => typeof value === "string"
const isFlag: Reader = (value) => typeof value === "boolean"
const isWhole: Reader = (value) => numberOf(value) !== undefined
const isId: Reader = (value) => isText(value) || isWhole(value)
const isList: Reader = Array.isArray
const isBetween =
  (minimum: number, maximum: number): Reader =>
  (value) => {
    const number = numberOf(value)
    return number !== undefined && number >= minimum && number <= maximum
  }

const settings: ReadonlyArray<unknown> = [
  "auto_renew",
  "auto_terminate",
  "hourly_billing"
] satisfies Array<CommitmentSetting>
const isSetting = (value: unknown): value is CommitmentSetting => settings.includes(value)

/**
 * The fields of a create whose types are checked, each with the error message for a value of another type. A field that is `null`
 * or absent counts as not given.
 */
const fields: Readonly<Record<string, readonly [is: Reader, otherwise: string]>> = {
  name: [isText, "Not a valid string."],
  region: [isText, "Not a valid string."],
  plan: [isText, "Not a valid string."],
  image: [isId, "Not a valid string."],
  image_id: [isId, "A valid integer is required."],
  label: [isText, "Not a valid string."],
  backups: [isFlag, "Must be a valid boolean."],
  is_saved_image: [isFlag, "Must be a valid boolean."],
  saved_image_template_id: [isWhole, "A valid integer is required."],
  enable_bitninja: [isFlag, "Must be a valid boolean."],
  disable_password: [isFlag, "Must be a valid boolean."],
  is_ipv6_availed: [isFlag, "Must be a valid boolean."],
  default_public_ip: [isFlag, "Must be a valid boolean."],
  number_of_instances: [isBetween(1, maxInstances), `Must be between 1 and ${maxInstances}.`],
  disk: [isBetween(1, maxDiskGb), "A valid integer is required."],
  cn_id: [isWhole, "A valid integer is required."],
  cn_status: [isSetting, "Not a valid choice."],
  vpc_id: [isId, "Not a valid string."],
  subnet_id: [isId, "Not a valid string."],
  ssh_keys: [isList, "Expected a list of items."],
  start_scripts: [isList, "Expected a list of items."]
}

const required = ["name", "plan"] as const

type Body = Readonly<Record<string, unknown>>

const problemsOf = (body: Body): Readonly<Record<string, ReadonlyArray<string>>> => {
  const wrong = Object.entries(body).flatMap(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    return field === undefined || field[0](value) ? [] : [[name, [field[1]]] as const]
  })
  const missing = required.filter((name) => !(name in body)).map((name) => [name, ["This field is required."]] as const)
  return Object.fromEntries([...missing, ...wrong])
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/**
 * Whether a string starts like a public key. The service accepts anything else, too, such as the id of a key, but then
 * installs no key.
 */
const isPublicKey = (key: unknown): key is string =>
  typeof key === "string" && /^(ssh|ecdsa|sk)-\S+ \S+/.test(key.trim())

const draftOf = (body: Body): TodaysDraft => ({
  name: textOf(body["name"]),
  plan: textOf(body["plan"]),
  image: imageOf(body),
  isSavedImage: body["is_saved_image"] === true,
  templateId: numberOf(body["saved_image_template_id"]),
  backups: body["backups"] === true,
  skuId: numberOf(body["cn_id"]),
  setting: isSetting(body["cn_status"]) ? body["cn_status"] : undefined,
  diskGb: numberOf(body["disk"]),
  count: numberOf(body["number_of_instances"]) ?? 1,
  sshKeys: Array.isArray(body["ssh_keys"]) ? body["ssh_keys"].filter(isPublicKey) : [],
  label: textOf(body["label"])
})

/** The image that a create names: a saved image by `image_id` or `image`, any other by `image`. */
const imageOf = (body: Body): number | string | undefined => {
  const wanted = body["is_saved_image"] === true ? (body["image_id"] ?? body["image"]) : body["image"]
  return typeof wanted === "number" ? wanted : textOf(wanted)
}

const refusalReply = (today: Today, refused: TodaysRefusal): Reply => {
  switch (refused._tag) {
    case "RuleBroken":
      return refusal(today, 412, refused.reason)
    case "FieldMissing":
      return refusal(today, 400, refused.reason)
    case "CreditTooLow":
      return HttpServerResponse.jsonUnsafe({
        code: 200,
        data: { is_credit_sufficient: false },
        errors: {},
        message: "Insufficient infra credits"
      })
  }
}

/**
 * The reply to a create. The record is in `data`; if the request stated a number of nodes, `data` has a list of records
 * instead.
 */
export const madeReply = (world: World.World, nodes: ReadonlyArray<NodeRecord>, isNested: boolean): Reply => {
  const records = nodes.map((node) => createdToday(world, node))
  return succeeded(
    isNested
      ? {
          total_number_of_node_requested: records.length,
          total_number_of_node_created: records.length,
          node_create_response: records
        }
      : records[0]
  )
}

export const createReply = ({ exchange, place, today }: Asked): Effect.Effect<Reply> =>
  readJson(exchange.request, (bytes) => void (exchange.body = bytes)).pipe(
    Effect.map((value): Reply => {
      if (!Predicate.isObject(value)) return refusal(today, 400, "The body must be a JSON object.")
      // `false` is the documented default of `cn_id`, and means that there is none.
      const body: Body = Object.fromEntries(
        Object.entries(value).filter(([name, value]) => value !== null && !(name === "cn_id" && value === false))
      )
      const problems = problemsOf(body)
      if (Object.keys(problems).length > 0) return refusal(today, 400, problems)
      const { realMillis, world } = exchange
      const made = createTodaysNodes(world, place, draftOf(body), World.enter(world, realMillis()))
      return Result.isFailure(made)
        ? refusalReply(today, made.failure)
        : madeReply(world, made.success, "number_of_instances" in body)
    }),
    Effect.catch(({ code, message }) => Effect.succeed(refusal({ ...today, failuresWith200: false }, code, message)))
  )
