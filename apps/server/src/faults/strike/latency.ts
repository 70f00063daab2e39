/**
 * How late a reply comes, by the seed.
 */
import type { Strike } from "../ArmedFaults.ts"
import { millis } from "../../injection/FaultKind.ts"

/** From 0 to 1, neither of them. */
const share = (chance: number): number => (chance + 0.5) / 2 ** 32

/** Milliseconds of real time; 0 when the fault is no latency. */
export const latencyMillis = ({ chance, fault }: Strike): number => {
  if (fault.fault !== "latency") return 0
  const [delay, most] = [millis(fault.delay ?? "1 second"), millis(fault.upTo ?? "1 minute")]
  switch (fault.distribution ?? "fixed") {
    case "fixed":
      return delay
    case "uniform":
      return Math.round(delay + share(chance(1)) * Math.max(0, most - delay))
    case "lognormal": {
      // Box and Muller: two even shares make one normal deviate.
      const deviate = Math.sqrt(-2 * Math.log(share(chance(1)))) * Math.cos(2 * Math.PI * share(chance(2)))
      return Math.min(most, Math.round(delay * Math.exp((fault.sigma ?? 0.5) * deviate)))
    }
  }
}
