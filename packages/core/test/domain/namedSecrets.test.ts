import { describe, expect, it } from "@effect/vitest"
import { hideInText } from "../../src/domain/namedSecrets.ts"

describe("a truth value under the name of a secret", () => {
  it.each(['{"disable_password":true,"a":1}', '{"token": null}', "has_token=false&a=b", "password: true"])(
    "is shown: %s",
    (text) => expect(hideInText(text)).toBe(text)
  )

  it.each([
    ['{"password":"truecolours"}', '{"password":"<redacted>"}'],
    ["password=truecolours&a=b", "password=<redacted>&a=b"]
  ])("does not begin a word that is hidden: %s", (text, clean) => expect(hideInText(text)).toBe(clean))
})
