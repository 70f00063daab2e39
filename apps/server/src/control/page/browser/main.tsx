/** The page of the worlds. This module is the entry point of the page's script. */
import "@berthkit/web/controls.css"
import "./page.css"
import { Button } from "@berthkit/web/components/Button"
import { Alert, Toast } from "@berthkit/web/components/Toast"
import { plain } from "@berthkit/web/components/text"
import { signal } from "@preact/signals"
import { render } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import { Clock } from "./Clock.tsx"
import { hasToken, keepToken } from "./controlPlane.ts"
import { Faults } from "./Faults.tsx"
import { Journal, offerOperations } from "./Journal.tsx"
import { Nodes } from "./Nodes.tsx"
import { Notice } from "./Notice.tsx"
import { closeQuestion, OpenQuestion } from "./Question.tsx"
import { deleteWorld, resetWorld } from "./questions.tsx"
import { connection, done, refresh, seen, startWorld, trouble, world } from "./world.ts"
import { WorldList } from "./WorldList.tsx"

const TokenForm = () => {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [trouble.value])
  return (
    <form
      id="token-form"
      class="actions"
      onSubmit={(event) => {
        event.preventDefault()
        keepToken(input.current!.value.trim())
        input.current!.value = ""
        trouble.value = undefined
        void refresh()
      }}
    >
      <label for="token">This server needs its control token.</label>
      <input id="token" ref={input} type="password" autocomplete="off" spellcheck={false} required />
      <Button type="submit" kind="primary">
        Use it
      </Button>
    </form>
  )
}

/** Whether the focus was in a part of the page that is gone now. */
const hadFocus = signal(false)

/** The parts of the page that exist only while the world runs. */
const LivingParts = () => {
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => () => void (hadFocus.value = place.current?.contains(document.activeElement) === true), [])
  const shown = seen.value
  if (shown?.is !== "living") return null
  return (
    <div id="living" ref={place}>
      <Clock shown={shown.world} />
      <Faults faults={shown.faults} />
      <Nodes nodes={shown.nodes} total={shown.world.nodes} />
    </div>
  )
}

const WorldShown = () => {
  const shown = seen.value
  const isLiving = shown?.is === "living"
  const seed = shown?.journal?.seed
  return (
    <main>
      <div class="title">
        <h1>
          <span>World</span> <bdi>{plain(world.value)}</bdi> <small>{seed === undefined ? "" : `seed ${seed}`}</small>
        </h1>
        <Toast text={done.value} />
        {isLiving ? (
          <p class="actions">
            <Button onClick={resetWorld}>Reset</Button>
            {/* The main world has no such button, because the control plane would refuse to delete it. */}
            {world.value === "default" ? null : (
              <Button kind="danger quiet" onClick={deleteWorld}>
                Delete
              </Button>
            )}
          </p>
        ) : null}
      </div>
      <Notice takesFocus={!isLiving && hadFocus.value} />
      {isLiving ? <LivingParts /> : null}
      {shown?.journal === undefined ? null : <Journal journal={shown.journal} isLiving={isLiving} />}
    </main>
  )
}

const Page = () => {
  const state = connection.value
  const isShown = state !== "connecting" && state !== "token needed"
  useEffect(() => {
    document.title = `${plain(world.value)} · Berth mock`
  }, [world.value])
  useEffect(() => {
    if (state === "live") offerOperations()
  }, [state])
  return (
    <>
      <header>
        <p class="brand">
          Berth <span>mock</span>
        </p>
        <p class="connection" data-state={state === "live" ? "live" : state === "connecting" ? undefined : "lost"}>
          {state}
        </p>
        <nav aria-label="Pages">
          <a href="/docs">Interface</a>
          {isShown && !hasToken() ? <a href="/_mock/openapi.json">Control plane</a> : null}
        </nav>
      </header>
      {state === "token needed" ? <TokenForm /> : null}
      <Alert text={trouble.value} />
      {isShown ? (
        <div id="layout">
          <WorldList />
          <WorldShown />
        </div>
      ) : null}
      <OpenQuestion />
    </>
  )
}

render(<Page />, document.getElementById("page")!)
startWorld(closeQuestion)
