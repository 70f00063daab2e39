/** Command lines with buttons that copy them. */
import { useSignal } from "@preact/signals"
import { Button } from "./Button.tsx"
import { Folded } from "./Folded.tsx"

interface CopyProps {
  readonly text: string
  /** What screen readers say instead of the button's text. */
  readonly label?: string
  readonly isSmall?: boolean
}

export const Copy = ({ isSmall = false, label, text }: CopyProps) => {
  const reply = useSignal("")
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => (reply.value = "Copied."),
      () => (reply.value = "The browser does not let this page copy: select the text yourself.")
    )
  return (
    <>
      <span class="note" role="status">
        {reply}
      </span>
      <Button isSmall={isSmall} label={label} onClick={copy}>
        Copy
      </Button>
    </>
  )
}

export const Copyable = ({ text }: { readonly text: string }) => (
  <p class="copyable">
    <code tabIndex={0}>{text}</code>
    <Copy isSmall text={text} label={`Copy ${text}`} />
  </p>
)

interface CommandsProps {
  readonly commands: ReadonlyArray<string>
  /** Default `Commands`. */
  readonly title?: string
}

/** A folded list of commands that do what the buttons next to it do. Without commands, nothing is shown. */
export const Commands = ({ commands, title = "Commands" }: CommandsProps) =>
  commands.length === 0 ? null : (
    <Folded
      title={title}
      class="commands"
      content={() => commands.map((text) => <Copyable key={text} text={text} />)}
    />
  )
