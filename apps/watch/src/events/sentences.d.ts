/** The sentence of an event as JSON; what it has is not checked. */
export declare const sentenceOf: (event: { readonly type: string; readonly data: any }) => {
  readonly tone: "good" | "warm" | "bad" | "off"
  readonly text: string
}
