// Runs in a page of another origin: sends to the server at `url` all requests that a page can send without a preflight, and some that
// need one. Returns the strings that it could read.
globalThis.attack = async (url) => {
  const read = []
  const attempt = async (name, sent) => {
    const text = await sent.then(
      async (reply) => (reply.ok ? await reply.text() : ""),
      () => ""
    )
    if (text !== "") read.push(`${name}: ${text}`)
  }
  const advance = '{"advance":"1 hour"}'
  const text = { "content-type": "text/plain" }
  const json = { "content-type": "application/json" }
  const world = `${url}/_mock/worlds/default`
  const nodes = `${url}/myaccount/api/v1/nodes/?apikey=berth-key`
  const node = '{"name":"evil","region":"ncr","plan":"C-4VCPU-16RAM-100DISK","image":"Ubuntu-24.04"}'
  for (const mode of ["no-cors", "cors", "same-origin"]) {
    await attempt("worlds", fetch(`${url}/_mock/worlds`, { mode }))
    await attempt("journal", fetch(`${world}/requests`, { mode }))
    await attempt("health", fetch(`${url}/_mock/health`, { mode }))
    await attempt("text", fetch(`${world}/clock`, { mode, method: "POST", body: advance, headers: text }))
    await attempt("blob", fetch(`${world}/clock`, { mode, method: "POST", body: new Blob([advance]) }))
    await attempt("reset", fetch(`${world}/reset`, { mode, method: "POST" }))
    await attempt("make", fetch(`${url}/_mock/worlds`, { mode, method: "POST", body: new Blob(["{}"]) }))
    await attempt("node", fetch(nodes, { mode, method: "POST", body: new Blob([node]) }))
    await attempt("node as text", fetch(nodes, { mode, method: "POST", body: node, headers: text }))
    if (mode === "no-cors") continue
    await attempt("json", fetch(`${world}/clock`, { mode, method: "POST", body: advance, headers: json }))
    await attempt("delete", fetch(`${world}/requests`, { mode, method: "DELETE" }))
  }
  navigator.sendBeacon(`${world}/clock`, new Blob([advance]))
  navigator.sendBeacon(nodes, new Blob([node]))
  await new Promise((resolve) => {
    const events = new EventSource(`${url}/_mock/events`)
    events.onopen = () => resolve(read.push("events"))
    events.onerror = () => resolve(events.close())
  })
  return read
}
