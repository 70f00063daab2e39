/**
 * The steps of a history as data: commands with the faults that they meet, edits of the fleet file, actions of others, and the passing of
 * time. `scriptOf` prints a history for people.
 */
import type { Currency, ImageName, Place, PlanName, Weather } from "./service.ts"
import type { Fleet } from "./fleetFile.ts"
import type { Cut } from "./program.ts"

/** An action of somebody else. */
export type Happening =
  | { readonly does: "create"; readonly name: string; readonly plan: PlanName }
  | { readonly does: "delete"; readonly name: string }
  | { readonly does: "rename"; readonly name: string; readonly to: string }
  /** Turns a node off, or on. */
  | { readonly does: "stop" | "start"; readonly name: string }
  | { readonly does: "raise prices"; readonly plan: PlanName; readonly times: number }
  | { readonly does: "raise commitments"; readonly times: number }
  /** For a plan without an hourly price, this raises the monthly price as well. */
  | { readonly does: "raise minimums"; readonly plan: PlanName; readonly times: number }
  | { readonly does: "change the currency"; readonly to: Currency }
  /** Sets the wall clock of the machine. */
  | { readonly does: "step the clock"; readonly minutes: 15 | -15 }

export type Edit =
  | { readonly sets: "plan"; readonly group: string; readonly to: PlanName }
  | { readonly sets: "image"; readonly group: string; readonly to: ImageName }
  | { readonly sets: "count"; readonly group: string; readonly to: number }
  | { readonly sets: "tags"; readonly group: string; readonly to: ReadonlyArray<string> }
  | { readonly sets: "protect"; readonly group: string; readonly to: boolean }
  | { readonly sets: "commitment"; readonly group: string; readonly to: number | null }
  | { readonly sets: "name"; readonly group: string; readonly to: string | null }
  | { readonly sets: "script"; readonly group: string; readonly to: string | null }
  | { readonly sets: "group name"; readonly group: string; readonly to: string }
  | { readonly sets: "group"; readonly group: string; readonly to: "removed" | "added" }
  | { readonly sets: "everything"; readonly to: "as before the last edit" }

/** How the disk fails: it is full, cannot be changed, or does not let the state folder, or the files in it, be read. */
export type DiskFault = "full" | "read-only" | "unreadable" | "unreadable files"

/** The circumstances of a command. */
export interface Around {
  readonly weather?: Weather
  readonly cut?: Cut
  /** What happens between a question and its answer. */
  readonly meanwhile?: Happening
  /** A person's answer at a terminal; undefined without a terminal. */
  readonly answer?: "y" | "n"
  /** The width of that terminal. Default: wide enough for every table. */
  readonly columns?: number
  /** From this request until the end of the command, the state folder is gone and cannot be created again. */
  readonly stateGoneAt?: number
  /** From that request on, or from the start (0), the files of the command fail until it ends. */
  readonly disk?: { readonly atRequest: number; readonly is: DiskFault }
  /** The wall clock of the machine steps at this request. */
  readonly clock?: { readonly atRequest: number; readonly minutes: 15 | -15 }
}

export type Step =
  | ({
      readonly step: "apply"
      /** Default: the first fleet. */
      readonly fleet?: Fleet
      readonly replace?: boolean
      readonly maxCost?: number
      readonly maxDeletes?: number
      readonly maxCommitment?: number
      readonly maxMinimum?: number
      readonly wait?: boolean
      /** How many nodes are replaced at a time; default 1. */
      readonly maxUnavailable?: number
      /** The member that is deleted first. */
      readonly pick?: string
      /** Whether a ready command exits with 0; undefined without one. */
      readonly ready?: boolean
      /** Another machine with its own state and a copy of the fleet's files. */
      readonly machine?: "second"
      /** Whether this machine takes over that machine's ledger afterwards. If it always does, the two machines act as one. */
      readonly handsBack?: boolean
    } & Around)
  | ({ readonly step: "destroy"; readonly fleet?: Fleet; readonly maxDeletes?: number } & Around)
  | ({ readonly step: "diff" } & Around)
  | ({ readonly step: "dry run"; readonly replace?: boolean } & Around)
  | ({
      readonly step: "run"
      readonly name: string
      readonly plan: PlanName
      readonly reuse?: boolean
      readonly fails?: boolean
      readonly maxCost?: number
      readonly maxMinimum?: number
    } & Around)
  | ({ readonly step: "reap" } & Around)
  | ({
      readonly step: "create"
      readonly key: string
      readonly name: string
      readonly plan: PlanName
      readonly maxCost?: number
      readonly maxMinimum?: number
      /** The days of a committed option. */
      readonly days?: number
      readonly maxCommitment?: number
      /** The number of nodes, each under its own key. */
      readonly count?: number
    } & Around)
  | ({ readonly step: "create if absent"; readonly name: string; readonly plan: PlanName } & Around)
  | ({
      readonly step: "commitment"
      readonly name: string
      readonly days: number
      readonly maxCommitment?: number
    } & Around)
  | ({ readonly step: "propose"; readonly action: "create"; readonly name: string; readonly plan: PlanName } & Around)
  | ({ readonly step: "propose"; readonly action: "delete"; readonly name: string } & Around)
  | ({ readonly step: "propose"; readonly action: "commit"; readonly name: string; readonly days: number } & Around)
  | ({ readonly step: "approve" } & Around)
  | ({ readonly step: "execute" } & Around)
  | ({
      readonly step: "adopt"
      readonly fleet?: Fleet
      readonly name: string
      readonly member: string
      /** The machine, as in `apply`. */
      readonly machine?: "second"
      readonly handsBack?: boolean
    } & Around)
  /** A person deletes a node by its name. */
  | ({ readonly step: "delete"; readonly name: string } & Around)
  /** A person reports what the portal shows: whether the last purchase for a node, which got no reply, was carried out. */
  | ({ readonly step: "found"; readonly name: string } & Around)
  /** From now on the credentials come from a profile, or from the environment again. */
  | ({ readonly step: "login" } & Around)
  | ({ readonly step: "logout" } & Around)
  | ({ readonly step: "forget"; readonly fleet?: Fleet; readonly member: string } & Around)
  | ({ readonly step: "fleet" } & Around)
  | { readonly step: "edit"; readonly edit: Edit }
  | { readonly step: "others"; readonly happening: Happening }
  | { readonly step: "wait"; readonly seconds: number }
  | { readonly step: "state"; readonly is: "saved" | "restored" | "lost" }
  /** Commits the ledger to git, or restores the committed one. */
  | { readonly step: "ledger"; readonly is: "committed" | "checked out" }
  /** Sets the API key of the following commands (of the same account), or the spelling of the service's address. */
  | { readonly step: "account"; readonly has: ApiKey | Address }
  /** The place of the following commands and of what others do. */
  | { readonly step: "place"; readonly is: Place }

/** Two API keys of one account. */
export type ApiKey = "first key" | "second key"

/** How the address of the service is written. */
export type Address = "plain address" | "address with a slash" | "address in capitals" | "address by number"

export type History = ReadonlyArray<Step>

const valueText = (value: unknown): string => {
  if (value === true) return "yes"
  if (value === false) return "no"
  if (Array.isArray(value)) return `[${value.join(", ")}]`
  if (typeof value !== "object" || value === null) return String(value)
  return `(${Object.entries(value)
    .map(([key, each]) => `${key} ${valueText(each)}`)
    .join(", ")})`
}

const inWords = ({ step, ...rest }: Step): string =>
  [step, ...Object.entries(rest).map(([key, value]) => `${key} ${valueText(value)}`)].join(" · ")

/** A history as a script that a person can read and turn into a test. */
export const scriptOf = (history: History): string =>
  [...history.map((step, at) => `  ${at + 1}. ${inWords(step)}`), `  ${JSON.stringify(history)}`].join("\n")
