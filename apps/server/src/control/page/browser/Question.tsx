/**
 * The dialog before a change. Only one is open at a time. If the control plane refuses the change, the dialog stays open and
 * shows the sentences of the refusal.
 */
import { signal, useSignal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { type Prepared, Refused } from "@berthkit/web/components/client"
import { Commands } from "@berthkit/web/components/Copyable"
import { Dialog } from "@berthkit/web/components/Dialog"
import { Alert } from "@berthkit/web/components/Toast"
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef } from "preact/hooks"
import { commandOf, sentenceOf } from "./controlPlane.ts"
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
  /** The change as a request, made from the values of the fields. */
  readonly request?: (given: any) => Prepared<any>
  /** Commands about the same thing, shown after the command that sends the request. */
  readonly commands?: ReadonlyArray<string>
  /** Called with the reply; may return another question to show next. */
  readonly onReply?: (reply: any) => Question | undefined
}

const asked = signal<Question | undefined>(undefined)

export const askQuestion = (question: Question): void => {
  asked.value = question
}

export const closeQuestion = (): void => {
  asked.value = undefined
}

/** The change as a command, which follows what is typed. */
const SameCommands = ({
  commands,
  fieldsOf,
  request
}: Required<Pick<Question, "commands" | "fieldsOf" | "request">>) => (
  <Commands commands={[commandOf(request(readFields(fieldsOf()))), ...commands]} />
)

const Asked = ({ question }: { readonly question: Question }) => {
  const {
    action,
    commands = [],
    content,
    fieldsOf = () => [],
    further,
    isDangerous = false,
    onReply,
    request,
    text,
    title
  } = question
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
    if (isSending.value || request === undefined) return
    isSending.value = true
    const fields = fieldsOf()
    try {
      const next = onReply?.(await request(readFields(fields)).send())
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
        {request === undefined ? null : <SameCommands request={request} fieldsOf={fieldsOf} commands={commands} />}
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
