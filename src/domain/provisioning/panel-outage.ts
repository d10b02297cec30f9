import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { readState, writeStateIfChanged } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { isPanelError } from './ports.ts';

/**
 * What keeps every push from the panel: no settings, an address that does not answer, a key that it refuses. It is a property of the
 * installation, not of a subscription (08 P12).
 */
export type OutageReason = 'refused_key' | 'not_configured' | 'unavailable';

const KEY = 'panel:outage';

interface StoredOutage {
  reason: OutageReason | 'none';
}

/** Why this error concerns all subscriptions; null for one that concerns a single call. */
export function outageReasonOf(error: unknown): OutageReason | null {
  if (!isPanelError(error)) return null;
  if (error.kind === 'not_configured') return 'not_configured';
  if (error.status === 401 || error.status === 403) return 'refused_key';
  return error.kind === 'unavailable' && error.errorCode === null && error.status !== 404 ? 'unavailable' : null;
}

/** The outage that the reconciler has to see the end of; null = none. */
export async function readOutage(app: Pick<App, 'db'>): Promise<OutageReason | null> {
  const stored = await readState<StoredOutage>(app.db, KEY);
  return stored === null || stored.reason === 'none' ? null : stored.reason;
}

/** Records an outage. The administrators' chat gets one notice when the panel begins to refuse the key. */
export async function recordOutage(app: App, reason: OutageReason): Promise<void> {
  const known = await readOutage(app);
  if (known === reason || (known === 'refused_key' && reason === 'unavailable')) return;
  await inTransaction(app, async (t) => {
    if (!(await writeStateIfChanged(t.db, KEY, { reason })) || reason !== 'refused_key') return;
    t.log.error({ alarm: 'panel_refused_key' }, 'provisioning: the panel refuses the key; all pushes wait');
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null) return;
    await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'panel.admin_refused_key', {}) });
  });
}

export async function endOutage(app: App): Promise<void> {
  await writeStateIfChanged(app.db, KEY, { reason: 'none' });
}
