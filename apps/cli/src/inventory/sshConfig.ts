/**
 * Formats the nodes as a file for `Include` in ssh's configuration. Pure.
 */
import { addressOf, type Host, hostNames, reachable } from "./Host.ts"

/** Options of the file. */
export interface SshOptions {
  readonly user: string
  /** The text before each host name. */
  readonly prefix: string
}

/** The file, and the numbers of nodes that are left out or renamed. */
export interface SshConfig {
  readonly text: string
  readonly hosts: number
  readonly withoutAddress: number
  readonly changed: number
}

const heading = "# Written by berth ssh-config. Changes are lost when it is written again.\n"

export const sshConfigOf = (nodes: ReadonlyArray<Host>, { prefix, user }: SshOptions): SshConfig => {
  const { reached, withoutAddress } = reachable(nodes)
  const { changed, hosts } = hostNames(reached)
  const blocks = Array.from(
    hosts,
    ([name, host]) => `\nHost ${prefix}${name}\n  HostName ${addressOf(host)}\n  User ${user}\n`
  )
  return { text: heading + blocks.join(""), hosts: hosts.size, withoutAddress, changed }
}
