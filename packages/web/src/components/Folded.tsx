/** A part of a page that unfolds. Its content is rendered only while it is open. */
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"

interface FoldedProps {
  readonly title: string
  readonly class?: string
  readonly content: () => ComponentChildren
}

export const Folded = ({ class: className, content, title }: FoldedProps) => {
  const isOpen = useSignal(false)
  return (
    <details class={className} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen.value ? content() : null}
    </details>
  )
}
