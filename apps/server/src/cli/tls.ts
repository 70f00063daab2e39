/**
 * The identity of the server under `--tls-key` and `--tls-cert`.
 */
import { createPrivateKey, X509Certificate } from "node:crypto"
import { createSecureContext } from "node:tls"
import { Effect, Option } from "effect"
import type { TlsIdentity } from "../transport/nodeServer.ts"
import { readFlagFile, StartFailure } from "@berthkit/terminal/StartFailure"

interface TlsOptions {
  readonly tlsKey: Option.Option<string>
  readonly tlsCert: Option.Option<string>
}

/** The key and the certificate; undefined if the server speaks plain HTTP. */
export const readTls = Effect.fnUntraced(function* ({ tlsCert, tlsKey }: TlsOptions) {
  if (Option.isNone(tlsKey) && Option.isNone(tlsCert)) return undefined
  if (Option.isNone(tlsKey) || Option.isNone(tlsCert)) {
    return yield* new StartFailure({ message: "--tls-key and --tls-cert belong together" })
  }
  const identity: TlsIdentity = {
    key: yield* readFlagFile("--tls-key", tlsKey.value),
    cert: yield* readFlagFile("--tls-cert", tlsCert.value)
  }
  yield* Effect.try({
    try: () => {
      // Check the pair first, because `createSecureContext` accepts empty strings.
      if (!new X509Certificate(identity.cert).checkPrivateKey(createPrivateKey(identity.key))) throw new Error()
      return createSecureContext(identity)
    },
    catch: () =>
      new StartFailure({ message: "--tls-key and --tls-cert: expected a private key and its certificate, both PEM" })
  })
  return identity
})
