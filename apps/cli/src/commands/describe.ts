/**
 * Loads record descriptors and the help of commands by name, for `berth schema`, for help, and for the check of `--columns` and `--sort`
 * before a command begins.
 */
import type { Field, RecordDescriptor } from "../output/RecordDescriptor.ts"
import type { CommandHelp } from "../commandLine/CommandHelp.ts"
import type { Verb } from "../commandLine/CommandTree.ts"
import { helpOfVerb } from "../commandLine/helpOf.ts"
import type { Command } from "./command.ts"

/** The descriptor of a record whose type is not known here, so the functions of its fields cannot be called. */
export type AnyRecord = Pick<RecordDescriptor<never>, "fields" | "schema" | "hasMoreFields" | "idKey" | "nameKey">

const records: Readonly<Record<string, () => Promise<AnyRecord>>> = {
  node: async () => (await import("../records/node.ts")).nodeRecord,
  nodeChange: async () => (await import("../records/nodeChange.ts")).nodeChangeRecord,
  address: async () => (await import("../records/address.ts")).addressRecord,
  creation: async () => (await import("../records/creation.ts")).creationRecord,
  outcome: async () => (await import("../records/outcome.ts")).outcomeRecord,
  commitment: async () => (await import("../records/commitment.ts")).commitmentRecord,
  ownCommitment: async () => (await import("../records/ownCommitment.ts")).ownCommitmentRecord,
  imageWithPlans: async () => (await import("../records/image.ts")).imageWithPlansRecord,
  image: async () => (await import("../records/image.ts")).savedImageRecord,
  plan: async () => (await import("../records/plan.ts")).planRecord,
  profile: async () => (await import("../records/account.ts")).profileRecord,
  account: async () => (await import("../records/account.ts")).accountRecord,
  cost: async () => (await import("../records/cost.ts")).costRecord,
  spending: async () => (await import("../records/spending.ts")).spendingRecord,
  fleetChange: async () => (await import("../records/fleetChange.ts")).fleetChangeRecord,
  fleet: async () => (await import("../records/fleet.ts")).fleetRecord,
  fleetMember: async () => (await import("../records/fleet.ts")).fleetMemberRecord,
  change: async () => (await import("../records/change.ts")).changeRecord,
  limits: async () => (await import("../records/limits.ts")).limitsRecord,
  check: async () => (await import("../records/check.ts")).checkRecord,
  approval: async () => (await import("../records/approval.ts")).approvalRecord,
  proposal: async () => (await import("../proposal/Proposal.ts")).proposalRecord
}

/** The descriptor of a record name; a `[]` suffix means a list. */
export const recordNamed = (name: string): Promise<AnyRecord> => {
  const load = records[name.replace("[]", "")]
  if (load === undefined) throw new Error(`no record is named ${name}`)
  return load()
}

export const loadHelp = async (path: ReadonlyArray<string>, verb: Verb<Command>): Promise<CommandHelp> => {
  const [command, ...records] = await Promise.all([verb.load(), ...[...verb.prints, ...verb.paints].map(recordNamed)])
  const fields = records.flatMap((record): ReadonlyArray<Field<never>> => record.fields([]))
  const namesOf = (some: typeof fields) => Array.from(new Set(some.map(({ alias, key }) => alias ?? key)))
  return helpOfVerb(path, verb, command.parameters, {
    columns: namesOf(fields),
    sortColumns: namesOf(fields.filter(({ computed }) => computed !== true))
  })
}
