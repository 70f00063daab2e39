/** What became of an action, in a line that is read out when it changes. It is always there, because a live region that appears is silent. */

interface ToastProps {
  readonly id?: string
  readonly text: string
}

export const Toast = ({ id, text }: ToastProps) => (
  <p class="note" id={id} role="status">
    {text}
  </p>
)

/** What went wrong; nothing while there is nothing. */
export const Alert = ({ id, text }: { readonly id?: string; readonly text: string | undefined }) => (
  <p class="alert" id={id} role="alert" hidden={text === undefined}>
    {text}
  </p>
)
