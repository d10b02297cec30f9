import { useCallback, useEffect, useRef, useState } from 'react';

export interface Loaded<Value> {
  value: Value | null;
  error: unknown;
  reload: () => void;
}

/**
 * Loads at the start, when `key` changes and on `reload`; an answer that arrives after a newer one is dropped. What was loaded stays on the page
 * while it is loaded again, unless the key is another one.
 */
export function useLoaded<Value>(load: () => Promise<Value>, key: unknown = null): Loaded<Value> {
  const [state, setState] = useState<{ key: unknown; value: Value | null; error: unknown }>({ key, value: null, error: null });
  const latest = useRef(load);
  latest.current = load;
  const turn = useRef(0);
  const reload = useCallback(() => {
    turn.current += 1;
    const thisTurn = turn.current;
    latest.current().then(
      (value) => thisTurn === turn.current && setState({ key, value, error: null }),
      (error: unknown) =>
        thisTurn === turn.current && setState((before) => ({ key, value: before.key === key ? before.value : null, error })),
    );
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      turn.current += 1;
    };
  }, [reload]);
  const isCurrent = state.key === key;
  return { value: isCurrent ? state.value : null, error: isCurrent ? state.error : null, reload };
}

/** Calls `work` every `ms` while `isWanted`. */
export function useInterval(work: () => void, ms: number, isWanted: boolean): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    if (!isWanted) return;
    const timer = setInterval(() => latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isWanted]);
}
