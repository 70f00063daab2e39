/** The function with which the client of `orval` sends requests: to the account that was set last, with its credentials. */
import type { Account } from "./Report.ts"

let account: Account | undefined

export const setAccount = (next: Account) => {
  account = next
}

export const send = async <Reply>(path: string, init: RequestInit): Promise<Reply> => {
  if (account === undefined) throw new Error("no account is set")
  const url = new URL(path, account.baseUrl)
  url.searchParams.set("apikey", account.apiKey)
  const headers = new Headers(init.headers)
  headers.set("authorization", `Bearer ${account.accessToken}`)
  const response = await fetch(url, { ...init, headers })
  const text = await response.text()
  // The type is the union of all replies. The description promises that each status has its own type of body.
  return {
    data: text === "" ? undefined : JSON.parse(text),
    status: response.status,
    headers: response.headers
  } as Reply
}
