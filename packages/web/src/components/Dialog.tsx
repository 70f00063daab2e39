/**
 * A modal dialog. It is in the document only while it is open. Escape closes it. With `closesBeside`, a click outside closes
 * it, too.
 */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly id?: string
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Further elements, next to the title. */
  readonly head?: ComponentChildren
  /** Whether a click outside closes the dialog. Default: false, because an accidental click would discard the input. */
  readonly closesBeside?: boolean
}

export const Dialog = ({ children, closesBeside = false, head, id = "dialog", onClose, title }: DialogProps) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const shown = dialog.current
    shown?.showModal()
    return () => shown?.close()
  }, [])
  return (
    <dialog
      id={id}
      ref={dialog}
      aria-labelledby={`${id}-title`}
      // The browser reports a close with a delay. By then, the dialog may be open again or gone.
      onClose={({ currentTarget }) => currentTarget.isConnected && !currentTarget.open && onClose()}
      onClick={({ currentTarget, target }) => closesBeside && target === currentTarget && onClose()}
    >
      <div class="dialog-head">
        <h2 id={`${id}-title`} dir="auto">
          {title}
        </h2>
        {head}
      </div>
      {children}
    </dialog>
  )
}
