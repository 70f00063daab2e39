import { describe, expect, it } from "vitest"
import { secretsIn } from "../../src/client/options/Headers.ts"
import { isSecretName } from "../../src/domain/secretName.ts"

const secret = [
  "apikey",
  "API_KEY",
  "Authorization",
  "Cf-Access-Client-Secret",
  "DD-API-KEY",
  "Ocp-Apim-Subscription-Key",
  "Proxy-Authorization",
  "Set-Cookie",
  "X-Amz-Signature",
  "X-Auth",
  "X-Auth-User",
  "X-CSRFToken",
  "X-Functions-Key",
  "access_token",
  "api key",
  "bearer",
  "clientSecret",
  "jwt",
  "one_time_passcode",
  "otps",
  "passwords",
  "private_keys",
  "otp",
  "private_key",
  "sessionid",
  "sig",
  "user_passphrase",
  "userPassword"
]

const shown = [
  "Cache-Control",
  "Content-Type",
  "ETag",
  "Idempotency-Key",
  "Retry-After",
  "WWW-Authenticate",
  "X-Author",
  "X-RateLimit-Limit",
  "X-Request-Id",
  "design",
  "key",
  "monkeys",
  "public_key",
  "ssh_key",
  "ssh_keys",
  "sshKeys"
]

describe("the name of a value", () => {
  it.each(secret)("%s says that it is a secret", (name) => expect(isSecretName(name)).toBe(true))

  it.each(shown)("%s does not", (name) => expect(isSecretName(name)).toBe(false))

  it.each(secret)("%s hides the value of a header of the program", (name) =>
    expect(secretsIn({ [name]: "Bearer canary-51d2e8" })).toContain("canary-51d2e8")
  )
})
