import { ZodError } from 'zod';
import { isConnectionLost, pauseAfterLoss } from '../core/db/db-errors.ts';
import { isAppError } from '../core/errors.ts';
import type { Context } from './context.ts';
import { isReadFromReplicas, type OperationMeta } from './operation-meta.ts';

interface Call {
  type: 'query' | 'mutation' | 'subscription';
  meta: OperationMeta | undefined;
}

type Result = { ok: true } | { ok: false; error: { code: string; cause?: unknown } };

/**
 * Runs the rest of an operation's chain. Of a read, nothing has been sent to the client when it fails, and what counts or records the
 * request (the guards, the audit log) stands before this and is not repeated, so:
 * - a list or a statistic is read from a standby where there are any, and from the primary where that fails (spec 08 S10);
 * - a read whose database session was cut is run once more (spec 08 L3).
 * Changes are not repeated here: `runOnce` does it for those with an `Idempotency-Key`.
 * @param admitted the context that the guard makes
 */
export async function readAgainWhenLost<R extends Result, C extends Pick<Context, 'app'>>(
  { type, meta }: Call,
  admitted: C,
  next: (ctx: C) => Promise<R>,
): Promise<R> {
  const { app } = admitted;
  const { replica } = app.db;
  if (replica?.isUsable() && isReadFromReplicas(meta, type)) {
    const result = await next({ ...admitted, app: { ...app, db: replica.db } });
    // A refusal has another code, or becomes one by its class.
    if (result.ok || !isFailure(result.error)) return result;
    replica.failed(result.error.cause);
  }
  const result = await next(admitted);
  if (result.ok || type !== 'query' || meta?.writes || !isConnectionLost(result.error.cause)) return result;
  await pauseAfterLoss(app);
  return next(admitted);
}

/** Neither an answer to the client's mistake nor a refusal of the domain. */
function isFailure({ code, cause }: { code: string; cause?: unknown }): boolean {
  return code === 'INTERNAL_SERVER_ERROR' && !isAppError(cause) && !(cause instanceof ZodError);
}
