/** What the fakes are given by the service that hosts them, or by a test. The clock, randomness and HTTP client of the service fit. */
export interface Clock {
  /** The current time in UTC. */
  now(): Date;
}

export interface Random {
  bytes(length: number): Buffer;
  /** A whole number in [min, max). */
  int(min: number, max: number): number;
}

export interface HttpClient {
  /** Resolves for every HTTP status. @throws Error when no answer came */
  request(request: {
    method: 'POST';
    url: string;
    headers: Record<string, string>;
    body: string;
    idempotent: false;
    signal?: AbortSignal;
  }): Promise<{ status: number; text: string }>;
}

/** Where the fakes store their state across restarts. */
export interface SandboxStore {
  /** @returns what was last saved under the key, or null / undefined. @throws SandboxStoreUnavailable */
  load(key: string): Promise<unknown>;
  /** @param value plain JSON. @throws SandboxStoreUnavailable */
  save(key: string, value: unknown): Promise<void>;
}

/** A store that forgets everything with its process. */
export function memoryStore(entries: Iterable<readonly [string, unknown]> = []): SandboxStore {
  const values = new Map(entries);
  return { load: async (key) => values.get(key), save: async (key, value) => void values.set(key, value) };
}

/** The store cannot be reached at present: the fakes answer 503 until it can. */
export class SandboxStoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('The store of the sandbox is not available', { cause });
    this.name = 'SandboxStoreUnavailable';
  }
}
