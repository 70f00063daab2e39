import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Effect, Result } from "effect"
import { compileTemplate } from "../../../src/deliver/template/compileTemplate.ts"
import { Event, eventTypes, toJson } from "../../../src/events/Event.ts"

const changed = ["berth.node.status_changed"]

const problems = (text: string, types: ReadonlyArray<string> = changed, isJson = false) =>
  Result.match(compileTemplate(text, types, isJson), {
    onSuccess: () => [],
    onFailure: (found) => found.map(({ column, message, row }) => `${row}:${column} ${message}`)
  })

const rendered = (text: string, event: object, isJson = false) =>
  Result.flatMap(
    Result.mapError(compileTemplate(text, changed, isJson), ([first]) => first!.message),
    (render) => render(JSON.stringify(event))
  )

const event = {
  type: "berth.node.status_changed",
  source: "/accounts/eu",
  data: { from: "running", to: "power-off", after: { name: 'web "1"\n' }, silenced: [{ id: "s", reason: "disks" }] }
}

describe("a template", () => {
  it.each([
    ["{{ data.after.name | strip }} is {{ data.to }}", 'web "1" is power-off'],
    ["{% if data.to == 'power-off' %}off{% else %}on{% endif %}", "off"],
    ["{% for each in data.silenced %}{{ each.reason }}{{ forloop.index }}{% endfor %}", "disks1"],
    ["{% assign node = data.after %}{{ node.name | size }}", "8"],
    ["{{ data.before.name }}|{{ data.after.publicIp | default: 'none' }}", "|none"],
    ["{{ data.after.extra.anything }}{{ data.after.tags[0] }}{{ data.after.tags.size }}", ""]
  ])("says %s as %j", (text, expected) => {
    expect(rendered(text, event)).toEqual(Result.succeed(expected))
  })

  it("of JSON escapes values with its filter", () => {
    const text = '{"text": {{ data.after.name | json }}}'
    expect(JSON.parse(Result.getOrThrow(rendered(text, event, true)))).toEqual({ text: event.data.after.name })
  })

  it.each([
    ["{{ data.after.nme }}", "1:4 names data.after.nme, which no event of this sink has; did you mean name?"],
    ["a\n  {{ data.after.name.first }}", "2:6 names data.after.name.first, which no event of this sink has"],
    ["{{ name }}", "1:4 names name, which no event of this sink has"],
    [
      "{% for s in data.silenced %}\n{{ s.reson }}{% endfor %}",
      "2:4 names s.reson, which no event of this sink has; did you mean reason?"
    ],
    ["{% for s in data.silence %}{% endfor %}", /^1:13 names data\.silence, which .*; did you mean silenced\?$/],
    ["{% if data.chance > 1 %}{% endif %}", /^1:7 names data\.chance, which no event of this sink has/],
    ["{{ 'a' | append: data.frm }}", /^1:18 names data\.frm, which no event/],
    ["x\n {{ data.to | shout }}", "2:2 has an error: undefined filter: shout"],
    ["a {{ 'now' | date: '%s' }}", /: the filter date has no present time; use the time of the event$/],
    ["{{ 'today' | date: '%Y' }}", /: the filter date has no present time; use the time of the event$/],
    ["{% if data.to %}", "1:1 has an error: tag {% if data.to %} not closed"],
    ["{{ data.to", '1:1 has an error: output "{{ data.to" not closed'],
    ["{% include 'a' %}", '1:1 has an error: tag "include" not found'],
    ["{% render 'a' %}", '1:1 has an error: tag "render" not found'],
    ["{% layout 'a' %}", '1:1 has an error: tag "layout" not found'],
    ["x".repeat(20_001), "1:1 is longer than 20000 characters"]
  ])("is refused with its place: %j", (text, message) => {
    expect(problems(text)).toEqual([typeof message === "string" ? message : expect.stringMatching(message)])
  })

  it("may name the fields of any type that the sink takes, and of no other", () => {
    const text = "{{ data.budgetInr }}{{ data.after.name }}"
    expect(problems(text, eventTypes)).toEqual([])
    expect(problems(text, changed)).toEqual([expect.stringMatching(/^1:4 names data\.budgetInr, which no event/)])
  })

  it.each(['{"text": "{{ data.after.name }}"}', "{{ data.to }}", '{"a": {{ data.after.name | json }},}'])(
    "that does not give JSON is refused if JSON is asked for: %s",
    (text) => {
      expect(problems(text, changed, true)).toEqual([
        "1:1 fails for an event of the type berth.node.status_changed: its result is not valid JSON: write values as {{ NAME | json }}"
      ])
    }
  )

  it.each([
    ['{"gap": {{ data.afterGap }} }', changed],
    ['{"l": {{ data.after.locked }} }', changed],
    ['{% if data.silenced %}{"l": {{ data.after.locked }} }{% else %}{}{% endif %}', changed],
    ['{% if data.silenced %}{"s": {{ data.silenced.size }} }{% endif %}', changed]
  ])("that gives no JSON if a field is missing or null is refused: %s", (text, types) => {
    expect(problems(text, types, true)).toEqual([
      `1:1 fails for an event of the type ${types[0]} without its optional fields: its result is not valid JSON: write values as {{ NAME | json }}`
    ])
  })

  it("may fill in missing fields itself", () => {
    for (const text of ['{"gap": {{ data.afterGap | default: false }} }', '{"l": {{ data.after.locked | json }} }'])
      expect(problems(text, changed, true)).toEqual([])
  })

  it.each([
    ["{% for i in (1..1000000000) %}x{% endfor %}", /limit exceeded$/],
    [
      "{% assign s = 'xxxxxxxxxx' %}{% for i in (1..30) %}{% assign s = s | append: s %}{% endfor %}{{ s }}",
      /limit exceeded$/
    ],
    [`{% for i in (1..70) %}${"x".repeat(1000)}{% endfor %}`, /its result is longer than 65536 characters$/],
    [
      "{% for i in (1..9999) %}{% for j in (1..9999) %}{% for k in (1..9999) %}{% endfor %}{% endfor %}{% endfor %}",
      /limit exceeded$/
    ]
  ])("has bounds: %s", (text, message) => {
    expect(problems(text)).toEqual([expect.stringMatching(message)])
  })

  it("reaches nothing but the event", () => {
    for (const name of ["constructor", "__proto__", "toString", "process", "globalThis"]) {
      expect(problems(`{{ ${name} }}`)).toHaveLength(1)
      expect(problems(`{{ data.after.${name} }}`)).toHaveLength(1)
      expect(rendered(`{% assign x = data.after %}{{ x.${name} }}`, event)).toEqual(Result.succeed(""))
    }
  })

  it.effect("that was accepted for all types works for every event", () =>
    Effect.gen(function* () {
      const text = `{"type": {{ type | json }}, "name": {{ data.after.name | default: data.before.name | json }}, "all": {{ data | json }}}`
      const render = Result.getOrThrow(compileTemplate(text, eventTypes, true))
      const samples = yield* Effect.forEach(Event.members, (member) =>
        Arbitrary.sampleEffect(Arbitrary.schema(member), { count: 20, seed: 7 })
      )
      for (const json of samples.flat().map((event) => toJson(event))) {
        expect(JSON.parse(Result.getOrThrow(render(json)))).toMatchObject({ type: JSON.parse(json).type })
      }
    })
  )
})
