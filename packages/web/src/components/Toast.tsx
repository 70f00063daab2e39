/**
 * The result of an action. Screen readers say it whenever it changes. The element always exists, because screen readers
 * ignore a live region that appears later.
 */

interface ToastProps {
  readonly id?: string
  readonly text: string
}

export const Toast = ({ id, text }: ToastProps) => (
  <p class="note" id={id} role="status">
    {text}
  </p>
)

/** An error, which screen readers say at once. The element is empty if there is no error. */
export const Alert = ({ id, text }: { readonly id?: string; readonly text: string | undefined }) => (
  <p class="alert" id={id} role="alert" hidden={text === undefined}>
    {text}
  </p>
)
