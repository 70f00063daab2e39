/** A modal dialog. It is in the document while it is open, and closes by Escape, and by a click beside it where nothing is filled in. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"

interface DialogProps {
  readonly id?: string
  readonly title: ComponentChildren
  readonly onClose: () => void
  readonly children: ComponentChildren
  /** Beside the title, after which they come. */
  readonly head?: ComponentChildren
  /** Default false: a slip of the hand would take away what was filled in. */
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
      // The browser tells of a closing later, when the dialog may be open again, or gone.
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
