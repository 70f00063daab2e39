/**
 * Writes JSON that is safe to show: what JSON leaves as it is and a terminal would obey is escaped too.
 */

/** Allowed in JSON strings, and nowhere else in JSON: DEL, C1 controls, line separators, direction overrides. */
const obeyed = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The value as JSON on one line. */
export const jsonLine = (value: unknown): string => JSON.stringify(value).replace(obeyed, escaped)

/**
 * Indentation grows with the square of the depth, and the writer's stack with the depth: JSON nested deeper than this is
 * not for reading, and is written on one line. A service may send any depth in fields nobody knows.
 */
const deepestForReading = 100

/** Whether the value is nested deeper than `limit`; looks no deeper than that. */
const isDeeper = (value: unknown, limit: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (limit === 0 || Object.values(value).some((each) => isDeeper(each, limit - 1)))

/** The value as JSON for reading, two blanks deeper with each level. */
export const jsonBlock = (value: unknown): string =>
  isDeeper(value, deepestForReading) ? jsonLine(value) : JSON.stringify(value, null, 2).replace(obeyed, escaped)
