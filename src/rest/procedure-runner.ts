/**
 * Runs a procedure's middleware chain. It does what calling the procedure does (`callRecursive` of tRPC 11), but with plain object
 * literals: the published build copies the options twice per middleware through a property-by-property helper, which costs more
 * than everything else REST does with a request. Middlewares, guards, parsers and error wrapping are tRPC's own.
 */
import { getTRPCErrorFromUnknown } from '@trpc/server';

export interface ProcedureCall {
  ctx: unknown;
  getRawInput: () => Promise<unknown>;
  path: string;
  type: 'query' | 'mutation' | 'subscription';
  signal: AbortSignal | undefined;
  batchIndex: number;
}

type StepResult = { ok: true; data: unknown } | { ok: false; error: Error };

interface NextOptions {
  ctx?: object;
  input?: unknown;
  getRawInput?: () => Promise<unknown>;
}

interface StepOptions extends ProcedureCall {
  meta: unknown;
  input: unknown;
  next: (options?: NextOptions) => Promise<StepResult>;
}

type ProcedureStep = (options: StepOptions) => Promise<StepResult>;

interface RunnableProcedure {
  (call: ProcedureCall): Promise<unknown>;
  _def: { meta?: unknown; middlewares?: unknown };
}

/**
 * Compiles the call of one procedure.
 * @returns a function that resolves with the output or rejects with what tRPC's own call would reject with. A procedure without
 *   a visible chain (a caller override, another tRPC version) is called directly.
 */
export function runnerFor(procedure: RunnableProcedure): (call: ProcedureCall) => Promise<unknown> {
  const { meta, middlewares } = procedure._def;
  if (!isChain(middlewares) || 'experimental_caller' in procedure._def) return procedure;
  const steps = middlewares;

  function step(index: number, call: ProcedureCall, ctx: unknown, input: unknown, getRawInput: ProcedureCall['getRawInput']) {
    const options: StepOptions = {
      ctx,
      getRawInput,
      path: call.path,
      type: call.type,
      signal: call.signal,
      batchIndex: call.batchIndex,
      meta,
      input,
      next: (next) =>
        step(
          index + 1,
          call,
          next?.ctx ? { ...(ctx as object), ...next.ctx } : ctx,
          next && 'input' in next ? next.input : input,
          next?.getRawInput ?? getRawInput,
        ),
    };
    return guarded(steps[index]!, options);
  }

  return async (call) => {
    const result = await step(0, call, call.ctx, undefined, call.getRawInput);
    if (!result) throw getTRPCErrorFromUnknown(new Error('A middleware did not return next()'));
    if (!result.ok) throw result.error;
    return result.data;
  };
}

async function guarded(step: ProcedureStep, options: StepOptions): Promise<StepResult> {
  try {
    return await step(options);
  } catch (cause) {
    return { ok: false, error: getTRPCErrorFromUnknown(cause) };
  }
}

function isChain(value: unknown): value is ProcedureStep[] {
  return Array.isArray(value) && value.length > 0 && value.every((step) => typeof step === 'function');
}
