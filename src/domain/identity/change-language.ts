import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { forgetSessionUser } from './authenticate-user.ts';
import { setLanguage } from './repo.ts';

/** Stores the language of the own account; texts of the cabinet, the chat, mails and invoices follow at once. @param language normalised */
export function changeLanguage(app: App, actor: UserActor, language: string): Promise<void> {
  return inTransaction(app, async (t) => {
    await setLanguage(t.db, actor.userId, language, t.clock.now());
    await forgetSessionUser(t, actor.userId);
  });
}
