import { CabinetError, type CallOptions } from '@subscription-service/client';
import { useEffect, useRef, useState } from 'react';

/**
 * Calls whose outcome is unknown, by name of the operation. A repeat sends the same input with the same key, so that the service carries it
 * out once. The map is one for all views: whoever leaves a view and returns can still repeat.
 */
const unknownOutcomes = new Map<string, { input: unknown; idempotencyKey: string }>();

export interface Action<Input, Output> {
  run: (input: Input) => Promise<Output | null>;
  /** Repeats the call whose outcome is unknown; null when there is none. */
  repeat: (() => Promise<Output | null>) | null;
  isBusy: boolean;
  error: unknown;
  /** The answer of the last call, when it succeeded. */
  answer: Output | null;
  reset: () => void;
}

/**
 * One mutation with what a view shows of it.
 * @param name of the operation, and of what it is for where several are possible at once
 * @param mutate may change without effect on a running call
 */
export function useAction<Input, Output>(
  name: string,
  mutate: (input: Input, options: CallOptions) => Promise<Output>,
  onDone?: (answer: Output) => void,
): Action<Input, Output> {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown; answer: Output | null }>({
    isBusy: false,
    error: null,
    answer: null,
  });
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  const show = (next: typeof state) => {
    if (isMounted.current) setState(next);
  };

  async function send(input: Input, options: CallOptions): Promise<Output | null> {
    show({ isBusy: true, error: null, answer: null });
    try {
      const answer = await mutate(input, options);
      unknownOutcomes.delete(name);
      show({ isBusy: false, error: null, answer });
      if (isMounted.current) onDone?.(answer);
      return answer;
    } catch (error) {
      const key = error instanceof CabinetError && error.isTransient ? error.idempotencyKey : null;
      if (key) unknownOutcomes.set(name, { input, idempotencyKey: key });
      else unknownOutcomes.delete(name);
      show({ isBusy: false, error, answer: null });
      return null;
    }
  }

  const unknown = unknownOutcomes.get(name);
  return {
    ...state,
    run: (input) => send(input, {}),
    repeat: unknown ? () => send(unknown.input as Input, { idempotencyKey: unknown.idempotencyKey }) : null,
    reset: () => show({ isBusy: false, error: null, answer: null }),
  };
}
