/** The statuses of nodes: their colours and their order, the same on all pages. Pure. */
import type { Tone } from "./Badge.tsx"

/** Statuses that people request are no alarm: amber and red mean problems. */
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
