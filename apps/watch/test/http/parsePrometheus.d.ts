/** The parser of the text format has no types of its own. */
declare module "parse-prometheus-text-format" {
  interface Family {
    readonly name: string
    readonly help: string
    readonly type: "COUNTER" | "GAUGE" | "HISTOGRAM" | "SUMMARY" | "UNTYPED"
    readonly metrics: ReadonlyArray<{ readonly value?: string; readonly labels?: Readonly<Record<string, string>> }>
  }
  export default function parse(text: string): ReadonlyArray<Family>
}
