/**
 * A column of a table, or a line of a card: what it is called and what it shows of a record. How columns are laid out is
 * in `table.ts`; which ones a record has is in `nodeColumns.ts`, `imageColumns.ts` and so on.
 */
import type { Style } from "./style.ts"

export interface Column<A> {
  readonly title: string
  /** The text of the cell, as it is; the table makes it safe to show. */
  readonly value: (record: A) => string
  /** Numbers are flush right. */
  readonly align?: "left" | "right"
  readonly style?: (record: A) => Style | undefined
  /** The narrowest useful width. A column without one is never cut. */
  readonly shrinkTo?: number
  /** Where the terminal is too narrow for all, columns leave in this order, 1 first. One without always stays. */
  readonly leaves?: number
}

/** What stands where there is nothing to show. */
export const nothing = "-"

/** A number, or the sign for nothing. */
export const numberOr = (value: number | null): string => (value === null ? nothing : String(value))

/** A text, or the sign for nothing. */
export const textOr = (value: string | null): string => (value === null || value === "" ? nothing : value)

/** A flag in a word. */
export const yesOrNo = (value: boolean | null): string => (value === null ? nothing : value ? "yes" : "no")
