/**
 * What the page reads of an OpenAPI description, and how references in it are followed.
 */

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly enum?: ReadonlyArray<unknown>
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

interface Content {
  readonly "application/json"?: { readonly schema: JsonSchema; readonly example?: unknown }
}

interface Header {
  readonly description?: string
  readonly schema: JsonSchema
}

export interface Reply {
  readonly description: string
  readonly content?: Content
}

interface Reference {
  readonly $ref: string
}

export interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<Parameter>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, Reply | Reference>>
}

export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly responses: Readonly<Record<string, Reply>>
    readonly headers: Readonly<Record<string, Header>>
  }
}

/** The last part of a reference: `Node` of `#/components/schemas/Node`. */
export const nameOf = ($ref: string): string => $ref.slice($ref.lastIndexOf("/") + 1)
