import { CabinetError, type CallOptions, newIdempotencyKey } from '@subscription-service/client';
import { useEffect, useRef, useState } from 'react';
import { forgetOutcome, rememberOutcome, unknownOutcome } from './unknown-outcomes.ts';

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

/** No answer, or the service is still carrying out the call before. */
function isUnknown(error: unknown): boolean {
  if (!(error instanceof CabinetError) || error.idempotencyKey === null) return false;
  return error.isTransient || error.code === 'idempotency_key_in_use';
}

/**
 * One mutation with what a view shows of it.
 * @param name of the operation, and of what it is for where several are possible at once
 * @param mutate may change without effect on a running call. One that takes the options of the call carries out a call once for its key
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

  async function send(input: Input, idempotencyKey: string): Promise<Output | null> {
    // Before it is sent: the page may be lost before the answer.
    if (mutate.length > 1) rememberOutcome(name, { input, idempotencyKey });
    show({ isBusy: true, error: null, answer: null });
    try {
      const answer = await mutate(input, { idempotencyKey });
      forgetOutcome(name);
      show({ isBusy: false, error: null, answer });
      if (isMounted.current) onDone?.(answer);
      return answer;
    } catch (error) {
      if (!isUnknown(error)) forgetOutcome(name);
      show({ isBusy: false, error, answer: null });
      return null;
    }
  }

  const unknown = state.isBusy ? null : unknownOutcome(name);
  return {
    ...state,
    run: (input) => send(input, newIdempotencyKey()),
    repeat: unknown && (() => send(unknown.input as Input, unknown.idempotencyKey)),
    reset: () => show({ isBusy: false, error: null, answer: null }),
  };
}
