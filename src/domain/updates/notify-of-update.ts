import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import type { Release } from './ports.ts';
import { insertNotice } from './repo.ts';
import { isNewer } from './versions.ts';

/**
 * Tells the administrators' chat of the newest version, once for each tag, whichever instance finds it (spec 06 section 14). Without a chat
 * it is told when there is one.
 */
export async function notifyOfUpdate(app: App, repo: string, releases: readonly Release[]): Promise<void> {
  if (!app.settings.get('VERSION_CHECK_ENABLED')) return;
  const version = app.ports.instance.version();
  const [first, ...others] = releases.filter(({ tagName }) => isNewer(tagName, version));
  if (first === undefined) return;
  const newest = others.reduce((best, release) => (isNewer(release.tagName, best.tagName) ? release : best), first);
  await inTransaction(app, async (t) => {
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
    if (chat === null || !(await insertNotice(t.db, repo, newest.tagName, t.clock.now()))) return;
    const values = { version: newest.tagName, name: newest.name, current: version, url: t.ports.releases.pageOf(repo) };
    await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'operations.update_found', values) });
  });
}
