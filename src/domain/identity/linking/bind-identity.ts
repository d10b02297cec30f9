import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refuse } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { userNotActive } from '../errors.ts';
import { createMergeToken } from '../merge-tokens.ts';
import { findIdByProviderId, lockUserById, setProviderId } from '../oauth/repo.ts';
import { linkedId } from '../oauth/rules.ts';
import { stateInvalid } from '../oauth/state.ts';
import type { OAuthIdentity, OAuthProvider } from '../oauth/types.ts';
import { haveSessionsEndedSince } from '../sessions/refresh-session.ts';

/** What came of the wish to link an identity. */
export type LinkOutcome = { kind: 'linked' } | { kind: 'already_linked' } | { kind: 'merge_required'; mergeToken: string };

/**
 * Gives a user the account of a provider that was just proved, under the user's lock (spec 01 section 7). One that belongs to
 * another user makes an offer to merge the two. A way that was begun before all sessions were ended, by a new password for example,
 * leads nowhere, also when that happened while the provider was asked (H8).
 * @throws AppError 400 'Invalid or expired OAuth state' | 400 'User not found' | 403 'User account is not active' (H27) | 400 another account of the provider is linked |
 *   409 'This provider account was just linked to another user'
 */
export async function bindProviderAccount(
  app: App,
  userId: number,
  provider: OAuthProvider,
  { providerId }: OAuthIdentity,
  begunAt: Date,
): Promise<LinkOutcome> {
  try {
    return await inTransaction(app, async (t): Promise<LinkOutcome> => {
      const user = await lockUserById(t.db, userId);
      if (!user) throw linkedUserNotFound();
      if (user.status !== 'active') throw userNotActive();
      if (await haveSessionsEndedSince(t, [userId], begunAt)) throw stateInvalid();
      const current = linkedId(user, provider);
      if (current === providerId) return { kind: 'already_linked' };
      const ownerId = await findIdByProviderId(t.db, provider, providerId);
      if (ownerId !== null) {
        const offer = { primaryUserId: userId, secondaryUserId: ownerId, provider, providerId };
        return { kind: 'merge_required', mergeToken: await createMergeToken(t, offer) };
      }
      // Linked in another tab since this way was begun: it must be unlinked on purpose, not replaced in passing.
      if (current !== null) throw providerAlreadyLinked();
      await setProviderId(t.db, userId, provider, providerId, t.clock.now());
      await forgetSessionUser(t, userId);
      return { kind: 'linked' };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw refuse('provider_just_linked', 409, 'This provider account was just linked to another user');
  }
}

export const providerAlreadyLinked = () => refuse('provider_already_linked', 400, 'Provider is already linked to your account');
export const linkedUserNotFound = () => refuse('user_not_found', 400, 'User not found');
