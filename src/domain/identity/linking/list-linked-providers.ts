import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { userNotFound } from '../errors.ts';
import { listOAuthProviders } from '../oauth/list-providers.ts';
import { linkedId } from '../oauth/rules.ts';
import { findById } from '../repo.ts';

export interface LinkedProvider {
  provider: string;
  /** The caller's id or address there; null = not linked. */
  identifier: string | null;
}

/** Sign-in methods of the cabinet, and the caller's own account of each (spec 01 section 7). */
export async function listLinkedProviders(app: App, actor: UserActor): Promise<LinkedProvider[]> {
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  const messenger = { provider: 'messenger', identifier: user.messengerId === null ? null : String(user.messengerId) };
  const email = { provider: 'email', identifier: user.hasPassword ? user.email : null };
  return [
    messenger,
    ...(app.settings.get('CABINET_EMAIL_AUTH_ENABLED') ? [email] : []),
    ...listOAuthProviders(app).map(({ name }) => ({ provider: name, identifier: linkedId(user, name) })),
  ];
}
