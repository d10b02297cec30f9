import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { findUserById } from '../identity/find-user.ts';
import { isOfferVoid, MERGE_TOKEN_SECONDS, peekMergeToken } from '../identity/merge-tokens.ts';
import { authMethods } from '../identity/rules.ts';
import type { UserRecord } from '../identity/types.ts';
import { actualStatus } from '../subscriptions/rules/status.ts';
import { mergeTokenUnknown, mergeUsersUnknown } from './errors.ts';
import { findPreviewSubscription } from './repo.ts';
import type { MergePreview, MergePreviewUser } from './types.ts';

/**
 * Both accounts of a merge offer, and how long it may still be confirmed. Uses nothing up (spec 01 section 8).
 * @throws AppError 404 'Merge token is invalid or expired' | 404 'One or both users not found'
 */
export async function previewMerge(app: App, token: string): Promise<MergePreview> {
  const merge = await peekMergeToken(app, token);
  if (!merge) throw mergeTokenUnknown();
  const [primary, secondary] = await Promise.all([
    findUserById(app, merge.primaryUserId),
    findUserById(app, merge.secondaryUserId),
  ]);
  if (!primary || !secondary) throw mergeUsersUnknown();
  if (await isOfferVoid(app, merge, secondary)) throw mergeTokenUnknown();
  const ageSeconds = Math.floor((app.clock.now().getTime() - merge.createdAt.getTime()) / SECOND_MS);
  return {
    primary: await previewUser(app, primary),
    secondary: await previewUser(app, secondary),
    expiresInSeconds: Math.max(0, MERGE_TOKEN_SECONDS - ageSeconds),
  };
}

async function previewUser(app: App, user: UserRecord): Promise<MergePreviewUser> {
  const subscription = await findPreviewSubscription(app.db, user.id);
  return {
    id: user.id,
    username: user.username,
    firstName: user.firstName,
    email: user.email,
    authMethods: authMethods(user),
    balanceKopeks: user.balanceKopeks,
    subscription: subscription && { ...subscription, status: actualStatus(subscription, app.clock.now()) },
    createdAt: user.createdAt,
  };
}
