import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { writeStateIfChanged } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { findStaleExternalSquads, type StaleExternalSquad } from './repo.ts';

const KEY_PREFIX = 'panel:stale_external_squad:';

/**
 * Records that a tariff names an external squad that the panel no longer has, so that its subscriptions are provisioned without one (08
 * P3). The administrators' chat gets one notice for a tariff and squad, however many pushes find it.
 */
export async function recordStaleExternalSquad(app: App, tariffId: number, squadUuid: string): Promise<void> {
  await inTransaction(app, async (t) => {
    if (!(await writeStateIfChanged(t.db, KEY_PREFIX + tariffId, { squadUuid }))) return;
    const [found] = await listStaleExternalSquads(t.db, tariffId);
    t.log.error({ tariffId, squadUuid }, 'provisioning: the external squad of a tariff does not exist at the panel');
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null || !found) return;
    const values = { tariff_id: tariffId, tariff_name: found.tariffName, squad_uuid: squadUuid };
    const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'panel.admin_stale_external_squad', values);
    await sendMessage(t, { ...chat, html });
  });
}

/** The recorded ones that their tariff still names, by tariff; at most 100. @param tariffId left out: of all tariffs */
export function listStaleExternalSquads(db: Db, tariffId: number | null = null): Promise<StaleExternalSquad[]> {
  return findStaleExternalSquads(db, KEY_PREFIX, tariffId);
}
