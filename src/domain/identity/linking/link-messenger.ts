import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isUniqueViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { forgetSessionUser } from '../authenticate-user.ts';
import { sessionEnded, userNotActive, userNotFound } from '../errors.ts';
import { createMergeToken, type MergeOffer } from '../merge-tokens.ts';
import { proveIdToken } from '../messenger/prove-id-token.ts';
import { lockUserById } from '../oauth/repo.ts';
import type { WidgetData } from '../ports.ts';
import { findById, findByMessengerId, type MessengerAccount, setMessengerAccount } from '../repo.ts';
import { cleanName, displayedName, INIT_DATA_MAX_AGE_SECONDS } from '../rules.ts';
import { haveSessionsEndedSince } from '../sessions/refresh-session.ts';
import type { LinkOutcome } from './bind-identity.ts';

const messengerJustLinked = refusal('messenger_just_linked', 409, 'This Messenger account was just linked to another user');
export const initDataInvalid = refusal('init_data_invalid', 400, 'Invalid or expired Messenger initData');
const widgetDataInvalid = refusal('widget_data_invalid', 400, 'Invalid or expired Messenger Login Widget data');

/** What the messenger signed: mini-app data, an OpenID Connect token or the login widget's fields. */
export type MessengerProof = { initData: string } | { idToken: string } | { widget: WidgetData };

/**
 * Links a messenger account, proved by signed data, to the caller's account and fills empty names (spec 01 section 7). When it belongs to
 * another user, the result is a merge token for the two accounts.
 * @throws AppError 400 'Messenger is already linked to your account' | 400 or 401 for an invalid proof | 403 | 503 |
 *   409 'This Messenger account was just linked to another user'
 */
export async function linkMessenger(app: App, actor: UserActor, proof: MessengerProof): Promise<LinkOutcome> {
  const begunAt = app.clock.now();
  const user = await findById(app.db, actor.userId);
  if (!user) throw userNotFound();
  if (user.messengerId !== null) throw messengerAlreadyLinked();
  const proved = await prove(app, proof);
  try {
    return await inTransaction(app, (t) => bind(t, actor.userId, proved, begunAt));
  } catch (error) {
    if (!isUniqueViolation(error, 'messenger_id')) throw error;
    throw messengerJustLinked();
  }
}

async function bind(t: App, userId: number, proved: MessengerAccount, begunAt: Date): Promise<LinkOutcome> {
  const user = await lockUserById(t.db, userId);
  if (!user) throw userNotFound();
  if (user.status !== 'active') throw userNotActive();
  // The session may have been closed while the proof was being checked (spec 01 H8).
  if (await haveSessionsEndedSince(t, [userId], begunAt)) throw sessionEnded();
  if (user.messengerId !== null) throw messengerAlreadyLinked();
  const owner = await findByMessengerId(t.db, proved.messengerId);
  if (owner) {
    const offer: MergeOffer = {
      primaryUserId: userId,
      secondaryUserId: owner.id,
      provider: 'messenger',
      providerId: String(proved.messengerId),
    };
    return { kind: 'merge_required', mergeToken: await createMergeToken(t, offer) };
  }
  const account = {
    messengerId: proved.messengerId,
    username: user.username ?? cleanName(proved.username),
    firstName: user.firstName ?? displayedName(t, proved.firstName),
    lastName: user.lastName ?? displayedName(t, proved.lastName),
  };
  await setMessengerAccount(t.db, userId, account, t.clock.now());
  await forgetSessionUser(t, userId);
  return { kind: 'linked' };
}

async function prove(app: App, proof: MessengerProof): Promise<MessengerAccount> {
  const { messengerIdentity } = app.ports;
  if ('idToken' in proof) return proveIdToken(app, proof.idToken);
  if ('initData' in proof) {
    const identity = messengerIdentity.verifyInitData(proof.initData, INIT_DATA_MAX_AGE_SECONDS);
    if (identity?.messengerId) {
      const { messengerId, username, firstName, lastName } = identity;
      return { messengerId, username, firstName, lastName };
    }
    throw initDataInvalid();
  }
  const { widget } = proof;
  if (!messengerIdentity.verifyWidget(widget, INIT_DATA_MAX_AGE_SECONDS)) throw widgetDataInvalid();
  return {
    messengerId: widget.id,
    username: widget.username ?? null,
    firstName: widget.first_name ?? null,
    lastName: widget.last_name ?? null,
  };
}

export const messengerAlreadyLinked = refusal('messenger_already_linked', 400, 'Messenger is already linked to your account');
