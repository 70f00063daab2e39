// What is asked before something is changed: one dialog at a time. It stays open with the control plane's sentences where it is
// refused, and so changes nothing behind its reader's back.
import { ask, Refused, sentenceOf } from "./controlPlane.js"
import { makeFields, readFields, showProblems } from "./forms.js"
import { readable, showTrouble } from "./panels.js"
import { make, plain } from "@berthkit/web/rows.js"

const dialogPart = (name) => document.getElementById(name === undefined ? "dialog" : `dialog-${name}`)

let schemasRead

/** The schemas of the control plane's description, read once. */
const readSchemas = () =>
  (schemasRead ??= ask("/openapi.json")
    .then((reply) => reply.json())
    .then(({ components }) => components.schemas)
    .catch((error) => {
      schemasRead = undefined
      throw error
    }))

/** The names of the operations of the interface. */
export const readOperations = async () =>
  (await readSchemas()).JournalEntry.properties.operation.anyOf.flatMap((kind) => kind.enum ?? [])

const showDialogTrouble = (text) => {
  dialogPart("trouble").hidden = text === undefined
  dialogPart("trouble").textContent = text ?? ""
}

export const closeDialog = () => dialogPart().close()

/** Shows this. Without an action there is nothing that could be sent. */
const fill = ({ action, content = [], further = [], isDangerous = false, text = "", title }) => {
  dialogPart("title").replaceChildren(title)
  dialogPart("text").textContent = text
  dialogPart("text").hidden = text === ""
  dialogPart("content").replaceChildren(...content)
  dialogPart("further").replaceChildren(...further)
  dialogPart("action").textContent = action ?? ""
  dialogPart("action").hidden = action === undefined
  dialogPart("action").className = isDangerous ? "danger" : ""
  dialogPart("cancel").textContent = action === undefined ? "Close" : "Cancel"
  showDialogTrouble()
}

/**
 * Asks. `fieldsOf` gives the fields as they are when the form is sent, `send` does what was asked for; it may give what is to be shown
 * in place of the form.
 */
const openDialog = ({ fieldsOf = () => [], send, ...shown }) => {
  fill(shown)
  dialogPart("form").onsubmit = async (event) => {
    event.preventDefault()
    if (dialogPart("action").disabled || dialogPart("action").hidden) return
    dialogPart("action").disabled = true
    const fields = fieldsOf()
    try {
      const result = await send(fields.length === 0 ? undefined : readFields(fields))
      if (result === undefined) closeDialog()
      else {
        fill(result)
        dialogPart("cancel").focus()
      }
    } catch (error) {
      const { errors, summary } = error instanceof Refused ? error : {}
      const others = showProblems(fields, errors)
      showDialogTrouble(others.length > 0 ? others.join(" ") : (summary ?? sentenceOf(error)))
    } finally {
      dialogPart("action").disabled = false
    }
  }
  if (!dialogPart().open) dialogPart().showModal()
  dialogPart("content").scrollTop = 0
  // Else a browser chooses what scrolls. Where nothing is filled in, Enter does nothing that cannot be taken back.
  const first = dialogPart("content").querySelector("input, select, textarea") ?? dialogPart("cancel")
  first.focus()
}

/** The same with fields of the schemas of the control plane. */
const openForm = async (form) => {
  try {
    openDialog(form(await readSchemas()))
  } catch (error) {
    showTrouble(sentenceOf(error))
  }
}

const fieldGrid = (elements) => make("div", { className: "fields", children: elements })

const further = (name, elements) =>
  make("details", { children: [make("summary", { text: name }), fieldGrid(elements)] })

const armForm = (schemas, { send, world }) => {
  const kinds = new Map(
    schemas.Fault.anyOf.map(({ $ref }) => {
      const schema = schemas[$ref.slice($ref.lastIndexOf("/") + 1)]
      return [schema.properties.fault.enum[0], schema]
    })
  )
  const [first, ...others] = kinds.values()
  const shared = Object.keys(first.properties).filter(
    (name) => name !== "fault" && others.every(({ properties }) => name in properties)
  )
  const trigger = makeFields(first, schemas, { only: shared.filter((name) => name !== "scope") })
  const scope = makeFields(first.properties.scope, schemas, { path: ["scope"] })
  const names = [...kinds.keys()].map((name) => make("option", { value: name, text: name }))
  const select = make("select", { id: "fault-name", children: names })
  const summary = make("p", { id: "fault-summary", className: "hint" })
  select.setAttribute("aria-describedby", summary.id)
  const options = make("div")
  let own
  const choose = () => {
    const schema = kinds.get(select.value)
    own = makeFields(schema, schemas, {
      only: Object.keys(schema.properties).filter((name) => name !== "fault" && !shared.includes(name))
    })
    summary.textContent = schema.description ?? ""
    options.replaceChildren(...(own.elements.length === 0 ? [] : [fieldGrid(own.elements)]))
  }
  select.onchange = choose
  choose()
  const name = make("div", {
    className: "field wide",
    children: [make("label", { className: "name", htmlFor: select.id, text: "fault" }), select, summary]
  })
  return {
    title: `Arm a fault in ${world}`,
    text: "Leave empty what you do not need.",
    action: "Arm",
    content: [
      name,
      options,
      further("At which requests: scope", scope.elements),
      further("When it fires: trigger", trigger.elements)
    ],
    fieldsOf: () => [...own.fields, ...scope.fields, ...trigger.fields],
    send: (given) => send({ fault: select.value, ...given })
  }
}

/** Arms a fault beside those that are armed. */
export const askForFault = (options) => openForm((schemas) => armForm(schemas, options))

/** The options that most worlds are made with. */
const firstOptions = ["seed", "clock", "scenario", "provisioning", "termination", "rateLimit"]

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`

/** How a program reaches a world: shown once, as the control plane gives it once. */
const credentialsOf = ({ accessToken, apiKey, id }, address) => {
  const lines = [
    `export BERTH_BASE_URL=${quoted(location.origin)}`,
    `export BERTH_API_KEY=${quoted(apiKey)}`,
    `export BERTH_ACCESS_TOKEN=${quoted(accessToken)}`
  ].join("\n")
  const copy = make("button", { type: "button", className: "quiet", text: "Copy" })
  const copied = make("span", { className: "note", role: "status" })
  copy.onclick = () =>
    navigator.clipboard.writeText(`${lines}\n`).then(
      () => (copied.textContent = "Copied."),
      () => (copied.textContent = "The browser does not let this page copy: select the lines yourself.")
    )
  return {
    title: `World ${id} was made`,
    content: [
      make("p", { text: "These credentials reach it. They are not shown again." }),
      make("pre", { text: lines, tabIndex: 0 })
    ],
    further: [copied, copy, make("a", { className: "button", href: address, text: `Go to ${id}` })]
  }
}

const worldForm = (schemas, { addressOf, send }) => {
  const names = Object.keys(schemas.WorldOptions.properties)
  const first = makeFields(schemas.WorldOptions, schemas, { only: firstOptions })
  const rest = makeFields(schemas.WorldOptions, schemas, { only: names.filter((name) => !firstOptions.includes(name)) })
  return {
    title: "Make a world",
    text: "An account of its own: nodes, clock, allowance, faults and requests. Everything has a default.",
    action: "Make",
    content: [fieldGrid(first.elements), further("More options", rest.elements)],
    fieldsOf: () => [...first.fields, ...rest.fields],
    send: async (given) => {
      const made = await send(given)
      return credentialsOf(made, addressOf(made.id))
    }
  }
}

/** Makes a world. */
export const askForWorld = (options) => openForm((schemas) => worldForm(schemas, options))

/** Changes a rate limit; only what is another than before is sent. */
export const askForRateLimit = ({ send, values, world }) =>
  openForm((schemas) => {
    const { elements, fields } = makeFields(schemas.RateLimit, schemas, { emptyText: "as it is", values })
    return {
      title: `Rate limit of ${world}`,
      text: "What has been spent stays spent. A reset goes back to the rate limit the world began with.",
      action: "Change",
      content: [fieldGrid(elements)],
      fieldsOf: () => fields,
      send: (given) =>
        send({
          rateLimit: Object.fromEntries(Object.entries(given).filter(([name, value]) => value !== values[name]))
        })
    }
  })

/** Forces a status or a lock on a node. */
export const askForNode = ({ node, send }) =>
  openForm((schemas) => {
    const { createdAt, forced, id, locked, name, plan, status } = node
    const { elements, fields } = makeFields(schemas.NodeChange, schemas, {
      emptyText: "let the lifecycle decide",
      values: { locked, ...(forced ? { status } : {}) }
    })
    return {
      title: make("bdi", { text: `${plain(name)} (${id})` }),
      text: `Now ${status}${forced ? ", forced" : ""}. ${plain(plan)}, created ${readable(createdAt)}.`,
      action: "Change",
      content: [fieldGrid(elements)],
      fieldsOf: () => fields,
      send: ({ locked: isLocked = false, status: wanted = null }) =>
        send({
          ...(wanted === (forced ? status : null) ? {} : { status: wanted }),
          ...(isLocked === locked ? {} : { locked: isLocked })
        })
    }
  })

/** Asks whether something is to be done that cannot be taken back. */
export const askWhether = (question) => openDialog({ isDangerous: true, ...question })
