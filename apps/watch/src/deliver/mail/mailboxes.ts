/** Addresses of mail, as a config writes them. Pure. */

export interface Mailbox {
  /** The name of the person; empty if there is none. */
  readonly name: string
  readonly address: string
}

/** One address in ASCII, without any character that could end the command or the header around it. */
const address =
  /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?!.{254})[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i

/** `ops@example.com`, or `Ops <ops@example.com>`; undefined if it is neither. */
export const parseMailbox = (text: string): Mailbox | undefined => {
  const [, name = "", inside] = /^([^<>"@,;:\\\p{Cc}]{0,100})<([^<>]*)>$/u.exec(text.trim()) ?? []
  const found = inside ?? text.trim()
  return address.test(found) ? { name: name.trim(), address: found } : undefined
}

/** The part after the `@`. */
export const domainOf = ({ address }: Mailbox): string => address.slice(address.lastIndexOf("@") + 1)
