import { expect, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { ControlApi } from "../../src/control/ControlApi.ts"

it("the description of the control plane describes each option of a world and of a fault", () => {
  const { schemas } = OpenApi.fromApi(ControlApi).components as any
  const faults: ReadonlyArray<string> = schemas.Fault.anyOf.map(({ $ref }: { $ref: string }) => $ref.split("/").at(-1))
  const silent = ["WorldOptions", "RateLimit", ...faults].flatMap((name) =>
    Object.entries<any>(schemas[name].properties).flatMap(([field, { $ref, description }]) =>
      field === "fault" || field === "scope" || $ref !== undefined || description !== undefined
        ? []
        : [`${name}.${field}`]
    )
  )
  expect(silent).toEqual([])
  expect(schemas.WorldOptions.properties.provisioning.description).toMatch(/default 2 seconds$/)
  expect(schemas.FaultLatency.properties.delay.description).toMatch(/default 1 second\.$/)
})
