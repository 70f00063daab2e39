/**
 * How many nodes a scenario has, and what they are called. `scenario.ts` makes them.
 */
import type { Scenario } from "./WorldSettings.ts"

export const smallNames: ReadonlyArray<string> = ["web-1", "web-2", "database", "build", "backup"]

/** The name of a node of a fleet, from 1. */
export const fleetName = (number: number): string => `fleet-${number}`

export const scenarioSize = (scenario: Scenario): number =>
  scenario === "empty" ? 0 : scenario === "small" ? smallNames.length : scenario.fleet

export const scenarioNames = (scenario: Scenario): ReadonlyArray<string> =>
  scenario === "empty"
    ? []
    : scenario === "small"
      ? smallNames
      : Array.from({ length: scenario.fleet }, (_, index) => fleetName(index + 1))
