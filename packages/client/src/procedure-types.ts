/** Options of one call. */
export interface CallOptions {
  /** Cancels the call, which then fails with code `aborted`. */
  signal?: AbortSignal;
  /**
   * Key under which the service runs a money mutation at most once. Default: a new UUID for every call; to repeat a call whose
   * outcome is unknown, pass `CabinetError.idempotencyKey`. Other procedures ignore it.
   */
  idempotencyKey?: string;
}

export interface Query<Input, Output> {
  /** @throws CabinetError */
  query: (input: Input, options?: CallOptions) => Promise<Output>;
}

export interface Mutation<Input, Output> {
  /** @throws CabinetError */
  mutate: (input: Input, options?: CallOptions) => Promise<Output>;
}

/** An answer as JSON: a timestamp is a text, ISO 8601 in UTC. */
type OnTheWire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? OnTheWire<Item>[]
    : T extends object
      ? { [Key in keyof T]: OnTheWire<T[Key]> }
      : T;

interface ProcedureOf<Kind extends string, Input, Output> {
  _def: { type: Kind; $types: { input: Input; output: Output } };
}

/** The procedures of a router record as a client calls them. The published declaration contains the result, written out. */
export type ProceduresOf<T> = {
  [Key in keyof T]: T[Key] extends ProcedureOf<'query', infer Input, infer Output>
    ? Query<Input, OnTheWire<Output>>
    : T[Key] extends ProcedureOf<'mutation', infer Input, infer Output>
      ? Mutation<Input, OnTheWire<Output>>
      : ProceduresOf<T[Key]>;
};
