/**
 * A key and its certificate for servers in tests, valid for `localhost`, loopback and `service.invalid` until 2126. Nothing
 * outside the tests trusts it. The command that has made both is in `docs/reference/mock.md`.
 */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const file = (name: string): string => fileURLToPath(new URL(`../vectors/tls/${name}`, import.meta.url))

/** PEM files. */
export const keyFile = file("key.pem")
export const certificateFile = file("cert.pem")

/** A certificate for the same names, of another key. */
export const otherCertificateFile = file("other.pem")

export const key = readFileSync(keyFile, "utf8")
export const certificate = readFileSync(certificateFile, "utf8")
export const otherCertificate = readFileSync(otherCertificateFile, "utf8")
