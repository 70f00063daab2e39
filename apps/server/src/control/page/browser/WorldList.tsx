/** Links to the worlds, including those that have ended. */
import { Button } from "@berthkit/web/components/Button"
import { Isolated } from "@berthkit/web/components/Isolated"
import { countText, pluralText } from "@berthkit/web/components/text"
import { makeWorld } from "./questions.tsx"
import { world, worlds } from "./world.ts"

/** Maximum number of worlds in the list, because a test suite that never deletes its worlds makes ten thousand. */
const maxWorlds = 50

export const addressOf = (id: string): string => `#${encodeURIComponent(id)}`

interface EntryProps {
  readonly id: string
  readonly details: string
}

const Entry = ({ details, id }: EntryProps) => (
  <li>
    <a href={addressOf(id)} aria-current={id === world.value ? "page" : undefined}>
      <Isolated text={id} />
      <small>{details}</small>
    </a>
  </li>
)

/** Lists the main world, then the others with the newest first. The world that is shown is always in the list. */
export const WorldList = () => {
  const { ended, living } = worlds.value
  const newest = [...living.slice(0, 1), ...living.slice(1).toReversed()]
  const listed = newest.filter(({ id }, index) => index < maxWorlds || id === world.value)
  const hidden = living.length - listed.length
  return (
    <nav class="worlds" aria-labelledby="worlds-title">
      <h2 id="worlds-title">
        Worlds <span class="note">{countText(living.length)}</span>
      </h2>
      <ul>
        {listed.map(({ id, nodes, seed }) => (
          <Entry key={id} id={id} details={`seed ${seed} · ${pluralText(nodes, "node")}`} />
        ))}
      </ul>
      <Button onClick={makeWorld}>New world</Button>
      {hidden === 0 ? null : (
        <p class="note">{`${pluralText(hidden, "older world")}: name one in the address, as in #w1.`}</p>
      )}
      {ended.length === 0 ? null : (
        <section aria-labelledby="ended-title">
          <h2 id="ended-title">Ended</h2>
          <ul>
            {ended.map(({ count, ended: { reason }, id }) => (
              <Entry key={id} id={id} details={`${reason} · ${pluralText(count, "request")}`} />
            ))}
          </ul>
        </section>
      )}
    </nav>
  )
}
