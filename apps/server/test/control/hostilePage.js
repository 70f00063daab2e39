// Runs in a page of another origin: sends all that a page can send to the control plane at `url` without asking first, and
// what it may ask for. Gives what it could read.
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
  for (const mode of ["no-cors", "cors", "same-origin"]) {
    await attempt("worlds", fetch(`${url}/_mock/worlds`, { mode }))
    await attempt("journal", fetch(`${world}/requests`, { mode }))
    await attempt("health", fetch(`${url}/_mock/health`, { mode }))
    await attempt("text", fetch(`${world}/clock`, { mode, method: "POST", body: advance, headers: text }))
    await attempt("blob", fetch(`${world}/clock`, { mode, method: "POST", body: new Blob([advance]) }))
    await attempt("reset", fetch(`${world}/reset`, { mode, method: "POST" }))
    await attempt("make", fetch(`${url}/_mock/worlds`, { mode, method: "POST", body: new Blob(["{}"]) }))
    if (mode === "no-cors") continue
    await attempt("json", fetch(`${world}/clock`, { mode, method: "POST", body: advance, headers: json }))
    await attempt("delete", fetch(`${world}/requests`, { mode, method: "DELETE" }))
  }
  navigator.sendBeacon(`${world}/clock`, new Blob([advance]))
  await new Promise((resolve) => {
    const events = new EventSource(`${url}/_mock/events`)
    events.onopen = () => resolve(read.push("events"))
    events.onerror = () => resolve(events.close())
  })
  return read
}
