import { useCallback, useEffect, useRef, useState } from 'react';

export interface Loaded<Value> {
  value: Value | null;
  error: unknown;
  reload: () => void;
}

/**
 * Loads at the start, when `reason` changes and on `reload`; an answer that arrives after a newer one is dropped, and the value stays until then.
 * `load` may change without a new load.
 * @param reason what the answer depends on, such as the balance for prices and quotes; compared as a value
 */
export function useLoaded<Value>(load: () => Promise<Value>, reason?: string | number): Loaded<Value> {
  const [state, setState] = useState<{ value: Value | null; error: unknown }>({ value: null, error: null });
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const reload = useCallback(() => {
    turn.current += 1;
    const thisTurn = turn.current;
    latest.current().then(
      (value) => thisTurn === turn.current && setState({ value, error: null }),
      (error: unknown) => thisTurn === turn.current && setState((before) => ({ ...before, error })),
    );
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another reason is what begins another load
  useEffect(() => {
    reload();
    return () => {
      turn.current += 1;
    };
  }, [reload, reason]);
  return { ...state, reload };
}
