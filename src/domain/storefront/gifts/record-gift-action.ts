import { type Actor, actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import '../../access/ports.ts';

/** Records what an administrator did to a gift in the audit log, after the commit; resolves when the row is written. */
export async function recordGiftAction(
  app: App,
  actor: Actor,
  action: 'refund' | 'resend',
  purchaseId: number,
  details: Record<string, unknown>,
): Promise<void> {
  const at = app.clock.now();
  await app.ports.audit.record(
    app.db,
    {
      userId: actor.kind === 'admin' ? actor.userId : null,
      ...(actor.kind === 'admin' ? {} : { actorName: actor.kind === 'system' ? actor.name : actorKey(actor) }),
      action: `gifts:${action}`,
      resourceType: 'gifts',
      resourceId: String(purchaseId),
      details,
      ipAddress: null,
      userAgent: null,
      status: 'success',
      requestMethod: 'COMMAND',
      requestPath: `gifts ${action}`,
      at,
    },
    true,
  );
}
