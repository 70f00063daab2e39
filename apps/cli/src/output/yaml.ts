/**
 * Writes YAML that readers of YAML 1.1 and 1.2 take for the same values. A text stands without quotes only where it begins like a word and
 * is none that some reader knows: numbers, moments, sexagesimals and whatever else a dialect has begin with another character. Double quotes
 * escape characters that a terminal would obey.
 */
import { Document, visit } from "yaml"
import { escapeObeyed, isObeyed } from "./json.ts"
import { valueWriter } from "./Writer.ts"

/** Words that are no text in YAML 1.1 or 1.2, in any case; some readers take a lone exponent for a number. */
const known = /^(?:y|n|yes|no|on|off|true|false|null|e[\d_]+)$/i

const isPlain = (text: string): boolean => /^[\p{L}/]/u.test(text) && !known.test(text) && !isObeyed(text)

/** The value as YAML, with its last line feed. */
export const yamlText = (value: unknown): string => {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === "string" && !isPlain(scalar.value)) scalar.type = "QUOTE_DOUBLE"
    }
  })
  return escapeObeyed(document.toString({ lineWidth: 0, doubleQuotedAsJSON: true }))
}

/** Of records without an end each is a document of its own. */
export const yamlWriter = valueWriter(yamlText, "---\n")
