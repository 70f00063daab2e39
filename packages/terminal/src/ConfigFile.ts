/**
 * Reads values from a YAML document and collects the problems, each with its place in the file. It knows nothing about the
 * content: the daemon reads its config with it, and `berth` its fleet files.
 */
import { didYouMean, nearest } from "./usage.ts"
import { durationText, parseDurationMillis } from "./duration.ts"
import { Option } from "effect"
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Document, type Node, parseDocument, visit } from "yaml"

export interface ConfigProblem {
  readonly line: number
  readonly column: number
  /** One sentence. */
  readonly message: string
}

/** A value in the file: its name and position. */
export interface Place {
  readonly node: Node | null
  readonly name: string
}

/** A JSON Schema, for editors. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Reads a value. If the value is not usable, records a problem and returns undefined. */
export interface Read<out A> {
  (place: Place): A | undefined
  /** What the reader accepts, as far as JSON Schema can state it. */
  readonly schema?: JsonSchema
}

/** A reader that states what it accepts. */
export const readAs = <A>(schema: JsonSchema, read: (place: Place) => A | undefined): Read<A> =>
  Object.assign(read, { schema })

/** How the value of a key is read. */
export interface Field<A> {
  readonly read: Read<A>
  /** The default. Without a default the key is required. */
  readonly otherwise?: A
  readonly description?: string
}

export const needed = <A>(read: Read<A>, description = ""): Field<A> => ({ read, description })
export const defaulted = <A>(read: Read<A>, otherwise: A, description = ""): Field<A> => ({
  read,
  otherwise,
  description
})

type Values<Fields> = { readonly [Key in keyof Fields]: Fields[Key] extends Field<infer A> ? A : never }

const recordSchema = (fields: Readonly<Record<string, Field<unknown>>>): JsonSchema => ({
  type: "object",
  additionalProperties: false,
  required: Object.keys(fields).filter((key) => !("otherwise" in fields[key]!)),
  properties: Object.fromEntries(
    Object.entries(fields).map(([key, { description, otherwise, read }]) => [
      key,
      { ...read.schema, ...(description && { description }), ...(otherwise !== null && { default: otherwise }) }
    ])
  )
})

/** Maximum length of a document in characters: more than a person writes. */
const maxLength = 1_000_000

/** Maximum number of reported syntax errors. Later ones are mostly consequences of the first ones. */
const maxSyntaxProblems = 5

/** The parser's message if it gives up because the text is nested too deeply. */
const tooDeep = "Maximum call stack size exceeded"

const withArticle = (node: Node | null): string =>
  isMap(node)
    ? "a block of keys"
    : isSeq(node)
      ? "a list"
      : isAlias(node)
        ? "an alias"
        : isScalar(node) && node.value !== null
          ? "a value"
          : "nothing"

/** The blocks that a merge key (`<<`) names. If several blocks have a key, the first one wins. */
const mergedMaps = (value: unknown) => (isSeq(value) ? value.items : [value]).filter((item) => isMap(item))

/**
 * Replaces aliases and merge keys by the nodes that they refer to; problems thus keep their places. Handles each node
 * only once, because nested aliases could otherwise fill the memory or contain themselves.
 */
const withoutAliases = (document: Document.Parsed): Node | null => {
  // Do not use `Alias.resolve`, which walks the whole document for each alias: with 10 KB of aliases it takes seconds.
  const anchors = new Map<string, Node>()
  const targets = new Map<unknown, Node>()
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.set(node.anchor, node)
        return
      }
      const target = anchors.get(node.source)
      if (target !== undefined) targets.set(node, target)
    }
  })
  const done = new Set<unknown>()
  const resolved = <A>(node: A): A | Node => {
    const found = targets.get(node) ?? node
    if (done.has(found)) return found
    done.add(found)
    if (isSeq(found)) found.items = found.items.map(resolved)
    if (!isMap(found)) return found
    for (const pair of found.items) pair.value = resolved(pair.value)
    const merges = found.items.filter(({ key }) => isScalar(key) && key.value === "<<" && key.type === "PLAIN")
    for (const merge of merges) {
      const maps = mergedMaps(merge.value)
      if (maps.length === 0) continue
      found.items.splice(found.items.indexOf(merge), 1)
      for (const pair of maps.flatMap(({ items }) => items)) if (!found.has(pair.key)) found.items.push(pair)
    }
    return found
  }
  return resolved(document.contents) as Node | null
}

export class ConfigFile {
  readonly problems: Array<ConfigProblem> = []
  readonly root: Place
  readonly #lines = new LineCounter()
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    const isTooLong = text.length > maxLength
    const document = parseDocument(isTooLong ? "" : text, { lineCounter: this.#lines, prettyErrors: false })
    this.root = { node: document.errors.length > 0 ? document.contents : withoutAliases(document), name: "" }
    if (isTooLong) this.problems.push({ line: 1, column: 1, message: "The file is too long." })
    const isTooDeep = document.errors.some(({ message }) => message.startsWith(tooDeep))
    if (isTooDeep) this.problems.push({ line: 1, column: 1, message: "The file is nested too deeply." })
    for (const error of isTooDeep ? [] : document.errors.slice(0, maxSyntaxProblems)) {
      const { col, line } = this.#lines.linePos(error.pos[0])
      // The part after a semicolon is for programmers.
      const [sentence = ""] = error.message.split(/[\n;]/)
      this.problems.push({ line, column: col, message: `${sentence.replace(/\.$/, "")}.` })
    }
  }

  /** Records a problem. Returns undefined, so that a reader can return the call. */
  fail({ name, node }: Place, what: string): undefined {
    const message = `${name || "The file"} ${what}${what.endsWith("?") ? "" : "."}`
    this.problems.push({ ...this.positionOf(node), message })
    return undefined
  }

  /**
   * Records a problem at a place within a string of several lines, by its row and column in that string, from 1. A string that YAML folds
   * or escapes has no such places, so the problem is then at its beginning.
   */
  failWithin(
    { name, node }: Place,
    { column, row }: { readonly row: number; readonly column: number },
    what: string
  ): undefined {
    const start = this.positionOf(node)
    const at = this.problems.length
    this.fail({ name, node }, what)
    if (!isScalar(node)) return undefined
    const from = node.range?.[0] ?? 0
    if (node.type === "BLOCK_LITERAL") {
      const [, ...lines] = this.#text.slice(from).split("\n")
      const indent = /^ */.exec(lines.find((line) => line.trim() !== "") ?? "")![0].length
      this.problems[at] = { ...this.problems[at]!, line: start.line + row, column: indent + column }
    } else if (row === 1) {
      const begin = from + (node.type === "PLAIN" ? 0 : 1)
      if (this.#text.startsWith(String(node.value), begin))
        this.problems[at] = { ...this.problems[at]!, column: start.column + begin - from + column - 1 }
    }
    return undefined
  }

  /** The position of a value. */
  positionOf(node: Node | null): Pick<ConfigProblem, "line" | "column"> {
    const { col, line } = this.#lines.linePos(node?.range?.[0] ?? 0)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  /** A block of keys, each with its own reader. Any other key is a problem, except top-level keys that begin with `x-`. */
  record = <Fields extends Record<string, Field<any>>>(fields: Fields) =>
    readAs<Values<Fields>>(recordSchema(fields), (place) => {
      if (!isMap(place.node)) return this.fail(place, `has to be a block of keys, and is ${withArticle(place.node)}`)
      const nameOf = (key: string) => (place.name === "" ? key : `${place.name}.${key}`)
      for (const { key } of place.node.items) {
        const name = isScalar(key) ? String(key.value) : "?"
        if (Object.hasOwn(fields, name) || (place.name === "" && name.startsWith("x-"))) continue
        const near = nearest(name, Object.keys(fields)).slice(0, 2)
        this.fail({ node: key as Node, name: nameOf(name) }, `is not a setting${didYouMean(near).replace(/\.$/, "")}`)
      }
      const result: Record<string, unknown> = {}
      let isUsable = true
      for (const [key, field] of Object.entries(fields)) {
        const node = (place.node.get(key, true) as Node | undefined) ?? null
        const isAbsent = node === null || (isScalar(node) && node.value === null && field.otherwise !== undefined)
        if (isAbsent && "otherwise" in field) result[key] = field.otherwise
        else if (isAbsent) this.fail({ node: place.node, name: nameOf(key) }, "is missing")
        else result[key] = field.read({ node, name: nameOf(key) })
        if (result[key] === undefined) isUsable = false
      }
      return isUsable ? (result as never) : undefined
    })

  /** A block whose keys are free and whose values are all read by the same reader; at most `max` entries. */
  entries =
    <A>(
      read: (key: Place & { readonly key: string }, value: Place) => A | undefined,
      max: number
    ): Read<ReadonlyArray<A>> =>
    (place) => {
      if (!isMap(place.node)) return this.fail(place, `has to be a block of keys, and is ${withArticle(place.node)}`)
      const { items } = place.node
      if (items.length > max) return this.fail(place, `has ${items.length} entries; the maximum is ${max}`)
      const values = items.map(({ key, value }) => {
        const name = isScalar(key) ? String(key.value) : "?"
        const at = `${place.name}.${name}`
        return read({ node: key as Node, name: at, key: name }, { node: value as Node | null, name: at })
      })
      return values.every((value) => value !== undefined) ? (values as ReadonlyArray<A>) : undefined
    }

  list = <A>(read: Read<A>, { max = 1000, min = 0 } = {}): Read<ReadonlyArray<A>> =>
    readAs({ type: "array", maxItems: max, ...(min > 0 && { minItems: min }), items: read.schema ?? {} }, (place) => {
      if (!isSeq(place.node)) return this.fail(place, `has to be a list, and is ${withArticle(place.node)}`)
      const { items } = place.node
      if (items.length < min) return this.fail(place, "is empty")
      if (items.length > max) return this.fail(place, `has ${items.length} entries; the maximum is ${max}`)
      const values = items.map((node, index) => read({ node: node as Node, name: `${place.name}[${index}]` }))
      return values.every((value) => value !== undefined) ? (values as ReadonlyArray<A>) : undefined
    })

  text: Read<string> = readAs({ type: "string", minLength: 1 }, (place) => {
    const { node } = place
    if (isScalar(node) && typeof node.value === "string" && node.value.trim() !== "") return node.value
    // YAML reads strings such as `30` or `true` as another type unless they are in quotes.
    if (isScalar(node) && typeof node.value !== "string" && node.value !== null) {
      return this.fail(place, "has to be a text: write it in quotes")
    }
    return this.fail(place, `has to be a text, and is ${withArticle(node)}`)
  })

  flag: Read<boolean> = readAs({ type: "boolean" }, (place) =>
    isScalar(place.node) && typeof place.node.value === "boolean"
      ? place.node.value
      : this.fail(place, "has to be true or false")
  )

  /** A string that `parse` understands; `expected` completes "has to be …". */
  parsed = <A>(expected: string, parse: (text: string) => A | undefined, schema: JsonSchema = {}): Read<A> =>
    readAs({ ...this.text.schema, ...schema }, (place) => {
      const { node } = place
      // Do not suggest quotes here: they would not turn 30 into a duration.
      if (isScalar(node) && typeof node.value === "number" && parse(String(node.value)) === undefined) {
        return this.fail(place, `has to be ${expected}`)
      }
      const text = this.text(place)
      if (text === undefined) return undefined
      return parse(text) ?? this.fail(place, `has to be ${expected}`)
    })

  oneOf = <const A extends string>(values: ReadonlyArray<A>): Read<A> =>
    this.parsed(`one of ${values.join(", ")}`, (text) => values.find((value) => value === text))

  whole = (min: number, max: number): Read<number> =>
    readAs({ type: "integer", minimum: min, maximum: max }, (place) => {
      const value = isScalar(place.node) ? place.node.value : undefined
      return typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max
        ? value
        : this.fail(place, `has to be a whole number from ${min} to ${max}`)
    })

  /** A duration. The bounds and the result are in milliseconds. */
  duration = (minMillis: number, maxMillis: number): Read<number> =>
    this.parsed(
      `a duration from ${durationText(minMillis)} to ${durationText(maxMillis)}, such as 90s, 5m or 1h30m`,
      (text) =>
        Option.getOrUndefined(
          Option.filter(parseDurationMillis(text), (millis) => millis >= minMillis && millis <= maxMillis)
        )
    )
}
