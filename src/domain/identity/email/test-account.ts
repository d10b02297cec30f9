import { timingSafeEqual } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { configAdmins } from '../../access/read-effective-access.ts';
import { secretHash } from '../rules.ts';

/** Whether this is the address of the test account; never in production and never for an administrator's address (spec 01 section 2.7). */
export function isTestEmail(app: App, email: string): boolean {
  const testEmail = app.settings.get('TEST_EMAIL').trim().toLowerCase();
  if (app.env.isProduction || testEmail === '' || app.settings.get('TEST_EMAIL_PASSWORD') === '') return false;
  return email === testEmail && !configAdmins(app).emails.has(email);
}

export function isTestPassword(app: App, password: string): boolean {
  const digest = (text: string) => Buffer.from(secretHash(text), 'hex');
  return timingSafeEqual(digest(password), digest(app.settings.get('TEST_EMAIL_PASSWORD')));
}
