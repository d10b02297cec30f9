import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { userNotActive } from '../errors.ts';
import { createMergeToken } from '../merge-tokens.ts';
import { findIdByProviderId, lockUserById, setProviderId } from '../oauth/repo.ts';
import { linkedId } from '../oauth/rules.ts';
import { stateInvalid } from '../oauth/state.ts';
import type { OAuthIdentity, OAuthProvider } from '../oauth/types.ts';
import { haveSessionsEndedSince } from '../sessions/refresh-session.ts';

const providerJustLinked = refusal('provider_just_linked', 409, 'This provider account was just linked to another user');

/** Result of linking an identity. */
export type LinkOutcome = { kind: 'linked' } | { kind: 'already_linked' } | { kind: 'merge_required'; mergeToken: string };

/**
 * Links an account of a provider, whose identity was just proved, to a user under the user's lock (spec 01 section 7). When it belongs to
 * another user, the result is a merge token for the two. The linking is refused when all sessions were ended since it was begun, by a
 * new password for example, also during the call to the provider (H8).
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
      // Linked by a concurrent request: it is not replaced without notice, the user must unlink it first.
      if (current !== null) throw providerAlreadyLinked();
      await setProviderId(t.db, userId, provider, providerId, t.clock.now());
      await forgetSessionUser(t, userId);
      return { kind: 'linked' };
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw providerJustLinked();
  }
}

export const providerAlreadyLinked = refusal('provider_already_linked', 400, 'Provider is already linked to your account');
export const linkedUserNotFound = refusal('user_not_found', 400, 'User not found');
