/**
 * Hints for an agent, which has tools in place of commands. What only a person can type stays as it is, such as `berth doctor`. Pure.
 */

/** What a hint of the command line says, and what it says here. */
const replacements: ReadonlyArray<readonly [RegExp, string]> = [
  [/berth node list(?: --[a-z-]+ (?:'[^']*'|[^\s;,']+))*/g, "list_nodes"],
  [/berth node get/g, "get_node"],
  [/berth node wait .*/g, "wait"],
  [/berth node delete/g, "propose to delete"],
  [/berth plan list/g, "list_plans"],
  [/berth image list(?: --plan (?:'[^']*'|[^\s;,']+))?/g, "list_images"],
  [/berth auth status/g, "account"],
  // It would need what is spent.
  [/ See: berth limits/g, ""],
  [/, or allow more time: --deadline \w+/g, "."],
  [/Create it again with the same key/g, "Call execute again with the same proposal"]
]

export const withTools = (hint: string): string =>
  replacements.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), hint)
