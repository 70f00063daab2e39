/**
 * Writes YAML that readers of YAML 1.1 and 1.2 interpret equally. A string is unquoted only if it begins with a letter and is not a keyword
 * of some reader; numbers, times and sexagesimals begin with other characters. Double quotes escape characters that a terminal would
 * interpret.
 */
import { Document, visit } from "yaml"
import { escapeObeyed, isObeyed } from "./json.ts"
import { valueWriter } from "./Writer.ts"

/** Words with a special meaning in YAML 1.1 or 1.2, in any case; some readers read a lone exponent as a number. */
const known = /^(?:y|n|yes|no|on|off|true|false|null|e[\d_]+)$/i

const isPlain = (text: string): boolean => /^[\p{L}/]/u.test(text) && !known.test(text) && !isObeyed(text)

/** The value as YAML, with a line feed at the end. */
export const yamlText = (value: unknown): string => {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && !isPlain(scalar.value)) scalar.type = "QUOTE_DOUBLE"
    }
  })
  return escapeObeyed(document.toString({ lineWidth: 0, doubleQuotedAsJSON: true }))
}

/** In an endless stream each record is a document. */
export const yamlWriter = valueWriter(yamlText, "---\n")
