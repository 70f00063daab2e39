/**
 * Checks the arguments of the calls on nodes before anything is sent.
 */
import { commitmentSettings } from "../../domain/Commitment.ts"
import type { NodeId } from "../../domain/Node.ts"
import type { NodeSpec, Region } from "../../domain/NodeSpec.ts"
import { knownStatuses } from "../../domain/NodeStatus.ts"
import {
  argument,
  either,
  fields,
  flag,
  list,
  maxLength,
  min,
  notBlank,
  oneOf,
  optional,
  type Shape,
  text,
  whole
} from "./Argument.ts"

export const nodeSpecShape: Shape<NodeSpec> = fields<NodeSpec>({
  name: maxLength(255, notBlank),
  plan: notBlank,
  image: either(notBlank, whole),
  region: optional(oneOf<Region>(["ncr"])),
  sshKeys: optional(list(text)),
  tags: optional(list(text)),
  backups: optional(flag),
  savedImageTemplateId: optional(whole),
  committedSkuId: optional(whole),
  label: optional(text),
  securityAgent: optional(flag),
  disablePassword: optional(flag),
  reservedIp: optional(text),
  ipv6: optional(flag),
  vpcId: optional(text),
  publicIp: optional(flag),
  containerId: optional(whole),
  securityGroupId: optional(whole),
  startScripts: optional(list(text))
})

const id = min(1) as Shape<number> as Shape<NodeId>

export const nodeSpec = argument(nodeSpecShape, "spec")
export const nodeId = argument(id, "id")
export const nodeIds = argument(either(id, list(id)), "id")
export const commitmentSetting = argument(oneOf(commitmentSettings), "setting")
export const knownStatus = argument(oneOf(knownStatuses), "wanted")
