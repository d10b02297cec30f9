import { isConnectionLost, pauseAfterLoss } from '../core/db/db-errors.ts';
import type { Context } from './context.ts';
import type { OperationMeta } from './operation-meta.ts';

interface Call {
  ctx: Pick<Context, 'app'>;
  type: 'query' | 'mutation' | 'subscription';
  meta: OperationMeta | undefined;
}

type Result = { ok: true } | { ok: false; error: { cause?: unknown } };

/**
 * Runs the rest of an operation's chain; a read whose database session was cut is run once more (spec 08 L3). Nothing has been sent to
 * the client then, and what counts or records the request (the guards, the audit log) stands before this and is not repeated. Changes are
 * not repeated here: `runOnce` does it for those with an `Idempotency-Key`.
 */
export async function readAgainWhenLost<R extends Result>({ ctx, type, meta }: Call, next: () => Promise<R>): Promise<R> {
  const result = await next();
  if (result.ok || type !== 'query' || meta?.writes || !isConnectionLost(result.error.cause)) return result;
  await pauseAfterLoss(ctx.app);
  return next();
}
