/**
 * The dialog before a change. Only one is open at a time. If the control plane refuses the change, the dialog stays open and
 * shows the sentences of the refusal.
 */
import { signal, useSignal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { Refused } from "@berthkit/web/components/client"
import { Dialog } from "@berthkit/web/components/Dialog"
import { Alert } from "@berthkit/web/components/Toast"
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { sentenceOf } from "./controlPlane.ts"
import { type FormField, readFields, showProblems } from "./fields.ts"

export interface Question {
  readonly title: ComponentChildren
  readonly text?: string
  readonly content?: ComponentChildren
  /** The text of the submit button. If it is absent, the dialog has nothing to submit. */
  readonly action?: string
  readonly isDangerous?: boolean
  /** Further elements, next to the buttons. */
  readonly further?: ComponentChildren
  /** Returns the fields at the moment of submission. */
  readonly fieldsOf?: () => ReadonlyArray<FormField>
  /** Performs the change. May return another question to show next. */
  readonly send?: (given: any) => Promise<Question | undefined>
}

const asked = signal<Question | undefined>(undefined)

export const askQuestion = (question: Question): void => {
  asked.value = question
}

export const closeQuestion = (): void => {
  asked.value = undefined
}

const Asked = ({ question }: { readonly question: Question }) => {
  const { action, content, fieldsOf = () => [], further, isDangerous = false, send, text, title } = question
  const form = useRef<HTMLFormElement>(null)
  const isSending = useSignal(false)
  const trouble = useSignal<string | undefined>(undefined)
  // Focus the first field, or Cancel if there is no field. Browsers may otherwise focus an element that merely scrolls.
  // Enter on Cancel does nothing irreversible.
  useLayoutEffect(() => {
    const first = form.current?.querySelector<HTMLElement>(
      ".dialog-content :is(input, select, textarea), [type=button][value=cancel]"
    )
    first?.focus()
    trouble.value = undefined
  }, [question])
  const submit = async () => {
    if (isSending.value || send === undefined) return
    isSending.value = true
    const fields = fieldsOf()
    try {
      const next = await send(fields.length === 0 ? undefined : readFields(fields))
      if (asked.value === question) asked.value = next
    } catch (error) {
      const { errors, message } = error instanceof Refused ? error.failure : {}
      const { atFault, others } = showProblems(fields, errors)
      trouble.value = others.length > 0 ? others.join(" ") : (message ?? sentenceOf(error))
      const controls = atFault.map(({ id }) => document.getElementById(id))
      for (const control of controls) control?.closest("details")?.setAttribute("open", "")
      controls[0]?.focus()
    } finally {
      isSending.value = false
    }
  }
  return (
    <Dialog title={title} onClose={closeQuestion}>
      <form
        ref={form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        {text === undefined ? null : <p class="note">{text}</p>}
        <div class="dialog-content">{content}</div>
        <Alert text={trouble.value} />
        <p class="actions end">
          {further}
          <Button value="cancel" onClick={closeQuestion}>
            {action === undefined ? "Close" : "Cancel"}
          </Button>
          {action === undefined ? null : (
            <Button type="submit" kind={isDangerous ? "danger" : "primary"} disabled={isSending.value}>
              {action}
            </Button>
          )}
        </p>
      </form>
    </Dialog>
  )
}

/** The open question, if any. */
export const OpenQuestion = () => (asked.value === undefined ? null : <Asked question={asked.value} />)
