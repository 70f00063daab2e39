/**
 * Writes JSON that is safe to show: characters that JSON allows and a terminal would obey are escaped too.
 */
import { Output } from "./Output.ts"
import { rowWriter, valueWriter } from "./Writer.ts"

/**
 * Allowed in JSON strings, and nowhere else in JSON: DEL, C1 controls, line separators, direction marks and overrides, and the two that are
 * no characters, which readers of YAML 1.1 refuse.
 */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** The text with such characters escaped. It must hold them within quotes only. */
export const escapeObeyed = (text: string): string => text.replace(obeyed, escaped)

/** Whether a text holds a control character, or another that a terminal would obey. */
export const isObeyed = (text: string): boolean => /\p{Cc}/u.test(text) || text.search(obeyed) !== -1

/** The value as JSON on one line. */
export const jsonLine = (value: unknown): string => escapeObeyed(JSON.stringify(value))

/**
 * Indentation grows with the square of the depth, and the writer's stack with the depth: JSON nested deeper than this is
 * not for reading, and is written on one line. A service may send any depth in fields that Berth does not know.
 */
const maxIndentedDepth = 100

/** Whether the value is nested deeper than `limit`; stops there. */
const isDeeper = (value: unknown, limit: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (limit === 0 || Object.values(value).some((each) => isDeeper(each, limit - 1)))

/** The value as JSON for reading, two blanks deeper with each level. */
export const jsonBlock = (value: unknown): string =>
  isDeeper(value, maxIndentedDepth) ? jsonLine(value) : escapeObeyed(JSON.stringify(value, null, 2))

/** One JSON value: the record, or the array of all; of records without an end a value for each. */
export const jsonWriter = valueWriter((value) => `${jsonBlock(value)}\n`)

/** One line of JSON for each record. */
export const ndjsonWriter = rowWriter(({ encode }, records) =>
  Output.use(({ data }) => data(records.map((record) => `${jsonLine(encode(record))}\n`).join("")))
)
