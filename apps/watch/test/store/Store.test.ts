import { memoryStore } from "./memory.ts"
import { storeContract } from "./storeContract.ts"

storeContract("SQLite", memoryStore)
