/** A control with its label, a hint, and room for an error. */
import type { ComponentChildren } from "preact"

interface FieldProps {
  /** The id of the control. The control refers to its hint as `ID-hint` and to its error as `ID-problem`. */
  readonly id: string
  readonly name: string
  readonly children: ComponentChildren
  readonly hint?: string
  readonly problem?: string | undefined
  /** Whether the field takes a whole line. */
  readonly isWide?: boolean
  /** Whether the control is a group of several controls. A group has no label element. */
  readonly isGroup?: boolean
}

export const Field = ({ children, hint = "", id, isGroup = false, isWide = false, name, problem }: FieldProps) => (
  <div class={isWide ? "field wide" : "field"}>
    {isGroup ? (
      <span class="name" id={`${id}-name`}>
        {name}
      </span>
    ) : (
      <label class="name" for={id}>
        {name}
      </label>
    )}
    {children}
    <small class="problem" id={`${id}-problem`} hidden={problem === undefined}>
      {problem}
    </small>
    <small id={`${id}-hint`} hidden={hint === ""}>
      {hint}
    </small>
  </div>
)
