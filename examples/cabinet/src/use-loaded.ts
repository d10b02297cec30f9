import { useCallback, useEffect, useRef, useState } from 'react';

export interface Loaded<Value> {
  value: Value | null;
  error: unknown;
  reload: () => void;
}

/** Loads once and again on `reload`; an answer that arrives after a newer one is dropped. `load` may change without a new load. */
export function useLoaded<Value>(load: () => Promise<Value>): Loaded<Value> {
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
  useEffect(() => {
    reload();
    return () => {
      turn.current += 1;
    };
  }, [reload]);
  return { ...state, reload };
}
