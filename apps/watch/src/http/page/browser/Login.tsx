/** Asks for the daemon's token, if it needs one. */
import { useSignal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { Field } from "@berthkit/web/components/Field"
import { useLayoutEffect, useRef } from "preact/hooks"
import { logIn } from "./board.ts"
import { failureText } from "./watchApi.ts"

export const Login = () => {
  const token = useRef<HTMLInputElement>(null)
  const trouble = useSignal("")
  useLayoutEffect(() => token.current?.focus(), [])
  const submit = async () => {
    try {
      await logIn(token.current!.value.trim())
      trouble.value = ""
    } catch (error) {
      trouble.value = failureText(error)
    }
  }
  return (
    <form
      id="login"
      class="sheet"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <h2>This daemon needs its token</h2>
      <p class="note">You find it where token in the config of berth-watch says.</p>
      <Field id="token" name="Token">
        <input id="token" ref={token} type="password" autocomplete="current-password" spellcheck={false} required />
      </Field>
      <Button type="submit" kind="primary">
        Log in
      </Button>
      <p id="login-trouble" role="alert">
        {trouble}
      </p>
    </form>
  )
}
