/**
 * How many nodes a scenario has, and what they are called. `scenario.ts` makes them.
 */
import type { Scenario } from "./WorldSettings.ts"

export const smallNames: ReadonlyArray<string> = ["web-1", "web-2", "database", "build", "backup"]

/** The name of a node of a fleet, from 1. */
export const fleetName = (number: number): string => `fleet-${number}`

export const scenarioSize = (scenario: Scenario): number =>
  scenario === "empty" ? 0 : scenario === "small" ? smallNames.length : scenario.fleet

/** Whether a node of the scenario has this name. */
export const isScenarioName = (scenario: Scenario, name: string): boolean => {
  if (typeof scenario === "string") return scenario === "small" && smallNames.includes(name)
  const number = Number(/^fleet-([1-9]\d{0,8})$/.exec(name)?.[1])
  return number <= scenario.fleet && fleetName(number) === name
}
