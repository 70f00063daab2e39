/** The head of the page: the daemon's condition, whether the page is up to date, the account that is shown, the theme, and the logout. */
import { effect, signal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { Select } from "@berthkit/web/components/Select"
import { plain } from "@berthkit/web/components/text"
import { account, choose, connection, hasSession, isSeveral, logOut, phase, status, summary } from "./board.ts"
import { toLatestEvents } from "./Timeline.tsx"

const themeKey = "berth-watch-theme"

/** Light or dark: the system's setting, unless the reader has chosen. */
const theme = signal(localStorage.getItem(themeKey) ?? "")

effect(() => {
  localStorage.setItem(themeKey, theme.value)
  const { documentElement } = document
  if (theme.value === "") delete documentElement.dataset["theme"]
  else documentElement.dataset["theme"] = theme.value
})

const themes = [
  { value: "", text: "System" },
  { value: "light", text: "Light" },
  { value: "dark", text: "Dark" }
]

const AccountChoice = () => {
  const names = status.value.accounts.map(({ account }) => ({ value: account, text: plain(account) }))
  const chosen = (value: string) => {
    choose({ account: value })
    toLatestEvents()
  }
  return (
    <label>
      <span>Account</span>
      <Select id="account" value={account.value} options={[{ value: "", text: "All" }, ...names]} onChange={chosen} />
    </label>
  )
}

/** The summary is in the head, so that it takes no room from the nodes. */
const Summary = () => {
  const { note, text, tone } = summary.value
  return (
    <p id="summary" role="status" class={tone}>
      <strong>{text}</strong>
      {note === "" ? null : <span>{note}</span>}
    </p>
  )
}

export const Header = () => (
  <header>
    <p class="brand">
      Berth <span>watch</span>
    </p>
    {phase.value === "board" ? <Summary /> : null}
    <div class="tools">
      <p class="connection" role="status" data-state={connection.value.state}>
        {connection.value.text}
      </p>
      {phase.value === "board" && isSeveral.value ? <AccountChoice /> : null}
      <label>
        <span>Theme</span>
        <Select id="theme" value={theme.value} options={themes} onChange={(value) => (theme.value = value)} />
      </label>
      {phase.value === "board" && hasSession.value ? <Button onClick={logOut}>Log out</Button> : null}
    </div>
  </header>
)
