/**
 * The few colours berth uses, each for one meaning. Whether colour is wanted at all is decided by the `Output` service.
 */
const codes = { good: 32, bad: 31, waiting: 33, faint: 2, strong: 1 } as const

/** What a colour says. */
export type Style = keyof typeof codes

/** The text in the style's colour; unchanged when colour is off or there is nothing to say. */
export const styled = (text: string, style: Style | undefined, colour: boolean): string =>
  colour && style !== undefined ? `\u001b[${codes[style]}m${text}\u001b[0m` : text
