/** The statuses of nodes: their colours and their order, the same on all pages. Pure. */
import type { Tone } from "./Badge.tsx"

/** Amber and red mean problems, so a status that somebody asked for has neither. */
const statusTones: ReadonlyMap<string, Tone> = new Map([
  ["running", "good"],
  ["creating", "coming"],
  ["created", "coming"],
  ["power-off", "off"],
  ["terminate", "going"]
])

export const toneOfStatus = (status: string): Tone => statusTones.get(status) ?? "odd"

/** The order of statuses in every list. */
export const statusOrder = (status: string): number => {
  const index = [...statusTones.keys()].indexOf(status)
  return index < 0 ? statusTones.size : index
}
