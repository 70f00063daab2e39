/**
 * What a person reads before they consent to a proposal: the same in a dialog of the agent's program and in a terminal. Names in it are
 * other people's words: each fact is one line, which a name cannot end.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { DateTime } from "effect"
import { jsonLine } from "../output/json.ts"
import { nameIn, questionOf } from "./Proposal.ts"
import type { Kept } from "./ProposalStore.ts"

const maxLine = 1500

const line = (text: string): string => {
  const safe = escapeControls(text)
  return safe.length > maxLine ? `${safe.slice(0, maxLine)}…` : safe
}

/** The instant at which it expires, to the second. */
export const expiryOf = ({ expiresMillis }: Pick<Kept, "expiresMillis">): string =>
  DateTime.formatIso(DateTime.makeUnsafe(expiresMillis)).replace(/\.\d+Z$/, "Z")

/** The proposal, a fact in each line. */
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
