// Forms that are made from the control plane's own description: a field for each property of a schema. What a value may be is decided
// by the control plane alone: its sentences are shown beside the fields.
import { make, plain } from "@berthkit/web/rows.js"

/** The schema that a reference names. */
const resolved = (schema, schemas) =>
  schema.$ref === undefined ? schema : resolved(schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)], schemas)

const jsonOr = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const jsonText = (value) => (typeof value === "string" ? value : JSON.stringify(value))

/** `name: value` in each line. */
const readLines = (text) =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const at = line.indexOf(":")
        return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      })
  )

const linesOf = (record) =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${jsonText(value)}`)
    .join("\n")

const typed = (id, properties = {}) => make("input", { id, autocomplete: "off", spellcheck: false, ...properties })

const area = (id, placeholder = "") =>
  make("textarea", { id, placeholder, rows: 1, autocomplete: "off", spellcheck: false })

/** A control whose text is read. Nothing typed is nothing given. */
const textual = (element, value, read, show = jsonText) => {
  element.value = value === undefined ? "" : show(value)
  return {
    element,
    control: element,
    read: () => (element.value.trim() === "" ? undefined : read(element.value.trim()))
  }
}

/** `emptyText` stands for no choice, where there may be none. */
const choice = (id, choices, value, emptyText) => {
  const none = emptyText === undefined ? [] : [["", emptyText]]
  const options = [...none, ...choices.map((one) => [JSON.stringify(one), String(one)])]
  const element = make("select", { id, children: options.map(([key, text]) => make("option", { value: key, text })) })
  element.value = value === undefined ? "" : JSON.stringify(value)
  return { element, control: element, read: () => (element.value === "" ? undefined : JSON.parse(element.value)) }
}

/** Any of the choices: none is nothing given, one is given as it is. */
const choicesIn = (choices) => {
  const boxes = choices.map((value) => make("input", { type: "checkbox", value }))
  const labels = boxes.map((box) => make("label", { children: [box, ` ${box.value}`] }))
  const read = () => {
    const checked = boxes.filter((box) => box.checked).map((box) => box.value)
    return checked.length > 1 ? checked : checked[0]
  }
  return { element: make("div", { className: "choices", children: labels }), control: boxes[0], read }
}

/** The control for a value of a schema. */
const controlOf = (schema, id, value, emptyText) => {
  const kinds = schema.anyOf ?? [schema]
  const types = kinds.map(({ type }) => type)
  const list = kinds.find(({ type }) => type === "array")
  const noChoice = value === undefined || types.includes("null") ? emptyText : undefined
  if (list?.items.enum !== undefined) return choicesIn(list.items.enum)
  const choices = kinds.find((kind) => kind.enum !== undefined)?.enum
  if (choices !== undefined) return choice(id, choices, value, noChoice)
  if (types.includes("boolean")) return choice(id, [true, false], value, noChoice)
  if (types.includes("object")) return textual(area(id, "name: value"), value, readLines, linesOf)
  if (list?.items.type === "string") {
    return textual(typed(id), value, (text) => (text.includes(",") ? text.split(",").map((one) => one.trim()) : text))
  }
  const isNumber = types.includes("integer") || types.includes("number")
  if (isNumber) {
    const inputMode = types.includes("string") ? "text" : "decimal"
    return textual(typed(id, { inputMode }), value, (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text))
  }
  if (types.includes("string")) return textual(typed(id), value, (text) => text)
  return textual(area(id, list === undefined ? "" : '[{"name":"web"}]'), value, jsonOr)
}

let madeFields = 0

/** A control with its name, with what it is about, and with room for what is wrong with it. */
const makeField = (name, schema, { emptyText, path, value }) => {
  madeFields += 1
  const id = `field-${madeFields}`
  const { control, element, read } = controlOf(schema, id, value, emptyText)
  const isGroup = element !== control
  // A group shows its choices anyway.
  const about = isGroup ? "" : (schema.description?.replaceAll("`", "") ?? "")
  const hint = make("small", { id: `${id}-hint`, text: about, hidden: about === "" })
  const problem = make("small", { id: `${id}-problem`, className: "problem", hidden: true })
  const label = make(isGroup ? "span" : "label", { className: "name", id: `${id}-name`, text: name })
  if (isGroup) {
    element.role = "group"
    element.setAttribute("aria-labelledby", label.id)
  } else label.htmlFor = id
  element.setAttribute("aria-describedby", `${problem.id} ${hint.id}`)
  const isWide = element.nodeName === "TEXTAREA" || isGroup
  return {
    element: make("div", { className: isWide ? "field wide" : "field", children: [label, element, problem, hint] }),
    fields: [{ path: [...path, name], control, element, problem, read }]
  }
}

/** The fields of an object within an object. */
const makeGroup = (name, schema, schemas, { emptyText, path, value }) => {
  const { elements, fields } = makeFields(schema, schemas, { emptyText, path: [...path, name], values: value })
  const children = [make("legend", { text: name }), make("div", { className: "fields", children: elements })]
  return { element: make("fieldset", { children }), fields }
}

const takesLine = (element) => element.nodeName === "FIELDSET" || element.querySelector("textarea") !== null

/**
 * Fields for the properties of a schema, and the elements that show them. `only` gives their names and order; `values` are what they
 * have at first, `emptyText` is what a choice shows that is left out.
 */
export const makeFields = (schema, schemas, { emptyText = "default", only, path = [], values = {} } = {}) => {
  const { properties } = resolved(schema, schemas)
  const made = (only ?? Object.keys(properties)).map((name) => {
    const part = resolved(properties[name], schemas)
    const options = { emptyText, path, value: values[name] }
    return part.properties === undefined ? makeField(name, part, options) : makeGroup(name, part, schemas, options)
  })
  const elements = made.map(({ element }) => element)
  return {
    fields: made.flatMap(({ fields }) => fields),
    // Those that take a line of their own come last: no line is left half empty.
    elements: elements.toSorted((a, b) => takesLine(a) - takesLine(b))
  }
}

/** What has been given, as JSON. */
export const readFields = (fields) => {
  const body = {}
  for (const { path, read } of fields) {
    const value = read()
    if (value === undefined) continue
    const [name, inner] = path
    if (inner === undefined) body[name] = value
    else body[name] = { ...body[name], [inner]: value }
  }
  return body
}

/** Shows each sentence beside the field that it is about, and gives those that are about none. */
export const showProblems = (fields, errors = {}) => {
  const about = new Map()
  const others = []
  for (const [path, sentences] of Object.entries(errors)) {
    const field = fields.findLast(({ path: names }) => `${path}.`.startsWith(`${names.join(".")}.`))
    const inner = field === undefined ? "" : path.slice(field.path.join(".").length + 1)
    const text = sentences.map((sentence) => plain(inner === "" ? sentence : `${inner}: ${sentence}`))
    if (field === undefined) others.push(...text)
    else about.set(field, [...(about.get(field) ?? []), ...text])
  }
  for (const field of fields) {
    const { element, problem } = field
    const text = about.get(field)
    problem.hidden = text === undefined
    problem.textContent = text?.join(" ") ?? ""
    if (text === undefined) element.removeAttribute("aria-invalid")
    else {
      element.setAttribute("aria-invalid", "true")
      element.closest("details")?.setAttribute("open", "")
    }
  }
  const [first] = about.keys()
  first?.control.focus()
  return others
}
