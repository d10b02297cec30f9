import type { App } from '../../core/app.ts';
import { DAY_MS } from '../../core/clock.ts';
import { countDisposableDomains, replaceDisposableDomains } from '../identity/email/disposable-addresses.ts';
import { refreshPublishedList } from './published-list.ts';
import { parseDomainList } from './rules.ts';

/** A list that is shorter than this share of the stored one was cut or replaced by another text. */
const MIN_RETAINED_SHARE = 0.5;

/**
 * Fetches the published list of disposable mail domains once a day (spec 01 sections 2.6, 17). A text that is not such a list never
 * replaces a valid one. Not while the check is off, and not in the sandbox, which sends no mail.
 */
export async function refreshDisposableDomains(app: App): Promise<void> {
  if (!app.settings.get('DISPOSABLE_EMAIL_CHECK_ENABLED') || app.ports.instance.sandboxKinds().includes('mail')) return;
  await refreshPublishedList(app, {
    stateKey: 'disposable_domains',
    name: 'disposable e-mail domains',
    url: app.env.disposableEmailListUrl,
    intervalMs: DAY_MS,
    parse: parseDomainList,
    replace: async (t, domains) => {
      const stored = await countDisposableDomains(t.db);
      if (domains.length < stored * MIN_RETAINED_SHARE) {
        throw new Error(`the list shrank from ${stored} to ${domains.length} domains`);
      }
      await replaceDisposableDomains(t.db, domains);
      return domains.length;
    },
  });
}
