/** Buttons. `kind` says what a button does. A button with `isSmall` takes less room. */
import type { ComponentChildren, JSX } from "preact"

export type ButtonKind = "primary" | "quiet" | "danger" | "danger quiet" | "link"

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "class" | "label" | "ref" | "type"> {
  readonly children: ComponentChildren
  /** Default: `quiet`. */
  readonly kind?: ButtonKind
  readonly isSmall?: boolean
  /** What screen readers say instead of the text: it names what the button is about. */
  readonly label?: string | undefined
  /** Default: `button`. */
  readonly type?: "button" | "submit"
}

export const Button = ({ isSmall = false, kind = "quiet", label, type = "button", ...rest }: ButtonProps) => (
  <button {...rest} type={type} class={isSmall ? `${kind} small` : kind} aria-label={label} />
)
