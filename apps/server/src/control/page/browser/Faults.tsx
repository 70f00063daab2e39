/** The armed faults, and how often each has fired. */
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Empty } from "@berthkit/web/components/Empty"
import { countText, plain, pluralText } from "@berthkit/web/components/text"
import { disarm, disarmAll } from "./actions.ts"
import { type ArmedFault, commandOf, control } from "./controlPlane.ts"
import { armFault } from "./questions.tsx"
import { optionsText } from "./wording.ts"
import { world } from "./world.ts"

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

/** Arms the same faults, in this or another world, and disarms them. */
const commandsOf = (faults: ReadonlyArray<ArmedFault>): ReadonlyArray<string> => {
  if (faults.length === 0) return []
  const params = { world: world.value }
  // The control plane takes faults in the form in which it states them.
  const payload = faults.map(({ fired: _fired, id: _id, seen: _seen, ...fault }) => fault) as never
  return [
    control.prepare("PUT /_mock/worlds/:world/faults", { params, payload }),
    ...faults.map(({ id }) =>
      control.prepare("DELETE /_mock/worlds/:world/faults/:fault", { params: { ...params, fault: id } })
    ),
    control.prepare("DELETE /_mock/worlds/:world/faults", { params })
  ].map(commandOf)
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
    <div class="folds">
      <p class="actions">
        <Button kind="primary" onClick={armFault}>
          Arm a fault
        </Button>
        {faults.length === 0 ? null : <Button onClick={disarmAll}>Disarm all</Button>}
      </p>
      <Commands commands={commandsOf(faults)} />
    </div>
  </section>
)
