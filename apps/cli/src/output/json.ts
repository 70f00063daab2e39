/**
 * Writes JSON that is safe to show: characters that JSON allows but a terminal would interpret are escaped too.
 */
import { Output } from "./Output.ts"
import { rowWriter, valueWriter } from "./Writer.ts"

/**
 * Characters that a terminal or a reader of YAML would interpret. JSON allows them only within strings: DEL, C1 controls, line separators,
 * direction marks and overrides, and the two noncharacters that readers of YAML 1.1 refuse.
 */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/g

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Escapes these characters. In `text` they may occur only within quotes. */
export const escapeObeyed = (text: string): string => text.replace(obeyed, escaped)

/** Whether a string contains a control character or another that a terminal would interpret. */
export const isObeyed = (text: string): boolean => /\p{Cc}/u.test(text) || text.search(obeyed) !== -1

/** The value as one line of JSON. */
export const jsonLine = (value: unknown): string => escapeObeyed(JSON.stringify(value))

/**
 * JSON that is nested deeper is written on one line, because the size of the indentation grows with the square of the depth. A service may
 * send values of any depth in fields that Berth does not know.
 */
const maxIndentedDepth = 100

/** Whether the value is nested deeper than `limit`; stops at that depth. */
const isDeeper = (value: unknown, limit: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (limit === 0 || Object.values(value).some((each) => isDeeper(each, limit - 1)))

/** The value as indented JSON. */
export const jsonBlock = (value: unknown): string =>
  isDeeper(value, maxIndentedDepth) ? jsonLine(value) : escapeObeyed(JSON.stringify(value, null, 2))

/** One JSON value: the record, or an array of all records; in an endless stream one value per record. */
export const jsonWriter = valueWriter((value) => `${jsonBlock(value)}\n`)

/** One line of JSON per record. */
export const ndjsonWriter = rowWriter(({ encode }, records) =>
  Output.use(({ data }) => data(records.map((record) => `${jsonLine(encode(record))}\n`).join("")))
)
