import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { nodeSpec } from "../../src/client/NodeOperations.ts"

const key = "AAAAC3NzaC1lZDI1NTE5AAAAIFixtureFixtureFixtureFixtureFixtureFixtu"
const publicKeys = [
  `ssh-ed25519 ${key} alex@host`,
  `ssh-rsa ${key}==`,
  `ecdsa-sha2-nistp256 ${key}`,
  `sk-ssh-ed25519@openssh.com ${key}\n`
]
const others = ["9101", "SHA256:uNiVztksCsDhcc0u9e8BgrJXVGDVMAnNRCyk4iHVuQg", "aa:bb:cc:dd", "laptop", "ssh-ed25519"]
const never = ["", " ", "keys/id.pub", "~/.ssh/id_ed25519", "./id", "/home/me/.ssh/id"]

const spec = { name: "web", plan: "P", image: "I" }

describe("the SSH keys of a create", () => {
  it("are texts of public keys where a project is set, or left out", () => {
    for (const right of [spec, { ...spec, sshKeys: [] }, { ...spec, sshKeys: publicKeys }]) {
      assert.deepStrictEqual(Effect.runSync(nodeSpec(right, true)), right)
    }
  })

  for (const other of others) {
    it(`are refused by their place before anything is sent if one is ${JSON.stringify(other)}`, () => {
      const sshKeys = [publicKeys[0]!, other]
      const { fields, status } = Effect.runSync(Effect.flip(nodeSpec({ ...spec, sshKeys }, true)))
      assert.deepStrictEqual([status, fields], [null, { "sshKeys[1]": ["expected the text of a public key"] }])
      // The documented service takes ids and fingerprints.
      assert.isTrue(Exit.isSuccess(Effect.runSyncExit(nodeSpec({ ...spec, sshKeys }, false))))
    })
  }

  it("are refused by their place, which says that it is empty, at every service", () => {
    for (const blank of ["", " \t"]) {
      for (const isPlaceSet of [true, false]) {
        const { message } = Effect.runSync(Effect.flip(nodeSpec({ ...spec, sshKeys: ["", blank] }, isPlaceSet)))
        const empty = "expected a text, but it is empty"
        assert.strictEqual(message, `The request cannot be sent: sshKeys[0]: ${empty}; sshKeys[1]: ${empty}.`)
      }
    }
  })

  it("are refused at every service if one is empty or the path of a file", () => {
    for (const other of never) {
      for (const isPlaceSet of [true, false]) {
        const spoiled = nodeSpec({ ...spec, sshKeys: [other] }, isPlaceSet)
        assert.property(Effect.runSync(Effect.flip(spoiled)).fields, "sshKeys[0]", JSON.stringify(other))
      }
    }
  })
})
