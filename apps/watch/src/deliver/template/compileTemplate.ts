/**
 * The language of templates: Liquid, without everything that reads files, random numbers or the time. Only a config
 * with a template loads this module.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Result } from "effect"
import { AssignTag, ForTag, Liquid, LiquidError, type Template, TypeGuards, type Variable } from "liquidjs"
import { fills, follow, itemsOfAll, sampleOf, schemasOf, type Step } from "./eventFields.ts"
import type { CompileTemplate, Render, TemplateProblem } from "./Template.ts"

/** Maximum length of a template and of its result, in characters. */
const maxTemplate = 20_000
const maxResult = 65_536

/** Maximum time for one event, and maximum size of what a template makes, in the units of the library. */
const maxMillis = 1000
const maxMemory = 1_000_000

const tags = ["assign", "break", "capture", "case", "comment", "continue", "for", "if", "raw", "unless"]
const filters = (
  "abs append at_least at_most capitalize ceil compact concat date default divided_by downcase escape first floor join json last lstrip " +
  "map minus modulo plus prepend remove remove_first replace replace_first reverse round rstrip size slice sort split strip " +
  "strip_newlines times truncate truncatewords uniq upcase url_encode where"
).split(" ")

const engine = new Liquid({
  strictFilters: true,
  ownPropertyOnly: true,
  // Without this map of templates the language would read files.
  templates: {},
  // Times are those of the event, in UTC.
  timezoneOffset: 0,
  parseLimit: maxTemplate,
  renderLimit: maxMillis,
  memoryLimit: maxMemory
})
for (const name of Object.keys(engine.tags)) if (!tags.includes(name)) delete engine.tags[name]
for (const name of Object.keys(engine.filters)) if (!filters.includes(name)) delete engine.filters[name]

// The filter of the language gives nothing for a missing value, which is not JSON.
engine.registerFilter("json", (value: unknown) => JSON.stringify(value ?? null))

// The filter of the language takes these two words for the time of the attempt, so each attempt would give another text.
const date = engine.filters["date"] as (this: unknown, value: unknown, ...more: ReadonlyArray<unknown>) => unknown
engine.registerFilter("date", function (this: unknown, value: unknown, ...more: ReadonlyArray<unknown>) {
  if (value === "now" || value === "today")
    throw new Error("the filter date has no present time; use the time of the event")
  return date.call(this, value, ...more)
})

/** The sentence of an error, without the place at its end. */
const sentenceOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/, line:\d+, col:\d+[^]*$/, "")
    .replaceAll(/\s+/g, " ")

const problemOf = (error: unknown): TemplateProblem => {
  const [row = 1, column = 1] = LiquidError.is(error) ? error.token.getPosition() : []
  return { row, column, message: `has an error: ${sentenceOf(error)}` }
}

const stepsOf = ({ segments }: Variable): ReadonlyArray<Step> =>
  segments.map((segment) => (typeof segment === "object" ? null : segment))

/**
 * The meaning of a name that the template itself defines: a path, and whether the name means an item of the list at
 * that path.
 */
interface Alias {
  readonly path: ReadonlyArray<Step>
  readonly isItem: boolean
}

/** All tags and outputs, also those inside others. */
const everyTemplate = (templates: ReadonlyArray<Template>): ReadonlyArray<Template> =>
  templates.flatMap((each) => {
    const inside = each.children?.(false, true).next()
    return [each, ...(inside?.done === true ? everyTemplate(inside.value) : [])]
  })

/** The path that a value is; undefined if it is computed. */
const pathOf = (token: unknown): ReadonlyArray<Step> | undefined => {
  if (!TypeGuards.isPropertyAccessToken(token) || token.variable !== undefined) return undefined
  return token.props.map((prop) =>
    TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop) || TypeGuards.isNumberToken(prop)
      ? prop.content
      : null
  )
}

/** The names that loops and assignments define. Null for a computed value, whose fields are not known. */
const aliasesOf = (templates: ReadonlyArray<Template>): ReadonlyMap<string, ReadonlyArray<Alias | null>> => {
  const aliases = new Map<string, Array<Alias | null>>()
  for (const each of everyTemplate(templates)) {
    if (each instanceof ForTag) {
      const path = pathOf(each.collection)
      aliases.set(each.variable, [
        ...(aliases.get(each.variable) ?? []),
        path === undefined ? null : { path, isItem: true }
      ])
    } else if (each instanceof AssignTag) {
      for (const { content } of each.localScope() as Iterable<{ readonly content: string }>)
        aliases.set(content, [null])
    }
  }
  return aliases
}

/** The names of fields that no event of these types has. */
const unknownFields = (templates: Array<Template>, types: ReadonlyArray<string>): ReadonlyArray<TemplateProblem> => {
  const schemas = schemasOf(types)
  const { globals, locals, variables } = engine.analyzeSync(templates)
  const aliases = aliasesOf(templates)
  const isGlobal = new Set(Object.values(globals).flat())
  const resolved = (path: ReadonlyArray<Step>, depth = 0): ReturnType<typeof follow> => {
    const [root, ...rest] = path
    const found = aliases.get(String(root))
    if (found === undefined || depth > 10) return follow(schemas, path)
    const results = found.map((alias): ReturnType<typeof follow> => {
      if (alias === null) return { schemas: "any" }
      const base = resolved(alias.path, depth + 1)
      if (!("schemas" in base) || base.schemas === "any") return { schemas: "any" }
      return follow(alias.isItem ? itemsOfAll(base.schemas) : base.schemas, rest)
    })
    return results.find((each) => "schemas" in each) ?? results[0]!
  }
  return Object.values(variables)
    .flat()
    .flatMap((variable) => {
      const path = stepsOf(variable)
      const root = String(path[0])
      if (!isGlobal.has(variable) && (root === "forloop" || Object.hasOwn(locals, root))) return []
      const found = resolved(path)
      if ("schemas" in found) return []
      const hint = didYouMean(nearest(found.unknown, found.known).slice(0, 2)).replace(/\.$/, "")
      const { col, row } = variable.location
      return [{ row, column: col, message: `names ${variable.toString()}, which no event of this sink has${hint}` }]
    })
}

const isValidJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export const compileTemplate: CompileTemplate = (text, types, isJson) => {
  if (text.length > maxTemplate)
    return Result.fail([{ row: 1, column: 1, message: `is longer than ${maxTemplate} characters` }])
  let templates: Array<Template>
  try {
    templates = engine.parse(text)
  } catch (error) {
    return Result.fail([problemOf(error)])
  }
  const unknown = unknownFields(templates, types)
  if (unknown.length > 0) return Result.fail(unknown)
  const render = (event: object): Result.Result<string, string> => {
    try {
      const rendered = String(engine.renderSync(templates, event))
      if (rendered.length > maxResult) return Result.fail(`its result is longer than ${maxResult} characters`)
      return isJson && !isValidJson(rendered) ? Result.fail("its result is not valid JSON") : Result.succeed(rendered)
    } catch (error) {
      return Result.fail(sentenceOf(error))
    }
  }
  for (const schema of schemasOf(types)) {
    for (const fill of fills) {
      const event = sampleOf(schema, fill) as { readonly type: string }
      const tried = render(event)
      if (Result.isSuccess(tried)) continue
      const which = `an event of the type ${event.type}${fill === "all" ? "" : " without its optional fields"}`
      const hint = isJson && tried.failure.endsWith("JSON") ? ": write values as {{ NAME | json }}" : ""
      return Result.fail([{ row: 1, column: 1, message: `fails for ${which}: ${tried.failure}${hint}` }])
    }
  }
  const compiled: Render = (json) => render(JSON.parse(json))
  return Result.succeed(compiled)
}
