/** Buttons. `kind` says what they do, `isSmall` how much room they take. */
import type { ComponentChildren, JSX } from "preact"

export type ButtonKind = "primary" | "quiet" | "danger" | "danger quiet" | "link"

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "class" | "label" | "ref" | "type"> {
  readonly children: ComponentChildren
  /** Default `quiet`. */
  readonly kind?: ButtonKind
  readonly isSmall?: boolean
  /** For screen readers, instead of the text: what the button is about. */
  readonly label?: string | undefined
  /** Default `button`. */
  readonly type?: "button" | "submit"
}

export const Button = ({ isSmall = false, kind = "quiet", label, type = "button", ...rest }: ButtonProps) => (
  <button {...rest} type={type} class={isSmall ? `${kind} small` : kind} aria-label={label} />
)
