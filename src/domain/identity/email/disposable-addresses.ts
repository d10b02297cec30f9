import type { App } from '../../../core/app.ts';
import { disposableEmail } from '../errors.ts';
import { findDisposableDomain } from './disposable-repo.ts';
import { KNOWN_DISPOSABLE_DOMAINS } from './known-disposable-domains.ts';

export { countDisposableDomains, replaceDisposableDomains } from './disposable-repo.ts';

/**
 * Refuses an address of a disposable mail box: exact match of the domain against the stored list, or, as long as none was ever
 * fetched, against the built-in one (spec 01 section 2.6). The database is queried each time, so that a new list counts on every instance.
 * @param email in lower case
 * @throws AppError 400 'Disposable email addresses are not allowed'
 */
export async function refuseDisposable(app: App, email: string): Promise<void> {
  if (!app.settings.get('DISPOSABLE_EMAIL_CHECK_ENABLED')) return;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  const { isListed, hasList } = await findDisposableDomain(app.db, domain);
  if (hasList ? isListed : KNOWN_DISPOSABLE_DOMAINS.has(domain)) throw disposableEmail();
}
