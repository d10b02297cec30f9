/** Where the sandbox servers keep what they must remember over a restart; the caller decides on the place. */
export interface SandboxStore {
  /** @returns what was last saved under the key, or null / undefined */
  load(key: string): Promise<unknown>;
  /** @param value plain JSON */
  save(key: string, value: unknown): Promise<void>;
}
