// Concurrent calls and their results, for tests of races.

/** Starts `count` concurrent calls. @returns their values; throws with the first that fails */
export const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)));

/** Starts `count` concurrent calls. @returns how each of them ended */
export const settled = <T>(count: number, make: (index: number) => Promise<T>): Promise<PromiseSettledResult<T>[]> =>
  Promise.allSettled(Array.from({ length: count }, (_, index) => make(index)));

/** Values of the calls that succeeded. */
export const won = <T>(results: PromiseSettledResult<T>[]): T[] =>
  results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));

/** Reasons of the calls that failed. */
export const lost = (results: PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));

/** The detail of each refusal, or the error where it is not a refusal. */
export const refusals = (results: PromiseSettledResult<unknown>[]): unknown[] =>
  lost(results).map((reason) => (reason as { detail?: unknown }).detail ?? reason);

/** 'done', or the detail of the refusal. */
export const detailOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: { detail?: unknown }) => error.detail ?? String(error),
  );

/** How many outcomes are equal to this one. */
export const count = (outcomes: readonly unknown[], what: unknown): number =>
  outcomes.filter((outcome) => outcome === what).length;
