/** The dialogs of the page: arm a fault, make a world, change a node or a rate limit, reset and delete a world. */
import { type Signal, signal } from "@preact/signals"
import { Copy } from "@berthkit/web/components/Copyable"
import { Field } from "@berthkit/web/components/Field"
import { Isolated } from "@berthkit/web/components/Isolated"
import { quoted } from "@berthkit/terminal/quoted"
import { plain } from "@berthkit/web/components/text"
import { about } from "./actions.ts"
import { control, type Living, maxMakingMillis, type NodeView, sentenceOf, type WorldMade } from "./controlPlane.ts"
import { Fields } from "./Fields.tsx"
import {
  fieldsIn,
  type FormField,
  type FormGroup,
  type JsonSchema,
  makeFields,
  resolved,
  type Schemas
} from "./fields.ts"
import { askQuestion, type Question } from "./Question.tsx"
import { durationText, readable } from "./wording.ts"
import { forgetList, living, refresh, trouble } from "./world.ts"

let schemasRead: Promise<Schemas> | undefined

/** Reads the schemas of the control plane's description, only once. */
const readSchemas = (): Promise<Schemas> => {
  schemasRead ??= control
    .read("/_mock/openapi.json")
    .then((description) => (description as { readonly components: { readonly schemas: Schemas } }).components.schemas)
    .catch((error: unknown) => {
      schemasRead = undefined
      throw error
    })
  return schemasRead
}

/** Reads the names of the interface's operations. */
export const readOperations = async (): Promise<ReadonlyArray<string>> =>
  (await readSchemas())["JournalEntry"]!.properties!["operation"]!.anyOf!.flatMap((kind) => kind.enum ?? []).map(String)

/** Opens a dialog whose fields come from the control plane's schemas. */
const askWithFields = async (questionOf: (schemas: Schemas) => Question): Promise<void> => {
  try {
    askQuestion(questionOf(await readSchemas()))
  } catch (error) {
    trouble.value = sentenceOf(error)
  }
}

/** Opens a dialog about the world that is shown, if that world is running. */
const aboutLiving =
  (ask: (shown: Living) => void): (() => void) =>
  () => {
    const shown = living()
    if (shown !== undefined) ask(shown)
  }

const Further = ({ name, parts }: { readonly name: string; readonly parts: ReadonlyArray<FormField | FormGroup> }) => (
  <details>
    <summary>{name}</summary>
    <Fields parts={parts} />
  </details>
)

// ---- faults

/** A kind of fault: its description, and the fields that only it has. */
interface FaultForm {
  readonly description: string
  readonly parts: ReadonlyArray<FormField | FormGroup>
}

const faultForms = (schemas: Schemas) => {
  const kinds = new Map(
    resolved(schemas["Fault"]!, schemas).anyOf!.map((kind) => {
      const schema = resolved(kind, schemas)
      return [String(schema.properties!["fault"]!.enum![0]), schema] as const
    })
  )
  const [first, ...others] = Array.from(kinds.values(), ({ properties = {} }) => properties) as [
    Readonly<Record<string, JsonSchema>>,
    ...Array<Readonly<Record<string, JsonSchema>>>
  ]
  const shared = Object.keys(first).filter(
    (name) => name !== "fault" && others.every((properties) => name in properties)
  )
  const formOf = (name: string): FaultForm => {
    const schema = kinds.get(name)!
    const own = Object.keys(schema.properties!).filter((each) => each !== "fault" && !shared.includes(each))
    return { description: schema.description ?? "", parts: makeFields(schema, schemas, {}, { only: own }) }
  }
  return {
    names: [...kinds.keys()],
    formOf,
    scope: makeFields(first["scope"]!, schemas, {}, { path: ["scope"] }),
    trigger: makeFields({ properties: first }, schemas, {}, { only: shared.filter((name) => name !== "scope") })
  }
}

type FaultForms = ReturnType<typeof faultForms>

interface FaultChoiceProps {
  /** The fault that will be sent. */
  readonly chosen: Signal<{ readonly name: string; readonly form: FaultForm }>
  readonly forms: FaultForms
}

const FaultChoice = ({ chosen, forms }: FaultChoiceProps) => {
  const { description, parts } = chosen.value.form
  const choose = (name: string) => (chosen.value = { name, form: forms.formOf(name) })
  return (
    <>
      <Field id="fault-name" name="fault" isWide hint={description}>
        <select
          id="fault-name"
          aria-describedby="fault-name-hint"
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {forms.names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      {parts.length === 0 ? null : <Fields parts={parts} />}
      <Further name="At which requests: scope" parts={forms.scope} />
      <Further name="When it fires: trigger" parts={forms.trigger} />
    </>
  )
}

/** Arms one more fault. */
export const armFault = aboutLiving((shown) => {
  void askWithFields((schemas) => {
    const forms = faultForms(schemas)
    const [name] = forms.names as [string]
    const chosen = signal({ name, form: forms.formOf(name) })
    return {
      title: `Arm a fault in ${shown.world.id}`,
      text: "Leave empty what you do not need.",
      action: "Arm",
      content: <FaultChoice chosen={chosen} forms={forms} />,
      fieldsOf: () => fieldsIn([...chosen.value.form.parts, ...forms.scope, ...forms.trigger]),
      ...about(
        shown,
        (params, given: object) =>
          control.prepare("POST /_mock/worlds/:world/faults", {
            params,
            // The control plane checks whether it is a valid fault.
            payload: { fault: chosen.value.name, ...given } as never
          }),
        ({ id }) => `${id} is armed.`
      )
    }
  })
})

// ---- worlds

/** The options that people set most often. The dialog shows them first. */
const firstOptions = ["seed", "clock", "scenario", "provisioning", "termination", "rateLimit"]

/** Shows the credentials of a new world. It does so only once, because the control plane returns them only once. */
const credentialsOf = ({ accessToken, apiKey, id }: WorldMade): Question => {
  const lines = [
    `export BERTH_BASE_URL=${quoted(location.origin)}`,
    `export BERTH_API_KEY=${quoted(apiKey)}`,
    `export BERTH_ACCESS_TOKEN=${quoted(accessToken)}`
  ].join("\n")
  return {
    title: `World ${id} was made`,
    content: (
      <>
        <p>These credentials reach it. They are not shown again.</p>
        <pre tabIndex={0}>{lines}</pre>
      </>
    ),
    further: (
      <>
        <Copy text={`${lines}\n`} />
        <a class="button" href={`#${encodeURIComponent(id)}`}>
          Go to {id}
        </a>
      </>
    )
  }
}

export const makeWorld = (): Promise<void> =>
  askWithFields((schemas) => {
    const options = schemas["WorldOptions"]!
    const names = Object.keys(options.properties!)
    const first = makeFields(options, schemas, {}, { only: firstOptions })
    const rest = makeFields(options, schemas, {}, { only: names.filter((name) => !firstOptions.includes(name)) })
    return {
      title: "Make a world",
      text: "An account of its own: nodes, clock, allowance, faults and requests. Everything has a default.",
      action: "Make",
      content: (
        <>
          <Fields parts={first} />
          <Further name="More options" parts={rest} />
        </>
      ),
      fieldsOf: () => fieldsIn([...first, ...rest]),
      request: (payload: object) => control.prepare("POST /_mock/worlds", { payload, maxMillis: maxMakingMillis }),
      onReply: (made: WorldMade) => {
        forgetList()
        void refresh()
        return credentialsOf(made)
      }
    }
  })

/** Changes the rate limit. Sends only the fields that the reader has changed. */
export const changeRateLimit = aboutLiving((shown) => {
  const { algorithm, limit, window } = shown.world.allowance
  const values: Readonly<Record<string, unknown>> = {
    limit,
    window: durationText(window).replaceAll(",", ""),
    algorithm
  }
  void askWithFields((schemas) => {
    const parts = makeFields(schemas["RateLimit"]!, schemas, values, { emptyText: "as it is" })
    return {
      title: `Rate limit of ${shown.world.id}`,
      text: "Spent requests stay spent. A reset restores the rate limit that the world started with.",
      action: "Change",
      content: <Fields parts={parts} />,
      fieldsOf: () => fieldsIn(parts),
      ...about(
        shown,
        (params, given: object) => {
          const changed = Object.entries(given).filter(([name, value]) => value !== values[name])
          const payload = { rateLimit: Object.fromEntries(changed) }
          return control.prepare("PATCH /_mock/worlds/:world", { params, payload })
        },
        ({ allowance }) => `${allowance.remaining} of ${allowance.limit} requests are left.`
      )
    }
  })
})

/** Forces a status or a lock on a node. */
export const changeNode = (node: NodeView): void =>
  aboutLiving((shown) => {
    const { createdAt, forced, id, locked, name, plan, status } = node
    void askWithFields((schemas) => {
      const values = { locked, ...(forced ? { status } : {}) }
      const parts = makeFields(schemas["NodeChange"]!, schemas, values, { emptyText: "let the lifecycle decide" })
      return {
        title: <Isolated text={`${name} (${id})`} />,
        commands: [`berth node get ${id}`, `berth node delete ${id}`],
        text: `Now ${status}${forced ? ", forced" : ""}. ${plain(plan)}, created ${readable(createdAt)}.`,
        action: "Change",
        content: <Fields parts={parts} />,
        fieldsOf: () => fieldsIn(parts),
        ...about(
          shown,
          (
            params,
            {
              locked: isLocked = false,
              status: wanted = null,
              ...rest
            }: { locked?: boolean; status?: "power-off" | null }
          ) =>
            control.prepare("PATCH /_mock/worlds/:world/nodes/:id", {
              params: { ...params, id },
              payload: {
                ...rest,
                ...(wanted === (forced ? status : null) ? {} : { status: wanted }),
                ...(isLocked === locked ? {} : { locked: isLocked })
              }
            }),
          (changed) => `Node ${changed.id} is ${changed.status}${changed.locked ? " and locked" : ""}.`
        )
      }
    })
  })()

export const resetWorld = aboutLiving((shown) => {
  const { id } = shown.world
  askQuestion({
    title: `Reset ${id}?`,
    text: "Nodes, clock and faults start again. Requests are forgotten; credentials stay.",
    action: "Reset",
    isDangerous: true,
    ...about(
      shown,
      (params) => control.prepare("POST /_mock/worlds/:world/reset", { params, maxMillis: maxMakingMillis }),
      () => `${id} was reset.`
    )
  })
})

export const deleteWorld = aboutLiving((shown) =>
  askQuestion({
    title: `Delete ${shown.world.id}?`,
    text: "The world ends, and its credentials stop working. Its last requests stay on this page for a while.",
    action: "Delete",
    isDangerous: true,
    ...about(
      shown,
      (params) => control.prepare("DELETE /_mock/worlds/:world", { params }),
      () => ""
    )
  })
)
