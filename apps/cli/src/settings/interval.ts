/**
 * How often an endless command reads the nodes.
 */
import { Duration } from "effect"
import { duration, flagOr } from "../commandLine/Parameter.ts"

export const intervalFlag = (description: string) =>
  flagOr("interval", duration({ minMillis: 1000, maxMillis: 86_400_000 }), description, Duration.seconds(5))

/** Berth reads a large account less often, because each page costs a request, and other commands need requests as well. */
const millisPerRequest = 1000
const nodesPerRequest = 90

/** The pause before the next read of this many nodes. */
export const pauseMillisOf = (interval: Duration.Duration, size: number): number =>
  Math.max(Duration.toMillis(interval), Math.ceil(size / nodesPerRequest) * millisPerRequest)
