/** The dashboard, and the entry point of its script. */
import "@berthkit/web/controls.css"
import "./page.css"
import { effect } from "@preact/signals"
import { pluralText } from "@berthkit/web/components/text"
import { render } from "preact"
import { Accounts } from "./Accounts.tsx"
import { isSeveral, lostMillis, nodesOfAccount, phase, startBoard, summary, troubles } from "./board.ts"
import { DeadLetters } from "./DeadLetters.tsx"
import { Fleet } from "./Fleet.tsx"
import { Header } from "./Header.tsx"
import { Login } from "./Login.tsx"
import { NodeDetails, startDetails } from "./NodeDetails.tsx"
import { filterInput, NodeTable } from "./NodeTable.tsx"
import { Silences } from "./Silences.tsx"
import { Sinks } from "./Sinks.tsx"
import { Spending } from "./Spending.tsx"
import { Timeline } from "./Timeline.tsx"
import { areUnknown, Totals } from "./Totals.tsx"
import { Troubles } from "./Troubles.tsx"

const classesOf = (classes: Readonly<Record<string, boolean>>): string =>
  Object.keys(classes)
    .filter((name) => classes[name] === true)
    .join(" ")

const Board = () => (
  <div id="board" class={classesOf({ several: isSeveral.value, lost: lostMillis.value !== undefined })}>
    <div class="above">
      <Troubles />
      <div class="overview">
        <Totals />
        <Accounts />
        <Sinks />
        <Spending />
        <Fleet />
      </div>
    </div>
    <div class="columns">
      <NodeTable />
      <Timeline />
    </div>
    <p class="keys note">
      <kbd>/</kbd> filter · <kbd>↑</kbd> <kbd>↓</kbd> move between nodes · <kbd>Enter</kbd> details · <kbd>Esc</kbd>{" "}
      back
    </p>
  </div>
)

const Page = () => (
  <>
    <Header />
    <main>
      <h1 class="unseen">The nodes that berth-watch watches</h1>
      {phase.value === "login" ? <Login /> : null}
      {phase.value === "board" ? <Board /> : null}
    </main>
    <NodeDetails />
    <DeadLetters />
    <Silences />
  </>
)

/** The title shows problems while the tab is in the background. */
effect(() => {
  const title = (() => {
    if (phase.value === "login") return "Log in · Berth watch"
    if (phase.value === "connecting") return "Berth watch"
    if (troubles.value.length > 0) return `⚠ ${summary.value.text} · Berth watch`
    return areUnknown.value ? "Berth watch" : `${pluralText(nodesOfAccount.value.length, "node")} · Berth watch`
  })()
  if (document.title !== title) document.title = title
})

document.addEventListener("keydown", (event) => {
  const isDialogOpen = document.querySelector("dialog[open]") !== null
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || isDialogOpen) return
  event.preventDefault()
  filterInput()?.focus()
})

// First, so that the requests are on their way while the page is rendered.
startBoard()
render(<Page />, document.getElementById("page")!)
startDetails()
