/**
 * The name of a member of a fleet: its group and its number, such as `web-2`.
 */
export interface Member {
  readonly group: string
  readonly n: number
}

export const memberText = ({ group, n }: Member): string => `${group}-${n}`

/** Parses the name of a member; undefined if it is not valid. */
export const parseMember = (text: string): Member | undefined => {
  const [, group, digits] = /^([A-Za-z0-9][A-Za-z0-9_-]{0,39})-([1-9]\d{0,4})$/.exec(text) ?? []
  return group === undefined ? undefined : { group, n: Number(digits) }
}

/** Orders by group, then by number. */
export const byMember = (a: Member, b: Member): number => (a.group < b.group ? -1 : a.group > b.group ? 1 : a.n - b.n)
