/**
 * Marks where each statement of the interface definition comes from, so that a guess is not taken for a fact. The words are
 * those of the assumptions: documented (by the service), observed (in public clients of its family), chosen (by Berth).
 */

/** Stated by the service's own documentation, in the given part of the interface description. */
export const documented = (part: string, text: string) => ({
  description: `${text} (documented: interface.md §${part})`
})

/** Seen in public clients of services of this family. */
export const observed = (assumption: number, text: string) => ({
  description: `${text} (observed: A${assumption})`
})

/** Not documented; Berth's choice. */
export const chosen = (assumption: number, text: string) => ({ description: `${text} (chosen: A${assumption})` })
