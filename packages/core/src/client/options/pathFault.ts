/**
 * The check of a path that a program or a setting gives.
 */

/** What is wrong with a path that a program gives; undefined when nothing is. Only shells replace `~`: here it would be a folder's name. */
export const pathFault = (value: unknown, expected: string): string | undefined => {
  if (typeof value !== "string" || value.trim() === "") return `expected ${expected}`
  return /^~[\w.-]*(?:[\\/]|$)/.test(value.trim())
    ? 'a path here does not begin with "~", which only a shell replaces'
    : undefined
}
