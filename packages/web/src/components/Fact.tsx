/** A term and its description in a `dl`. */
import type { ComponentChildren } from "preact"

interface FactProps {
  readonly name: string
  readonly class?: string
  readonly children: ComponentChildren
}

export const Fact = ({ children, class: className, name }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd class={className}>{children}</dd>
  </div>
)
