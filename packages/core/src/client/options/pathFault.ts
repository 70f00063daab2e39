/**
 * Validates a path from a program or a setting.
 */

/** What is wrong with a path; undefined if nothing is. Only shells expand `~`: here it would name a folder. */
export const pathFault = (value: unknown, expected: string): string | undefined => {
  if (typeof value !== "string" || value.trim() === "") return `expected ${expected}`
  return /^~[\w.-]*(?:[\\/]|$)/.test(value.trim())
    ? 'a path here does not begin with "~", which only a shell replaces'
    : undefined
}
