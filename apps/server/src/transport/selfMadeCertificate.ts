/**
 * The certificate of a server under `--tls`, made at its start: an authority that a client trusts, and under it the server's own.
 * Two and not one, because some clients accept no certificate that is its own authority. The key of the authority is thrown away, so
 * that it never signs anything else. DER by hand (RFC 5280), because Node makes keys and signatures and no certificates.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { isIP } from "node:net"
import { domainToASCII } from "node:url"
import { DateTime } from "effect"

export interface SelfMade {
  /** The private key of the server, PEM. */
  readonly key: string
  /** The certificate of the server, PEM. */
  readonly cert: string
  /** The certificate that clients trust, PEM. */
  readonly authority: string
}

const dayMillis = 86_400_000

/** Clocks of clients may be behind. */
const validBeforeMillis = dayMillis

/** More than 398 days are too many for some clients. */
const validForMillis = 397 * dayMillis

/** For these host names and addresses, one of version 6 with or without brackets, valid from a day before `nowMillis`. */
export const selfMadeCertificate = (names: ReadonlyArray<string>, nowMillis: number): SelfMade => {
  const [authority, server] = [makeKeys(), makeKeys()]
  const certificate = (subject: string, keys: Keys, extensions: ReadonlyArray<Buffer>) =>
    pem(signed(toBeSigned(subject, keys, extensions, nowMillis), authority.privateKey))
  return {
    key: server.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: certificate("berth-server", server, [
      extension("2.5.29.19", false, sequence()),
      extension("2.5.29.15", true, bits(Buffer.of(usage.digitalSignature), 7)),
      extension("2.5.29.37", false, sequence(oid("1.3.6.1.5.5.7.3.1"))),
      extension("2.5.29.14", false, element(tag.octets, server.id)),
      extension("2.5.29.35", false, sequence(element(tag.context, authority.id))),
      extension("2.5.29.17", false, sequence(...Array.from(new Set(names.map(withoutBrackets)), generalName)))
    ]),
    authority: certificate(authorityName, authority, [
      extension("2.5.29.19", true, sequence(isTrue, integer(Buffer.of(0)))),
      extension("2.5.29.15", true, bits(Buffer.of(usage.certificateSign), 2)),
      extension("2.5.29.14", false, element(tag.octets, authority.id))
    ])
  }
}

const authorityName = "berth-server authority"

interface Keys {
  readonly privateKey: KeyObject
  /** The public key as a certificate has it. */
  readonly spki: Buffer
  /** By which a certificate names the key that it was signed with. */
  readonly id: Buffer
}

/** Uncompressed points of P-256, at the end of the public key. */
const pointBytes = 65

const makeKeys = (): Keys => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const spki = publicKey.export({ type: "spki", format: "der" })
  return { privateKey, spki, id: createHash("sha1").update(spki.subarray(-pointBytes)).digest() }
}

const tag = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  sequence: 0x30,
  set: 0x31,
  /** Numbered parts: those of one value, and with `constructed` those that hold others. */
  context: 0x80,
  constructed: 0x20
} as const

/** Bits of the extension `keyUsage`, from the left. */
const usage = { digitalSignature: 0x80, certificateSign: 0x04 } as const

const element = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

const sequence = (...contents: ReadonlyArray<Uint8Array>) => element(tag.sequence, ...contents)
const integer = (bytes: Uint8Array) => element(tag.integer, bytes)
const bits = (bytes: Uint8Array, unused = 0) => element(tag.bits, Buffer.of(unused), bytes)
const isTrue = element(tag.boolean, Buffer.of(0xff))

const oid = (dotted: string): Buffer => {
  const [first, second, ...rest] = dotted.split(".").map(Number) as [number, number, ...Array<number>]
  return element(tag.oid, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** Seven bits a byte, the last one without the mark that more follow. */
const base128 = (value: number): ReadonlyArray<number> => {
  const bytes = [value & 0x7f]
  for (let left = value >> 7; left > 0; left >>= 7) bytes.unshift((left & 0x7f) | 0x80)
  return bytes
}

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [isTrue] : []), element(tag.octets, value))

const commonName = (name: string): Buffer =>
  sequence(element(tag.set, sequence(oid("2.5.4.3"), element(tag.utf8, Buffer.from(name)))))

/** `YYMMDDHHMMSSZ`, which is right until 2049. */
const utcTime = (millis: number): Buffer =>
  element(
    tag.utcTime,
    Buffer.from(`${DateTime.formatIso(DateTime.makeUnsafe(millis)).slice(2, 19).replaceAll(/\D/g, "")}Z`)
  )

const withoutBrackets = (name: string): string => name.replace(/^\[(.*)\]$/, "$1")

const generalName = (name: string): Buffer =>
  isIP(name) === 0
    ? element(tag.context | 2, Buffer.from(domainToASCII(name)))
    : element(tag.context | 7, addressBytes(name))

const addressBytes = (address: string): Buffer => {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number))
  // A URL has the shortest form, and an address of version 4 within it as two groups. A zone is no part of the address.
  const [head = "", tail] = new URL(`http://[${address.replace(/%.*/, "")}]`).hostname.slice(1, -1).split("::")
  const groups = (text = "") => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)))
  const [before, after] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]))
}

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"))

const toBeSigned = (subject: string, keys: Keys, extensions: ReadonlyArray<Buffer>, nowMillis: number): Buffer => {
  const serial = randomBytes(16)
  // Positive, and no shorter than it has to be.
  serial[0] = (serial[0]! & 0x3f) | 0x40
  return sequence(
    element(tag.context | tag.constructed, integer(Buffer.of(2))),
    integer(serial),
    ecdsaWithSha256,
    commonName(authorityName),
    sequence(utcTime(nowMillis - validBeforeMillis), utcTime(nowMillis + validForMillis)),
    commonName(subject),
    keys.spki,
    element(tag.context | tag.constructed | 3, sequence(...extensions))
  )
}

const signed = (content: Buffer, key: KeyObject): Buffer =>
  sequence(content, ecdsaWithSha256, bits(sign("sha256", content, key)))

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der.toString("base64").replaceAll(/.{1,64}/g, "$&\n")}-----END CERTIFICATE-----\n`
