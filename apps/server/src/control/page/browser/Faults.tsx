/** The armed faults, and how often each has fired. */
import { Button } from "@berthkit/web/components/Button"
import { Empty } from "@berthkit/web/components/Empty"
import { countText, plain, pluralText } from "@berthkit/web/components/text"
import { disarm, disarmAll } from "./actions.ts"
import type { ArmedFault } from "./controlPlane.ts"
import { armFault } from "./questions.tsx"
import { optionsText } from "./wording.ts"

const Row = ({ armed: { fault, fired, id, seen, ...options } }: { readonly armed: ArmedFault }) => {
  const text = optionsText(options)
  return (
    <li>
      <div>
        <strong>{fault}</strong> fired at {countText(fired)} of {pluralText(seen, "request")}
        {text === "" ? null : <code>{plain(text)}</code>}
      </div>
      <Button isSmall label={`Disarm ${plain(id)}`} onClick={() => disarm(id)}>
        Disarm
      </Button>
    </li>
  )
}

export const Faults = ({ faults }: { readonly faults: ReadonlyArray<ArmedFault> }) => (
  <section class="sheet" aria-labelledby="faults-title">
    <h2 id="faults-title">
      Armed faults <span class="note">{faults.length === 0 ? "" : faults.length}</span>
    </h2>
    <ul id="faults">
      {faults.length === 0 ? <Empty>None: everything answers as it should.</Empty> : null}
      {faults.map((armed) => (
        <Row key={armed.id} armed={armed} />
      ))}
    </ul>
    <p class="actions">
      <Button kind="primary" onClick={armFault}>
        Arm a fault
      </Button>
      {faults.length === 0 ? null : <Button onClick={disarmAll}>Disarm all</Button>}
    </p>
  </section>
)
