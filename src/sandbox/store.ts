/** Where the sandbox servers store their state across restarts; given by the caller. */
export interface SandboxStore {
  /** @returns what was last saved under the key, or null / undefined */
  load(key: string): Promise<unknown>;
  /** @param value plain JSON */
  save(key: string, value: unknown): Promise<void>;
}
