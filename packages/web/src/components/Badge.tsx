/** A word in a colour that says how good or bad a state is. */
import type { ComponentChildren } from "preact"

/**
 * `coming`, `going`, `off` and `odd` do not judge: something is starting, ending, switched off, or in a state that Berth
 * does not know.
 */
export type Tone = "good" | "warm" | "bad" | "coming" | "going" | "off" | "odd"

interface BadgeProps {
  readonly children: ComponentChildren
  readonly tone?: Tone | undefined
  readonly title?: string
}

export const Badge = ({ children, title, tone }: BadgeProps) => (
  <span class={tone === undefined ? "badge" : `badge ${tone}`} title={title}>
    {children}
  </span>
)
