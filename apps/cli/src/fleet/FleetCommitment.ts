/**
 * The commitment of a member as text, in a fleet file and in its ledger. This is not in `FleetFile.ts`, because most commands read ledgers,
 * and only a few load YAML.
 */
import { CommitmentSetting, takesOption } from "@berthkit/core/domain/Commitment"

/** What happens at the end of a committed period, and the days of the period. */
export interface FleetCommitment {
  readonly setting: CommitmentSetting
  readonly days: number | null
}

/**
 * Parses a string such as `auto_renew 30d`. In a ledger, other settings may also have days: the days of a period that
 * has already begun.
 */
export const parseCommitment = (text: string): FleetCommitment | undefined => {
  if (!/^(?:auto_renew(?= )|auto_terminate|hourly_billing)(?: [1-9][0-9]{0,3}d)?$/.test(text)) return undefined
  const [word = "", days] = text.split(" ")
  const setting = CommitmentSetting.literals.find((each) => each === word)
  return setting && { setting, days: days === undefined ? null : Number(days.slice(0, -1)) }
}

/** Parses a commitment that a person gives, in a fleet file or as a flag. Days are allowed only with a setting that buys a period. */
export const commitmentToSet = (text: string): FleetCommitment | undefined => {
  const found = parseCommitment(text)
  return found === undefined || (found.days !== null && !takesOption(found.setting)) ? undefined : found
}

/** The text of a commitment in the file and in the ledger. */
export const commitmentText = ({ days, setting }: FleetCommitment): string =>
  days === null ? setting : `${setting} ${days}d`

/** Whether setting this commitment may have bought a period. True also for a string that cannot be parsed. */
export const mayHaveBought = (text: string): boolean => parseCommitment(text)?.days !== null
