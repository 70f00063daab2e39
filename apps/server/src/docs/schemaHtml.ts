/**
 * JSON schemas for people: what a field holds, in words, with links to the schemas it is made of.
 */
import { html, type Child, type Html } from "./html.ts"
import { type JsonSchema, nameOf } from "./OpenApiDocument.ts"
import { statement } from "./statement.ts"

const schemaId = (name: string): string => `schema-${name}`

export const schemaLink = (name: string): Html => html`<a href="#${schemaId(name)}">${name}</a>`

const joined = (children: ReadonlyArray<Child>, between: string): Child =>
  children.map((child, index) => (index === 0 ? child : [between, child]))

/** `integer or null`, `list of Node`, `created or running`. */
const typeOf = (schema: JsonSchema): Child => {
  if (schema.$ref !== undefined) return schemaLink(nameOf(schema.$ref))
  if (schema.anyOf !== undefined) return joined(schema.anyOf.map(typeOf), " or ")
  if (schema.enum !== undefined) {
    return joined(
      schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
      " or "
    )
  }
  if (schema.items !== undefined) return ["list of ", typeOf(schema.items)]
  return [schema.type ?? "anything", boundsOf(schema)]
}

/** Bounds that are those of every number in JSON are none. */
const boundsOf = ({ format, maxLength, maximum, minimum }: JsonSchema): string => {
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum
  const bounds =
    least !== undefined && most !== undefined
      ? `${least} to ${most}`
      : least !== undefined
        ? `from ${least}`
        : most === undefined
          ? undefined
          : `up to ${most}`
  const length = maxLength === undefined ? undefined : `at most ${maxLength} characters`
  return [format, bounds, length].flatMap((text) => (text === undefined ? [] : [`, ${text}`])).join("")
}

export interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly schema: JsonSchema
  readonly description?: string | undefined
}

/** The fields of an object, those of objects in it under their path. */
const fieldsOf = ({ properties = {}, required = [] }: JsonSchema, path = ""): ReadonlyArray<Field> =>
  Object.entries(properties).flatMap(([name, schema]) => [
    { name: path + name, isRequired: required.includes(name), schema, description: schema.description },
    ...fieldsOf(schema, `${path}${name}.`)
  ])

export const fieldList = (fields: ReadonlyArray<Field>): Html =>
  html`<dl class="fields">
    ${fields.map(
      ({ description, isRequired, name, schema }) =>
        html`<div>
          <dt><code>${name}</code>${isRequired ? "" : html` <small>optional</small>`}</dt>
          <dd>
            <span class="type">${typeOf(schema)}</span>
            ${description === undefined ? "" : html`<p>${statement(description)}</p>`}
          </dd>
        </div>`
    )}
  </dl>`

/** A schema with its fields. */
export const schemaSection = (name: string, schema: JsonSchema): Html => {
  const fields = fieldsOf(schema)
  return html`<section class="schema" id="${schemaId(name)}" aria-labelledby="${schemaId(name)}-title">
    <h3 id="${schemaId(name)}-title">${name}</h3>
    <p>${statement(schema.description)}</p>
    ${fields.length === 0 ? undefined : fieldList(fields)}
  </section>`
}
