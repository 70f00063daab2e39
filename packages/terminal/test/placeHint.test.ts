import { assert, describe, it } from "@effect/vitest"
import { isAboutPlace } from "@berthkit/terminal/placeHint"

describe("a refusal in the wording of a service", () => {
  it.each([
    "Project not found",
    "project_id: This field is required",
    "Location is required",
    "Missing project_id",
    "Invalid location: Pune"
  ])("%j is about the project or the location", (detail) => {
    assert.isTrue(isAboutPlace(detail))
  })

  it.each(["Node with this name already exists in the project", "Not found", "Node not found", null, undefined])(
    "%j is not",
    (detail) => {
      assert.isFalse(isAboutPlace(detail))
    }
  )
})
