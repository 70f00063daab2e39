/**
 * Writes YAML. A text with characters that a terminal would obey is written with double quotes, in which they are escaped.
 */
import { Effect } from "effect"
import { Document, visit } from "yaml"
import { escapeObeyed, isObeyed } from "./json.ts"
import { Output } from "./Output.ts"
import type { Writer } from "./Writer.ts"

/** The value as YAML, with its last line feed. */
export const yamlText = (value: unknown): string => {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && isObeyed(scalar.value)) scalar.type = "QUOTE_DOUBLE"
    }
  })
  return escapeObeyed(document.toString({ lineWidth: 0, doubleQuotedAsJSON: true }))
}

export const yamlWriter: Writer = {
  list: ({ encode }, records) => Output.use(({ data }) => data(yamlText(records.map(encode)))),
  one: ({ encode }, record) => Effect.suspend(() => Output.use(({ data }) => data(yamlText(encode(record))))),
  // Each is a document of its own.
  next: ({ encode }, records) =>
    Output.use(({ data }) => data(records.map((record) => `---\n${yamlText(encode(record))}`).join(""))),
  inParts: false,
  hasColumns: false
}
