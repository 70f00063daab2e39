/** The fields of a form, as controls. */
import { Field } from "@berthkit/web/components/Field"
import { type FormField, type FormGroup, isGroup, isWide } from "./fields.ts"

/** A set of check boxes. The names of the checked ones are stored as the lines of a string. */
const Choices = ({ field: { choices, id, text } }: { readonly field: FormField }) => {
  const checked = text.value === "" ? [] : text.value.split("\n")
  return (
    <div
      class="choices"
      role="group"
      aria-labelledby={`${id}-name`}
      aria-describedby={`${id}-problem`}
      id={id}
      tabIndex={-1}
    >
      {choices.map(({ text: label, value }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={checked.includes(value)}
            onChange={({ currentTarget }) => {
              const others = checked.filter((one) => one !== value)
              text.value = (currentTarget.checked ? [...others, value] : others).join("\n")
            }}
          />{" "}
          {label}
        </label>
      ))}
    </div>
  )
}

const Control = ({ field }: { readonly field: FormField }) => {
  const { choices, id, inputMode, kind, placeholder, problem, text } = field
  if (kind === "choices") return <Choices field={field} />
  const shared = {
    id,
    value: text,
    "aria-describedby": `${id}-problem ${id}-hint`,
    "aria-invalid": problem.value === undefined ? undefined : true
  } as const
  const take = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
    text.value = currentTarget.value
  }
  if (kind === "choice") {
    return (
      <select {...shared} onChange={take}>
        {choices.map(({ text, value }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )
  }
  const typed = { ...shared, autocomplete: "off", spellcheck: false, placeholder, onInput: take } as const
  return isWide(field) ? <textarea {...typed} rows={1} /> : <input {...typed} inputMode={inputMode} />
}

const OneField = ({ field }: { readonly field: FormField }) => (
  <Field
    id={field.id}
    name={field.name}
    hint={field.hint}
    problem={field.problem.value}
    isWide={isWide(field)}
    isGroup={field.kind === "choices"}
  >
    <Control field={field} />
  </Field>
)

export const Fields = ({ parts }: { readonly parts: ReadonlyArray<FormField | FormGroup> }) => (
  <div class="fields">
    {parts.map((part) =>
      isGroup(part) ? (
        <fieldset key={part.name}>
          <legend>{part.name}</legend>
          <Fields parts={part.fields} />
        </fieldset>
      ) : (
        <OneField key={part.id} field={part} />
      )
    )}
  </div>
)
