/** How good or bad the states of accounts and sinks are. Pure. */
import type { Tone } from "@berthkit/web/components/Badge"
import type { AccountStatus, SinkStatus, Trouble } from "./watchApi.ts"

const tones: Readonly<Record<AccountStatus["state"] | SinkStatus["state"], Tone>> = {
  starting: "warm",
  watching: "good",
  degraded: "bad",
  frozen: "warm",
  up: "good",
  retrying: "warm",
  failing: "bad",
  down: "warm",
  disabled: "bad",
  removed: "off",
  paused: "off",
  stopped: "off"
}

/** An account or a sink looks as bad as the worst of its troubles. */
export const toneOf = (
  kind: "account" | "sink",
  name: string,
  state: AccountStatus["state"] | SinkStatus["state"],
  troubles: ReadonlyArray<Trouble>
): Tone => {
  const own = troubles.filter(({ about }) => about.kind === kind && about.name === name)
  if (own.length === 0) return tones[state]
  return own.some(({ severity }) => severity === "critical") ? "bad" : "warm"
}
